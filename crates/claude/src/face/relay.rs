//! Messages to servers that live in the program, and what they answer.

use serde_json::{Value, json};
use sessiond_protocol::{Outcome, RequestBody, RequestFrame, WireError};

use super::open::Asked;
use super::serve::{Face, Input};
use crate::control;

impl Face {
    /// The agent calls a server of the program.
    pub(super) async fn ask_server(&mut self, request: RequestFrame) -> Result<(), WireError> {
        let RequestBody::Mcp {
            server,
            method,
            params,
        } = request.body.clone()
        else {
            return Ok(());
        };
        if self.input == Input::Ended {
            let message = "the program's input has ended; its servers cannot be reached".to_owned();
            return self
                .engine
                .answer(&request, Outcome::Failed { message })
                .await;
        }
        if !self.servers.is_known(&server) {
            return self.engine.answer(&request, Outcome::Declined).await;
        }
        if self.servers.holds_back(&server, &request) {
            return Ok(());
        }
        self.ask_mcp(&server, (&method, &params), Asked::Mcp(request));
        Ok(())
    }

    /// Asks a server of the program.
    pub(super) fn ask_mcp(&mut self, server: &str, (method, params): (&str, &Value), asked: Asked) {
        let id = self.asks.open(asked);
        let number = self.servers.number();
        let message = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
        let asked = json!({ "subtype": "mcp_message", "server_name": server, "message": message });
        self.out.control(control::request(&id, asked));
    }

    /// A server of the program has answered.
    pub(super) async fn server_answered(
        &mut self,
        request: &RequestFrame,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        let failed = |message: String| Outcome::Failed { message };
        let outcome = match answer {
            Err(message) => failed(message),
            Ok(answer) => match answer.get("mcp_response") {
                Some(response) => {
                    match (response.get("result"), response.pointer("/error/message")) {
                        (Some(result), _) => Outcome::Result {
                            result: result.clone(),
                        },
                        (None, Some(message)) => {
                            failed(message.as_str().unwrap_or_default().to_owned())
                        }
                        (None, None) => failed("the server's answer is malformed".to_owned()),
                    }
                }
                None => failed("the program's answer has no mcp_response".to_owned()),
            },
        };
        self.engine.answer(request, outcome).await
    }
}
