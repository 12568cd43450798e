//! `sessiond sessions export`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sessiond_engine::Action;
use sessiond_log::{Store, Subject};

use super::decided;
use super::meter::Meter;
use crate::args::Export;
use crate::failure::Failure;
use crate::named;
use crate::output::{print, print_json};
use crate::setup::Setup;

/// Writes the file: private, whole or not at all, and never over another one.
pub(super) fn run(setup: &Setup, export: &Export) -> Result<(), Failure> {
    let store = Store::open_real(setup.store())?;
    let session = named::find(setup, &export.session)?;
    let subject: Subject = session.to_string().parse()?;
    let default = || PathBuf::from(format!("{subject}.sessiond"));
    let path = export.output.clone().unwrap_or_else(default);
    let written = write(&store, &subject, &path);
    decided::record(&store, Action::Export, Some(&subject), &written);
    let bytes = written?;
    if export.format.json {
        return print_json(&serde_json::json!({
            "session": session, "file": path, "bytes": bytes,
        }));
    }
    let path = path.display();
    print(&format!(
        "{subject} is in {path}, {bytes} bytes; keep it as private as the store\n"
    ))
}

/// Writes a session into a file; answers its length.
pub(crate) fn write(store: &Store, subject: &Subject, path: &Path) -> Result<u64, Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let file = tempfile::NamedTempFile::new_in(folder).map_err(Failure::os("make the file"))?;
    let mut out = Meter::new(BufWriter::new(file), "exported");
    let bytes = store.export(subject, &mut out)?;
    out.flush().map_err(Failure::os("write the file"))?;
    let file = out.finish().into_inner();
    let file = file.map_err(|error| Failure::os("write the file")(error.into_error()))?;
    let synced = file.as_file().sync_all();
    synced.map_err(Failure::os("sync the file"))?;
    file.persist_noclobber(path).map_err(|error| {
        let (path, error) = (path.display(), error.error);
        Failure::Usage(format!("{path} cannot be made: {error}"))
    })?;
    Ok(bytes)
}
