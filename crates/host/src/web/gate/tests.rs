use super::*;

/// SEC-3
#[test]
fn only_who_knows_the_secret_and_comes_from_nowhere_else_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attach");
    let secret = Secret::at(&path).unwrap();
    let bearer = format!("Bearer {}", std::fs::read_to_string(&path).unwrap().trim());
    let origins = vec!["http://listed".to_owned()];
    let layer = GateLayer::new(secret, origins, "127.0.0.1:80".parse().unwrap());
    let check = |host, origin: Option<&'static str>, authorization| {
        let headers = Headers {
            host,
            has_origin: origin.is_some(),
            origin,
            authorization,
        };
        layer.0.check(&headers).map_err(|refusal| refusal.status)
    };
    let (good, host) = (Some(bearer.as_str()), Some("127.0.0.1:80"));
    let table = [
        (check(host, None, good), Ok(())),
        (check(Some("localhost:80"), None, good), Ok(())),
        (check(host, Some("http://listed"), good), Ok(())),
        (check(host, Some("http://evil"), good), Err(403)),
        (check(host, Some("null"), good), Err(403)),
        (check(Some("evil:80"), None, good), Err(403)),
        (check(Some("127.0.0.1:81"), None, good), Err(403)),
        (check(None, None, good), Err(403)),
        (check(host, None, None), Err(401)),
        (check(host, None, Some("Bearer ")), Err(401)),
        (check(host, None, Some("Bearer 00")), Err(401)),
        (
            check(host, None, Some(&bearer["Bearer ".len()..])),
            Err(401),
        ),
    ];
    for (row, (found, expected)) in table.into_iter().enumerate() {
        assert_eq!(found, expected, "row {row}");
    }
    let unreadable = Headers {
        host,
        has_origin: true,
        origin: None,
        authorization: good,
    };
    assert!(
        layer.0.check(&unreadable).is_err(),
        "an origin that is no text"
    );
}
