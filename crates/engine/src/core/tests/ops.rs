//! What clients submit and agents ask, in short.

use sessiond_protocol::{
    Content, IfBusy, Op, Permission, PermissionKind, PermissionOption, Queued, RequestBody, TurnId,
};

pub(super) fn start(text: &str, if_busy: IfBusy) -> Op {
    Op::TurnStart {
        input: vec![Content::text(text)],
        if_busy,
        idempotency_key: None,
    }
}

pub(super) fn interrupt(queued: Queued) -> Op {
    Op::TurnInterrupt { turn: None, queued }
}

pub(super) fn configure(mode: &str) -> Op {
    Op::set_mode(mode)
}

pub(super) fn rename(title: &str) -> Op {
    Op::SessionRename {
        title: title.into(),
    }
}

pub(super) fn clear() -> Op {
    Op::SessionClear {}
}

pub(super) fn close() -> Op {
    Op::SessionClose {}
}

pub(super) fn permission() -> RequestBody {
    let option = |kind: PermissionKind| {
        let (id, name) = (kind.id().to_owned(), kind.id().to_owned());
        PermissionOption { id, name, kind }
    };
    RequestBody::Permission(Permission {
        title: "Run it?".into(),
        tool: "run".into(),
        pattern: "echo hi".into(),
        options: PermissionKind::ALL.map(option).to_vec(),
    })
}

/// A prompt under an idempotency key.
pub(super) fn keyed(key: &str, text: &str, if_busy: IfBusy) -> Op {
    Op::TurnStart {
        input: vec![Content::text(text)],
        if_busy,
        idempotency_key: Some(key.to_owned().try_into().unwrap()),
    }
}

pub(super) fn steer(text: &str, turn: Option<TurnId>) -> Op {
    Op::TurnSteer {
        input: vec![Content::text(text)],
        turn,
    }
}
