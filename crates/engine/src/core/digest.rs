//! Digests of what a client has to repeat, over one form of it.

use serde::Serialize;

/// 128 bits of BLAKE3 in hex, over the JSON with all members in order: two texts that say the same
/// have the same digest.
pub(super) fn digest<T: Serialize>(value: &T) -> String {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    value.sort_all_objects();
    let hex = blake3::hash(value.to_string().as_bytes()).to_hex();
    hex.get(..32).unwrap_or_default().to_owned()
}
