//! What a schema says about a value, with its references followed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// References that may lead from one to the next; more is a circle.
const HOPS: usize = 16;

/// A schema, flat: what it says itself and what it refers to say.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    /// The references that were followed.
    pub(super) refs: Vec<&'a str>,
    /// Possible types; none is any.
    pub(super) types: Vec<&'a str>,
    /// Members by name.
    pub(super) members: BTreeMap<&'a str, &'a Value>,
    /// Members that must be there.
    pub(super) required: Vec<&'a str>,
    /// Possible values; none is any.
    pub(super) values: Option<Vec<&'a Value>>,
    /// The one possible value, said by `const`.
    only: Option<&'a Value>,
    /// Alternatives: `oneOf` or `anyOf`.
    pub(super) variants: Vec<&'a Value>,
    /// What a list holds.
    pub(super) items: Option<&'a Value>,
    /// Keywords with a number: `maximum`, `minLength` …
    pub(super) limits: BTreeMap<&'a str, f64>,
    /// The form of a text.
    pub(super) pattern: Option<&'a str>,
    /// Whether members without a name here are refused.
    pub(super) closed: Option<&'a Value>,
}

/// Keywords that bound a value from above and from below.
pub(super) const UPPER: [&str; 3] = ["maximum", "maxLength", "maxItems"];
pub(super) const LOWER: [&str; 3] = ["minimum", "minLength", "minItems"];

impl<'a> Shape<'a> {
    /// The shape of a schema of this document.
    pub(super) fn of(schema: &'a Value, document: &'a Value) -> Self {
        let mut shape = Self::default();
        let mut next = schema.as_object();
        for _ in 0..HOPS {
            let Some(map) = next.take() else { break };
            shape.take_in(map);
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                shape.refs.push(reference);
                let target = document.pointer(reference.trim_start_matches('#'));
                next = target.and_then(Value::as_object);
            }
        }
        shape
    }

    fn take_in(&mut self, map: &'a Map<String, Value>) {
        match map.get("type") {
            Some(Value::String(one)) => self.types = vec![one],
            Some(Value::Array(many)) => {
                self.types = many.iter().filter_map(Value::as_str).collect()
            }
            _ => {}
        }
        let members = map.get("properties").and_then(Value::as_object);
        for (name, member) in members.into_iter().flatten() {
            self.members.entry(name).or_insert(member);
        }
        self.required
            .extend(list(map, "required").filter_map(Value::as_str));
        if let Some(value) = map.get("const") {
            self.only = Some(value);
            self.values = Some(vec![value]);
        } else if map.contains_key("enum") {
            self.values = Some(list(map, "enum").collect());
        }
        self.variants
            .extend(list(map, "oneOf").chain(list(map, "anyOf")));
        self.items = self.items.or(map.get("items"));
        for keyword in UPPER.iter().chain(&LOWER) {
            if let Some(limit) = map.get(*keyword).and_then(Value::as_f64) {
                self.limits.insert(keyword, limit);
            }
        }
        self.pattern = self.pattern.or(map.get("pattern").and_then(Value::as_str));
        self.closed = self.closed.or(map.get("additionalProperties"));
    }

    /// Whether one of its members can only be one text: what it is one of several by.
    pub(super) fn is_tagged(&self, document: &'a Value) -> bool {
        self.tag(document).is_some()
    }

    fn tag(&self, document: &'a Value) -> Option<String> {
        self.members.iter().find_map(|(name, member)| {
            let only = Shape::of(member, document).only?;
            Some(format!("{name}={}", only.as_str()?))
        })
    }

    /// What tells this shape from its siblings: its tag, its only value, the reference, the members
    /// that must be there, the type.
    pub(super) fn name(&self, document: &'a Value) -> String {
        let value = || self.only.map(Value::to_string);
        let of_refs = || self.refs.first().map(|reference| (*reference).to_owned());
        let name = self.tag(document).or_else(value).or_else(of_refs);
        name.unwrap_or_else(|| match &self.required[..] {
            [] => self.types.join("|"),
            required => required.join("+"),
        })
    }
}

fn list<'a>(map: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    map.get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
