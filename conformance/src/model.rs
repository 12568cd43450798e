//! The scripted model server: four model services in one, whose replies the prompt chooses.
//!
//! | service | routes |
//! | --- | --- |
//! | Anthropic Messages | `POST /v1/messages`, `POST /v1/messages/count_tokens` |
//! | OpenAI Responses | `POST /v1/responses` |
//! | OpenAI Chat Completions | `POST /v1/chat/completions` |
//! | Google generateContent | `POST /v1beta/models/M:generateContent`, `:streamGenerateContent`, `:countTokens` |
//! | all | `GET /v1/models`, `GET /v1beta/models` |
//!
//! A route may stand below any prefix: agents differ in what they take for the base URL.
//!
//! # The script in a prompt
//!
//! Words of the form `WORD[argument]` in the last text of the last prompt, anywhere in it; brackets
//! nest. Texts that begin as agents begin their own (a tag, `--- `) do not count.
//! ` THEN ` separates what is said before and after the results of tools. A prompt without such a
//! word is answered with its own first words, a round without a step with what the tools returned.
//!
//! | word | what the model does |
//! | --- | --- |
//! | `SAY[text]` | says this |
//! | `THINK[text]` | thinks this, before all else |
//! | `SHELL[command]` | calls the shell tool that was offered; twice in a step: in parallel |
//! | `SUDO[command]` | the same, asking to leave the sandbox where the tool has such a field |
//! | `READ[path]` | calls the tool that reads a file |
//! | `WRITE[path text]` | calls the tool that writes a file |
//! | `CALL[name json]` | calls the tool of this name with this input, whether offered or not |
//! | `SLOW[pieces milliseconds]` | says numbered pieces, this long apart |
//! | `HUGE[bytes]` | says this many bytes, at most 16 MiB |
//! | `HTTP[status text]` | answers with this HTTP status and an error that says this |
//! | `CUT[]` | breaks the connection after the first piece of the reply |

mod anthropic;
mod ask;
mod body;
mod chat;
mod directive;
mod error;
mod google;
mod plan;
mod recorder;
mod reply;
mod responses;
mod route;
mod server;
mod service;
mod tool;

pub use error::Error;
pub use server::{Happening, ModelServer, Watch};
