//! `peers`: the programs nobody here wrote, in exact versions, below `<target>/peers`.
//!
//! Each peer is installed from files in `drives/` that name every version, and leaves a stamp with
//! the text of those files. While the stamp equals them there is nothing to do; a run that was cut
//! off left no stamp and is done again from an empty folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::process;
use crate::toolchain::Tool;
use crate::workspace::{Workspace, cargo};

/// Where the peers are.
#[derive(Debug, Clone)]
pub(crate) struct Peers {
    folder: PathBuf,
}

/// One thing to install: its folder, and the files of `drives/` that say what it is.
struct Peer {
    name: &'static str,
    inputs: &'static [&'static str],
    /// What the stamp depends on besides: an environment is bound to its interpreter.
    tool: Option<Tool>,
    install: fn(&Installation<'_>) -> Result<()>,
}

/// The folders of one installation.
struct Installation<'a> {
    drives: &'a Path,
    into: &'a Path,
}

/// What npm installs from, and the agents that must lie beside the installed SDK.
const NODE_FILES: [&str; 4] = [
    "package.json",
    "package-lock.json",
    "echo/echo.mjs",
    "stream/stream.mjs",
];

/// The packages of the agents on the Rust SDK.
const AGENT_PACKAGES: [&str; 2] = ["echo/rust-sdk", "stream/rust-sdk"];

/// What npm installs the real agents from.
const AGENT_FILES: [&str; 2] = ["agents/package.json", "agents/package-lock.json"];

/// The real agents: more than a gigabyte, so only `cargo xtask agents` installs them.
const AGENTS: Peer = Peer {
    name: "agents",
    inputs: &AGENT_FILES,
    tool: Some(Tool::Node),
    install: |installation| npm(installation, &AGENT_FILES),
};

/// What npm installs the runtimes from that are only judged.
const FOREIGN_FILES: [&str; 2] = ["foreign/package.json", "foreign/package-lock.json"];

/// Runtimes that are judged and nothing else: only `cargo xtask foreign` installs them.
const FOREIGN: [Peer; 3] = [
    Peer {
        name: "foreign",
        inputs: &FOREIGN_FILES,
        tool: Some(Tool::Node),
        install: |installation| npm(installation, &FOREIGN_FILES),
    },
    Peer {
        name: "foreign-python",
        inputs: &["foreign/requirements.txt"],
        tool: Some(Tool::Python),
        install: python_example,
    },
    Peer {
        name: "foreign-rust",
        inputs: &["foreign/rust-example.txt"],
        tool: None,
        install: rust_example,
    },
];

/// What npm installs the real Codex from, and what judges frames against the schemas it generates.
const CODEX_BINARY_FILES: [&str; 2] = [
    "codex/binary/package.json",
    "codex/binary/package-lock.json",
];

/// The real Codex, hundreds of megabytes: only `cargo xtask agents` installs it.
const CODEX_BINARY: Peer = Peer {
    name: "codex-binary",
    inputs: &CODEX_BINARY_FILES,
    tool: Some(Tool::Node),
    install: |installation| npm(installation, &CODEX_BINARY_FILES),
};

/// What npm installs Codex's TypeScript SDK from.
const CODEX_FILES: [&str; 2] = ["codex/package.json", "codex/package-lock.json"];

/// What npm installs the Claude agent SDK for TypeScript from.
const CLAUDE_FILES: [&str; 2] = ["claude/package.json", "claude/package-lock.json"];

/// The real Claude CLI, a platform package beside the SDK of the same version: hundreds of megabytes,
/// so only what drives it installs it.
const CLAUDE_CLI: Peer = Peer {
    name: "claude-cli",
    inputs: &CLAUDE_FILES,
    tool: Some(Tool::Node),
    install: |installation| npm(installation, &CLAUDE_FILES),
};

const PEERS: [Peer; 6] = [
    Peer {
        name: "python",
        inputs: &["requirements.txt", "codex/requirements.txt"],
        tool: Some(Tool::Python),
        install: python,
    },
    Peer {
        name: "node",
        inputs: &NODE_FILES,
        tool: Some(Tool::Node),
        install: |installation| npm(installation, &NODE_FILES),
    },
    Peer {
        name: "codex",
        inputs: &CODEX_FILES,
        tool: Some(Tool::Node),
        // The SDK's own binary is an optional package, and hundreds of megabytes that nobody runs.
        install: |installation| npm_with(installation, &CODEX_FILES, &["--omit=optional"]),
    },
    Peer {
        name: "claude",
        inputs: &CLAUDE_FILES,
        tool: Some(Tool::Node),
        install: |installation| npm_with(installation, &CLAUDE_FILES, &["--omit=optional"]),
    },
    Peer {
        name: "rust",
        inputs: &[
            "echo/rust-sdk/Cargo.toml",
            "echo/rust-sdk/Cargo.lock",
            "echo/rust-sdk/src/main.rs",
            "stream/rust-sdk/Cargo.toml",
            "stream/rust-sdk/Cargo.lock",
            "stream/rust-sdk/src/main.rs",
        ],
        tool: None,
        install: |installation| rust(installation, &AGENT_PACKAGES, &["--release"]),
    },
    Peer {
        name: "rust-client",
        inputs: &[
            "acp_rs/Cargo.toml",
            "acp_rs/Cargo.lock",
            "acp_rs/src/main.rs",
            "acp_rs/src/checks.rs",
            "acp_rs/src/ledger.rs",
            "acp_rs/src/v1.rs",
            "acp_rs/src/v2.rs",
            "acp_rs/src/wire.rs",
        ],
        tool: None,
        // Nothing is measured with it: what builds sooner.
        install: |installation| rust(installation, &["acp_rs"], &[]),
    },
];

/// Those of them that have an agent to measure.
const MEASURED: [&str; 3] = ["python", "node", "rust"];

impl Peers {
    /// The peers of a target directory, installed or not.
    pub(crate) fn at(target: &Path) -> Self {
        Self {
            folder: target.join("peers"),
        }
    }

    /// Installs what is missing or of another version.
    ///
    /// # Errors
    ///
    /// `Toolchain` without Node or Python, `Command` when an installer fails.
    pub(crate) fn install(&self, workspace: &Workspace) -> Result<()> {
        let drives = workspace.root().join("drives");
        for peer in &PEERS {
            self.install_one(&drives, peer)?;
        }
        Ok(())
    }

    /// Installs the agents on the SDKs of others, beside which is measured, and no client.
    ///
    /// # Errors
    ///
    /// As [`Peers::install`].
    pub(crate) fn install_measured(&self, workspace: &Workspace) -> Result<()> {
        let drives = workspace.root().join("drives");
        let is_measured = |peer: &&Peer| MEASURED.contains(&peer.name);
        for peer in PEERS.iter().filter(is_measured) {
            self.install_one(&drives, peer)?;
        }
        Ok(())
    }

    /// Installs the runtimes that are only judged, and the Python SDK that one of them runs on.
    ///
    /// # Errors
    ///
    /// As [`Peers::install`].
    pub(crate) fn install_foreign(&self, workspace: &Workspace) -> Result<()> {
        let drives = workspace.root().join("drives");
        let python = PEERS.iter().filter(|peer| peer.name == "python");
        for peer in python.chain(&FOREIGN) {
            self.install_one(&drives, peer)?;
        }
        Ok(())
    }

    /// Installs the real agents.
    ///
    /// # Errors
    ///
    /// As [`Peers::install`].
    pub(crate) fn install_agents(&self, workspace: &Workspace) -> Result<()> {
        let drives = workspace.root().join("drives");
        self.install_one(&drives, &AGENTS)?;
        self.install_one(&drives, &CLAUDE_CLI)?;
        self.install_one(&drives, &CODEX_BINARY)
    }

    /// Installs the real Claude CLI.
    ///
    /// # Errors
    ///
    /// As [`Peers::install`].
    pub(crate) fn install_claude_cli(&self, workspace: &Workspace) -> Result<()> {
        self.install_one(&workspace.root().join("drives"), &CLAUDE_CLI)
    }

    /// The real Claude CLI of this platform.
    ///
    /// # Errors
    ///
    /// `Content` when there is none.
    pub(crate) fn claude_cli(&self) -> Result<PathBuf> {
        let packages = self.folder.join("claude-cli/node_modules/@anthropic-ai");
        let entries = std::fs::read_dir(&packages)
            .map_err(Error::io(format!("listing {}", packages.display())))?;
        let mut programs = entries.flatten().map(|entry| entry.path().join("claude"));
        programs
            .find(|program| program.is_file())
            .ok_or_else(|| Error::content(&packages, "has no claude for this platform"))
    }

    /// Installs the real Codex alone.
    ///
    /// # Errors
    ///
    /// As [`Peers::install`].
    pub(crate) fn install_codex(&self, workspace: &Workspace) -> Result<()> {
        self.install_one(&workspace.root().join("drives"), &CODEX_BINARY)
    }

    /// The real Codex: the binary of the one platform that npm has installed.
    ///
    /// # Errors
    ///
    /// `Io` where it is not installed.
    pub(crate) fn codex(&self) -> Result<PathBuf> {
        let packages = self.folder.join("codex-binary/node_modules/@openai");
        let vendors = entries(&packages)?.into_iter().map(|at| at.join("vendor"));
        let targets = vendors.filter(|at| at.is_dir()).map(|at| entries(&at));
        let binaries = targets.flatten().flatten().map(|at| at.join("bin/codex"));
        let mut binaries = binaries.filter(|at| at.is_file());
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let none = || Error::io("looking for the binary of Codex")(missing());
        binaries.next().ok_or_else(none)
    }

    /// Python with the SDK.
    pub(crate) fn python(&self) -> PathBuf {
        self.folder.join("python/bin/python")
    }

    /// The echo agent on the TypeScript SDK, to be run by Node.
    pub(crate) fn typescript_echo(&self) -> PathBuf {
        self.folder.join("node/echo.mjs")
    }

    /// The echo agent on the Rust SDK.
    pub(crate) fn rust_echo(&self) -> PathBuf {
        self.folder.join("rust/release/echo-rust-sdk")
    }

    /// The client on the Rust SDK.
    pub(crate) fn rust_client(&self) -> PathBuf {
        self.folder.join("rust-client/debug/acp-rs")
    }

    /// The streaming agent on the TypeScript SDK, to be run by Node.
    pub(crate) fn typescript_stream(&self) -> PathBuf {
        self.folder.join("node/stream.mjs")
    }

    /// The streaming agent on the Rust SDK.
    pub(crate) fn rust_stream(&self) -> PathBuf {
        self.folder.join("rust/release/stream-rust-sdk")
    }

    fn install_one(&self, drives: &Path, peer: &Peer) -> Result<()> {
        let into = self.folder.join(peer.name);
        let stamp = self.folder.join(format!("{}.stamp", peer.name));
        let wanted = wanted(drives, peer)?;
        if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            eprintln!("peers: {} is there", peer.name);
            return Ok(());
        }
        eprintln!("peers: installing {}", peer.name);
        // First the stamp: from here on nothing says that an older version is still there.
        if stamp.exists() {
            std::fs::remove_file(&stamp)
                .map_err(Error::io(format!("removing {}", stamp.display())))?;
        }
        if into.exists() {
            std::fs::remove_dir_all(&into)
                .map_err(Error::io(format!("emptying {}", into.display())))?;
        }
        std::fs::create_dir_all(&into).map_err(Error::io(format!("making {}", into.display())))?;
        (peer.install)(&Installation {
            drives,
            into: &into,
        })?;
        std::fs::write(&stamp, wanted).map_err(Error::io(format!("writing {}", stamp.display())))
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || Error::io(format!("reading {}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(failed())?;
    entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed()))
        .collect()
}

fn wanted(drives: &Path, peer: &Peer) -> Result<String> {
    let mut text = peer.tool.map_or(Ok(String::new()), Tool::check)?;
    for input in peer.inputs {
        let path = drives.join(input);
        let content = std::fs::read_to_string(&path)
            .map_err(Error::io(format!("reading {}", path.display())))?;
        text.push_str(&format!("\n--- {input}\n{content}"));
    }
    Ok(text)
}

fn python(Installation { drives, into }: &Installation<'_>) -> Result<()> {
    process::run(
        Command::new(Tool::Python.program())
            .args(["-m", "venv"])
            .arg(into),
    )?;
    pip(into, &[], &drives.join("requirements.txt"))?;
    // Codex's SDK wants its own binary as a package, hundreds of megabytes that nobody runs.
    pip(into, &["--no-deps"], &drives.join("codex/requirements.txt"))
}

fn pip(into: &Path, options: &[&str], requirements: &Path) -> Result<()> {
    process::run(
        Command::new(into.join("bin/python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(options)
            .arg("-r")
            .arg(requirements),
    )
}

fn npm(installation: &Installation<'_>, files: &[&str]) -> Result<()> {
    npm_with(installation, files, &[])
}

fn npm_with(
    Installation { drives, into }: &Installation<'_>,
    files: &[&str],
    options: &[&str],
) -> Result<()> {
    for name in files {
        let flat = Path::new(name).file_name().unwrap_or_default();
        std::fs::copy(drives.join(name), into.join(flat))
            .map_err(Error::io(format!("copying {name}")))?;
    }
    // acpx and claude-agent-acp ask for Node 22 and run on 20: npm's engine warnings are expected. No package here
    // needs its install script, so none is run. `npm ci` would refuse the lock on a machine whose
    // optional platform packages are not the ones of the machine that wrote it; `install` takes
    // every locked version all the same.
    process::run(
        Command::new(Tool::Npm.program())
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
            .args(options)
            .current_dir(into),
    )
}

fn rust(
    Installation { drives, into }: &Installation<'_>,
    packages: &[&str],
    options: &[&str],
) -> Result<()> {
    packages.iter().try_for_each(|package| {
        process::run(
            Command::new(cargo())
                .args(["build", "--quiet", "--locked"])
                .args(options)
                .arg("--manifest-path")
                .arg(drives.join(package).join("Cargo.toml"))
                .arg("--target-dir")
                .arg(into),
        )
    })
}

/// The example agent of the Python SDK: it is in the source package alone.
fn python_example(Installation { drives, into }: &Installation<'_>) -> Result<()> {
    process::run(
        Command::new(Tool::Python.program())
            .args(["-m", "pip", "download", "--quiet", "--no-deps"])
            .args(["--disable-pip-version-check", "--no-binary"])
            .args(["agent-client-protocol", "-r"])
            .arg(drives.join("foreign/requirements.txt"))
            .arg("-d")
            .arg(into),
    )?;
    let unpack = "import glob, tarfile\n\
        archive = tarfile.open(glob.glob('*.tar.gz')[0])\n\
        [name] = [n for n in archive.getnames() if n.endswith('/examples/agent.py')]\n\
        open('agent.py', 'wb').write(archive.extractfile(name).read())";
    process::run(
        Command::new(Tool::Python.program())
            .args(["-c", unpack])
            .current_dir(into),
    )
}

/// The example agent of the Rust SDK, out of its crate.
fn rust_example(Installation { drives, into }: &Installation<'_>) -> Result<()> {
    let named = drives.join("foreign/rust-example.txt");
    let named = std::fs::read_to_string(&named).map_err(Error::io(named.display().to_string()))?;
    process::run(
        Command::new(cargo())
            .args(["install", "--quiet", "--locked", "--debug"])
            // Without them the example of this release does not compile.
            .args(["--features", "unstable", "--example", "agent", "--root"])
            .arg(into)
            .arg("--target-dir")
            .arg(into.join("build"))
            .arg(named.trim()),
    )?;
    let build = into.join("build");
    std::fs::remove_dir_all(&build).map_err(Error::io(build.display().to_string()))
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
