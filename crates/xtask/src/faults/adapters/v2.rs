//! What version 2 of the face promises.

pub(super) mod asked;
pub(super) mod told;

/// Unit tests and tests of the face, of version 2.
const V2: &str = "v2::";
