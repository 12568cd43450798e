//! Measures the index on a store of many sessions: `measure DIR [SESSIONS]` fills DIR when it is
//! empty, and prints as one JSON object how long a rebuild, a first page and all pages take, in this
//! process and in one that did not ask before, and a page right after a session was closed.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use sessiond_index::{Index, Query};
use sessiond_log::{Durability, LogError, NewRecord, Owner, Store, Subject};
use uuid::Uuid;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SESSIONS: usize = 10_000;
const WRITERS: usize = 4;
const PAGE: u32 = 100;
/// Of each number the best is printed: the work, without what else the machine did.
const ROUNDS: usize = 5;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("usage: measure DIR [SESSIONS]")?;
    let wanted = args.next().map_or(Ok(SESSIONS), |text| text.parse())?;
    let store = Store::open_real(Path::new(&dir))?;
    fill(&store, wanted)?;
    let sessions = store.subjects()?.len();
    let index = Index::open(&store);
    let mut rebuild = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        index.rebuild(&mut |_| ())?;
        rebuild = rebuild.min(start.elapsed());
    }
    // What was just written is looked at again until its times are old enough to be trusted.
    std::thread::sleep(Duration::from_secs(1));
    let other_process = best(|| pages(&Index::open(&store), 1))?;
    let first_page = best(|| pages(&index, 1))?;
    let all_pages = best(|| pages(&index, usize::MAX))?;
    let after_a_session = best(|| {
        let subject = Subject::from(Uuid::now_v7());
        session(&store, &subject)?;
        pages(&index, 1)
    })?;
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let figures = json!({
        "sessions": sessions,
        "rebuild_per_second": sessions as f64 / rebuild.as_secs_f64(),
        "first_page_of_another_process_ms": millis(other_process),
        "first_page_ms": millis(first_page),
        "all_pages_ms": millis(all_pages),
        "first_page_after_a_session_ms": millis(after_a_session),
    });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

fn best(mut work: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut best = work()?;
    for _ in 1..ROUNDS {
        best = best.min(work()?);
    }
    Ok(best)
}

/// Time of the first `pages` pages.
fn pages(index: &Index, pages: usize) -> Result<Duration> {
    let start = Instant::now();
    let mut query = Query {
        limit: PAGE,
        ..Query::default()
    };
    for _ in 0..pages {
        query.after = index.list(&query)?.next;
        if query.after.is_none() {
            break;
        }
    }
    Ok(start.elapsed())
}

fn fill(store: &Store, wanted: usize) -> Result<()> {
    let missing = wanted.saturating_sub(store.subjects()?.len());
    std::thread::scope(|scope| {
        let write = || -> Result<()> {
            (0..missing.div_ceil(WRITERS))
                .try_for_each(|_| session(store, &Subject::from(Uuid::now_v7())))
        };
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(write)).collect();
        writers
            .into_iter()
            .try_for_each(|writer| writer.join().map_err(|_| "a writer broke down")?)
    })
}

/// A session of two short turns.
fn session(store: &Store, subject: &Subject) -> Result<()> {
    let opened = format!(
        r#"{{"event":{{"type":"session.opened","start":"new","id":"{subject}","format":1,"program":"measure","source":"test","cwd":"/w/{}","agent":{{"name":"script","version":null}},"model":null,"instructions":null,"mode":null,"principal":null,"parent":null,"workspace":{{"root":null,"repository":null,"worktree":null,"branch":null}}}}}}"#,
        subject.as_ref().len() % 7,
    );
    let titled = r#"{"event":{"type":"session.changed","title":"Mend the parser"}}"#.to_owned();
    let prompt = r#"{"event":{"type":"item.ended","item":{"type":"user_message","content":[{"type":"text","text":"Mend the parser, please, and say what was wrong with it."}]}}}"#;
    let answer = r#"{"event":{"type":"item.ended","item":{"type":"agent_message","text":"It read a line twice."}}}"#;
    let mut records = vec![("session.opened", opened), ("session.changed", titled)];
    for _ in 0..2 {
        records.push(("item.ended", prompt.to_owned()));
        records.push(("item.ended", answer.to_owned()));
    }
    let records = records.into_iter().map(|(kind, data)| NewRecord {
        kind: kind.to_owned(),
        at: jiff::Timestamp::now().to_string(),
        data,
    });
    let lease = store.create(subject, &Owner::current())?;
    let writer = lease.writer()?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        writer
            .append(records.collect(), Durability::Written)
            .await?;
        writer.shutdown().await?;
        Ok::<(), LogError>(())
    })?;
    Ok(())
}
