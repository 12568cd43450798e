use super::*;

/// ADAPT-4: the folders are those that the real program made for these directories.
#[test]
fn a_folder_has_the_name_that_the_program_gives_it() {
    for (cwd, name) in [
        ("/w/project", "-w-project"),
        ("/w/my.project_1", "-w-my-project-1"),
        ("/w/My Proj_1.x@y", "-w-My-Proj-1-x-y"),
        ("/w/prøj–ü", "-w-pr-j--"),
        ("/w/🦀", "-w---"),
        ("", ""),
    ] {
        assert_eq!(slug(cwd), name);
    }
}

#[test]
fn a_long_name_is_cut_and_ends_with_a_hash_of_the_whole() {
    let at_the_limit = "a".repeat(200);
    assert_eq!(slug(&at_the_limit), at_the_limit);
    let long = "a".repeat(201);
    // The hash of 201 times `a`, computed by hand in another language.
    assert_eq!(slug(&long), format!("{at_the_limit}-rkvsv5"));
    assert_ne!(slug(&("b".to_owned() + &long)), slug(&long));
}

#[test]
fn numbers_in_base_36() {
    for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (u32::MAX, "1z141z3")] {
        assert_eq!(base36(number), text);
    }
}
