//! Which entries are the conversation, and in which order: a path through the graph of entries,
//! with the branches put back that parallel calls leave beside it.

use std::collections::{HashMap, HashSet};

use super::findings::{Findings, Kind};
use super::index::{Index, Key, Role};

/// The conversation as entries of an index.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The entries that are told, in order.
    pub(crate) told: Vec<usize>,
    /// Entries with results whose calls are not told.
    pub(crate) orphans: HashSet<usize>,
    /// The entry that the next one follows.
    pub(crate) tail: Option<usize>,
    /// What had to be decided.
    pub(crate) findings: Findings,
}

/// An index while its chain is found.
struct Walk<'a> {
    index: &'a Index,
    /// The entries that count.
    taken: Vec<bool>,
    findings: Findings,
}

impl Index {
    /// Finds the conversation.
    pub(crate) fn chain(&self) -> Chain {
        let mut walk = Walk {
            index: self,
            taken: vec![false; self.nodes.len()],
            findings: Findings::default(),
        };
        let Some(leaf) = walk.leaf() else {
            walk.count(&HashSet::new());
            return Chain {
                findings: walk.findings,
                ..Chain::default()
            };
        };
        let path = walk.path(leaf);
        let told = walk.regrouped(&path);
        let orphans = walk.orphans();
        walk.count(&orphans);
        Chain {
            told,
            orphans,
            tail: Some(walk.tail(leaf)),
            findings: walk.findings,
        }
    }
}

impl Walk<'_> {
    /// Where the conversation ends: where the program says, unless somebody went on after that; the
    /// newest that was said otherwise.
    fn leaf(&self) -> Option<usize> {
        let nodes = &self.index.nodes;
        let newest = nodes.iter().rposition(|node| node.speaks());
        let Some(named) = self.index.named else {
            return newest;
        };
        let leaf = self.index.by_uuid.get(&named.leaf).copied();
        let leaf = leaf.filter(|at| !nodes[*at].is_side);
        match newest {
            Some(newest) if newest >= named.after => Some(newest),
            _ => leaf.or(newest),
        }
    }

    /// The entries from the first one to the leaf.
    fn path(&mut self, leaf: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next {
            self.taken[at] = true;
            path.push(at);
            next = self.before(at);
        }
        path.reverse();
        path
    }

    fn before(&mut self, at: usize) -> Option<usize> {
        let node = &self.index.nodes[at];
        let parent = self.index.by_uuid.get(&node.parent?).copied();
        match parent {
            Some(parent) if !self.taken[parent] && !self.index.nodes[parent].is_side => {
                return Some(parent);
            }
            Some(parent) if self.taken[parent] => self.findings.at(Kind::Cycle, node.place()),
            // What it follows was never written, or is a sub-agent's.
            _ => self.findings.at(Kind::MissingParent, node.place()),
        }
        let is_free = |at: &usize| !self.taken[*at] && !self.index.nodes[*at].is_side;
        (0..at).rev().find(is_free)
    }

    /// The path with the blocks of its messages that hang beside it: behind a block on the path, or
    /// where that hangs.
    fn regrouped(&mut self, path: &[usize]) -> Vec<usize> {
        let nodes = &self.index.nodes;
        let mut beside: HashMap<Option<Key>, Vec<usize>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            if node.message.is_some() && !self.taken[at] {
                beside.entry(node.parent).or_default().push(at);
            }
        }
        let mut told = Vec::with_capacity(path.len());
        for at in path {
            let (node, first) = (&nodes[*at], told.len());
            told.push(*at);
            let mut places = vec![Some(node.uuid), node.parent];
            while let Some(place) = places.pop().filter(|_| node.message.is_some()) {
                for block in beside.get(&place).into_iter().flatten() {
                    if nodes[*block].message == node.message && !self.taken[*block] {
                        self.taken[*block] = true;
                        told.push(*block);
                        places.push(Some(nodes[*block].uuid));
                    }
                }
            }
            told[first..].sort_unstable();
        }
        told
    }

    /// The entries on the path with results of calls that are not told.
    fn orphans(&self) -> HashSet<usize> {
        let is_told = |mark: &u64| {
            let call = self.index.calls.get(mark);
            call.is_some_and(|at| self.taken[*at])
        };
        let results = self.index.results.iter();
        let lost = results.filter(|(mark, at)| self.taken[**at] && !is_told(mark));
        lost.map(|(_, at)| *at).collect()
    }

    /// Counts what is left out.
    fn count(&mut self, orphans: &HashSet<usize>) {
        let answers: HashSet<usize> = self.index.results.values().copied().collect();
        for (at, node) in self.index.nodes.iter().enumerate() {
            match node.role {
                _ if node.is_side => self.findings.count(Kind::Sidechain),
                Role::Meta | Role::Link => self.findings.count(Kind::Furniture),
                _ if self.taken[at] => {}
                // A result comes with its call, wherever it hangs.
                Role::User if !node.says && answers.contains(&at) && !orphans.contains(&at) => {}
                _ => self.findings.count(Kind::OtherBranch),
            }
        }
    }

    /// The last entry behind the leaf that says nothing: what comes next follows that.
    fn tail(&self, leaf: usize) -> usize {
        let nodes = &self.index.nodes;
        let mut tail = leaf;
        for (at, node) in nodes.iter().enumerate().skip(leaf + 1) {
            let is_link = matches!(node.role, Role::Link | Role::Meta) && !node.is_side;
            if is_link && node.parent == Some(nodes[tail].uuid) {
                tail = at;
            }
        }
        tail
    }
}

#[cfg(test)]
mod tests;
