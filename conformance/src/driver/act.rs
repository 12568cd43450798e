//! Steps that do something else than speak.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Did, Driver, Halt, SweepEnd};
use crate::error::Error;
use crate::process::{Process, Reading};
use crate::recording::What;
use crate::step::{
    Descendants, Exit, ReadFile, ReadingState, Request, SignalName, Step, Sweep, Watch, Whom,
};
use crate::tongue::Tongue;

/// How often a file that is waited for is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(5);

impl Driver<'_> {
    /// Does one step.
    pub(super) fn step(&mut self, step: &Step) -> Did {
        match step {
            Step::Start(start) => self.start(&start.process, start.begin, start.watch, &start.args),
            Step::Call(request) => {
                let label = self.request(request)?;
                let answer = self.answer_to(&label, request.within)?;
                self.capture(&answer, &request.capture)
            }
            Step::Send(request) => self.request(request).map(|_| ()),
            Step::Many(many) => {
                for number in 0..many.count {
                    let id = json!(format!("many-{number}"));
                    let params = many
                        .params
                        .as_ref()
                        .map(|params| self.variables.fill(params));
                    let frame = self.tongue.call(&id, &many.method, params);
                    self.write_frame(&many.process, &frame)?;
                }
                Ok(())
            }
            Step::Submit(submit) => {
                let label = self.submit(submit)?;
                let receipt = self.answer_to(&label, submit.within)?;
                self.capture(&receipt, &submit.capture)
            }
            Step::Post(submit) => self.submit(submit).map(|_| ()),
            Step::Write(write) => self.write(write),
            Step::Notify(notify) => {
                let method = self.variables.text(&notify.method);
                let mut frame = json!({"method": method});
                if self.tongue != Tongue::AppServer {
                    frame["jsonrpc"] = json!("2.0");
                }
                if let Some(params) = &notify.params {
                    frame["params"] = self.variables.fill(params);
                }
                self.write_frame(&notify.process, &frame).map(|_| ())
            }
            Step::Raw(raw) => self.raw(raw),
            Step::Prompt(prompt) => self.prompt(prompt),
            Step::Answer(answer) => {
                let frame = self.answer_to(&answer.to, answer.within)?;
                self.capture(&frame, &answer.capture)
            }
            Step::Speak(name) => self.speak(name),
            Step::Turn(prompt) => self.turn(prompt),
            Step::Open(open) => self.open(open),
            Step::Until(until) => self.until(until),
            Step::Reply(reply) => {
                let mut frame = json!({"jsonrpc": "2.0", "id": self.variables.fill(&reply.to)});
                if let Some(result) = &reply.result {
                    frame["result"] = self.variables.fill(result);
                }
                if let Some(error) = &reply.error {
                    frame["error"] = self.variables.fill(error);
                }
                self.write_frame(&reply.process, &frame).map(|_| ())
            }
            Step::Watch(watch) => self.watch(watch),
            Step::Permission(permission) => {
                self.client.set_permission(*permission);
                Ok(())
            }
            Step::PermissionFrom(name) => {
                self.client.set_permission(self.named(name)?);
                Ok(())
            }
            Step::Elicitation(elicitation) => {
                self.client.set_elicitation(*elicitation);
                Ok(())
            }
            Step::Signal(signal) => self.signal(&signal.process, signal.name, signal.to),
            Step::SignalFrom(name) => self.signal("a", self.named(name)?, Whom::Root),
            Step::Close(which) => {
                self.process(&which.process)?.close();
                Ok(())
            }
            Step::Exit(exit) => self.exit(exit),
            Step::Reading(reading) => {
                let process = self.process(&reading.process)?;
                process.set_reading(match reading.state {
                    ReadingState::On => Reading::On,
                    ReadingState::Paused => Reading::Paused,
                });
                Ok(())
            }
            Step::Descendants(ask) => self.descendants(ask),
            Step::Mark(name) => {
                let at = self.recorder.add(0, What::Mark(name.clone()));
                self.from = at;
                Ok(())
            }
            Step::WriteFile(file) => {
                let path = self.path(&file.path)?;
                std::fs::write(&path, self.variables.text(&file.text))
                    .map_err(|error| Error::io(path.display().to_string(), error).into())
            }
            Step::ReadFile(file) => self.read_file(file),
            Step::AwaitFile(file) => self.await_file(file),
            Step::Damage(damage) => self.damage(damage),
            Step::Stored(stored) => {
                self.stored(stored);
                Ok(())
            }
            Step::Holders(holders) => self.holders(&holders.mark),
            Step::Export(export) => self.export(export),
            Step::Sweep(sweep) => self.sweep(sweep),
            Step::Written(written) => self.written(written),
            Step::Take(take) => self.take(take),
            Step::Convert(convert) => self.convert(convert),
            Step::ConvertCuts(convert) => self.convert_cuts(convert),
            Step::Fill(_) => self.fill(),
            Step::Free(_) => self.free(),
        }
    }

    /// What a variable names.
    pub(super) fn named<T: serde::de::DeserializeOwned>(&self, variable: &str) -> Result<T, Halt> {
        let value = self.variables.fill(&format!("${variable}").into());
        serde_json::from_value(value)
            .map_err(|error| Halt::Fault(Error::Harness(format!("{}: {error}", self.case.id))))
    }

    /// Sends a request as a case writes it; its label.
    fn request(&mut self, request: &Request) -> Result<String, Halt> {
        let label = request.label.clone().unwrap_or(request.method.clone());
        let params = request
            .params
            .as_ref()
            .map(|params| self.variables.fill(params));
        let id = request.id.as_ref().map(|id| self.variables.fill(id));
        let method = self.variables.text(&request.method);
        self.ask(&request.process, &label, &method, params, id)?;
        Ok(label)
    }

    fn watch(&self, watch: &Watch) -> Did {
        let index = self.process(&watch.process)?.index;
        let within = self.within(watch.ms, self.target.timeouts.quiet());
        // What a process leaves behind is watched after its end, for as long.
        let before = self.recorder.look().ended(index);
        self.recorder.wait(
            within,
            usize::MAX,
            |_, _| None,
            |recording| recording.gone(index).filter(|_| before.is_none()),
        );
        Ok(())
    }

    fn signal(&self, process: &str, name: SignalName, to: Whom) -> Did {
        let process = self.process(process)?;
        let whom = match to {
            Whom::Root => "root",
            Whom::Group => "group",
            Whom::Tree => "tree",
        };
        let number = match name {
            SignalName::Term => rustix::process::Signal::TERM,
            SignalName::Int => rustix::process::Signal::INT,
            SignalName::Kill => rustix::process::Signal::KILL,
            SignalName::Stop => rustix::process::Signal::STOP,
            SignalName::Cont => rustix::process::Signal::CONT,
        };
        self.recorder.add(
            process.index,
            What::Signalled(format!("{name:?} to {whom}")),
        );
        process.signal(number.as_raw(), whom);
        Ok(())
    }

    fn exit(&self, exit: &Exit) -> Did {
        let index = self.process(&exit.process)?.index;
        let timeouts = self.target.timeouts;
        // One that has said nothing yet may still be starting, and ends when it has.
        let heard = self.recorder.look().lines().any(|(_, of, _)| of == index);
        let starting = if heard { 0 } else { timeouts.start };
        let usual = timeouts.exit() + Duration::from_millis(starting);
        let within = self.within(exit.within, usual);
        let ended = |what: &What| matches!(what, What::Exited(_));
        let found = self.recorder.wait(
            within,
            0,
            |_, entry| (entry.process == index && ended(&entry.what)).then_some(()),
            |_| None,
        );
        found.ok_or_else(|| {
            Halt::Stop(format!(
                "the process did not end within {} ms",
                within.as_millis()
            ))
        })
    }

    /// Asks ever more seldom until nothing is there, so that one that ends late is told from one that stays.
    fn descendants(&self, ask: &Descendants) -> Did {
        let process = self.process(&ask.process)?;
        let told = |what: &What| matches!(what, What::Descendants(_));
        let until = Instant::now() + Duration::from_millis(ask.within);
        let mut pause = Duration::from_millis(50);
        loop {
            self.ask_guard(process, Process::ask_tree, told)?;
            let none = self
                .recorder
                .look()
                .descendants()
                .is_some_and(<[_]>::is_empty);
            let left = until.saturating_duration_since(Instant::now());
            if none || left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(pause.min(left));
            pause *= 2;
        }
    }

    /// Asks the guard of a process, and waits until its answer is recorded.
    pub(super) fn ask_guard(
        &self,
        process: &Process,
        ask: impl FnOnce(&Process),
        told: impl Fn(&What) -> bool,
    ) -> Did {
        let from = self.recorder.look().entries.len();
        ask(process);
        let index = process.index;
        let found = self.recorder.wait(
            self.target.timeouts.reply(),
            from,
            |_, entry| (entry.process == index && told(&entry.what)).then_some(()),
            |_| None,
        );
        found.ok_or_else(|| Halt::Fault(Error::Harness("the guard does not answer".to_owned())))
    }

    /// A path of a case: below its folder, so that no case touches what is not its own.
    pub(super) fn path(&self, path: &str) -> Result<PathBuf, Halt> {
        let path = PathBuf::from(self.variables.text(path));
        if path.starts_with(&self.place.root) {
            Ok(self.place.seen(&path))
        } else {
            let why = format!("{} is outside the case's folder", path.display());
            Err(Halt::Fault(Error::Harness(why)))
        }
    }

    fn read_file(&self, file: &ReadFile) -> Did {
        let path = self.path(&file.path)?;
        let bytes = std::fs::read(&path).ok();
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.recorder.add(0, What::File(file.label.clone(), text));
        Ok(())
    }

    fn await_file(&self, file: &ReadFile) -> Did {
        let path = self.path(&file.path)?;
        let within = self.within(None, self.target.timeouts.reply());
        let until = Instant::now() + within;
        while !filled(&path) {
            if Instant::now() > until {
                return Err(Halt::Stop(format!("no file {}", path.display())));
            }
            std::thread::sleep(LOOK);
        }
        self.read_file(file)
    }

    /// Kills at the frame whose turn it is, unless the answer comes before.
    fn sweep(&mut self, sweep: &Sweep) -> Did {
        let asked = self.labels.get(&sweep.of).cloned().ok_or_else(|| {
            let why = format!("{}: no request is called `{}`", self.case.id, sweep.of);
            Halt::Fault(Error::Harness(why))
        })?;
        let mut left = self.kill_at.max(1);
        let within = self.within(None, self.target.timeouts.reply());
        let found = self.recorder.wait(
            within,
            asked.at,
            |index, entry| {
                if super::frame::answer_in(&asked, index, entry).is_some() {
                    return Some(SweepEnd::Beyond);
                }
                left -= usize::from(entry.process == asked.process && entry.frame().is_some());
                (left == 0).then_some(SweepEnd::Within)
            },
            |_| None,
        );
        let Some(end) = found else {
            let why = format!("no frame {} within {} ms", self.kill_at, within.as_millis());
            return Err(Halt::Stop(why));
        };
        self.sweep = end;
        self.signal(&sweep.process, SignalName::Kill, Whom::Tree)?;
        self.exit(&Exit {
            process: sweep.process.clone(),
            within: None,
        })
    }
}

/// Whether a file is there and holds something.
fn filled(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
}
