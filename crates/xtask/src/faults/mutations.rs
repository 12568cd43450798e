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
    /// File below `crates/log/src`, for the core below `crates`.
    pub(crate) file: &'static str,
    /// Code that the file holds exactly once.
    pub(crate) code: &'static str,
    /// What stands there instead.
    pub(crate) instead: &'static str,
    /// What the names of those tests begin with of which one must fail.
    pub(crate) test: &'static str,
}

impl Mutation {
    /// The text of the file with the mutation; the error says why there is none.
    pub(crate) fn apply(&self, text: &str) -> Result<String, String> {
        self.put(text, self.instead)
    }

    /// The text of the file with this in the place of the code.
    pub(super) fn put(&self, text: &str, instead: &str) -> Result<String, String> {
        match text.matches(self.code).count() {
            1 => Ok(text.replacen(self.code, instead, 1)),
            count => Err(format!(
                "`{}` occurs {count} times, not once: mend the table in xtask/src/faults",
                self.code.trim()
            )),
        }
    }
}

pub(crate) const fn cut(
    test: &'static str,
    name: &'static str,
    [file, code, instead]: [&'static str; 3],
) -> Mutation {
    Mutation {
        name,
        file,
        code,
        instead,
        test,
    }
}

/// The writer's own tests.
const POWER: &str = "power::";

/// Those of recoveries that are cut off.
const RECOVERY: &str = "recovery::";

/// Those of commands on whole logs.
const COMMANDS: &str = "commands::";

/// Those of the real disk.
const KERNEL: &str = "syscalls::";

/// All of them.
pub(crate) const MUTATIONS: [Mutation; 49] = [
    cut(
        POWER,
        "lines",
        [
            "appender.rs",
            "open.file.sync().doing(\"sync\", &path)?;",
            "let _ = &path;",
        ],
    ),
    cut(
        POWER,
        "name-of-segment",
        ["appender.rs", "sync_dir(fs, &home.log())?;", ""],
    ),
    cut(
        POWER,
        "name-of-log",
        [
            "appender.rs",
            "for dir in [home.root(), Path",
            "for dir in [Path",
        ],
    ),
    cut(
        POWER,
        "name-of-session",
        [
            "appender.rs",
            "[home.root(), Path::new(SESSIONS), ",
            "[home.root(), ",
        ],
    ),
    cut(
        POWER,
        "name-of-sessions",
        [
            "appender.rs",
            "Path::new(SESSIONS), Path::new(\"\")]",
            "Path::new(SESSIONS)]",
        ],
    ),
    cut(
        POWER,
        "close",
        [
            "appender.rs",
            "{\n        self.sync()?;\n        self.open = None;",
            "{\n        self.open = None;",
        ],
    ),
    cut(
        RECOVERY,
        "end-of-log",
        [
            "appender.rs",
            "fs.sync_file(&path).doing(\"sync\", &path)?;",
            "let _ = path;",
        ],
    ),
    cut(
        RECOVERY,
        "name-of-torn",
        [
            "appender.rs",
            "sync_dir(fs, home.root())?;\n            let copy",
            "let copy",
        ],
    ),
    cut(
        RECOVERY,
        "copy-of-torn-tail",
        [
            "appender.rs",
            "&copy, &bytes, Replace::Durable",
            "&copy, &bytes, Replace::Atomic",
        ],
    ),
    cut(
        POWER,
        "replaced-content",
        ["fs.rs", "        file.sync()?;\n", ""],
    ),
    cut(
        POWER,
        "replaced-name",
        [
            "fs.rs",
            "(Replace::Durable, Some(parent)) => fs.sync_dir(parent),",
            "",
        ],
    ),
    cut(
        POWER,
        "name-of-blobs",
        [
            "blob.rs",
            "self.fs\n            .sync_dir(self.home.root())\n            \
             .doing(\"sync\", self.home.root())?;",
            "",
        ],
    ),
    cut(
        POWER,
        "blob",
        [
            "blob.rs",
            "self.put(data, Replace::Durable)",
            "self.put(data, Replace::Atomic)",
        ],
    ),
    cut(
        POWER,
        "name-of-keys",
        [
            "keyring.rs",
            "self.fs.sync_dir(Path::new(\"\")).doing(\"sync\", Path::new(\"\"))",
            "Ok(())",
        ],
    ),
    cut(
        POWER,
        "key",
        [
            "keyring.rs",
            "text.as_bytes(), Replace::Durable",
            "text.as_bytes(), Replace::Atomic",
        ],
    ),
    cut(
        POWER,
        "version",
        [
            "schema.rs",
            "text.as_bytes(), Replace::Durable",
            "text.as_bytes(), Replace::Atomic",
        ],
    ),
    cut(
        KERNEL,
        "kernel-parents",
        [
            "fs/real.rs",
            "rustix::fs::fsync(rustix::fs::open(parent, flags, Mode::empty())?)?;",
            "rustix::fs::open(parent, flags, Mode::empty())?;",
        ],
    ),
    cut(
        KERNEL,
        "kernel-directory",
        [
            "fs/real.rs",
            "Ok(rustix::fs::fsync(self.open_dir(path)?)?)",
            "self.open_dir(path).map(drop)",
        ],
    ),
    cut(
        KERNEL,
        "kernel-file-by-name",
        [
            "fs/real.rs",
            "sync_data(&self.open(path, OFlags::RDONLY | OFlags::NONBLOCK)?)",
            "self.open(path, OFlags::RDONLY | OFlags::NONBLOCK).map(drop)",
        ],
    ),
    cut(
        KERNEL,
        "kernel-file",
        ["fs/real.rs", "sync_data(&self.fd)", "Ok(())"],
    ),
    cut(
        KERNEL,
        "kernel-data",
        [
            "fs/real.rs",
            "Ok(rustix::fs::fdatasync(fd)?)",
            "Ok(drop(fd.as_fd()))",
        ],
    ),
    cut(
        POWER,
        "end-of-full-segment",
        [
            "appender.rs",
            "self.write()?;\n                self.sync()?;\n",
            "self.write()?;\n",
        ],
    ),
    cut(
        COMMANDS,
        "shared-segment",
        [
            "fork.rs",
            "fs.sync_file(&source).doing(\"sync\", &source)?;",
            "",
        ],
    ),
    cut(
        COMMANDS,
        "file-of-new-session",
        ["nursery.rs", "file.sync().doing(\"sync\", path)", "Ok(())"],
    ),
    cut(
        COMMANDS,
        "names-in-new-log",
        [
            "nursery.rs",
            "for dir in directories(home) {\n        fs.sync_dir(&dir)",
            "for dir in directories(home) {\n        if !dir.ends_with(\"log\") { fs.sync_dir(&dir) } else { Ok(()) }",
        ],
    ),
    cut(
        COMMANDS,
        "names-in-new-blobs",
        [
            "nursery.rs",
            "for dir in directories(home) {\n        fs.sync_dir(&dir)",
            "for dir in directories(home) {\n        if !dir.ends_with(\"blobs\") { fs.sync_dir(&dir) } else { Ok(()) }",
        ],
    ),
    cut(
        COMMANDS,
        "names-in-new-older",
        [
            "nursery.rs",
            "for dir in directories(home) {\n        fs.sync_dir(&dir)",
            "for dir in directories(home) {\n        if !dir.ends_with(\"older\") { fs.sync_dir(&dir) } else { Ok(()) }",
        ],
    ),
    cut(
        COMMANDS,
        "older-directory",
        [
            "older.rs",
            "fs.sync_dir(home.root()).doing(\"sync\", home.root())?;",
            "",
        ],
    ),
    cut(
        COMMANDS,
        "older-segment",
        [
            "older.rs",
            "replace(fs, &packed, &content, Replace::Durable)",
            "replace(fs, &packed, &content, Replace::Atomic)",
        ],
    ),
    cut(
        COMMANDS,
        "file-of-a-back-up",
        [
            "backup.rs",
            "fill(self.fs(), to, &bytes, Replace::Durable)",
            "fill(self.fs(), to, &bytes, Replace::Atomic)",
        ],
    ),
    cut(
        COMMANDS,
        "names-in-a-back-up",
        ["backup.rs", "fs.sync_dir(to).doing(\"sync\", to)", "Ok(())"],
    ),
    cut(
        COMMANDS,
        "top-of-a-back-up",
        [
            "backup.rs",
            "fs.sync_dir(&unfinished).doing(\"sync\", &unfinished)?;",
            "",
        ],
    ),
    cut(
        COMMANDS,
        "name-of-a-back-up",
        ["backup.rs", "fs.sync_dir(dir).doing(\"sync\", dir)?;", ""],
    ),
    cut(
        COMMANDS,
        "names-in-new-session",
        [
            "nursery.rs",
            "fs.sync_dir(home.root()).doing(\"sync\", home.root())?;",
            "",
        ],
    ),
    cut(
        COMMANDS,
        "name-of-new-session",
        [
            "nursery.rs",
            "for dir in [SESSIONS, \"\"].map(Path::new) {\n        fs.sync_dir(dir).doing(\"sync\", dir)?;",
            "for dir in [\"\"].map(Path::new) {\n        fs.sync_dir(dir).doing(\"sync\", dir)?;",
        ],
    ),
    cut(
        COMMANDS,
        "name-of-new-sessions",
        [
            "nursery.rs",
            "for dir in [SESSIONS, \"\"].map(Path::new) {\n        fs.sync_dir(dir).doing(\"sync\", dir)?;",
            "for dir in [SESSIONS].map(Path::new) {\n        fs.sync_dir(dir).doing(\"sync\", dir)?;",
        ],
    ),
    cut(
        COMMANDS,
        "name-of-place",
        [
            "archive.rs",
            "fs.sync_dir(root).doing(\"sync\", root)",
            "{\n            let _ = root;\n            Ok(())\n        }",
        ],
    ),
    cut(
        COMMANDS,
        "where-it-is-now",
        [
            "archive.rs",
            "for dir in [to, from].into_iter().filter_map(Path::parent) {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
            "for dir in [from].into_iter().filter_map(Path::parent) {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
        ],
    ),
    cut(
        COMMANDS,
        "where-it-was",
        [
            "archive.rs",
            "for dir in [to, from].into_iter().filter_map(Path::parent) {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
            "for dir in [to].into_iter().filter_map(Path::parent) {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
        ],
    ),
    cut(
        COMMANDS,
        "first-where-it-is-now",
        [
            "archive.rs",
            "for dir in [to, from].into_iter().filter_map(Path::parent) {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
            "for dir in [from, to].into_iter().filter_map(Path::parent) {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
        ],
    ),
    cut(
        COMMANDS,
        "tombstone",
        [
            "trash.rs",
            "&place, &text, Replace::Durable",
            "&place, &text, Replace::Atomic",
        ],
    ),
    cut(
        COMMANDS,
        "end-of-trash",
        [
            "trash.rs",
            "if bytes > 0 {\n            fs.sync_dir(dir).doing(\"sync\", dir)?;\n        }",
            "",
        ],
    ),
    cut(
        COMMANDS,
        "repair",
        [
            "appender/repair.rs",
            "self.sync()?;\n            self.open = None;",
            "self.open = None;",
        ],
    ),
    cut(
        COMMANDS,
        "repair-before-its-name",
        [
            "appender/repair.rs",
            "open.file.sync().doing(\"sync\", &temporary)?;",
            "",
        ],
    ),
    cut(
        COMMANDS,
        "swept",
        ["gc.rs", "fs.sync_dir(dir).doing(\"sync\", dir)?;", ""],
    ),
    cut(
        COMMANDS,
        "audit-entry",
        ["audit.rs", "file.sync().doing(\"sync\", &path)?;", ""],
    ),
    cut(
        COMMANDS,
        "name-of-audit-file",
        [
            "audit.rs",
            ".doing(\"create\", path)?;\n            fs.sync_dir(dir).doing(\"sync\", dir)?;",
            ".doing(\"create\", path)?;\n            let _ = dir;",
        ],
    ),
    cut(
        COMMANDS,
        "name-of-old-audit-file",
        [
            "audit.rs",
            "        };\n        // A predecessor in this process may have died between making the name and syncing it.\n        fs.sync_dir(dir).doing(\"sync\", dir)?;",
            "        };",
        ],
    ),
    cut(
        POWER,
        "names",
        [
            "appender.rs",
            "    fs.sync_dir(path).doing(\"sync\", path)\n}",
            "    let _ = (fs, path);\n    Ok(())\n}",
        ],
    ),
];
