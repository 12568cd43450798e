//! A file system in memory: sessions without persistence, and tests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AppendFile, FileId, FileKind, Fs, Lock, LockMode, Stat};

/// Files and directories in memory; clones share them. Everything is as durable as the process.
#[derive(Debug, Clone, Default)]
pub struct MemoryFs {
    tree: Arc<Mutex<Tree>>,
}

#[derive(Debug, Default)]
struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
    files: HashMap<u64, Vec<u8>>,
    locked: HashSet<u64>,
    last_inode: u64,
    links: Links,
}

/// Whether a file may get a second name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Links {
    #[default]
    Made,
    Refused,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Directory(u64),
    File(u64),
}

impl Node {
    fn inode(self) -> u64 {
        match self {
            Self::Directory(inode) | Self::File(inode) => inode,
        }
    }
}

impl Tree {
    fn next_inode(&mut self) -> u64 {
        self.last_inode += 1;
        self.last_inode
    }

    fn need_parent(&self, path: &Path) -> io::Result<()> {
        match path.parent().and_then(|p| self.nodes.get(p)) {
            Some(Node::Directory(_)) => Ok(()),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn file(&self, path: &Path) -> io::Result<u64> {
        match self.nodes.get(path) {
            Some(Node::File(inode)) => Ok(*inode),
            Some(Node::Directory(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn content(&mut self, inode: u64) -> io::Result<&mut Vec<u8>> {
        self.files
            .get_mut(&inode)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn has_children(&self, path: &Path) -> bool {
        self.nodes.keys().any(|p| p.parent() == Some(path))
    }

    fn add_file(&mut self, path: &Path) -> io::Result<u64> {
        self.need_parent(path)?;
        if self.nodes.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = self.next_inode();
        self.nodes.insert(path.to_owned(), Node::File(inode));
        self.files.insert(inode, Vec::new());
        Ok(inode)
    }
}

impl MemoryFs {
    /// An empty file system, without even its root.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty file system that refuses hard links, as one does between two disks.
    #[must_use]
    pub fn without_links() -> Self {
        let fs = Self::default();
        fs.tree().links = Links::Refused;
        fs
    }

    /// All files with their bytes, ordered by path: what a test compares.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let tree = self.tree();
        tree.nodes
            .iter()
            .filter_map(|(path, node)| match node {
                Node::File(inode) => Some((path.clone(), tree.files.get(inode)?.clone())),
                Node::Directory(_) => None,
            })
            .collect()
    }

    /// Sets the bytes of a file, making it and its directories when missing.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        let mut tree = self.tree();
        for dir in path.ancestors().skip(1) {
            if !tree.nodes.contains_key(dir) {
                let inode = tree.next_inode();
                tree.nodes.insert(dir.to_owned(), Node::Directory(inode));
            }
        }
        let inode = match tree.nodes.get(path) {
            Some(node) => node.inode(),
            None => tree.next_inode(),
        };
        tree.nodes.insert(path.to_owned(), Node::File(inode));
        tree.files.insert(inode, bytes);
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fs for MemoryFs {
    fn make_root(&self) -> io::Result<()> {
        let mut tree = self.tree();
        if !tree.nodes.contains_key(Path::new("")) {
            let inode = tree.next_inode();
            tree.nodes.insert(PathBuf::new(), Node::Directory(inode));
        }
        Ok(())
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        tree.need_parent(path)?;
        match tree.nodes.get(path) {
            Some(Node::Directory(_)) => Ok(()),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => {
                let inode = tree.next_inode();
                tree.nodes.insert(path.to_owned(), Node::Directory(inode));
                Ok(())
            }
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match self.stat(path)?.kind {
            FileKind::Directory => Ok(()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.sync_dir(path)?;
        let tree = self.tree();
        let names = tree.nodes.keys().filter(|p| p.parent() == Some(path));
        Ok(names
            .filter_map(|p| Some(p.file_name()?.to_str()?.to_owned()))
            .collect())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let tree = self.tree();
        let node = *tree.nodes.get(path).ok_or(io::ErrorKind::NotFound)?;
        let (kind, bytes) = match node {
            Node::Directory(_) => (FileKind::Directory, 0),
            Node::File(inode) => (FileKind::File, tree.files.get(&inode).map_or(0, Vec::len)),
        };
        let id = FileId {
            device: 0,
            inode: node.inode(),
        };
        Ok(Stat {
            kind,
            bytes: bytes as u64,
            id,
        })
    }

    fn read(&self, path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut tree = self.tree();
        let inode = tree.file(path)?;
        let bytes = tree.content(inode)?;
        let at = |offset: u64| {
            usize::try_from(offset)
                .unwrap_or(usize::MAX)
                .min(bytes.len())
        };
        Ok(bytes
            .get(at(range.start)..at(range.end))
            .unwrap_or_default()
            .to_vec())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let inode = self.tree().add_file(path)?;
        Ok(Box::new(MemoryFile {
            fs: self.clone(),
            inode,
        }))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.tree().file(path).map(drop)
    }

    fn truncate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        let mut tree = self.tree();
        let inode = tree.file(path)?;
        let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        tree.content(inode)?.resize(length, 0);
        Ok(())
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let inode = self.tree().file(path)?;
        Ok(Box::new(MemoryFile {
            fs: self.clone(),
            inode,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        tree.need_parent(to)?;
        match (tree.nodes.get(from), tree.nodes.get(to)) {
            (None, _) => return Err(io::ErrorKind::NotFound.into()),
            (Some(Node::Directory(_)), Some(Node::File(_))) => {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            (Some(Node::File(_)), Some(Node::Directory(_))) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            (Some(Node::Directory(_)), Some(_)) if tree.has_children(to) => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            _ => {}
        }
        let moved: Vec<_> = tree.nodes.keys().filter(|p| p.starts_with(from)).collect();
        let moved: Vec<PathBuf> = moved.into_iter().cloned().collect();
        for path in moved {
            if let Some(node) = tree.nodes.remove(&path)
                && let Ok(rest) = path.strip_prefix(from)
            {
                // Joining an empty path would add a slash.
                let target = if rest.as_os_str().is_empty() {
                    to.to_owned()
                } else {
                    to.join(rest)
                };
                tree.nodes.insert(target, node);
            }
        }
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        if tree.links == Links::Refused {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        tree.need_parent(to)?;
        let inode = tree.file(from)?;
        if tree.nodes.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        tree.nodes.insert(to.to_owned(), Node::File(inode));
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        match tree.nodes.get(path) {
            Some(Node::Directory(_)) if tree.has_children(path) => {
                Err(io::ErrorKind::DirectoryNotEmpty.into())
            }
            Some(Node::Directory(_)) => {
                tree.nodes.remove(path);
                Ok(())
            }
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        tree.file(path)?;
        // The bytes stay for whoever has the file open, as on a real disk.
        tree.nodes.remove(path);
        Ok(())
    }

    fn lock(&self, path: &Path, mode: LockMode) -> io::Result<Option<Box<dyn Lock>>> {
        let mut tree = self.tree();
        let inode = match tree.file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && mode == LockMode::Exclusive => {
                tree.add_file(path)?
            }
            other => other?,
        };
        if !tree.locked.insert(inode) {
            return Ok(None);
        }
        Ok(Some(Box::new(MemoryLock {
            fs: self.clone(),
            inode,
        })))
    }
}

#[derive(Debug)]
struct MemoryFile {
    fs: MemoryFs,
    inode: u64,
}

impl AppendFile for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.fs.tree().content(self.inode)?.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryLock {
    fs: MemoryFs,
    inode: u64,
}

impl Lock for MemoryLock {
    fn id(&self) -> FileId {
        FileId {
            device: 0,
            inode: self.inode,
        }
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.fs.tree().locked.remove(&self.inode);
    }
}
