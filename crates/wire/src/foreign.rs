//! Files that other programs write, one JSON object a line: what their readers have in common.
//!
//! [`Lines`] finds the lines of a file of any length in a window of memory, [`Text`], [`Flag`] and
//! [`Lenient`] read members so that a surprise in one of them costs that one alone, [`Findings`] says
//! what was not as it should be, and where. Nothing here knows what the entries mean.

mod findings;
mod growth;
mod junction;
mod member;
mod salvage;
mod source;
mod spelling;

pub use findings::{Findings, Found, Kind, Place, Weight};
pub use growth::{Grown, Identity, mark};
pub use junction::{Junction, Original};
pub use member::{Flag, Lenient, Text, cleaned, drain_map, drain_seq};
pub use salvage::{Piece, blank, salvage};
pub use source::{Line, Lines, ReadAt, Upto, Window, copy};
pub use spelling::{is_name, millis, plain_name};
