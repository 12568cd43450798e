//! What the engine does around the core, seen through the waist.

use crate::faults::mutations::{Mutation, cut};

const CONNECTION: &str = "engine/src/engine/connection.rs";

/// All of them.
pub(in crate::faults) const MUTATIONS: [Mutation; 10] = [
    // Audit
    cut(
        "audit::",
        "attach-is-not-audited",
        [
            "engine/src/actor/clients.rs",
            "        let decision = Decision::on(self.parts.session, Action::Attach, &shown);\n        decision.written(&self.parts.store).await;\n",
            "",
        ],
    ),
    cut(
        "audit::",
        "view-is-not-audited",
        [
            "engine/src/actor/viewers.rs",
            "        let after = self.may_view(&attach).await;\n        let decision = Decision::on(self.parts.session, Action::View, &after);\n        decision.written(&self.parts.store).await;\n",
            "        let after = self.may_view(&attach).await;\n",
        ],
    ),
    cut(
        "audit::",
        "opening-is-not-audited",
        [
            "engine/src/engine/opening.rs",
            "        Decision::all_written(decisions, &inner.config.store).await;\n",
            "        drop(decisions);\n",
        ],
    ),
    cut(
        "audit::",
        "audit-says-yes",
        [
            "engine/src/audit.rs",
            "                Self::refused(subject, action, &name(error.code), holder)\n",
            "                drop(holder);\n                Self::accepted(subject, action)\n",
        ],
    ),
    cut(
        "audit::",
        "audit-names-no-holder",
        [
            "engine/src/audit.rs",
            "error.holder.clone().map(owner);",
            "error.holder.clone().filter(|_| false).map(owner);",
        ],
    ),
    // Network
    cut(
        "remote::",
        "network-is-told-all-workspaces",
        [
            CONNECTION,
            "self.reach == Reach::Network && query.cwd.is_none();",
            "self.reach == Reach::Network && query.cwd.is_none() && query.cwd.is_some();",
        ],
    ),
    cut(
        "remote::",
        "file-for-a-client-of-the-network",
        [
            CONNECTION,
            "            } if self.reach == Reach::Network =>",
            "            } if self.reach == Reach::Network && id.as_str().is_empty() =>",
        ],
    ),
    cut(
        "remote::",
        "list-for-a-client-of-the-network",
        [
            CONNECTION,
            "self.reach == Reach::Network && query.cwd.is_none();",
            "self.reach == Reach::Network && query.cwd.is_some();",
        ],
    ),
    // Import
    cut(
        "appended::",
        "import-begins-as-new",
        [
            "engine/src/engine/importing.rs",
            "    header.start = Start::Imported;\n",
            "    let _ = Start::Imported;\n",
        ],
    ),
    // Withdrawal
    cut(
        "busy::",
        "withdrawal-reaches-no-session",
        [
            CONNECTION,
            "        for session in &self.attached {\n            let Some(sender)",
            "        for session in self.attached.iter().take(0) {\n            let Some(sender)",
        ],
    ),
];
