//! A transcript that its program is still writing: what comes to it is told once, in order.

use std::io;

use sessiond_protocol::{Item, Telling, Told, ToolStatus};
use sessiond_wire::foreign::{Grown, Identity, ReadAt, Upto, mark};

use super::fold::Fold;
use super::index::{Index, Role};

/// Follows one transcript.
#[derive(Debug, Default)]
pub struct Tail {
    index: Index,
    /// The entries that were told, in order.
    told: Vec<usize>,
    file: Option<(u64, u64)>,
    /// The bytes before the place up to which was read.
    mark: Vec<u8>,
}

impl Tail {
    /// What was found in the file so far that is not as it should be.
    #[must_use]
    pub fn findings(&self) -> &super::Findings {
        self.index.findings()
    }

    /// Looks at what came since the last look. A line that is not whole yet, and a call that may yet
    /// get its result, are told when they are.
    ///
    /// # Errors
    /// What the source says.
    pub fn look<S: ReadAt + ?Sized>(
        &mut self,
        source: &S,
        identity: Identity,
    ) -> io::Result<Vec<Grown>> {
        let mut grown = Vec::new();
        let is_another = self.file.is_some_and(|file| file != identity.file);
        if is_another
            || identity.bytes < self.index.end()
            || mark(source, self.index.end())? != self.mark
        {
            self.begin_anew(&mut grown);
            self.index = Index::default();
        }
        self.file = Some(identity.file);
        let source = Upto::new(source, identity.bytes);
        let (before, title) = (self.index.entries(), self.index.about().title.clone());
        self.index.go_on(&source)?;
        self.mark = mark(&source, self.index.end())?;
        let is_same = self.index.entries() == before && self.index.about().title == title;
        let chain = self.index.chain();
        if is_same && chain.told.len() == self.told.len() && grown.is_empty() {
            return Ok(grown);
        }
        if !chain.told.starts_with(&self.told) {
            self.begin_anew(&mut grown);
        }
        let entries: Vec<usize> = chain.told[self.told.len()..].to_vec();
        let mut fold = Fold::behind(&self.index, &source, chain, self.told.len());
        for at in entries {
            let told = fold.step()?;
            if told.iter().any(is_open) && !self.is_passed(at, fold.rest()) {
                break;
            }
            self.told.push(at);
            grown.extend(told.into_iter().map(Grown::Told));
        }
        Ok(grown)
    }

    fn begin_anew(&mut self, grown: &mut Vec<Grown>) {
        if !self.told.is_empty() {
            grown.push(Grown::Anew);
            self.told.clear();
        }
    }

    /// Whether the conversation went on without the results of an entry's calls.
    fn is_passed(&self, at: usize, rest: &[usize]) -> bool {
        let message = self.index.nodes[at].message;
        rest.iter()
            .map(|at| &self.index.nodes[*at])
            .any(|node| match node.role {
                Role::Assistant => node.message != message || message.is_none(),
                Role::User => node.says,
                Role::Summary => true,
                Role::Meta | Role::Boundary | Role::Link => false,
            })
    }
}

fn is_open(told: &Told) -> bool {
    match &told.what {
        Telling::Item(Item::ToolCall(call)) => call.status == ToolStatus::Unknown,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
