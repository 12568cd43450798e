//! Where a case may write: folders of its own, and what is set for the target there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::disk::Disk;
use crate::error::Error;
use crate::recording::Recording;
use crate::target::Target;
use crate::tongue::Tongue;
use crate::trace::trace;

/// The folder of a case in which its disk is mounted.
const ON_DISK: &str = "disk";

/// Where a case may write.
#[derive(Debug)]
pub(crate) struct Place {
    pub(super) root: PathBuf,
    /// What home and state lie on, where the case wants it so.
    pub(super) disk: Option<Disk>,
}

impl Place {
    /// Makes the folders of a case, and its disk of this many KiB.
    pub(crate) fn make(root: PathBuf, disk_kib: Option<u64>) -> Result<Self, Error> {
        let mut place = Self { root, disk: None };
        if let Some(kib) = disk_kib {
            let path = place.root.join(ON_DISK);
            let made = std::fs::create_dir_all(&path).and_then(|()| Disk::make(&path, kib * 1024));
            let made = made.map_err(|error| Error::io(path.display().to_string(), error))?;
            place.disk = Some(made);
        }
        for name in ["home", "state", "cwd", "tmp"] {
            let path = place.seen(&place.folder(name));
            std::fs::create_dir_all(&path)
                .map_err(|error| Error::io(path.display().to_string(), error))?;
        }
        Ok(place)
    }

    /// Removes all of it. What cannot be removed goes with the run's own folder.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }

    /// Moves all of it below a folder, in place of what had that name, with the wire log as `wire.jsonl`;
    /// what lies on a disk of its own goes with that.
    pub(crate) fn keep(
        &self,
        folder: &Path,
        name: &str,
        recording: &Recording,
    ) -> Result<(), Error> {
        let to = folder.join(name);
        let fault = |error: io::Error| Error::io(format!("--keep {}", to.display()), error);
        if to.exists() {
            std::fs::remove_dir_all(&to).map_err(fault)?;
        }
        // It may be another file system, and sockets may stand there.
        let moved = std::process::Command::new("mv")
            .args([&self.root, &to])
            .output();
        let moved = moved.map_err(fault)?;
        if !moved.status.success() {
            let why = String::from_utf8_lossy(&moved.stderr).into_owned();
            return Err(fault(io::Error::other(why)));
        }
        let wire: String = trace(recording)
            .iter()
            .map(|moment| json!(moment).to_string() + "\n")
            .collect();
        std::fs::write(to.join("wire.jsonl"), wire).map_err(fault)
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder("cwd")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder("state")
    }

    /// One of the folders of the case. What a target keeps lies on its disk; what it works on does not.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        match (&self.disk, name) {
            (Some(_), "home" | "state") => self.root.join(ON_DISK).join(name),
            _ => self.root.join(name),
        }
    }

    /// A path as the runner reaches it.
    pub(super) fn seen(&self, path: &Path) -> PathBuf {
        match self.disk.as_ref().and_then(Disk::keeper) {
            Some(keeper) => keeper.seen(path),
            None => path.to_path_buf(),
        }
    }

    /// Writes the files that the target's profile wants.
    pub(crate) fn furnish(&self, target: &Target, model_url: &str) -> Result<(), Error> {
        for (path, text) in &target.files {
            let path = self.seen(Path::new(&self.fill(path, model_url)));
            let written = std::fs::create_dir_all(path.parent().unwrap_or(&path))
                .and_then(|()| std::fs::write(&path, self.fill(text, model_url)));
            written.map_err(|error| Error::io(path.display().to_string(), error))?;
        }
        Ok(())
    }

    /// A text of a profile with this case's folders and its model's address.
    pub(super) fn fill(&self, text: &str, model_url: &str) -> String {
        let folder = |name: &str| self.folder(name).to_string_lossy().into_owned();
        text.replace("{home}", &folder("home"))
            .replace("{state_dir}", &folder("state"))
            .replace("{cwd}", &folder("cwd"))
            .replace("{model_url}", model_url)
    }

    pub(super) fn environment(
        &self,
        tongue: Tongue,
        target: &Target,
        model_url: &str,
    ) -> BTreeMap<String, String> {
        let text = |folder: &str| self.folder(folder).to_string_lossy().into_owned();
        let mut env = BTreeMap::from([
            ("HOME".to_owned(), text("home")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TMPDIR".to_owned(), text("tmp")),
            ("SESSIOND_HOME".to_owned(), text("state")),
        ]);
        if let Ok(path) = std::env::var("PATH") {
            env.insert("PATH".to_owned(), path);
        }
        for (name, value) in tongue.environment() {
            env.insert((*name).to_owned(), (*value).to_owned());
        }
        for (name, value) in &target.env {
            env.insert(name.clone(), self.fill(value, model_url));
        }
        env
    }
}
