//! Any interleaving of submissions, answers, agent events, disconnects, time and crashes against a
//! small independent model. `cargo test` tries some, `FAULTS=full` a hundred and twenty thousand, `FAULTS=N` as many.

mod act;
mod answers;
mod books;
mod compaction;
mod conversation;
mod forks;
mod hooks;
mod life;
mod model;
mod offers;
mod rig;
mod submissions;
mod verdict;
mod watch;

use std::{io::Write, time::Instant};

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};
use sessiond_protocol::PersistenceState;

use act::{Act, acts};
use rig::Rig;

/// A rule that was broken.
pub(super) type Broken = Box<dyn std::error::Error>;

macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+).into());
        }
    };
}
use ensure;

/// Acts of one interleaving at most.
const LENGTH: usize = 60;

fn interleaving(persistence: PersistenceState, acts: &[Act]) -> Result<(), Broken> {
    let mut rig = Rig::new(persistence)?;
    for (at, act) in acts.iter().enumerate() {
        rig.act(act)
            .and_then(|()| rig.steers_agree())
            .and_then(|()| rig.offers_agree())
            .map_err(|broken| format!("{broken} (act {at}: {act:?})"))?;
    }
    rig.finish()
}

/// SQEQ-2, SQEQ-3, SQEQ-4, SQEQ-6, SQEQ-7, WIRE-8, LOG-5, LOG-10, RESUME-6, RESUME-8, RESUME-9,
/// TASK-4: at most one active turn; one terminal event a turn and nothing after it; every item and
/// request closed once; one receipt a submission; an idempotency key is one turn; an answer counts
/// only where all it is bound to is current; what a hook is about waits for its answer and becomes
/// what that says; a question outlives a client that left its turn to itself, for a day; who looks
/// on changes nothing and is shown all; no right is carried to another root or into a fork; what was
/// promised survives a kill, and what was synced a loss of power; what is in force is what the
/// newest clear or rewind left so, with what was appended; a summary stands for all that was said
/// before it, and one that comes too late, or is none, for nothing; who submitted what waits takes it back;
/// an agent that is told to stop a call is told first (CKPT-2, SEC-5).
#[test]
fn no_interleaving_breaks_a_rule() {
    let form = Form::asked();
    let (cases, mut runner) = (form.cases(), form.runner());
    let start = Instant::now();
    let persistence = prop_oneof![
        3 => Just(PersistenceState::On),
        1 => Just(PersistenceState::Lean),
    ];
    let tried = runner.run(
        &(persistence, vec(acts(), 1..LENGTH)),
        |(persistence, acts)| {
            interleaving(persistence, &acts)
                .map_err(|broken| TestCaseError::fail(broken.to_string()))
        },
    );
    let violations = u8::from(tried.is_err());
    let seconds = start.elapsed().as_secs_f64();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "faults: core_interleavings {cases} {violations} {seconds:.1}"
    )
    .unwrap();
    match tried {
        Ok(()) => {}
        Err(TestError::Fail(why, (persistence, acts))) => {
            let acts: Vec<String> = acts.iter().map(|act| format!("{act:?}")).collect();
            panic!("{why}\n{persistence:?}\n  {}", acts.join("\n  "))
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// What `cargo test` has time for, the same each time.
    Short,
    /// What it takes to see that a rule is broken, without making the example small.
    Mutants,
    /// So many, others each time.
    Full(u32),
}

impl Form {
    fn asked() -> Self {
        match std::env::var("FAULTS").as_deref() {
            Ok("full") => Form::Full(120_000),
            Ok("mutants") => Form::Mutants,
            Ok(cases) => cases.parse().map_or(Form::Short, Form::Full),
            Err(_) => Form::Short,
        }
    }

    fn cases(self) -> u32 {
        match self {
            Form::Short => 2_000,
            Form::Mutants => 30_000,
            Form::Full(cases) => cases,
        }
    }

    fn runner(self) -> TestRunner {
        let config = Config {
            cases: self.cases(),
            failure_persistence: None,
            max_shrink_iters: if self == Form::Mutants { 0 } else { 20_000 },
            ..Config::default()
        };
        match self {
            Form::Full(_) => TestRunner::new(config),
            Form::Short | Form::Mutants => {
                let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
                TestRunner::new_with_rng(config, dice)
            }
        }
    }
}
