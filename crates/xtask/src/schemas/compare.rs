//! Whether a program that was written against the old schema still fits the new one.
//!
//! | change | in what clients send | in what the server sends |
//! | --- | --- | --- |
//! | a member, a variant or a value is gone | breaks | breaks |
//! | a member, a variant or a value is new | fits | fits: what is unknown is passed over |
//! | a member is required that was not | breaks | fits |
//! | a member may be missing that was always there | fits | breaks |
//! | fewer types, tighter bounds, another form | breaks | fits |
//! | more types, `null` among them | fits | breaks |

use std::collections::BTreeSet;

use serde_json::Value;

use super::shape::{LOWER, Shape, UPPER};

/// Who sends what the schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// Old clients send: nothing they may say is refused.
    Client,
    /// Old clients read: nothing comes that they cannot take.
    Server,
}

impl Sender {
    /// By the schema's file name.
    pub(super) fn of(file: &str) -> Self {
        if file.contains("client") {
            Self::Client
        } else {
            Self::Server
        }
    }
}

/// What breaks, each as a place and a reason.
pub(super) fn compare(old: &Value, new: &Value, sender: Sender) -> Vec<String> {
    let mut comparison = Comparison {
        old,
        new,
        sender,
        seen: BTreeSet::new(),
        broken: Vec::new(),
    };
    comparison.schemas(old, new, "");
    comparison.broken
}

struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    sender: Sender,
    /// Pairs of definitions that were compared; schemas refer to themselves.
    seen: BTreeSet<(Vec<&'a str>, Vec<&'a str>)>,
    broken: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn breaks(&mut self, place: &str, why: &str) {
        let place = if place.is_empty() { "/" } else { place };
        self.broken.push(format!("{place} {why}"));
    }

    fn schemas(&mut self, old: &'a Value, new: &'a Value, place: &str) {
        let (was, is) = (Shape::of(old, self.old), Shape::of(new, self.new));
        // What stands beside a reference, a variant's tag, is compared in any case.
        let known = !self.seen.insert((was.refs.clone(), is.refs.clone()));
        if known && !was.refs.is_empty() && !was.is_tagged(self.old) {
            return;
        }
        self.types(&was, &is, place);
        self.values(&was, &is, place);
        self.bounds(&was, &is, place);
        self.members(&was, &is, place);
        self.variants((old, &was), (new, &is), place);
        match (was.items, is.items) {
            (Some(old), Some(new)) => self.schemas(old, new, &format!("{place}[]")),
            (None, Some(_)) if self.sender == Sender::Client => {
                self.breaks(place, "holds fewer kinds of things");
            }
            (Some(_), None) if self.sender == Sender::Server => {
                self.breaks(place, "holds more kinds of things");
            }
            _ => {}
        }
    }

    fn types(&mut self, was: &Shape<'_>, is: &Shape<'_>, place: &str) {
        let within = |some: &[&str], all: &[&str]| {
            let fits =
                |one: &&str| all.contains(one) || (*one == "integer" && all.contains(&"number"));
            all.is_empty() || (!some.is_empty() && some.iter().all(fits))
        };
        match self.sender {
            Sender::Client if !within(&was.types, &is.types) => {
                self.breaks(place, "has fewer types");
            }
            Sender::Server if !within(&is.types, &was.types) => {
                self.breaks(place, "has more types");
            }
            _ => {}
        }
    }

    fn values(&mut self, was: &Shape<'_>, is: &Shape<'_>, place: &str) {
        match (&was.values, &is.values) {
            (Some(was), Some(is)) => {
                for value in was.iter().filter(|value| !is.contains(value)) {
                    self.breaks(place, &format!("cannot be {value} any more"));
                }
            }
            (None, Some(_)) if self.sender == Sender::Client => {
                self.breaks(place, "is one of a few values now");
            }
            (Some(_), None) if self.sender == Sender::Server => {
                self.breaks(place, "may be any value now");
            }
            _ => {}
        }
    }

    /// Clients only read bounds of the server's as hints.
    fn bounds(&mut self, was: &Shape<'_>, is: &Shape<'_>, place: &str) {
        if self.sender == Sender::Server {
            return;
        }
        let tightened = |keyword: &&str| match (was.limits.get(keyword), is.limits.get(keyword)) {
            (Some(was), Some(is)) if UPPER.contains(keyword) => is < was,
            (Some(was), Some(is)) => is > was,
            (None, Some(_)) => true,
            _ => false,
        };
        for keyword in UPPER
            .iter()
            .chain(&LOWER)
            .filter(|keyword| tightened(keyword))
        {
            self.breaks(place, &format!("has a tighter {keyword}"));
        }
        if is.pattern.is_some() && is.pattern != was.pattern {
            self.breaks(place, "has another form");
        }
        if is.closed == Some(&Value::Bool(false)) && is.closed != was.closed {
            self.breaks(place, "takes no other members now");
        }
    }

    fn members(&mut self, was: &Shape<'a>, is: &Shape<'a>, place: &str) {
        for (name, old) in &was.members {
            let place = format!("{place}/{name}");
            match is.members.get(name) {
                Some(new) => self.schemas(old, new, &place),
                None => self.breaks(&place, "is gone"),
            }
        }
        let (more, fewer) = (&is.required, &was.required);
        match self.sender {
            Sender::Client => {
                for name in more.iter().filter(|name| !fewer.contains(name)) {
                    self.breaks(&format!("{place}/{name}"), "is required now");
                }
            }
            Sender::Server => {
                for name in fewer.iter().filter(|name| !more.contains(name)) {
                    self.breaks(&format!("{place}/{name}"), "may be missing now");
                }
            }
        }
    }

    fn variants(
        &mut self,
        (old, was): (&'a Value, &Shape<'a>),
        (new, is): (&'a Value, &Shape<'a>),
        place: &str,
    ) {
        match (was.variants.is_empty(), is.variants.is_empty()) {
            (true, true) => {}
            (true, false) => match self.sender {
                Sender::Client => self.any(&[old], &is.variants, place),
                Sender::Server => self.breaks(place, "has more forms"),
            },
            (false, true) => match self.sender {
                Sender::Client => self.breaks(place, "has fewer forms"),
                Sender::Server => self.any(&was.variants, &[new], place),
            },
            (false, false) => {
                for old in &was.variants {
                    let name = Shape::of(old, self.old).name(self.old);
                    let named = |new: &&&'a Value| Shape::of(new, self.new).name(self.new) == name;
                    let place = format!("{place}({name})");
                    match is.variants.iter().find(named) {
                        Some(new) => self.schemas(old, new, &place),
                        None => self.breaks(&place, "is gone"),
                    }
                }
            }
        }
    }

    /// One of the pairs has to fit.
    fn any(&mut self, old: &[&'a Value], new: &[&'a Value], place: &str) {
        let fits = old.iter().any(|old| {
            new.iter().any(|new| {
                let mut alone = Comparison {
                    seen: self.seen.clone(),
                    broken: Vec::new(),
                    ..*self
                };
                alone.schemas(old, new, place);
                alone.broken.is_empty()
            })
        });
        if !fits {
            self.breaks(place, "has no form that fits");
        }
    }
}
