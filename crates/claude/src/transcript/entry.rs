//! An entry of the conversation, whole.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use sessiond_wire::foreign::{Flag, Lenient, Text, cleaned, drain_map};
use sessiond_wire::otherwise;

/// The members that a conversation is made of.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Entry<'a> {
    #[serde(borrow)]
    pub(crate) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(crate) message: Lenient<Message<'a>>,
    pub(crate) is_api_error_message: Flag,
    pub(crate) is_aborted_mid_stream: Flag,
    #[serde(borrow)]
    pub(crate) tool_denial_kind: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) content: Blocks<'a>,
}

/// The content of a message or a result.
#[derive(Debug, Default)]
pub(crate) enum Blocks<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    List(Vec<Block<'a>>),
}

/// A block; the members of all kinds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) text: Text<'a>,
    #[serde(borrow)]
    pub(crate) thinking: Text<'a>,
    #[serde(borrow)]
    pub(crate) signature: Text<'a>,
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    pub(crate) input: Value,
    #[serde(borrow)]
    pub(crate) tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) content: Blocks<'a>,
    pub(crate) is_error: Flag,
    #[serde(borrow)]
    pub(crate) title: Text<'a>,
    #[serde(borrow)]
    pub(crate) source: Lenient<Source<'a>>,
}

/// Where the data of a picture or document is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Source<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) media_type: Text<'a>,
    #[serde(borrow)]
    pub(crate) data: Text<'a>,
    #[serde(borrow)]
    pub(crate) url: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Blocks<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlocksVisitor;

        impl<'de> Visitor<'de> for BlocksVisitor {
            type Value = Blocks<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the content of a message")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Blocks::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Blocks::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(Lenient(block)) = seq.next_element::<Lenient<Block<'de>>>()? {
                    blocks.extend(block);
                }
                Ok(Blocks::List(blocks))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Blocks::Nothing)
            }

            otherwise!(Blocks::Nothing, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(BlocksVisitor)
    }
}

/// Reads an entry with `read`. Lone surrogates and NULs, which a store would refuse later, become
/// U+FFFD; so does what is no UTF-8 (WIRE-5).
///
/// # Errors
/// [`Unreadable`].
pub(crate) fn with_entry<T>(
    bytes: &[u8],
    read: impl FnOnce(Entry<'_>) -> T,
) -> Result<T, Unreadable> {
    let entry = cleaned(bytes).map_err(|_| Unreadable)?;
    let entry = serde_json::from_str(&entry).map_err(|_| Unreadable)?;
    Ok(read(entry))
}

/// The entry reads as JSON, and yet not as an entry: it nests too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;
