//! What differs, and as what it must be accepted.

use sessiond_protocol::{
    AgentId, AgentInfo, LastRun, Mode, ModePolicy, SessionOpened, Start, Workspace,
};

use super::*;

fn at(cwd: &str, repository: Option<&str>, worktree: Option<&str>) -> Surroundings {
    Surroundings {
        cwd: cwd.into(),
        host: Some("here".into()),
        principal: Some("uid:1".into()),
        workspace: Workspace {
            root: Some(cwd.into()),
            repository: repository.map(Into::into),
            worktree: worktree.map(Into::into),
            branch: None,
        },
    }
}

fn info(policy: ModePolicy) -> AgentInfo {
    let (name, version) = ("script".into(), Some("1".into()));
    let mode = Mode {
        id: "m".into(),
        name: "m".into(),
        description: String::new(),
        policy,
    };
    AgentInfo {
        id: AgentId { name, version },
        modes: vec![mode],
        options: Vec::new(),
        commands: Vec::new(),
    }
}

fn made(place: &Surroundings) -> Standing {
    let header = SessionOpened {
        start: Start::New,
        id: sessiond_protocol::SessionId::new(uuid::Uuid::from_u128(1)),
        format: 1,
        program: "test".into(),
        source: "test".into(),
        cwd: place.cwd.clone(),
        roots: Vec::new(),
        agent: info(ModePolicy::Ask).id,
        model: None,
        instructions: None,
        mode: Some("m".into()),
        principal: place.principal.clone(),
        host: place.host.clone(),
        workspace: place.workspace.clone(),
        parent: None,
    };
    Standing {
        mode: header.mode.clone(),
        header: Some(header),
        ..Standing::default()
    }
}

fn arrive(
    standing: &Standing,
    found: Surroundings,
    accept: &[DriftClass],
) -> Result<Arrival, Vec<DriftClass>> {
    let info = info(ModePolicy::Ask);
    Arrival::opening((standing, &info), found, wish(accept)).map_err(|error| error.fields.into())
}

/// RESUME-7, RESUME-16
#[test]
fn a_place_is_the_same_a_relocation_wider_or_foreign() {
    use DriftClass::{Repository, Roots};
    let plain = |cwd: &str| at(cwd, None, None);
    let tree = |cwd: &str, repository: &str| at(cwd, Some(repository), Some(cwd));
    let mut gone = tree("/r/a", "/r/.git");
    gone.workspace = Workspace::default();
    let cases = [
        (plain("/w"), plain("/w"), Ok(ResumePath::Id)),
        (plain("/w"), plain("/w/sub"), Ok(ResumePath::Relocation)),
        (plain("/w/sub"), plain("/w"), Err(Roots)),
        (plain("/w"), plain("/"), Err(Roots)),
        (plain("/w"), plain("/wide"), Err(Roots)),
        (plain("/w"), tree("/w", "/w/.git"), Ok(ResumePath::Id)),
        (
            plain("/w"),
            tree("/w/r", "/w/r/.git"),
            Ok(ResumePath::Relocation),
        ),
        (plain("/w"), tree("/v", "/v/.git"), Err(Repository)),
        (
            tree("/r/a", "/r/.git"),
            tree("/r/a", "/r/.git"),
            Ok(ResumePath::Id),
        ),
        (
            tree("/r/a", "/r/.git"),
            tree("/s/b", "/r/.git"),
            Ok(ResumePath::Relocation),
        ),
        (tree("/r/a", "/r/.git"), tree("/r", "/r/.git"), Err(Roots)),
        (
            tree("/r/a", "/r/.git"),
            tree("/r/a", "/x/.git"),
            Err(Repository),
        ),
        (
            tree("/r/a", "/r/.git"),
            tree("/x", "/x/.git"),
            Err(Repository),
        ),
        (tree("/r/a", "/r/.git"), plain("/x"), Err(Roots)),
        (tree("/r/a", "/r/.git"), gone, Ok(ResumePath::Id)),
    ];
    for (recorded, found, expected) in cases {
        let name = format!("{recorded:?} {found:?}");
        let standing = made(&recorded);
        let arrived = arrive(&standing, found.clone(), &[]);
        let path = arrived.map(|arrival| arrival.path);
        assert_eq!(path, expected.map_err(|class| vec![class]), "{name}");
        if let Err(class) = expected {
            let accepted =
                arrive(&standing, found, &[class]).map(|arrival| Vec::from(arrival.accepted()));
            assert_eq!(accepted, Ok(vec![class]), "{name}");
        }
    }
}

/// RESUME-16
#[test]
fn a_wider_foreign_repository_of_another_user_needs_each_acceptance() {
    use DriftClass::{Principal, Repository, Roots};
    let standing = made(&at("/r/a", Some("/r/.git"), None));
    let mut found = at("/r", Some("/.git"), None);
    found.principal = Some("uid:2".into());
    assert_eq!(
        arrive(&standing, found.clone(), &[Roots]),
        Err(vec![Principal, Repository])
    );
    let all = arrive(&standing, found, &DriftClass::ALL).unwrap();
    assert_eq!(all.path, ResumePath::CrossProject);
    assert!(all.is_elsewhere());
}

/// RESUME-14
#[test]
fn a_session_of_nobody_may_be_anyones_and_one_of_somebody_is_not_anyones() {
    let mut nobodys = at("/w", None, None);
    nobodys.principal = None;
    let mine = at("/w", None, None);
    assert!(arrive(&made(&nobodys), mine.clone(), &[]).is_ok());
    let refused = arrive(&made(&mine), nobodys, &[]);
    assert_eq!(refused, Err(vec![DriftClass::Principal]));
}

/// RESUME-16: what was accepted stays so in that place, and home is home.
#[test]
fn where_it_was_made_and_where_it_was_last_attested_are_both_known() {
    let mut standing = made(&at("/w", None, None));
    standing.surroundings = Some(at("/x", None, None));
    for (cwd, known) in [("/w", true), ("/x", true), ("/y", false)] {
        assert_eq!(
            arrive(&standing, at(cwd, None, None), &[]).is_ok(),
            known,
            "{cwd}"
        );
    }
}

#[test]
fn of_a_place_that_was_only_named_the_name_is_compared() {
    let mut standing = made(&at("/w", None, None));
    let header = standing.header.as_mut().unwrap();
    header.workspace = Workspace::default();
    let found = at("/w", Some("/w/.git"), None);
    assert_eq!(
        arrive(&standing, found, &[]).map(|a| a.drift),
        Ok(Vec::new())
    );
    assert!(arrive(&standing, at("/v", Some("/v/.git"), None), &[]).is_err());
}

/// RESUME-16, SEC-5
#[test]
fn a_mode_that_came_to_allow_more_must_be_accepted_and_one_that_allows_less_is_attested() {
    use ModePolicy::{Allow, Ask, Deny};
    let place = at("/w", None, None);
    let cases = [
        (Ask, Ask, None),
        (Ask, Allow, Some(true)),
        (Deny, Ask, Some(true)),
        (Allow, Ask, Some(false)),
        (Ask, Deny, Some(false)),
    ];
    for (then, now, expected) in cases {
        let mut standing = made(&place);
        standing.last_run = Some(LastRun {
            version: Some("1".into()),
            mode: Some("m".into()),
            policy: Some(then),
        });
        let drift = drift(&standing, &info(now), &place);
        let refused = drift
            .first()
            .map(|drift| drift.class == Some(DriftClass::Policy));
        assert_eq!(refused, expected, "{then:?} {now:?}");
        // The user's own choice is no drift.
        standing.mode = Some("other".into());
        standing.last_run = None;
        let fields: Vec<_> = super::drift(&standing, &info(now), &place)
            .into_iter()
            .map(|drift| drift.field)
            .collect();
        assert_eq!(fields, [DriftField::Mode]);
    }
}

#[test]
fn another_version_host_or_branch_is_attested_only() {
    let mut standing = made(&at("/w", Some("/w/.git"), Some("/w")));
    standing.header.as_mut().unwrap().agent.version = Some("0".into());
    let mut found = at("/w", Some("/w/.git"), Some("/w"));
    found.host = Some("there".into());
    found.workspace.branch = Some("b".into());
    let arrival = arrive(&standing, found, &[]).unwrap();
    let fields: Vec<_> = arrival.drift.iter().map(|drift| drift.field).collect();
    assert_eq!(
        fields,
        [DriftField::Host, DriftField::Branch, DriftField::Version]
    );
    assert_eq!(
        (arrival.path, arrival.is_elsewhere()),
        (ResumePath::Id, false)
    );
}

/// RESUME-5, RESUME-16: an agent that tells what it is only once it runs is compared then, and what
/// it then lets happen has to be accepted like anything else.
#[test]
fn an_agent_that_tells_later_what_it_is_is_compared_when_it_has() {
    let place = at("/w", None, None);
    let mut standing = made(&place);
    standing.last_run = Some(LastRun {
        version: Some("1".into()),
        mode: Some("m".into()),
        policy: Some(ModePolicy::Ask),
    });
    let untold = AgentInfo {
        id: AgentId {
            version: None,
            ..info(ModePolicy::Ask).id
        },
        modes: Vec::new(),
        ..info(ModePolicy::Ask)
    };
    let newer = |policy| {
        let mut newer = info(policy);
        newer.id.version = Some("2".into());
        newer
    };
    let accept = [DriftClass::Policy];
    let arrive = |accept: &[DriftClass]| {
        let arrival = Arrival::opening((&standing, &untold), place.clone(), wish(accept));
        let arrival = arrival.unwrap();
        assert_eq!(arrival.drift, []);
        arrival
    };
    let told = arrive(&[]).told((&standing, &newer(ModePolicy::Ask)), &[]);
    let version = Drift {
        field: DriftField::Version,
        class: None,
        recorded: Some("1".into()),
        found: Some("2".into()),
    };
    assert_eq!(told.unwrap().drift, [version]);
    let looser = newer(ModePolicy::Allow);
    let refused = arrive(&[]).told((&standing, &looser), &[]);
    let fields: Vec<DriftClass> = refused.unwrap_err().fields.into();
    assert_eq!(fields, accept);
    let accepted = arrive(&accept).told((&standing, &looser), &accept).unwrap();
    assert_eq!(accepted.accepted().iter().collect::<Vec<_>>(), accept);
    // Told twice is compared once.
    let again = accepted.clone().told((&standing, &looser), &accept);
    assert_eq!(again.unwrap(), accepted);
}

#[test]
fn what_a_refusal_says_names_the_classes_and_nothing_of_the_place() {
    let standing = made(&at("/secret/place", None, None));
    let info = info(ModePolicy::Ask);
    let found = at("/other", None, None);
    let error = Arrival::opening((&standing, &info), found, wish(&[])).unwrap_err();
    assert_eq!(error.code, ErrorCode::Drifted);
    assert!(error.message.contains("SESSIOND_ACCEPT=roots"), "{error}");
    assert!(!error.message.contains("secret"), "{error}");
}

fn wish(accept: &[DriftClass]) -> Wish<'_> {
    Wish {
        found_by: FoundBy::Id,
        accept,
        roots: None,
    }
}

/// CKPT-4: a root beside the working directory that widens the reach must be accepted; a duplicate
/// or a narrower one never widens it; any change lets the grants go.
#[test]
fn roots_beside_the_working_directory_are_a_boundary() {
    let home = || at("/w/app", Some("/w/.git"), Some("/w"));
    let mut standing = made(&home());
    standing.roots = vec!["/data".into(), "/lib/one".into()];
    // Roots given now, whether they must be accepted, whether the grants go.
    let cases: [(&[&str], bool, bool); 12] = [
        (&["/data", "/lib/one"], false, false),
        (&["/lib/one", "/data"], false, false),
        (&["/data", "/data", "/lib/one"], false, false),
        (&["/data"], false, true),
        (&[], false, true),
        (&["/data/part", "/lib/one"], false, true),
        (&["/data", "/lib/one", "/w/app/src"], false, true),
        (&["/data", "/lib/two"], true, true),
        (&["/data", "/lib"], true, true),
        (&["/data", "/lib/one", "/home/u"], true, true),
        (&["/"], true, true),
        (&["/database"], true, true),
    ];
    let info = info(ModePolicy::Ask);
    for (roots, must, regrant) in cases {
        let roots: Vec<String> = roots.iter().map(|root| (*root).to_owned()).collect();
        let come = |accept| {
            let wish = Wish {
                roots: Some(&roots),
                ..wish(accept)
            };
            Arrival::opening((&standing, &info), home(), wish)
        };
        let refused = come(&[]).err().map(|error| Vec::from(error.fields));
        let expected = must.then(|| vec![DriftClass::Roots]);
        assert_eq!(refused, expected, "{roots:?}");
        let arrival = come(&[DriftClass::Roots]).unwrap();
        assert_eq!(arrival.is_elsewhere(), regrant, "{roots:?}");
        assert_eq!(arrival.path, ResumePath::Id, "{roots:?}");
        let added = arrival.drift.iter().filter(|drift| drift.class.is_some());
        let named: Vec<_> = added.filter_map(|drift| drift.found.clone()).collect();
        let is_new = |root: &&String| !standing.roots.contains(*root);
        let news: Vec<_> = roots.iter().filter(is_new).cloned().collect();
        assert!(!must || named == news, "{roots:?}: {named:?}");
    }
}
