//! A replay tells what was told live, and the same in both versions.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Cursor, Event, Finish, Item, ItemId, ItemKind, PlanEntry, PlanPriority, PlanStatus,
    SessionChanged, Stream, ToolCall, ToolContent, ToolKind, ToolStatus, TurnId, TurnOutcome,
    Usage, prompt_item,
};

use super::fold::{Picture, conversation_v1};
use super::{ends, initialized, said, started, starts, with_session};
use crate::harness::{S, Stage, item, turn, view};

/// Something that happens in a session.
#[derive(Debug, Clone)]
struct Beat {
    turn: Option<TurnId>,
    item: Option<ItemId>,
    event: Event,
}

impl Beat {
    fn is_durable(&self) -> bool {
        let text =
            matches!(&self.event, Event::ItemStarted { item } if item.kind() != ItemKind::ToolCall);
        !text && !matches!(self.event, Event::ItemDelta { .. })
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// A session of a few turns, of all that may happen in them.
struct Story {
    beats: Vec<Beat>,
    dice: Dice,
    items: u8,
    turn: Option<TurnId>,
}

impl Story {
    fn of(seed: u64) -> Vec<Beat> {
        let mut story = Self {
            beats: Vec::new(),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            items: 0,
            turn: None,
        };
        for number in 1..=3 {
            let turn = turn(number);
            story.turn = Some(turn);
            story.push(None, started());
            story.push(Some(prompt_item(turn)), said(&format!("prompt {number}")));
            for _ in 0..story.dice.throw(5) {
                story.act();
            }
            let outcomes = [
                TurnOutcome::Completed,
                TurnOutcome::Cancelled,
                TurnOutcome::Failed,
                TurnOutcome::Interrupted,
            ];
            let outcome = outcomes[usize::try_from(story.dice.throw(4)).unwrap()];
            story.push(None, crate::harness::ended(outcome, None, None));
        }
        story.beats
    }

    fn push(&mut self, item: Option<ItemId>, event: Event) {
        let turn = self.turn;
        self.beats.push(Beat { turn, item, event });
    }

    fn next(&mut self) -> Option<ItemId> {
        self.items += 1;
        Some(item(self.items))
    }

    fn act(&mut self) {
        match self.dice.throw(5) {
            0 => self.text(ItemKind::AgentMessage),
            1 => self.text(ItemKind::Thought),
            2 => {
                let entries = vec![PlanEntry {
                    content: format!("step {}", self.dice.throw(9)),
                    priority: PlanPriority::Low,
                    status: PlanStatus::Pending,
                }];
                let id = self.next();
                self.push(id, ends(Item::Plan { entries }));
            }
            3 => {
                let title = Some(format!("title {}", self.dice.throw(9)));
                let change = SessionChanged {
                    title,
                    ..SessionChanged::default()
                };
                self.push(None, Event::SessionChanged(change));
                let used = self.dice.throw(99);
                self.push(
                    None,
                    Event::Usage(Usage {
                        used,
                        ..Usage::default()
                    }),
                );
            }
            _ => self.call(),
        }
    }

    fn text(&mut self, kind: ItemKind) {
        let id = self.next();
        let item = |text: String| match kind {
            ItemKind::Thought => Item::Thought {
                text,
                finish: Finish::Whole,
            },
            _ => Item::AgentMessage {
                text,
                finish: Finish::Whole,
            },
        };
        self.push(id, starts(item(String::new())));
        let (mut text, mut stored) = (String::new(), 0);
        for _ in 0..=self.dice.throw(4) {
            let more = format!("wört {} ", self.dice.throw(99));
            let (stream, offset) = (Stream::Text, text.len() as u64);
            text.push_str(&more);
            self.push(
                id,
                Event::ItemDelta {
                    stream,
                    offset,
                    text: more,
                },
            );
            if self.dice.throw(2) == 0 {
                let (offset, text) = (stored as u64, text[stored..].to_owned());
                stored += text.len();
                self.push(id, Event::ItemPartial { kind, offset, text });
            }
        }
        self.push(id, ends(item(text)));
    }

    fn call(&mut self) {
        let id = self.next();
        let mut call = ToolCall {
            name: "run".into(),
            title: format!("Run {}", self.dice.throw(9)),
            kind: ToolKind::Execute,
            input: json!({"command": "x", "cwd": "/w"}),
            ..ToolCall::default()
        };
        self.push(id, starts(Item::ToolCall(Box::new(call.clone()))));
        call.status = ToolStatus::Running;
        self.push(
            id,
            Event::ItemChanged {
                call: Box::new(call.clone()),
            },
        );
        let mut output = String::new();
        for _ in 0..self.dice.throw(4) {
            let text = format!("line {}\n", self.dice.throw(99));
            let (stream, offset) = (Stream::Output, output.len() as u64);
            output.push_str(&text);
            let (kind, partial) = (ItemKind::ToolCall, text.clone());
            self.push(
                id,
                Event::ItemDelta {
                    stream,
                    offset,
                    text,
                },
            );
            self.push(
                id,
                Event::ItemPartial {
                    kind,
                    offset,
                    text: partial,
                },
            );
        }
        let ends_as = [
            ToolStatus::Completed,
            ToolStatus::Failed,
            ToolStatus::Cancelled,
        ];
        call.status = ends_as[usize::try_from(self.dice.throw(3)).unwrap()];
        call.content = vec![ToolContent::text(output + "exit code 3")];
        call.output = json!({"exit_code": 3});
        self.push(id, ends(Item::ToolCall(Box::new(call))));
    }
}

fn play(stage: &mut Stage, beats: &[Beat]) {
    for beat in beats {
        if beat.is_durable() {
            stage.happen_in(beat.turn, beat.item, beat.event.clone());
        } else {
            stage.pass_in(beat.turn, beat.item, beat.event.clone());
        }
    }
}

/// What is told until nothing more comes.
async fn told(stage: &mut Stage) -> Vec<Value> {
    stage.request("last", "session/list", json!({})).await;
    let list = stage.submitted().await;
    let (sessions, next) = (Vec::new(), None);
    stage.accept(&list, Accepted::Sessions { sessions, next });
    let mut told = Vec::new();
    loop {
        let mut frame = stage.told().await;
        if frame["id"] == "last" {
            return told;
        }
        told.push(frame["params"]["update"].take());
    }
}

fn picture(updates: &[Value]) -> Picture {
    let mut picture = Picture::default();
    for update in updates {
        picture.take(update);
    }
    picture
}

/// What a resume from the start tells.
async fn replayed(beats: &[Beat]) -> Vec<Value> {
    let mut stage = initialized(json!({})).await;
    let params = json!({"sessionId": S, "cwd": "/w", "replayFrom": {"type": "start"}});
    stage.request(1, "session/resume", params).await;
    let resume = stage.submitted().await;
    let durable: Vec<_> = beats
        .iter()
        .filter(|beat| beat.is_durable())
        .cloned()
        .collect();
    play(&mut stage, &durable);
    let mut view = view();
    view.cursor = Cursor(durable.len() as u64);
    stage.accept(&resume, Accepted::Session(Box::new(view)));
    let mut told = Vec::new();
    loop {
        let mut frame = stage.told().await;
        if frame["id"] == 1 {
            break;
        }
        told.push(frame["params"]["update"].take());
    }
    let ends: Vec<_> = told.iter().map(|update| &update["sessionUpdate"]).collect();
    let complete = ends
        .iter()
        .filter(|kind| **kind == "replay_complete")
        .count();
    assert_eq!(complete, 1);
    assert_eq!(ends[ends.len() - 2..], ["replay_complete", "state_update"]);
    told
}

/// RESUME-10: what was shown is shown again, by the same ids.
#[tokio::test]
async fn a_replay_makes_the_picture_that_living_through_it_made() {
    for seed in 0..48 {
        let beats = Story::of(seed);
        let mut stage = with_session(json!({})).await;
        play(&mut stage, &beats);
        let mut live = picture(&told(&mut stage).await);
        live.forget_marks();
        let mut again = picture(&replayed(&beats).await);
        // How a turn was cut is told by its state live, and by a mark later.
        again.forget_marks();
        assert_eq!(again, live, "story {seed}");
    }
}

/// RESUME-10
#[tokio::test]
async fn two_replays_are_equal_frame_by_frame() {
    for seed in 0..8 {
        let beats = Story::of(seed);
        assert_eq!(replayed(&beats).await, replayed(&beats).await);
    }
}

/// Both versions' encoders read the same log: no version is translated from the other.
#[tokio::test]
async fn one_log_tells_one_conversation_in_both_versions() {
    for seed in 0..48 {
        let beats = Story::of(seed);
        let v2 = picture(&replayed(&beats).await).conversation();
        let mut stage = Stage::initialized(json!({})).await;
        let params = json!({"sessionId": S, "cwd": "/w", "mcpServers": []});
        stage.request(1, "session/load", params).await;
        let load = stage.submitted().await;
        let durable: Vec<_> = beats
            .iter()
            .filter(|beat| beat.is_durable())
            .cloned()
            .collect();
        play(&mut stage, &durable);
        stage.accept(&load, Accepted::Session(Box::new(view())));
        let mut told = Vec::new();
        loop {
            let mut frame = stage.told().await;
            if frame["id"] == 1 {
                break;
            }
            told.push(frame["params"]["update"].take());
        }
        assert_eq!(conversation_v1(&told), v2, "story {seed}");
    }
}

/// A prompt is part of the conversation from when its turn began.
#[tokio::test]
async fn a_prompt_that_never_ran_is_shown_only_where_nobody_took_it_back() {
    let outcomes = [(TurnOutcome::Cancelled, 0), (TurnOutcome::NotRun, 2)];
    for (outcome, shown) in outcomes {
        let turn = Some(turn(1));
        let beats = [
            Beat {
                turn,
                item: turn.map(prompt_item),
                event: said("never"),
            },
            Beat {
                turn,
                item: None,
                event: crate::harness::ended(outcome, None, None),
            },
        ];
        let told = replayed(&beats).await;
        assert_eq!(told.len() - 2, shown, "{told:?}");
    }
    let never = turn(1);
    let turn = Some(never);
    let beats = [
        Beat {
            turn,
            item: turn.map(prompt_item),
            event: said("never"),
        },
        Beat {
            turn,
            item: None,
            event: crate::harness::ended(TurnOutcome::NotRun, None, None),
        },
    ];
    let told = replayed(&beats).await;
    assert_eq!(
        told[0],
        super::text_of(never, "user_message_chunk", "never")
    );
    assert_eq!(told[1]["_meta"], json!({"sessiond": {"marker": "not_run"}}));
}

/// LOG-17, LOG-4
#[tokio::test]
async fn what_is_cut_or_damaged_says_so() {
    let turn = Some(turn(1));
    let (text, finish) = ("half".to_owned(), Finish::Interrupted);
    let beats = [
        Beat {
            turn,
            item: None,
            event: started(),
        },
        Beat {
            turn,
            item: Some(item(1)),
            event: ends(Item::AgentMessage { text, finish }),
        },
        Beat {
            turn: None,
            item: None,
            event: Event::Damage {
                segment: "s".into(),
                offset: 1,
                length: 7,
            },
        },
        Beat {
            turn,
            item: None,
            event: crate::harness::ended(TurnOutcome::Interrupted, None, None),
        },
    ];
    let told = replayed(&beats).await;
    assert_eq!(
        told[0]["_meta"],
        json!({"sessiond": {"finish": "interrupted"}})
    );
    assert_eq!(told[1]["sessionUpdate"], "notice");
    assert_eq!(
        told[2]["_meta"],
        json!({"sessiond": {"marker": "interrupted"}})
    );
    assert!(told[2]["messageId"].is_string());
}
