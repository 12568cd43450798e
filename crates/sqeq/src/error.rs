//! Why the face stopped serving.

use sessiond_protocol::WireError;
use sessiond_wire::Gone;

/// Why [`serve`](crate::serve()) ended otherwise than by the client's leaving.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaceError {
    /// The engine's end of the waist is gone.
    #[error("the engine is gone")]
    EngineGone,
    /// The connection was ended with this fatal error, which the client was told.
    #[error("the connection was ended: {0}")]
    Fatal(WireError),
}

impl FaceError {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EngineGone => "engine_gone",
            Self::Fatal(_) => "protocol",
        }
    }
}

impl From<Gone> for FaceError {
    fn from(_: Gone) -> Self {
        Self::EngineGone
    }
}
