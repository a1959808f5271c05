//! A copy of a program to run it in: its files and those of its modules, without what engines keep beside them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::LOCK_FILE;
use super::program::{FETCHED_MODULES, Program};

/// The file that puts the state where we want it, whatever backend the program has. Engines take it for a later word
/// than that of any other file.
const OVERRIDE: &str = "equiform_override.tf.json";

/// The most bytes that a program may have, with what its links lead to.
const MOST_BYTES: u64 = 1 << 30;

/// The most files and folders that it may have. Links to folders that have links in them can multiply.
const MOST_ENTRIES: usize = 100_000;

/// Where the system shows itself as files, some of which have no end.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// A program that cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A file or folder cannot be read or written.
    #[error("{}: cannot be copied: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A link leads to where no program is.
    #[error(
        "{}: this link leads to {}, which {why}; remove the link, or run the program without it",
        link.display(), target.display()
    )]
    LeadsOutside {
        /// The link.
        link: PathBuf,
        /// Where it leads to.
        target: PathBuf,
        /// Why it is not followed.
        why: &'static str,
    },
    /// There is too much of it.
    #[error(
        "{}: with this, the program has more than {MOST_ENTRIES} files or more than {} MiB, what its links lead to \
         included; run it without what it does not need",
        .0.display(), MOST_BYTES >> 20
    )]
    TooLarge(PathBuf),
}

/// Copies a program into a folder, and gives the folder in it that stands for the program's own. The state will be at
/// `state`. `scratch` holds the copy, and may itself be in the program's folder.
pub fn copy(program: &Program, scratch: &Path, into: &Path, state: &Path) -> Result<PathBuf, CopyError> {
    let common = program.common_folder();
    let root = program.folders.first().map(PathBuf::as_path).unwrap_or(&common);
    let root_copied = into.join(root.strip_prefix(&common).unwrap_or(Path::new("")));
    let fetched = root.join(FETCHED_MODULES);
    let mut copied: Vec<&Path> = Vec::new();
    let mut tree = Tree { program: &common, scratch, bytes: MOST_BYTES, entries: MOST_ENTRIES };
    for folder in program.folders.iter().filter(|folder| !folder.starts_with(&fetched)) {
        // Those in the folder of another one come with it, unless they are where nothing is copied from.
        let hidden = |above: &Path| {
            let below = folder.strip_prefix(above).unwrap_or(folder);
            below.iter().any(|part| is_left_out(&part.to_string_lossy()))
        };
        if !copied.iter().any(|above| folder.starts_with(above) && !hidden(above)) {
            let target = into.join(folder.strip_prefix(&common).unwrap_or(Path::new("")));
            tree.copy(folder, &target, &mut Vec::new())?;
            copied.push(folder);
        }
    }
    if fetched.is_dir() {
        tree.copy(&fetched, &root_copied.join(FETCHED_MODULES), &mut Vec::new())?;
    }
    let backend = serde_json::json!({ "terraform": { "backend": { "local": { "path": state } } } });
    let path = root_copied.join(OVERRIDE);
    fs::write(&path, backend.to_string()).map_err(|source| CopyError::Io { path, source })?;
    Ok(root_copied)
}

/// What engines and version control keep beside a program.
fn is_left_out(name: &str) -> bool {
    let is_state = name.ends_with(".tfstate") || name.contains(".tfstate.");
    let is_ledger = name.contains(".ledger.jsonl");
    is_state
        || is_ledger
        || matches!(name, ".terraform" | LOCK_FILE | ".git" | ".equiform" | "terraform.tfstate.d")
}

/// What is copied, and how much of it there may still be.
struct Tree<'a> {
    /// The folder that all of the program is in.
    program: &'a Path,
    scratch: &'a Path,
    bytes: u64,
    entries: usize,
}

impl Tree<'_> {
    /// Copies a folder. `above` are the folders that it is in, as they are without links.
    fn copy(&mut self, from: &Path, to: &Path, above: &mut Vec<PathBuf>) -> Result<(), CopyError> {
        let own = from.canonicalize().map_err(error(from))?;
        if above.contains(&own) {
            // A link that leads in a circle.
            return Ok(());
        }
        above.push(own);
        fs::create_dir_all(to).map_err(error(to))?;
        for entry in fs::read_dir(from).map_err(error(from))? {
            let entry = entry.map_err(error(from))?;
            let (path, name) = (entry.path(), entry.file_name());
            if is_left_out(&name.to_string_lossy()) || path == self.scratch {
                continue;
            }
            // Links are followed: what they lead to must not be changed. One may lead nowhere.
            let Ok(found) = fs::metadata(&path) else { continue };
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.check_link(&path, found.is_dir())?;
            }
            // Sockets and pipes are no part of a program.
            if found.is_dir() {
                self.count(&path, 0)?;
                self.copy(&path, &to.join(name), above)?;
            } else if found.is_file() {
                self.count(&path, found.len())?;
                fs::copy(&path, to.join(name)).map_err(error(&path))?;
            }
        }
        above.pop();
        Ok(())
    }

    /// Refuses a link that leads to the system's own files, or to a folder that has more in it than the program.
    fn check_link(&self, link: &Path, is_folder: bool) -> Result<(), CopyError> {
        let target = link.canonicalize().map_err(error(link))?;
        let why = if SYSTEM.iter().any(|system| target.starts_with(system)) {
            "belongs to the operating system"
        } else if is_folder && target != self.program && self.program.starts_with(&target) {
            "has the whole program in it"
        } else {
            return Ok(());
        };
        Err(CopyError::LeadsOutside { link: link.to_owned(), target, why })
    }

    fn count(&mut self, path: &Path, bytes: u64) -> Result<(), CopyError> {
        let left = self.entries.checked_sub(1).zip(self.bytes.checked_sub(bytes));
        (self.entries, self.bytes) = left.ok_or_else(|| CopyError::TooLarge(path.to_owned()))?;
        Ok(())
    }
}

fn error(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    move |source| CopyError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn modules_keep_their_places_and_what_engines_left_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join("from").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("live/app/main.tf", "module \"net\" {\n  source = \"../../modules/net\"\n}\n");
        write("live/app/files/user.txt", "x");
        write("live/app/.terraform/providers/x", "x");
        write("live/app/terraform.tfstate.backup", "x");
        write("live/app/.terraform.lock.hcl", "x");
        write("live/other/main.tf", "{{{");
        write("modules/net/main.tf", "");
        symlink("nowhere", folder.path().join("from/live/app/broken")).unwrap();
        symlink("files/user.txt", folder.path().join("from/live/app/link")).unwrap();
        let program = Program::read(&folder.path().join("from/live/app")).unwrap();
        let into = folder.path().join("into");
        let root = copy(&program, &into, &into, Path::new("/state")).unwrap();
        assert_eq!(root, into.join("live/app"));
        let mut names: Vec<String> =
            fs::read_dir(&root).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["equiform_override.tf.json", "files", "link", "main.tf"]);
        assert!(root.join("link").symlink_metadata().unwrap().is_file());
        assert!(into.join("modules/net/main.tf").exists() && !into.join("live/other").exists());
        let backend = fs::read_to_string(root.join(OVERRIDE)).unwrap();
        assert_eq!(backend, r#"{"terraform":{"backend":{"local":{"path":"/state"}}}}"#);
        let kept = program.folders[0].join("kept");
        copy(&program, &kept, &kept.join("program"), Path::new("/state")).unwrap();
        assert!(!kept.join("program/live/app/kept").exists(), "it is not copied into itself");
        fs::remove_dir_all(kept).unwrap();
        let again = folder.path().join("again");
        for (link, target) in [("circle", "."), ("files/one", "../../app"), ("files/two", "..")] {
            symlink(target, folder.path().join("from/live/app").join(link)).unwrap();
        }
        copy(&program, &again, &again, Path::new("/state")).unwrap();
        assert!(again.join("live/app/files/user.txt").exists() && !again.join("live/app/circle").exists());
    }

    /// A program with a link in it, copied.
    fn with_link(target: &Path) -> Result<PathBuf, CopyError> {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir(&from).unwrap();
        fs::write(from.join("main.tf"), "").unwrap();
        symlink(target, from.join("link")).unwrap();
        let program = Program::read(&from).unwrap();
        let into = folder.path().join("into");
        copy(&program, &into, &into, Path::new("/state"))
    }

    #[test]
    fn a_link_to_a_file_or_folder_elsewhere_is_copied() {
        let shared = tempfile::tempdir().unwrap();
        fs::create_dir(shared.path().join("module")).unwrap();
        fs::write(shared.path().join("module/versions.tf"), "").unwrap();
        with_link(&shared.path().join("module")).unwrap();
        with_link(&shared.path().join("module/versions.tf")).unwrap();
    }

    #[test]
    fn a_link_to_the_system_or_to_a_folder_around_the_program_is_refused() {
        for (target, why) in [
            ("/", "has the whole program in it"),
            ("..", "has the whole program in it"),
            ("/proc/self", "belongs to the operating system"),
            ("/dev/zero", "belongs to the operating system"),
        ] {
            let error = with_link(Path::new(target)).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("link: this link leads to /"), "{error}");
        }
    }

    #[test]
    fn links_that_multiply_have_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir(&from).unwrap();
        fs::write(from.join("main.tf"), "").unwrap();
        // Each folder has two links to the next: 2^40 files, if it were not for the limit.
        for number in 0..40 {
            let own = folder.path().join(number.to_string());
            fs::create_dir(&own).unwrap();
            for link in ["a", "b"] {
                symlink(format!("../{}", number + 1), own.join(link)).unwrap();
            }
        }
        symlink("../0", from.join("link")).unwrap();
        let program = Program::read(&from).unwrap();
        let into = folder.path().join("into");
        let mut tree =
            Tree { program: &program.folders[0], scratch: &into, bytes: MOST_BYTES, entries: 1000 };
        let error = tree.copy(&from, &into, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, CopyError::TooLarge(_)), "{error}");
    }
}
