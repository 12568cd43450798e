//! Where fresh ids come from.

use sessiond_protocol::{ItemId, RequestId, TurnId};
use uuid::Uuid;

use crate::core::Mint;

/// Fresh ids: UUIDv7, so that they sort by time.
pub(crate) struct Ids;

impl Mint for Ids {
    fn turn(&mut self) -> TurnId {
        TurnId::new(Uuid::now_v7())
    }

    fn item(&mut self) -> ItemId {
        ItemId::new(Uuid::now_v7())
    }

    fn request(&mut self) -> RequestId {
        RequestId::new(Uuid::now_v7())
    }
}
