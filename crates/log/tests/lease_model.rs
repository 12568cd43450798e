//! A model of the lease, of which every state is visited: two processes, a crash, and a `LOCK` that
//! somebody replaces. A process may rest between any two steps, so a pause needs no step of its own.

use stateright::{Checker as _, Model, Property};

/// Appends that each process wants to make; the second may begin another segment.
const APPENDS: u8 = 2;

/// What a process or a reader does not do in a model that is broken on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// A process goes on without the lock.
    Lock,
    /// It does not look whether the lock is still the one that is named.
    Check,
    /// It takes a segment that is there already.
    ExclusiveCreate,
    /// A reader counts all bytes of a segment.
    Limit,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Record {
    by: usize,
    acknowledged: bool,
    /// Written when the header of a newer epoch was there already.
    late: bool,
}

/// Where a log ends: the number of a segment, and its records that count.
type Tail = Option<(u8, usize)>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Segment {
    number: u8,
    first_seq: usize,
    by: usize,
    /// `None` until the header is written, together with the first record.
    header: Option<(u8, Tail)>,
    records: Vec<Record>,
}

/// What a process is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Lock,
    Scan,
    Check,
    Fence,
    Create,
    FenceAgain,
    Write,
    Sync,
    Done,
    Fenced,
    Dead,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Process {
    step: Step,
    /// The lock file it has locked.
    lock: u8,
    epoch: u8,
    /// Highest number of a segment that it knows.
    number: u8,
    /// What its next header says of the segment before, and the seq after that.
    tail: Tail,
    next_seq: usize,
    /// Its open segment, as an index.
    open: Option<usize>,
    appended: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    processes: [Process; 2],
    segments: Vec<Segment>,
    /// The lock file that is named now.
    lock: u8,
    /// Who holds each lock file.
    holders: [Option<usize>; 2],
    crashed: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Action {
    Go(usize),
    /// The process begins another segment, as with a full one.
    Roll(usize),
    Crash(usize),
    ReplaceLock,
}

#[derive(Debug, Clone)]
struct Lease(Without);

impl World {
    /// Indices of the segments that have bytes, in the order of their names.
    fn named(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.segments.len())
            .filter(|i| self.segments[*i].header.is_some())
            .collect();
        order.sort_by_key(|i| (self.segments[*i].number, self.segments[*i].first_seq));
        order
    }

    /// The log as a reader puts it together: segments, and how many records of each count.
    fn chain(&self, without: Without) -> Vec<(usize, usize)> {
        let (mut chain, mut epoch) = (Vec::<(usize, usize)>::new(), 0);
        for index in self.named() {
            let segment = &self.segments[index];
            let Some((own, tail)) = segment.header else {
                continue;
            };
            if own < epoch {
                continue;
            }
            epoch = own;
            if without != Without::Limit {
                let number = tail.map_or(0, |(number, _)| number);
                chain.retain(|(i, _)| self.segments[*i].number <= number);
                if let (Some((_, count)), Some(last)) = (tail, chain.last_mut()) {
                    last.1 = count;
                }
            }
            chain.push((index, segment.records.len()));
        }
        chain
    }

    fn counted(&self, without: Without) -> Vec<&Record> {
        let chain = self.chain(without);
        let parts = chain
            .iter()
            .map(|(i, count)| self.segments[*i].records.iter().take(*count));
        parts.flatten().collect()
    }

    fn scan(&mut self, me: usize) {
        let chain = self.chain(Without::Nothing);
        let tail = chain
            .last()
            .map(|(i, count)| (self.segments[*i].number, *count));
        let seqs: usize = chain.iter().map(|(_, count)| count).sum();
        let epochs = self
            .segments
            .iter()
            .filter_map(|s| s.header)
            .map(|(epoch, _)| epoch);
        let number = self.segments.iter().map(|s| s.number).max().unwrap_or(0);
        // A segment without a header is a claim on its way: it has an epoch that is not seen yet.
        let epoch = epochs.max().unwrap_or(0).max(number) + 1;
        let process = &mut self.processes[me];
        (process.epoch, process.number) = (epoch, number);
        (process.tail, process.next_seq) = (tail, seqs + 1);
    }

    /// Whether there is a segment that `me` does not know of.
    fn has_rival(&self, me: usize) -> bool {
        let process = &self.processes[me];
        let own = process.open.and_then(|i| self.segments.get(i));
        // Names are compared, as in a directory: of the same one there is only one file.
        self.segments.iter().any(|segment| {
            let beside = own.is_some_and(|own| {
                segment.number == own.number && segment.first_seq != own.first_seq
            });
            segment.number > process.number || beside
        })
    }

    /// Claims the next segment; whether there was none of that name.
    fn create(&mut self, me: usize, without: Without) -> bool {
        let Process {
            number, next_seq, ..
        } = self.processes[me];
        let (number, first_seq) = (number + 1, next_seq);
        let taken = |s: &Segment| s.number == number && s.first_seq == first_seq;
        if without != Without::ExclusiveCreate && self.segments.iter().any(taken) {
            return false;
        }
        let (header, records) = (None, Vec::new());
        self.segments.push(Segment {
            number,
            first_seq,
            by: me,
            header,
            records,
        });
        let process = &mut self.processes[me];
        (process.number, process.open) = (number, Some(self.segments.len() - 1));
        true
    }

    fn write(&mut self, me: usize) {
        let Process {
            epoch, tail, open, ..
        } = self.processes[me];
        let newer = |s: &Segment| s.header.is_some_and(|(other, _)| other > epoch);
        let late = self.segments.iter().any(newer);
        let Some(segment) = open.and_then(|i| self.segments.get_mut(i)) else {
            return;
        };
        segment.header.get_or_insert((epoch, tail));
        let record = Record {
            by: me,
            acknowledged: false,
            late,
        };
        segment.records.push(record);
    }

    fn sync(&mut self, me: usize) {
        let process = &mut self.processes[me];
        process.appended += 1;
        process.next_seq += 1;
        if let Some(segment) = process.open.and_then(|i| self.segments.get_mut(i)) {
            process.tail = Some((segment.number, segment.records.len()));
            if let Some(record) = segment.records.last_mut() {
                record.acknowledged = true;
            }
        }
    }

    fn free(&mut self, me: usize) {
        for holder in &mut self.holders {
            *holder = holder.filter(|h| *h != me);
        }
    }

    /// One step of a process; what it does next.
    fn go(&mut self, me: usize, without: Without) -> Option<Step> {
        let open = self.processes[me].open;
        Some(match self.processes[me].step {
            Step::Lock => {
                let holder = &mut self.holders[usize::from(self.lock)];
                if holder.is_some() && without != Without::Lock {
                    return None;
                }
                *holder = Some(me);
                self.processes[me].lock = self.lock;
                Step::Scan
            }
            Step::Scan => {
                self.scan(me);
                Step::Check
            }
            Step::Check => {
                let named = self.processes[me].lock == self.lock;
                match (named || without == Without::Check, open) {
                    (false, _) => Step::Fenced,
                    (true, None) => Step::Fence,
                    (true, Some(_)) => Step::Write,
                }
            }
            Step::Fence if self.has_rival(me) => Step::Fenced,
            Step::Fence => Step::Create,
            Step::Create => match self.create(me, without) {
                true => Step::FenceAgain,
                false => Step::Fenced,
            },
            Step::FenceAgain if self.has_rival(me) => Step::Fenced,
            Step::FenceAgain => Step::Write,
            Step::Write => {
                self.write(me);
                Step::Sync
            }
            Step::Sync => {
                self.sync(me);
                let all = self.processes[me].appended == APPENDS;
                if all { Step::Done } else { Step::Check }
            }
            Step::Done | Step::Fenced | Step::Dead => return None,
        })
    }
}

impl Model for Lease {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let process = Process {
            step: Step::Lock,
            lock: 0,
            epoch: 0,
            number: 0,
            tail: None,
            next_seq: 1,
            open: None,
            appended: 0,
        };
        vec![World {
            processes: [process.clone(), process],
            segments: Vec::new(),
            lock: 0,
            holders: [None, None],
            crashed: false,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (me, process) in world.processes.iter().enumerate() {
            let ended = matches!(process.step, Step::Done | Step::Fenced | Step::Dead);
            if !ended {
                actions.push(Action::Go(me));
            }
            if process.step == Step::Check && process.open.is_some() {
                actions.push(Action::Roll(me));
            }
            if !ended && !world.crashed {
                actions.push(Action::Crash(me));
            }
        }
        if world.lock == 0 {
            actions.push(Action::ReplaceLock);
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        match action {
            Action::Go(me) => {
                let next = world.go(me, self.0)?;
                world.processes[me].step = next;
                if matches!(next, Step::Done | Step::Fenced) {
                    world.free(me);
                }
            }
            Action::Roll(me) => world.processes[me].open = None,
            Action::Crash(me) => {
                world.processes[me].step = Step::Dead;
                world.crashed = true;
                world.free(me);
            }
            Action::ReplaceLock => world.lock = 1,
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_EPOCH, |_, world: &World| {
                let mut owners: Vec<_> = world
                    .segments
                    .iter()
                    .filter_map(|s| s.header.map(|(epoch, _)| (epoch, s.by)))
                    .collect();
                owners.sort_unstable();
                owners.dedup();
                owners.is_sorted_by(|a, b| a.0 < b.0)
            }),
            Property::always(NOTHING_LATE, |model, world: &World| {
                world.counted(model.0).iter().all(|record| !record.late)
            }),
            Property::always(NOTHING_LOST, |model, world: &World| {
                let counted = world.counted(model.0);
                let kept = counted.iter().filter(|r| r.acknowledged).count();
                let all = world.segments.iter().flat_map(|s| &s.records);
                world.lock == 1 || kept == all.filter(|r| r.acknowledged).count()
            }),
            Property::always(STALE_ONCE, |_, world: &World| {
                let acked = |s: &Segment| {
                    s.records
                        .iter()
                        .filter(|r| r.late && r.acknowledged)
                        .count()
                };
                let by = |me| {
                    world
                        .segments
                        .iter()
                        .filter(|s| s.by == me)
                        .map(acked)
                        .sum::<usize>()
                };
                by(0) <= 1 && by(1) <= 1
            }),
            Property::sometimes(BOTH, |model, world: &World| {
                let by = |me| world.counted(model.0).iter().filter(|r| r.by == me).count();
                by(0) == usize::from(APPENDS) && by(1) == usize::from(APPENDS)
            }),
            Property::sometimes(STALE, |_, world: &World| {
                world
                    .segments
                    .iter()
                    .flat_map(|s| &s.records)
                    .any(|r| r.late)
            }),
            Property::sometimes(FENCED, |_, world: &World| {
                world.processes.iter().any(|p| p.step == Step::Fenced)
            }),
        ]
    }
}

const ONE_EPOCH: &str = "no two holders append under the same epoch";
const NOTHING_LATE: &str = "a record written after a newer epoch began does not count";
const NOTHING_LOST: &str = "while LOCK is not replaced no acknowledged record is lost";
const STALE_ONCE: &str = "a stale holder is told of one batch at most after a newer epoch began";
const BOTH: &str = "both processes append";
const STALE: &str = "a stale holder gets as far as writing";
const FENCED: &str = "a stale holder is fenced";
const RULES: [&str; 4] = [ONE_EPOCH, NOTHING_LATE, NOTHING_LOST, STALE_ONCE];

/// The rules that the model breaks, and how many states it has.
fn broken(without: Without) -> (Vec<&'static str>, usize) {
    let checker = Lease(without).checker().spawn_bfs().join();
    let found = checker.discoveries();
    for seen in [BOTH, STALE, FENCED] {
        assert!(
            without != Without::Nothing || found.contains_key(seen),
            "never: {seen}"
        );
    }
    let broken = RULES
        .into_iter()
        .filter(|r| found.contains_key(r))
        .collect();
    (broken, checker.unique_state_count())
}

/// LOG-7
#[test]
fn every_state_of_the_lease_keeps_the_rules() {
    let start = std::time::Instant::now();
    let (broken, states) = broken(Without::Nothing);
    let seconds = start.elapsed().as_secs_f64();
    println!("faults: lease_model {states} {} {seconds:.1}", broken.len());
    assert_eq!(broken, [""; 0]);
    assert!(states > 1_000, "{states}");
}

/// The model can tell: without any part of the protocol that a rule hangs on, that rule breaks.
#[test]
fn a_lease_that_leaves_out_a_step_breaks_a_rule() {
    for (without, rule) in [
        (Without::Lock, NOTHING_LOST),
        (Without::ExclusiveCreate, ONE_EPOCH),
        (Without::Limit, NOTHING_LATE),
        (Without::Check, STALE_ONCE),
    ] {
        let (broken, _) = broken(without);
        println!("{without:?}: {broken:?}");
        assert!(broken.contains(&rule), "{without:?}: {broken:?}");
    }
}
