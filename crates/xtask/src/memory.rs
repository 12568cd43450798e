//! What a process and everything below it held of the machine's memory, as the kernel tells.

/// Peaks of a process tree, in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Sum of the peak resident sizes: what processes share counts once for each.
    pub(crate) peak_kib: u64,
    /// The same, but of what processes share each has its part only: the proportional set size now,
    /// and what the peak was above the resident size of now.
    pub(crate) share_kib: u64,
}

impl Memory {
    /// Of a tree that runs. None where the system does not tell (anything but Linux).
    pub(crate) fn of_tree(root: u32) -> Option<Self> {
        let mut total: Option<Self> = None;
        let mut todo = vec![root];
        while let Some(process) = todo.pop() {
            let folder = format!("/proc/{process}");
            let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}"));
            let texts = [read("status"), read("smaps_rollup")].map(Result::unwrap_or_default);
            if let Some(more) = Self::of(&texts[0], &texts[1]) {
                let total = total.get_or_insert(Self {
                    peak_kib: 0,
                    share_kib: 0,
                });
                total.peak_kib += more.peak_kib;
                total.share_kib += more.share_kib;
            }
            let threads = std::fs::read_dir(format!("{folder}/task"));
            for thread in threads.into_iter().flatten().flatten() {
                let children = std::fs::read_to_string(thread.path().join("children"));
                let children = children.unwrap_or_default();
                let children = children.split_whitespace();
                todo.extend(children.filter_map(|pid| pid.parse::<u32>().ok()));
            }
        }
        total
    }

    /// The peak in MiB.
    pub(crate) fn peak_mib(self) -> f64 {
        mib(self.peak_kib)
    }

    /// The share in MiB.
    pub(crate) fn share_mib(self) -> f64 {
        mib(self.share_kib)
    }

    /// Of one process, by its `status` and its `smaps_rollup`.
    fn of(status: &str, rollup: &str) -> Option<Self> {
        let peak_kib = figure(status, "VmHWM:")?;
        let resident = figure(status, "VmRSS:")?;
        let share = figure(rollup, "Pss:").unwrap_or(resident);
        Some(Self {
            peak_kib,
            share_kib: peak_kib.saturating_sub(resident) + share,
        })
    }
}

fn mib(kib: u64) -> f64 {
    u32::try_from(kib).map_or(f64::INFINITY, f64::from) / 1024.0
}

/// The figure of a line such as `VmHWM:  1234 kB`, in KiB.
fn figure(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
