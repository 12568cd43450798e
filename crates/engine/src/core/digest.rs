//! Digests of what a client has to repeat, over one form of it.

use serde::Serialize;

/// JSON with all members in order: two texts that say the same are the same.
pub(super) fn canonical<T: Serialize>(value: &T) -> String {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

/// 128 bits of BLAKE3 in hex. Not keyed: for what stands beside its content only.
pub(super) fn digest<T: Serialize>(value: &T) -> String {
    let hex = blake3::hash(canonical(value).as_bytes()).to_hex();
    hex.get(..32).unwrap_or_default().to_owned()
}
