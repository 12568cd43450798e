//! Puts the cases and requirements into the binary, so that it can be copied alone.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let mut data = std::fs::File::create(out.join("data.rs"))?;
    for (name, folder) in [("CASES", "cases"), ("REQUIREMENTS", "requirements")] {
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files)?;
        files.sort();
        writeln!(data, "pub(crate) const {name}: &[(&str, &str)] = &[")?;
        for file in files {
            let shown = file.strip_prefix(&root).unwrap_or(&file);
            writeln!(data, "    ({shown:?}, include_str!({file:?})),")?;
        }
        writeln!(data, "];")?;
        writeln!(io::stdout(), "cargo::rerun-if-changed={folder}")?;
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    Ok(())
}
