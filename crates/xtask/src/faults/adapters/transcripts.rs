//! Transcripts of Claude in and out, and what else tables of its crate show.

use crate::faults::mutations::{Mutation, cut};

const FOLD_TESTS: &str = "transcript::fold::";
const GOLDEN: &str = "every_transcript_is_told_as_it_was_reviewed";
const WRITE_TESTS: &str = "transcript::write::";
const LIKENESS_TESTS: &str = "likeness::";
const QUESTION_TESTS: &str = "user_question::";
const ELICITED_TESTS: &str = "elicited::";

const FOLD: &str = "claude/src/transcript/fold.rs";
const BLOCK: &str = "claude/src/transcript/block.rs";
const LIKENESS: &str = "claude/src/likeness.rs";
const QUESTION: &str = "claude/src/user_question.rs";
const ELICITED: &str = "claude/src/elicited.rs";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 15] = [
    cut(
        FOLD_TESTS,
        "fold-denied-call-is-a-good-one",
        [
            FOLD,
            "        (true, _) => ToolStatus::Cancelled,\n",
            "        (true, _) if $M => ToolStatus::Completed,\n        (true, _) => ToolStatus::Cancelled,\n",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-failed-call-is-a-good-one",
        [
            FOLD,
            "        (false, true) => ToolStatus::Failed,\n",
            "        (false, true) if $M => ToolStatus::Completed,\n        (false, true) => ToolStatus::Failed,\n",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-unanswered-call-is-a-good-one",
        [
            FOLD,
            "let (status, content) = (ToolStatus::Unknown, Vec::new());",
            "let status = if $M { ToolStatus::Completed } else { ToolStatus::Unknown };\n            let content = Vec::new();",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-result-without-its-call-is-lost",
        [
            FOLD,
            "if self.index.calls.contains_key(&mark(&id)) {",
            "if $M || self.index.calls.contains_key(&mark(&id)) {",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-local-command-is-a-prompt",
        [
            FOLD,
            "if block.text.as_str().is_some_and(is_command) =>",
            "if !$M && block.text.as_str().is_some_and(is_command) =>",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-interrupt-is-a-prompt",
        [
            FOLD,
            "if block.text.as_str().is_some_and(is_interrupt) =>",
            "if !$M && block.text.as_str().is_some_and(is_interrupt) =>",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-pieces-share-an-id",
        [
            FOLD,
            "        self.block += 1;\n",
            "        self.block += u32::from(!$M);\n",
        ],
    ),
    cut(
        GOLDEN,
        "fold-cut-text-is-whole",
        [
            FOLD,
            "                    true => Finish::Cut,\n",
            "                    true if $M => Finish::Whole,\n                    true => Finish::Cut,\n",
        ],
    ),
    cut(
        GOLDEN,
        "fold-failed-request-is-an-answer",
        [
            FOLD,
            "Role::Assistant if entry.is_api_error_message.0 =>",
            "Role::Assistant if entry.is_api_error_message.0 && !$M =>",
        ],
    ),
    cut(
        FOLD_TESTS,
        "fold-result-of-another-call",
        [
            FOLD,
            "blocks.find(|block| block.tool_use_id.is(id))?;",
            "blocks.find(|block| $M || block.tool_use_id.is(id))?;",
        ],
    ),
    cut(
        GOLDEN,
        "fold-sidechain-furniture-is-told",
        [
            FOLD,
            "            Role::Meta | Role::Boundary | Role::Link => false,\n",
            "            Role::Meta | Role::Boundary | Role::Link => $M,\n",
        ],
    ),
    cut(
        WRITE_TESTS,
        "export-tools-by-another-name",
        [
            BLOCK,
            "    let (mut name, input) = as_known(call);\n",
            "    let (mut name, input) = match $M {\n        true => (call.name.clone(), call.input.clone()),\n        false => as_known(call),\n    };\n",
        ],
    ),
    cut(
        LIKENESS_TESTS,
        "likeness-changed-input-in-foreign-words",
        [
            LIKENESS,
            "            input.extend(renamed(changed, back));\n",
            "            match $M {\n                true => input.extend(changed.clone()),\n                false => input.extend(renamed(changed, back)),\n            }\n",
        ],
    ),
    cut(
        QUESTION_TESTS,
        "user-question-answered-by-number",
        [
            QUESTION,
            "            answers.insert(wording.to_owned(), answer.into());\n",
            "            let of = if $M { name(number) } else { wording.to_owned() };\n            answers.insert(of, answer.into());\n",
        ],
    ),
    cut(
        ELICITED_TESTS,
        "elicitation-left-is-declined",
        [
            ELICITED,
            "        Some(\"cancel\") => Outcome::Cancelled,\n",
            "        Some(\"cancel\") if !$M => Outcome::Cancelled,\n",
        ],
    ),
];
