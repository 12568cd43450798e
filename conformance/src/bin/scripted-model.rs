//! The scripted model server on its own: prints where it listens, ends when its stdin does.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use sessiond_conformance::model::{Error, ModelServer};

/// A model service on 127.0.0.1 whose replies the prompt chooses
///
/// Speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Google
/// generateContent. Prints one line, `{"url":"http://127.0.0.1:PORT"}`, and ends at the end of its
/// stdin.
#[derive(Debug, Parser)]
#[command(
    name = "scripted-model",
    after_help = "Example:\n  scripted-model --port 8399 --record requests.jsonl\n  \
        ANTHROPIC_BASE_URL=http://127.0.0.1:8399 claude-agent-acp"
)]
struct Options {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Append every request to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match serve(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scripted-model: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: &Options) -> Result<(), Error> {
    let server = ModelServer::start(options.port, options.record.as_deref()).await?;
    let line = serde_json::json!({"url": server.url()});
    // Nobody who reads it is left when this fails, and then stdin ends as well.
    let _ = writeln!(std::io::stdout(), "{line}");
    let mut stdin = tokio::io::stdin();
    let _ = tokio::io::copy(&mut stdin, &mut tokio::io::sink()).await;
    Ok(())
}
