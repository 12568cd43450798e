//! A line of a rollout: its envelope, and of its payload what a conversation is made of. Whatever
//! else stands in it is passed over, not parsed into values.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use sessiond_wire::foreign::{Flag, Lenient, Text, cleaned, drain_map, drain_seq};
use sessiond_wire::otherwise;

use super::out::REJECTED;

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    pub(super) ordinal: Number,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) payload: Lenient<Payload<'a>>,
    pub(super) metadata: Lenient<Metadata>,
}

/// What the program notes of an item of the model's.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    /// Whether it is the summary of a compaction, which a line of its own tells.
    pub(super) compaction_output: Flag,
}

impl Line<'_> {
    /// Whether this can be a line, and not some part of one.
    pub(super) fn is_line(&self) -> bool {
        self.kind.as_str().is_some() && self.payload.0.is_some()
    }
}

/// The members of all kinds of payload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    // Of a head.
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(borrow)]
    pub(super) cli_version: Text<'a>,
    #[serde(borrow)]
    pub(super) history_mode: Text<'a>,
    #[serde(borrow)]
    pub(super) model_provider: Text<'a>,
    #[serde(borrow)]
    pub(super) history_base: Lenient<Base<'a>>,
    #[serde(borrow)]
    pub(super) git: Lenient<Git<'a>>,
    // Of an item of the model's.
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Blocks<'a>,
    #[serde(borrow)]
    pub(super) summary: Blocks<'a>,
    #[serde(borrow)]
    pub(super) encrypted_content: Text<'a>,
    #[serde(borrow)]
    pub(super) internal_chat_message_metadata_passthrough: Lenient<Passthrough<'a>>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Argument<'a>,
    #[serde(borrow)]
    pub(super) input: Argument<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) output: Blocks<'a>,
    pub(super) action: Value,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) revised_prompt: Text<'a>,
    // Of an event, and of a compaction.
    #[serde(borrow)]
    pub(super) turn_id: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    #[serde(borrow)]
    pub(super) replacement_history: Replacement<'a>,
    pub(super) num_turns: Number,
    pub(super) exit_code: Number,
    pub(super) changes: Value,
    pub(super) success: Value,
    #[serde(borrow)]
    pub(super) result: Outcome<'a>,
    #[serde(borrow)]
    pub(super) error: Lenient<Failure<'a>>,
    #[serde(borrow)]
    pub(super) item: Lenient<Shown<'a>>,
}

/// What of another file comes before a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Base<'a> {
    #[serde(borrow)]
    pub(super) thread_id: Text<'a>,
    pub(super) end_ordinal_exclusive: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Git<'a> {
    #[serde(borrow)]
    pub(super) branch: Text<'a>,
}

/// What the program notes of each block of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Passthrough<'a> {
    #[serde(borrow)]
    pub(super) content_item_kinds: Vec<Text<'a>>,
}

/// Why a turn failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub(super) message: Text<'a>,
}

/// An item as the program shows it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Shown<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) exit_code: Number,
    pub(super) changes: Value,
    #[serde(borrow)]
    pub(super) error: Lenient<Failure<'a>>,
}

/// A block of content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
    #[serde(borrow)]
    pub(super) image_url: Text<'a>,
    #[serde(borrow)]
    pub(super) audio_url: Text<'a>,
}

/// The content of a message or a result: a text, or blocks.
#[derive(Debug, Default)]
pub(super) enum Blocks<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    List(Vec<Block<'a>>),
}

/// The arguments of a call: a text, or what stands there in its place.
#[derive(Debug, Default)]
pub(super) enum Argument<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Value(Value),
}

/// The result of an event: the data of a picture, or `Ok` and `Err` of a tool's.
#[derive(Debug, Default)]
pub(super) enum Outcome<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Good,
    /// It failed, or somebody did not let it run.
    Bad,
    Rejected,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Good {
    is_error: Flag,
}

/// What the model has in place of what was said before: the id of the last item, the summary.
#[derive(Debug, Default)]
pub(super) struct Replacement<'a>(pub(super) Text<'a>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

/// A whole number; nothing where something else stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Number(pub(super) Option<i64>);

impl Number {
    /// The number, where it is one and not below zero.
    pub(super) fn whole(self) -> Option<u64> {
        self.0.and_then(|number| u64::try_from(number).ok())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;

        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Number(Some(number)))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Number(i64::try_from(number).ok()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Number(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Number(None))
            }

            otherwise!(Number(None), visit_bool: bool, visit_str: &str, visit_f64: f64);
        }

        deserializer.deserialize_any(NumberVisitor)
    }
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

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                // Older results are an object with the content in it.
                let mut found = Blocks::Nothing;
                while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
                    match name.as_deref() {
                        Some("content") => found = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(found)
            }

            otherwise!(Blocks::Nothing, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(BlocksVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Replacement<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReplacementVisitor;

        impl<'de> Visitor<'de> for ReplacementVisitor {
            type Value = Replacement<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut last = Text::default();
                while let Some(Lenient(item)) = seq.next_element::<Lenient<Named<'de>>>()? {
                    last = item.map(|item| item.id).unwrap_or_default();
                }
                Ok(Replacement(last))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Replacement::default())
            }

            otherwise!(Replacement::default(), visit_bool: bool, visit_str: &str, visit_i64: i64,
                visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(ReplacementVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Argument<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentVisitor;

        impl<'de> Visitor<'de> for ArgumentVisitor {
            type Value = Argument<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the arguments of a call")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Argument::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Argument::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                let deserializer = de::value::SeqAccessDeserializer::new(seq);
                Value::deserialize(deserializer).map(Argument::Value)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let deserializer = de::value::MapAccessDeserializer::new(map);
                Value::deserialize(deserializer).map(Argument::Value)
            }

            otherwise!(Argument::Nothing, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(ArgumentVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Outcome<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OutcomeVisitor;

        impl<'de> Visitor<'de> for OutcomeVisitor {
            type Value = Outcome<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the result of an event")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Outcome::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Outcome::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Outcome::Nothing)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut found = Outcome::Nothing;
                while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
                    match name.as_deref() {
                        Some("Ok") => {
                            let Lenient(good) = map.next_value::<Lenient<Good>>()?;
                            let is_error = good.is_some_and(|good| good.is_error.0);
                            found = match is_error {
                                true => Outcome::Bad,
                                false => Outcome::Good,
                            };
                        }
                        Some("Err") => {
                            let why = map.next_value::<Text<'de>>()?;
                            let is_rejected = why.as_str().is_some_and(|w| w.starts_with(REJECTED));
                            found = match is_rejected {
                                true => Outcome::Rejected,
                                false => Outcome::Bad,
                            };
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(found)
            }

            otherwise!(Outcome::Nothing, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(OutcomeVisitor)
    }
}

impl<'a> Blocks<'a> {
    /// As blocks; a bare text is one.
    pub(super) fn into_list(self) -> Vec<Block<'a>> {
        match self {
            Blocks::Nothing => Vec::new(),
            Blocks::List(list) => list,
            Blocks::Text(text) => vec![Block {
                kind: Text(Some("input_text".into())),
                text: Text(Some(text)),
                ..Block::default()
            }],
        }
    }

    /// The texts of all blocks.
    pub(super) fn into_texts(self) -> Vec<String> {
        let blocks = self.into_list().into_iter();
        blocks.filter_map(|b| b.text.into_string()).collect()
    }
}

/// Reads a line, if it is one: without what a store would refuse (WIRE-5).
pub(super) fn with_line<T>(bytes: &[u8], read: impl FnOnce(Line<'_>) -> T) -> Option<T> {
    let text = cleaned(bytes).ok()?;
    let line = serde_json::from_str::<Line<'_>>(&text).ok()?;
    line.is_line().then(|| read(line))
}

/// The length of the line that some bytes begin with.
pub(super) fn length_of(bytes: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Line<'_>>();
    let line = values.next()?.ok()?;
    line.is_line().then(|| values.byte_offset())
}
