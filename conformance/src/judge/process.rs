//! What became of the processes of a target.

use super::{Held, Judge, broken, window};
use crate::driver::End;

impl Judge<'_> {
    /// How the last process of this name ended.
    pub(super) fn exit(&self, process: &str, codes: &[i32], after: Option<&(String, u64)>) -> Held {
        let index = self.played.names.get(process).and_then(|all| all.last());
        let exit = index.and_then(|index| self.played.recording.exit(*index));
        let Some((at, code)) = exit else {
            return Err(self.missing("it did not end".to_owned()));
        };
        // What the runner killed at the end did not end by itself.
        if let End::Stopped(why) = &self.played.end {
            return Err(broken(why.clone()));
        }
        if !codes.is_empty() && !codes.contains(&code) {
            return Err(broken(format!("it ended with {code}")));
        }
        if let Some((point, most)) = after {
            let entries = &self.played.recording.entries;
            let from = window::point(self.played, point).ok_or_else(|| self.unreached(point))?;
            let from = usize::try_from(from).map_or(std::time::Duration::ZERO, |at| entries[at].at);
            let took = entries[at].at.saturating_sub(from);
            if took.as_millis() > u128::from(*most) {
                return Err(broken(format!("it took {} ms", took.as_millis())));
            }
        }
        Ok(())
    }

    /// What lived below the target when that was asked last.
    pub(super) fn no_descendants(&self, named: Option<&str>) -> Held {
        let Some(found) = self.played.recording.descendants() else {
            return Err(self.unreached("descendants"));
        };
        let bad = |found: &&String| named.is_none_or(|name| found.ends_with(&format!(":{name}")));
        let left: Vec<&str> = found.iter().filter(bad).map(String::as_str).collect();
        if left.is_empty() {
            Ok(())
        } else {
            Err(broken(format!("there lives {}", left.join(" "))))
        }
    }
}
