//! Which calls of a watched target the kernel stops at.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

/// Calls that open a file, with the argument that holds its flags.
#[cfg(target_arch = "x86_64")]
const OPENS: [(i64, u8); 2] = [(libc::SYS_openat, 2), (libc::SYS_open, 1)];
/// The same where there is only the newer one.
#[cfg(not(target_arch = "x86_64"))]
const OPENS: [(i64, u8); 1] = [(libc::SYS_openat, 2)];

/// Holds this thread, and all that it starts from here on, to the filters.
pub(super) fn install() -> Result<(), Error> {
    apply_filter(&shown()?)?;
    apply_filter(&stopped()?)
}

/// Stops the calls that make something durable.
fn stopped() -> Result<BpfProgram, BackendError> {
    // O_SYNC holds the bit of O_DSYNC.
    let bit = u64::from(libc::O_DSYNC.unsigned_abs());
    let mut rules = BTreeMap::from([
        (libc::SYS_fsync, vec![]),
        (libc::SYS_fdatasync, vec![]),
        (libc::SYS_msync, vec![]),
        (libc::SYS_sync, vec![]),
        (libc::SYS_syncfs, vec![]),
        (libc::SYS_io_uring_setup, vec![]),
    ]);
    for (number, flags) in OPENS {
        let durable = holds(flags, SeccompCmpOp::MaskedEq(bit), bit)?;
        rules.insert(number, vec![SeccompRule::new(vec![durable])?]);
    }
    program(rules, SeccompAction::Trace(0))
}

/// Lets no process hide from who traces it: that it wants to is answered as done and is not done. A runtime
/// that is not root's protects its descriptors so, and without them nobody can say which file it syncs.
fn shown() -> Result<BpfProgram, BackendError> {
    let number = u64::from(libc::PR_SET_DUMPABLE.unsigned_abs());
    let hides = vec![
        holds(0, SeccompCmpOp::Eq, number)?,
        holds(1, SeccompCmpOp::Eq, 0)?,
    ];
    let rules = BTreeMap::from([(libc::SYS_prctl, vec![SeccompRule::new(hides)?])]);
    program(rules, SeccompAction::Errno(0))
}

fn holds(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    action: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, action, machine)?.try_into()
}
