//! Every promise of an adapter, and how each is broken: files of both versions of ACP's face and of the
//! agent behind a session.

mod behind;
mod gates;
mod threads;
mod transcripts;
mod v2;
mod withdrawn;

use super::mutations::Mutation;

/// What stands in a row for the question whether its mutation is awake.
pub(super) const AWAKE: &str = "$M";

/// Of the faces, the gates and version 2, and of the agent behind a session what tables show. Their
/// tests are those of `acp` itself.
pub(super) const FACES: [&[Mutation]; 5] = [
    &gates::MUTATIONS,
    &v2::asked::MUTATIONS,
    &v2::told::MUTATIONS,
    &behind::tables::MUTATIONS,
    &withdrawn::FACES,
];

/// Of the agent behind a session, whose tests are those of the real binary.
pub(super) const BEHIND: [&[Mutation]; 5] = [
    &behind::life::MUTATIONS,
    &behind::talk::MUTATIONS,
    &withdrawn::REAL,
    &behind::claude::MUTATIONS,
    &behind::programs::MUTATIONS,
];

/// Of Claude's crate what its own tests show.
pub(super) const CLAUDE: [&[Mutation]; 1] = [&transcripts::MUTATIONS];

/// Of Codex's crate the same.
pub(super) const CODEX: [&[Mutation]; 1] = [&threads::MUTATIONS];

/// Those of all of them.
pub(super) const ALL: [&[&[Mutation]]; 4] = [&FACES, &BEHIND, &CLAUDE, &CODEX];
