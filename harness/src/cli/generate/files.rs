//! Programs as files for other tools: a folder for each variant, and in it one for each batch.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::algebra::graph::NamedGraph;
use crate::algebra::source::Source;
use crate::case::Case;
use crate::cli::CannotRun;
use crate::engines::driver::Syntax;
use crate::engines::terraform;
use crate::util::files::{folder_of, is_occupied};

/// Whoever reads the programs may be another user: there are no secrets in them.
const READABLE: u32 = 0o755;

/// A folder of programs that is being written. It is there whole or not at all.
pub struct Programs {
    out: PathBuf,
    draft: TempDir,
    source: NamedGraph,
}

impl Programs {
    /// Programs of a source, for a folder that is new or empty.
    pub fn new(out: &Path, source: &Source) -> Result<Self, CannotRun> {
        if is_occupied(out) {
            return Err(format!("{} is not empty: name a new folder with --out", out.display()).into());
        }
        let parent = folder_of(out);
        let draft = fs::create_dir_all(parent)
            .and_then(|()| {
                use std::os::unix::fs::PermissionsExt;
                let permissions = fs::Permissions::from_mode(READABLE);
                tempfile::Builder::new().prefix(".programs-").permissions(permissions).tempdir_in(parent)
            })
            .map_err(|error| unwritable(out, &error))?;
        Ok(Self { out: out.to_owned(), draft, source: NamedGraph::new(&source.graph, &source.names) })
    }

    /// Writes the batches of a program, given as a term.
    pub fn write(&mut self, name: &str, term: &str) -> Result<(), CannotRun> {
        let case = Case::new(0, self.source.clone(), vec![term.to_owned()])?;
        for (batch, number) in case.batches(0)?.iter().zip(1..) {
            let folder = self.draft.path().join(name).join(format!("batch-{number}"));
            let text = terraform::render(batch, Syntax::Hcl);
            fs::create_dir_all(&folder)
                .and_then(|()| fs::write(folder.join(terraform::PROGRAM_FILE), text))
                .map_err(|error| unwritable(&self.out, &error))?;
        }
        Ok(())
    }

    /// Puts the folder into its place.
    pub fn finish(self) -> Result<(), CannotRun> {
        fs::rename(self.draft.path(), &self.out).map_err(|error| unwritable(&self.out, &error))?;
        // What it would remove at its end is in its place by now.
        let _ = self.draft.keep();
        Ok(())
    }
}

fn unwritable(out: &Path, error: &io::Error) -> String {
    format!("the programs cannot be written to {}: {error}", out.display())
}
