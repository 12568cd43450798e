use super::After;

const ID: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10";

#[test]
fn a_place_reads_back_as_itself() {
    for millis in ["0", "-62135596800000", "1780315200123"] {
        let text = format!("{millis}/{ID}");
        assert_eq!(text.parse::<After>().unwrap().to_string(), text);
    }
}

#[test]
fn what_no_page_gave_out_is_no_place() {
    let texts = [
        "",
        "/",
        "x",
        "1/",
        ID,
        &format!("01/{ID}"),
        &format!("+1/{ID}"),
    ]
    .map(str::to_owned);
    let upper = [
        format!("1/{}", ID.to_uppercase()),
        format!("1/{ID}/"),
        format!("1e3/{ID}"),
    ];
    for text in texts.iter().chain(&upper) {
        assert!(text.parse::<After>().is_err(), "{text:?}");
    }
}
