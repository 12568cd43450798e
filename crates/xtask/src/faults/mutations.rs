//! Every sync of the log, and how each is taken out.

/// What a line of the log's source holds when it asks for stable storage.
pub(crate) const SITES: [&str; 9] = [
    ".sync().doing(",
    "file.sync()?",
    ".sync_dir(",
    " sync_dir(fs",
    ".sync_file(",
    "Replace::Durable)",
    "::fsync(",
    "sync_data(&",
    "::fdatasync(",
];

/// One sync that is taken out.
#[derive(Debug)]
pub(crate) struct Mutation {
    /// What is lost without it.
    pub(crate) name: &'static str,
    /// File below `crates/log/src`.
    pub(crate) file: &'static str,
    /// Code that the file holds exactly once.
    pub(crate) code: &'static str,
    /// What stands there instead.
    pub(crate) instead: &'static str,
    /// Test target that must fail.
    pub(crate) test: &'static str,
}

impl Mutation {
    /// The text of the file with the mutation; the error says why there is none.
    pub(crate) fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(self.code).count() {
            1 => Ok(text.replacen(self.code, self.instead, 1)),
            count => Err(format!(
                "`{}` occurs {count} times, not once: mend faults/mutations.rs",
                self.code.trim()
            )),
        }
    }
}

const fn cut(name: &'static str, [file, code, instead]: [&'static str; 3]) -> Mutation {
    let test = "fault_suite";
    Mutation {
        name,
        file,
        code,
        instead,
        test,
    }
}

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 21] = [
    cut(
        "lines",
        [
            "appender.rs",
            "open.file.sync().doing(\"sync\", &path)?;",
            "let _ = &path;",
        ],
    ),
    cut(
        "name-of-segment",
        ["appender.rs", "sync_dir(fs, &home.log())?;", ""],
    ),
    cut(
        "name-of-log",
        [
            "appender.rs",
            "for dir in [home.root(), Path",
            "for dir in [Path",
        ],
    ),
    cut(
        "name-of-session",
        [
            "appender.rs",
            "[home.root(), Path::new(SESSIONS), ",
            "[home.root(), ",
        ],
    ),
    cut(
        "name-of-sessions",
        [
            "appender.rs",
            "Path::new(SESSIONS), Path::new(\"\")]",
            "Path::new(SESSIONS)]",
        ],
    ),
    cut(
        "close",
        [
            "appender.rs",
            "{\n        self.sync()?;\n        self.open = None;",
            "{\n        self.open = None;",
        ],
    ),
    cut(
        "end-of-log",
        [
            "appender.rs",
            "fs.sync_file(&path).doing(\"sync\", &path)?;",
            "let _ = path;",
        ],
    ),
    cut(
        "name-of-torn",
        [
            "appender.rs",
            "sync_dir(fs, home.root())?;\n            let copy",
            "let copy",
        ],
    ),
    cut(
        "copy-of-torn-tail",
        [
            "appender.rs",
            "&copy, &bytes, Replace::Durable",
            "&copy, &bytes, Replace::Atomic",
        ],
    ),
    cut("replaced-content", ["fs.rs", "        file.sync()?;\n", ""]),
    cut(
        "replaced-name",
        [
            "fs.rs",
            "(Replace::Durable, Some(parent)) => fs.sync_dir(parent),",
            "",
        ],
    ),
    cut(
        "name-of-blobs",
        [
            "blob.rs",
            "self.fs\n            .sync_dir(self.home.root())\n            \
             .doing(\"sync\", self.home.root())?;",
            "",
        ],
    ),
    cut(
        "blob",
        [
            "blob.rs",
            "data.as_bytes(), Replace::Durable",
            "data.as_bytes(), Replace::Atomic",
        ],
    ),
    cut(
        "name-of-keys",
        [
            "keyring.rs",
            "self.fs\n            .sync_dir(Path::new(\"\"))\n            \
             .doing(\"sync\", Path::new(\"\"))?;",
            "",
        ],
    ),
    cut(
        "key",
        [
            "keyring.rs",
            "text.as_bytes(), Replace::Durable",
            "text.as_bytes(), Replace::Atomic",
        ],
    ),
    cut(
        "version",
        [
            "store.rs",
            "text.as_bytes(), Replace::Durable",
            "text.as_bytes(), Replace::Atomic",
        ],
    ),
    cut(
        "kernel-parents",
        [
            "fs/real.rs",
            "rustix::fs::fsync(rustix::fs::open(parent, flags, Mode::empty())?)?;",
            "rustix::fs::open(parent, flags, Mode::empty())?;",
        ],
    ),
    cut(
        "kernel-directory",
        [
            "fs/real.rs",
            "Ok(rustix::fs::fsync(self.open_dir(path)?)?)",
            "self.open_dir(path).map(drop)",
        ],
    ),
    cut(
        "kernel-file-by-name",
        [
            "fs/real.rs",
            "sync_data(&self.open(path, OFlags::RDONLY | OFlags::NONBLOCK)?)",
            "self.open(path, OFlags::RDONLY | OFlags::NONBLOCK).map(drop)",
        ],
    ),
    cut(
        "kernel-file",
        ["fs/real.rs", "sync_data(&self.fd)", "Ok(())"],
    ),
    cut(
        "kernel-data",
        [
            "fs/real.rs",
            "Ok(rustix::fs::fdatasync(fd)?)",
            "Ok(drop(fd.as_fd()))",
        ],
    ),
];
