//! The app-server face: JSON-RPC on stdio, as the Python SDK of Codex starts it.
