//! Plays the cases of a suite on a target, several at a time, and judges them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::case::{Begin, Scope};
use crate::driver::{Driver, Place, Played, SweepEnd};
use crate::error::Error;
use crate::judge::{Finding, judge};
use crate::model_link::ModelLink;
use crate::schema::Schemas;
use crate::step::Step;
use crate::suite::{Suite, Variant};
use crate::target::Target;
use crate::tongue::Tongue;
use crate::trace::{Moment, trace};

/// What became of a case.
#[derive(Debug, Clone)]
pub(crate) struct CaseResult {
    pub(crate) id: String,
    pub(crate) took: Duration,
    /// Finding of each check of the case, by the check's id.
    pub(crate) findings: Vec<(String, Finding)>,
    pub(crate) trace: Vec<Moment>,
}

/// What the runner works with.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) target: &'a Target,
    pub(crate) model: &'a ModelLink,
    /// Folder below which each case has its own.
    pub(crate) root: PathBuf,
    /// How many cases run at once.
    pub(crate) jobs: usize,
    /// Where the folders of a case stay that has a check which does not pass.
    pub(crate) keep: Option<&'a Path>,
}

/// What the workers share.
#[derive(Debug, Default)]
struct Board<'a> {
    waiting: Vec<&'a Variant>,
    findings: BTreeMap<String, Finding>,
    results: Vec<CaseResult>,
    /// Ids of the cases that are being played.
    active: Vec<String>,
    started: usize,
    fault: Option<Error>,
}

/// What a worker does next.
enum Next<'a> {
    Play(&'a Variant, usize),
    /// It cannot be tested, and why.
    Give(&'a Variant, Finding),
    Wait,
    Done,
}

impl Runner<'_> {
    /// Plays the cases. Their results are in the order of the cases.
    ///
    /// # Errors
    ///
    /// What is the runner's own fault, or its data's.
    pub(crate) fn run(&self, cases: &[&Variant]) -> Result<Vec<CaseResult>, Error> {
        let schemas = Schemas::all()?;
        let (every, own): (Vec<&Variant>, Vec<&Variant>) = cases
            .iter()
            .partition(|variant| variant.case.scope == Scope::Every);
        // A check of all cases needs them all, even when it is asked for alone.
        let own = if own.is_empty() && !every.is_empty() {
            self.suite.cases.iter().collect()
        } else {
            own
        };
        let board = Mutex::new(Board {
            waiting: own
                .into_iter()
                .filter(|variant| variant.case.scope == Scope::Case)
                .collect(),
            ..Board::default()
        });
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| self.work(&board, &changed, &schemas, &every));
            }
        });
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = board.fault {
            return Err(fault);
        }
        let mut results = board.results;
        results.extend(
            every
                .iter()
                .map(|variant| summary(variant, &board.findings)),
        );
        let position = |id: &str| cases.iter().position(|variant| variant.id == id);
        results.retain(|result| position(&result.id).is_some());
        results.sort_by_key(|result| position(&result.id));
        Ok(results)
    }

    fn work<'b>(
        &'b self,
        board: &Mutex<Board<'b>>,
        changed: &Condvar,
        schemas: &BTreeMap<Tongue, Schemas>,
        every: &[&Variant],
    ) {
        let mut held = lock(board);
        loop {
            match self.next(&mut held) {
                Next::Done => break,
                Next::Wait => {
                    held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                }
                Next::Give(variant, finding) => {
                    let checks = variant.case.checks.iter();
                    let findings = checks
                        .map(|check| (variant.check_id(check), finding.clone()))
                        .collect();
                    held.take(CaseResult {
                        id: variant.id.clone(),
                        took: Duration::ZERO,
                        findings,
                        trace: Vec::new(),
                    });
                }
                Next::Play(variant, number) => {
                    held.active.push(variant.id.clone());
                    drop(held);
                    let played = self.play(variant, number, schemas, every);
                    held = lock(board);
                    held.active.retain(|id| *id != variant.id);
                    match played {
                        Ok((result, all)) => {
                            held.take(result);
                            for (id, finding) in all {
                                held.fold(id, finding);
                            }
                        }
                        Err(fault) => {
                            held.waiting.clear();
                            held.fault.get_or_insert(fault);
                        }
                    }
                }
            }
            changed.notify_all();
        }
    }

    fn next<'b>(&self, board: &mut Board<'b>) -> Next<'b> {
        let mut blocked = None;
        for at in 0..board.waiting.len() {
            let variant = board.waiting[at];
            match self.ready(variant, board) {
                Ok(true) => {
                    board.waiting.remove(at);
                    board.started += 1;
                    return Next::Play(variant, board.started);
                }
                Ok(false) => {}
                Err(why) => {
                    blocked = Some((at, why));
                    break;
                }
            }
        }
        match blocked {
            Some((at, why)) => Next::Give(board.waiting.remove(at), why),
            None if board.waiting.is_empty() => Next::Done,
            None if !board.active.is_empty() => Next::Wait,
            // Nothing runs and nothing may: the cases wait for each other.
            None => {
                let why = "its prerequisites wait for it".to_owned();
                Next::Give(board.waiting.remove(0), Finding::Unreached(why))
            }
        }
    }

    /// Whether a case may run now; an error says why it never will.
    fn ready(&self, variant: &Variant, board: &Board<'_>) -> Result<bool, Finding> {
        let mut needed: Vec<String> = variant.case.requires.clone();
        if variant.case.begin != Begin::Nothing {
            needed.push(Tongue::of(&variant.id).initialized().to_owned());
        }
        if variant.case.begin == Begin::Session {
            needed.push(Tongue::of(&variant.id).session().to_owned());
        }
        needed.retain(|id| id.split('#').next() != Some(&variant.id));
        let mut ready = true;
        for id in needed {
            match board.findings.get(&id) {
                Some(Finding::Holds) => {}
                Some(Finding::Skipped(why)) => return Err(Finding::Skipped(why.clone())),
                Some(_) => return Err(Finding::Unreached(format!("{id} failed"))),
                // A case that was not asked for is not waited for.
                None => {
                    let of = id.split('#').next().unwrap_or_default();
                    ready &= !board.waiting.iter().any(|other| other.id == of) && !board.runs(of);
                }
            }
        }
        Ok(ready)
    }

    /// Plays a case, again for each frame that it sweeps over.
    fn play(
        &self,
        variant: &Variant,
        number: usize,
        schemas: &BTreeMap<Tongue, Schemas>,
        every: &[&Variant],
    ) -> Result<(CaseResult, Vec<(String, Finding)>), Error> {
        let begun = Instant::now();
        let most = variant.case.steps.iter().find_map(|step| match step {
            Step::Sweep(sweep) => Some(sweep.most),
            _ => None,
        });
        let mut findings: Vec<(String, Finding)> = Vec::new();
        let mut all: Vec<(String, Finding)> = Vec::new();
        let mut shown = Vec::new();
        let stride = match (most, self.target.sweeps) {
            (Some(most), Some(sweeps)) => most.div_ceil(sweeps.max(1)),
            _ => 1,
        };
        for turn in (1..=most.unwrap_or(1)).step_by(stride) {
            let name = format!("{number}-{turn}");
            let place = Place::make(self.root.join(&name), variant.case.disk_kib)?;
            let model_url = self.model.url(&name);
            place.furnish(self.target, &model_url)?;
            let driver = Driver::new(
                &variant.case,
                self.target,
                schemas,
                &place,
                &model_url,
                turn,
            )?;
            self.model.follow(&name, driver.recorder());
            let played = driver.play(&variant.variables)?;
            self.model.forget(&name);
            let found = judged(variant, &played, schemas, most.map(|_| turn));
            let bad = |finding: &Finding| !matches!(finding, Finding::Holds | Finding::Skipped(_));
            let worse = found.iter().any(|(_, finding)| bad(finding));
            let mut spoilt = worse;
            let first = !findings.iter().any(|(_, finding)| bad(finding));
            if shown.is_empty() || (worse && first) {
                shown = trace(&played.recording);
            }
            merge(&mut findings, found);
            let speaks = Tongue::of(&variant.id);
            for variant in every.iter().filter(|other| Tongue::of(&other.id) == speaks) {
                let seen = judged(variant, &played, schemas, None);
                spoilt |= seen.iter().any(|(_, finding)| bad(finding));
                merge(&mut all, seen);
            }
            match self.keep {
                Some(folder) if spoilt => {
                    place.keep(folder, &format!("{}-{turn}", variant.id), &played.recording)?;
                }
                _ => place.remove(),
            }
            if most.is_some() && played.sweep == SweepEnd::Beyond {
                break;
            }
        }
        for (_, finding) in &mut all {
            if let Finding::Broken(why) = finding {
                *why = format!("in {}: {why}", variant.id);
            }
        }
        let result = CaseResult {
            id: variant.id.clone(),
            took: begun.elapsed(),
            findings,
            trace: shown,
        };
        Ok((result, all))
    }
}

impl Board<'_> {
    fn take(&mut self, result: CaseResult) {
        for (id, finding) in &result.findings {
            self.fold(id.clone(), finding.clone());
        }
        self.results.push(result);
    }

    fn fold(&mut self, id: String, finding: Finding) {
        let folded = match self.findings.remove(&id) {
            Some(before) => before.worse(finding),
            None => finding,
        };
        self.findings.insert(id, folded);
    }

    /// Whether a case has been started and is not judged yet.
    fn runs(&self, id: &str) -> bool {
        self.active.iter().any(|active| active == id)
    }
}

fn lock<'a, 'b>(board: &'a Mutex<Board<'b>>) -> MutexGuard<'a, Board<'b>> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

fn judged(
    variant: &Variant,
    played: &Played,
    schemas: &BTreeMap<Tongue, Schemas>,
    turn: Option<usize>,
) -> Vec<(String, Finding)> {
    let Some(schemas) = schemas.get(&Tongue::of(&variant.id)) else {
        return Vec::new();
    };
    let checks = variant.case.checks.iter();
    checks
        .map(|check| {
            let finding = match (judge(check, played, schemas), turn) {
                (Finding::Broken(why), Some(turn)) => {
                    Finding::Broken(format!("killed at frame {turn}: {why}"))
                }
                (Finding::Unreached(why), Some(turn)) => {
                    Finding::Unreached(format!("killed at frame {turn}: {why}"))
                }
                (finding, _) => finding,
            };
            (variant.check_id(check), finding)
        })
        .collect()
}

/// Each check once, with the worst that was found.
fn merge(findings: &mut Vec<(String, Finding)>, more: Vec<(String, Finding)>) {
    for (id, finding) in more {
        match findings.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => {
                let before = std::mem::replace(known, Finding::Holds);
                *known = before.worse(finding);
            }
            None => findings.push((id, finding)),
        }
    }
}

/// The result of a case that looks at all others.
fn summary(variant: &Variant, findings: &BTreeMap<String, Finding>) -> CaseResult {
    let nothing = || Finding::Unreached("no case ran".to_owned());
    // Silence is no merit, unless it is not the target's language.
    let unspoken = match findings.get(Tongue::of(&variant.id).initialized()) {
        Some(Finding::Skipped(why)) => Some(why.clone()),
        _ => None,
    };
    let checks = variant.case.checks.iter();
    CaseResult {
        id: variant.id.clone(),
        took: Duration::ZERO,
        findings: checks
            .map(|check| {
                let id = variant.check_id(check);
                let finding = match findings.get(&id) {
                    _ if unspoken.is_some() => {
                        Finding::Skipped(unspoken.clone().unwrap_or_default())
                    }
                    None => nothing(),
                    Some(Finding::Skipped(why)) => Finding::Unreached(why.clone()),
                    Some(finding) => finding.clone(),
                };
                (id, finding)
            })
            .collect(),
        trace: Vec::new(),
    }
}
