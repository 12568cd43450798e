//! The least that an MCP server must do on its stdin and stdout, for the tests of this crate. Its tools:
//! `env` tells a variable, `pid` its process, `wait` never answers, `die` ends it.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(frame) = serde_json::from_str::<Value>(&line?) else {
            continue;
        };
        let Some(result) = answer(&frame) else {
            continue;
        };
        let answer = json!({"jsonrpc": "2.0", "id": frame["id"], "result": result});
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(frame: &Value) -> Option<Value> {
    let params = &frame["params"];
    match frame["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        })),
        "tools/call" => {
            let text = match params["name"].as_str()? {
                "env" => {
                    let name = params["arguments"]["name"].as_str()?;
                    std::env::var(name).unwrap_or_else(|_| "unset".to_owned())
                }
                "pid" => std::process::id().to_string(),
                "wait" => return None,
                "die" => std::process::exit(3),
                _ => return Some(json!({"content": [], "isError": true})),
            };
            Some(json!({"content": [{"type": "text", "text": text}]}))
        }
        _ => None,
    }
}
