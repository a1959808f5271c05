//! A copy of a program to run it in: its files and those of its modules, without what engines keep beside them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::LOCK_FILE;
use super::program::{FETCHED_MODULES, Program};

/// The file that puts the state where we want it, whatever backend the program has. Engines take it for a later word
/// than that of any other file.
const OVERRIDE: &str = "equiform_override.tf.json";

/// A file or folder that cannot be copied.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be copied: {source}", path.display())]
pub struct CopyError {
    path: PathBuf,
    source: io::Error,
}

/// Copies a program into a folder, and gives the folder in it that stands for the program's own. The state will be at
/// `state`. `scratch` holds the copy, and may itself be in the program's folder.
pub fn copy(program: &Program, scratch: &Path, into: &Path, state: &Path) -> Result<PathBuf, CopyError> {
    let common = program.common_folder();
    let root = program.folders.first().map(PathBuf::as_path).unwrap_or(&common);
    let root_copied = into.join(root.strip_prefix(&common).unwrap_or(Path::new("")));
    let fetched = root.join(FETCHED_MODULES);
    let mut copied: Vec<&Path> = Vec::new();
    for folder in program.folders.iter().filter(|folder| !folder.starts_with(&fetched)) {
        // Those in the folder of another one come with it, unless they are where nothing is copied from.
        let hidden = |above: &Path| {
            let below = folder.strip_prefix(above).unwrap_or(folder);
            below.iter().any(|part| is_left_out(&part.to_string_lossy()))
        };
        if !copied.iter().any(|above| folder.starts_with(above) && !hidden(above)) {
            let target = into.join(folder.strip_prefix(&common).unwrap_or(Path::new("")));
            tree(folder, &target, scratch, &mut Vec::new())?;
            copied.push(folder);
        }
    }
    if fetched.is_dir() {
        tree(&fetched, &root_copied.join(FETCHED_MODULES), scratch, &mut Vec::new())?;
    }
    let backend = serde_json::json!({ "terraform": { "backend": { "local": { "path": state } } } });
    let path = root_copied.join(OVERRIDE);
    fs::write(&path, backend.to_string()).map_err(|source| CopyError { path, source })?;
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

/// Copies a folder. `above` are the folders that it is in, as they are without links.
fn tree(from: &Path, to: &Path, scratch: &Path, above: &mut Vec<PathBuf>) -> Result<(), CopyError> {
    let error = |path: &Path| {
        let path = path.to_owned();
        move |source| CopyError { path, source }
    };
    let own = from.canonicalize().map_err(error(from))?;
    if above.contains(&own) {
        // A link that leads in a circle.
        return Ok(());
    }
    above.push(own);
    fs::create_dir_all(to).map_err(error(to))?;
    for entry in fs::read_dir(from).map_err(error(from))? {
        let path = entry.map_err(error(from))?.path();
        let Some(name) = path.file_name() else { continue };
        if is_left_out(&name.to_string_lossy()) || path == scratch {
            continue;
        }
        let target = to.join(name);
        // Links are followed: what they lead to must not be changed.
        match fs::metadata(&path) {
            Ok(kind) if kind.is_dir() => tree(&path, &target, scratch, above)?,
            Ok(kind) if kind.is_file() => {
                fs::copy(&path, &target).map_err(error(&path))?;
            }
            // Sockets and pipes are no part of a program, and a link may lead nowhere.
            Ok(_) | Err(_) => {}
        }
    }
    above.pop();
    Ok(())
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
}
