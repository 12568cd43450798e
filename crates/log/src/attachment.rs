//! Blobs that a record names beside its data: bytes of any kind that no reader of the log gets with
//! the record, and that who needs them asks for.

use serde::{Deserialize, Serialize};

use crate::blob::{BlobName, is_blob_name};
use crate::error::LogError;
use crate::store::Store;
use crate::subject::Subject;

/// How the data of a record begins that has attachments; a list of [`Attachment`]s follows.
const PREFIX: &str = "{\"$attached\":";

/// Bytes that are kept beside a log. It is kept for as long as a record names it: the data of that
/// begins with the member `$attached`, a list of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attachment(pub(crate) BlobName);

impl Attachment {
    /// How many bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }
}

/// The attachments that the data of a line names.
pub(crate) fn attached(data: &str) -> Vec<BlobName> {
    #[derive(Deserialize)]
    struct Attached {
        #[serde(rename = "$attached")]
        attached: Vec<BlobName>,
    }
    if !data.starts_with(PREFIX) {
        return Vec::new();
    }
    let attached = serde_json::from_str::<Attached>(data).map(|data| data.attached);
    let mut attached = attached.unwrap_or_default();
    attached.retain(|blob| is_blob_name(&blob.name));
    attached
}

impl Store {
    /// The bytes of an attachment of a log, archived or not; `None` when they are missing, or are
    /// not those that were attached.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn attachment(
        &self,
        subject: &Subject,
        attachment: &Attachment,
    ) -> Result<Option<Vec<u8>>, LogError> {
        let home = self.place_of(subject)?.home(subject);
        self.blobs(&home).load_bytes(&attachment.0)
    }
}
