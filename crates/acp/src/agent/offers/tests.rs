//! Modes and options of an agent, each seen once.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_protocol::OptionValue;

use super::{ModeBy, Offers};

fn offers(answer: &Value) -> Offers {
    let raw: Box<RawValue> = serde_json::value::to_raw_value(answer).unwrap();
    Offers::read(&raw)
}

fn select(id: &str, category: &str, current: &str, options: Value) -> Value {
    json!({
        "id": id, "name": id, "category": category, "type": "select", "currentValue": current,
        "options": options,
    })
}

#[test]
fn an_option_of_category_mode_is_the_modes_and_no_option() {
    let choices = json!([{ "value": "a", "name": "A" }, { "value": "b", "name": "B" }]);
    let modes = json!({
        "currentModeId": "b",
        "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }],
    });
    let option = select("mode", "mode", "b", choices);
    let cases = [
        (json!({ "modes": modes }), ModeBy::Mode),
        (
            json!({ "modes": modes, "configOptions": [option] }),
            ModeBy::Mode,
        ),
        (json!({ "configOptions": [option] }), ModeBy::Option),
    ];
    for (answer, by) in cases {
        let offers = offers(&answer);
        let ids = |modes: &[sessiond_protocol::Mode]| {
            modes.iter().map(|mode| mode.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&offers.modes), ["a", "b"], "{answer}");
        assert_eq!(ids(&offers.modes_from_current()), ["b", "a"], "{answer}");
        assert_eq!(
            (offers.mode.as_deref(), offers.mode_by),
            (Some("b"), by),
            "{answer}"
        );
        assert!(offers.options.is_empty(), "{answer}");
    }
}

#[test]
fn options_are_read_flat_grouped_and_boolean_and_a_bad_one_is_left_out() {
    let flat = select(
        "model",
        "model",
        "x",
        json!([{ "value": "x", "name": "X" }]),
    );
    let grouped = select(
        "effort",
        "_own",
        "hi",
        json!([{ "group": "g", "name": "G", "options": [{ "value": "hi", "name": "Hi" }] }]),
    );
    let boolean = json!({ "id": "fast", "name": "Fast", "type": "boolean", "currentValue": true });
    let bad = json!({ "id": 5 });
    let offers = offers(&json!({ "configOptions": [flat, bad, grouped, boolean] }));
    let told: Vec<_> = offers
        .options
        .iter()
        .map(|option| {
            (
                &*option.id,
                option.category.as_deref(),
                option.value.clone(),
            )
        })
        .collect();
    let choice = |id: &str| OptionValue::Choice(id.to_owned());
    assert_eq!(
        told,
        [
            ("model", Some("model"), choice("x")),
            ("effort", Some("_own"), choice("hi")),
            ("fast", None, OptionValue::Boolean(true)),
        ]
    );
    assert_eq!(offers.options[1].choices[0].group.as_deref(), Some("G"));
}
