use super::{Cost, Currency};

#[test]
fn an_amount_is_kept_to_the_billionth() {
    let usd: Currency = "USD".parse().unwrap();
    for (amount, nanos) in [
        (0.0, Some(0)),
        (0.012_345_678, Some(12_345_678)),
        (1.0, Some(1_000_000_000)),
        (1e10, Some(10_000_000_000_000_000_000)),
        (-0.01, None),
        (f64::NAN, None),
        (1e30, None),
    ] {
        let cost = Cost::of(amount, usd);
        assert_eq!(cost.map(|cost| cost.nanos), nanos, "{amount}");
        if let Some(cost) = cost {
            assert!((cost.amount() - amount).abs() < 1e-9, "{amount}");
        }
    }
}

#[test]
fn a_currency_is_three_upper_case_letters() {
    for (text, is_one) in [
        ("USD", true),
        ("usd", false),
        ("US", false),
        ("USDT", false),
        ("€", false),
    ] {
        assert_eq!(text.parse::<Currency>().is_ok(), is_one, "{text}");
    }
    let written = serde_json::to_string(&"EUR".parse::<Currency>().unwrap()).unwrap();
    assert_eq!(written, "\"EUR\"");
    assert!(serde_json::from_str::<Currency>("\"eur\"").is_err());
}
