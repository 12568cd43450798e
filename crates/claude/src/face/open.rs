//! What is open between the face and the program, or a tool that decides in its place.

use std::collections::HashMap;

use sessiond_protocol::{RequestFrame, RequestId};
use uuid::Uuid;

use super::hooks::Run;
use super::outside::Waits;
use super::tools::Shown;

/// What the program was asked, until it answers or the question is taken back (WIRE-7).
#[derive(Debug)]
pub(super) enum Asked {
    /// Whether a tool may run.
    Permission(Question),
    /// The same, through a tool of one of its servers.
    PermissionTool(Question),
    /// The same, through a tool outside of the program, which learns so that nobody waits any more.
    PermissionOutside { question: Question, _waits: Waits },
    /// A hook that may decide the question of this request, which was asked too.
    PermissionHook(RequestId),
    /// One of the hooks of a run.
    Hook(RequestId),
    /// A question to the user.
    Elicitation(RequestFrame),
    /// The same, in the form that programs know it in: permission for a tool that asks.
    UserQuestion(Question),
    /// Something of a server of its.
    Mcp(RequestFrame),
    /// The server is being greeted.
    Greeting(String),
    /// Its tools are being listed.
    Listing(String),
    /// Nothing depends on the answer.
    Told,
}

/// A question for permission.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) request: RequestFrame,
    pub(super) shown: Shown,
}

/// What is open between the face and the program.
#[derive(Debug, Default)]
pub(super) struct Asks {
    pub(super) open: HashMap<String, Asked>,
    /// Hooks that run, by the request that they answer.
    pub(super) runs: HashMap<RequestId, Run>,
}

impl Asks {
    /// Notes what is asked, and gives the id to ask it under.
    pub(super) fn open(&mut self, asked: Asked) -> String {
        let id = Uuid::now_v7().to_string();
        self.open.insert(id.clone(), asked);
        id
    }

    /// What an answer is to. One that is late, or was never asked for, is nothing.
    pub(super) fn take(&mut self, id: &str) -> Option<Asked> {
        self.open.remove(id)
    }

    /// Takes what the turn that runs has asked.
    pub(super) fn take_turns(&mut self) -> Vec<(String, Asked)> {
        let of_turn = |asked: &Asked| {
            asked.is_of_program()
                && !matches!(asked, Asked::Greeting(_) | Asked::Listing(_) | Asked::Told)
        };
        self.runs.clear();
        self.open.extract_if(|_, asked| of_turn(asked)).collect()
    }

    /// Takes all that the program was asked.
    pub(super) fn take_all(&mut self) -> Vec<(String, Asked)> {
        let of_program = |_: &String, asked: &mut Asked| asked.is_of_program();
        self.open.extract_if(of_program).collect()
    }

    /// Takes what was asked for a request of the engine; the ids of what the program was asked.
    pub(super) fn take_of(&mut self, request: RequestId) -> Vec<String> {
        let is_of = |asked: &Asked| match asked {
            Asked::Permission(question)
            | Asked::PermissionTool(question)
            | Asked::PermissionOutside { question, .. }
            | Asked::UserQuestion(question) => question.request.id == request,
            Asked::Elicitation(frame) => frame.id == request,
            Asked::PermissionHook(id) | Asked::Hook(id) => *id == request,
            Asked::Mcp(frame) => frame.id == request,
            Asked::Greeting(_) | Asked::Listing(_) | Asked::Told => false,
        };
        let taken = self.open.extract_if(|_, asked| is_of(asked));
        let of_program = taken.filter(|(_, asked)| asked.is_of_program());
        of_program.map(|(id, _)| id).collect()
    }
}

impl Asked {
    /// Whether it is the program that was asked.
    fn is_of_program(&self) -> bool {
        !matches!(self, Asked::PermissionOutside { .. })
    }
}
