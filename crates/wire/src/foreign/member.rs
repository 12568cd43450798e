//! Members of foreign entries, read so that a surprise in one of them costs that one alone.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::hygiene::{self, Depth};

/// A string; nothing where something else stands. Borrowed where it has no escapes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text, where there is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Whether it is this one.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }

    /// The text as one of its own.
    #[must_use]
    pub fn into_string(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }
}

/// `true`; false where anything else stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

/// An object that reads as `T`; nothing where something else stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The visits of a reader that carry nothing of use to it: `otherwise!(VALUE, visit_bool: bool, …)`.
#[macro_export]
macro_rules! otherwise {
    ($value:expr, $($visit:ident: $ty:ty),*) => {
        $(fn $visit<E: ::serde::de::Error>(self, _: $ty) -> Result<Self::Value, E> {
            Ok($value)
        })*
        fn visit_unit<E: ::serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

/// Passes over the rest of an array.
///
/// # Errors
/// Of the text that is read.
pub fn drain_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Passes over the rest of an object.
///
/// # Errors
/// Of the text that is read.
pub fn drain_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Text(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Text(None))
            }

            otherwise!(Text(None), visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;

        impl<'de> Visitor<'de> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(Flag(flag))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Flag(false))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Flag(false))
            }

            otherwise!(Flag(false), visit_str: &str, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(FlagVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Lenient<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let object = T::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Lenient(Some(object)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Lenient(None))
            }

            otherwise!(Lenient(None), visit_bool: bool, visit_str: &str, visit_i64: i64,
                visit_u64: u64, visit_f64: f64);
        }

        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

/// The text of an entry without what a strict parser, or a store, refuses: lone surrogates and NULs
/// become U+FFFD, and so does what is no UTF-8 (WIRE-5).
///
/// # Errors
/// [`Depth`] where it nests too deep.
pub fn cleaned(bytes: &[u8]) -> Result<Cow<'_, str>, Depth> {
    let text = String::from_utf8_lossy(bytes);
    if !may_hold_bad_escapes(&text) {
        return Ok(text);
    }
    let clean = hygiene::clean(&text)?;
    Ok(Cow::Owned(clean.into_owned()))
}

fn may_hold_bad_escapes(text: &str) -> bool {
    let holds = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    holds("\\u0000") || holds("\\ud") || holds("\\uD")
}
