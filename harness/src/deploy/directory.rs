//! The working directory after a command, as evidence.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

use crate::engines::workspace::ProgramFile;
use crate::evidence::{Directory, FileRecord, MOST_FILES};

/// The largest file whose digest is taken.
const LARGEST: u64 = 64 << 20;

/// Looks at a working directory in which a command was run with this program. What is in folders counts too, but for
/// those that the engine installs providers into.
pub fn look(work: &Path, program: &[ProgramFile], is_installation: impl Fn(&str) -> bool) -> Directory {
    let program =
        program.iter().map(|file| (file.path.as_str().to_owned(), digest(file.content.as_bytes()))).collect();
    let mut files = Vec::new();
    collect(work, "", &is_installation, &mut files);
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Directory { program, files, umask: umask() }
}

/// Adds what is in a folder. A folder that is gone has nothing in it.
fn collect(folder: &Path, prefix: &str, is_installation: &dyn Fn(&str) -> bool, files: &mut Vec<FileRecord>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if files.len() >= MOST_FILES {
            return;
        }
        let Ok(metadata) = entry.metadata() else { continue };
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let mode = metadata.mode() & 0o7777;
        if metadata.is_dir() {
            let path = path + "/";
            files.push(FileRecord { path: path.clone(), mode, bytes: 0, digest: None, content: None });
            if !is_installation(&path) {
                collect(&entry.path(), &path, is_installation, files);
            }
            continue;
        }
        let is_read = metadata.is_file() && metadata.len() <= LARGEST;
        let read = is_read.then(|| fs::read(entry.path()).ok()).flatten();
        let content = read.as_deref().and_then(content);
        let digest = read.as_deref().map(digest);
        files.push(FileRecord { path, mode, bytes: metadata.len(), digest, content });
    }
}

/// The digest of a JSON document, in whatever layout it is written.
fn content(bytes: &[u8]) -> Option<String> {
    let document: serde_json::Value =
        serde_json::from_slice(bytes).ok().filter(|_| bytes.first() == Some(&b'{'))?;
    Some(digest(document.to_string().as_bytes()))
}

/// The first half of a SHA-256.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bits that new files of this process, and of those that it starts, do not get. It never changes.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        line.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok()).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::workspace::RelativePath;

    #[test]
    fn a_directory_is_listed_with_what_is_in_its_folders_and_one_that_is_gone_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("net")).unwrap();
        fs::create_dir_all(folder.path().join("installed/x")).unwrap();
        fs::write(folder.path().join("net/main.tf"), "1").unwrap();
        let program =
            ProgramFile { path: RelativePath::new("net/main.tf").unwrap(), content: "1".to_owned() };
        let program = [program];
        let seen = look(folder.path(), &program, |path| path == "installed/");
        let paths: Vec<&str> = seen.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["installed/", "net/", "net/main.tf"]);
        assert_eq!(seen.files[2].digest.as_ref(), Some(&seen.program[0].1));
        assert!(look(&folder.path().join("gone"), &program, |_| false).files.is_empty());
    }
}
