//! The staging folder in which faulty engines are built: OpenTofu's source, copied out of Go's module cache, in which
//! `go build` exchanges no file.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use equiform::engines::install::go::{OPENTOFU, copy};
use equiform::engines::worker;

use crate::fault::{Fault, Faults};

/// A copy of the source, and the engine at hand.
pub struct Staging {
    folder: PathBuf,
    source: PathBuf,
}

impl Staging {
    /// Fetches the source and copies it.
    pub fn open(folder: &Path, faults: &Faults) -> Self {
        fs::create_dir_all(folder).unwrap();
        let fetched = OPENTOFU.fetch(go(), &faults.opentofu, folder);
        let fetched = fetched.unwrap_or_else(|error| panic!("{error}")).folder;
        let source = folder.join("source");
        if source.exists() {
            fs::remove_dir_all(&source).unwrap();
        }
        copy(&fetched, &source).unwrap_or_else(|error| panic!("copying {}: {error}", fetched.display()));
        // The engine is its own worker, so that what explores has the fault too.
        OPENTOFU.add_worker(&source).unwrap();
        Self { folder: folder.to_owned(), source }
    }

    /// Builds the engine with a fault, or as it is. The next one takes its place: they are large.
    pub fn build(&self, faults: &Faults, fault: Option<&Fault>) -> Result<PathBuf, String> {
        let (exchanged, overlay) = (self.folder.join("exchanged.go"), self.folder.join("overlay.json"));
        let mut replace = serde_json::Map::new();
        if let Some(fault) = fault {
            let original = self.source.join(&fault.file);
            let text = fs::read_to_string(&original).map_err(|error| format!("{}: {error}", fault.file))?;
            fs::write(&exchanged, faults.put(fault, &text)?).map_err(|error| error.to_string())?;
            replace.insert(original.display().to_string(), exchanged.display().to_string().into());
        }
        let json = serde_json::json!({ "Replace": replace });
        fs::write(&overlay, json.to_string()).map_err(|error| error.to_string())?;
        let executable = self.folder.join("tofu");
        let flags = [OsStr::new("-overlay"), overlay.as_os_str()];
        let output = OPENTOFU
            .build_command(go(), &self.source, &executable, &flags)
            .output()
            .map_err(|error| format!("go does not start: {error}"))?;
        if output.status.success() {
            fs::copy(&executable, worker::place_beside(&executable)).map_err(|error| error.to_string())?;
            return Ok(executable);
        }
        Err(format!("it does not build:\n{}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn go() -> &'static Path {
    Path::new("go")
}
