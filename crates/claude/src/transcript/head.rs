//! What the index needs of an entry. The rest of a line is passed over, not parsed into values.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use sessiond_wire::foreign::{Flag, Lenient, Text, drain_map};
use sessiond_wire::otherwise;

/// The members of an entry that place it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) subtype: Text<'a>,
    #[serde(borrow)]
    pub(crate) uuid: Text<'a>,
    #[serde(borrow)]
    pub(crate) parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub(crate) logical_parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub(crate) leaf_uuid: Text<'a>,
    pub(crate) is_sidechain: Flag,
    pub(crate) is_meta: Flag,
    pub(crate) is_compact_summary: Flag,
    #[serde(borrow)]
    pub(crate) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(crate) session_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) cwd: Text<'a>,
    #[serde(borrow)]
    pub(crate) git_branch: Text<'a>,
    #[serde(borrow)]
    pub(crate) version: Text<'a>,
    #[serde(borrow)]
    pub(crate) custom_title: Text<'a>,
    #[serde(borrow)]
    pub(crate) ai_title: Text<'a>,
    #[serde(borrow)]
    pub(crate) message: Lenient<Message<'a>>,
}

impl Head<'_> {
    /// Whether this can be an entry, and not some part of one.
    pub(crate) fn is_entry(&self) -> bool {
        let kind = self.kind.as_str();
        kind.is_some() && (self.uuid.as_str().is_some() || self.session_id.as_str().is_some())
    }
}

/// A message without what it says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) content: Calls<'a>,
}

/// The ids in a message's content: of calls, and of those that it holds results of.
#[derive(Debug, Default)]
pub(crate) struct Calls<'a> {
    pub(crate) made: Vec<Text<'a>>,
    pub(crate) answered: Vec<Text<'a>>,
    /// Whether there is anything but results.
    pub(crate) says: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Calls<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallsVisitor;

        fn says<'a, E>() -> Result<Calls<'a>, E> {
            Ok(Calls {
                says: true,
                ..Calls::default()
            })
        }

        impl<'de> Visitor<'de> for CallsVisitor {
            type Value = Calls<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the content of a message")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut calls = Calls::default();
                while let Some(Lenient(block)) = seq.next_element::<Lenient<Block<'de>>>()? {
                    let Some(block) = block else { continue };
                    if block.kind.is("tool_result") {
                        calls.answered.push(block.tool_use_id);
                        continue;
                    }
                    calls.says = true;
                    if block.kind.is("tool_use") {
                        calls.made.push(block.id);
                    }
                }
                Ok(calls)
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
                says()
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Calls::default())
            }

            otherwise!(Calls::default(), visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(CallsVisitor)
    }
}
