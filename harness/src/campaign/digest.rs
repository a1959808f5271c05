//! SHA-256 digests of files, as `sha256sum` prints them: what a verdict or a campaign was made from is
//! recognised by them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::stored::VERDICT_FILE;
use crate::case::CASE_FILE;
use crate::evidence::LEDGER;
use crate::judge::variant::{AGAIN, variant_folder};
use crate::util::hash::sha256_of_file;

/// Digests by the files' names.
pub type Digests = BTreeMap<String, String>;

/// The digests of all that the verdict on a variant depends on: its case, and its evidence. The evidence of a second
/// deployment counts if it was judged too.
pub fn of_evidence(case: &Path, variant: usize, again: bool) -> io::Result<Digests> {
    let mut digests = Digests::new();
    let path = case.join(CASE_FILE);
    if path.exists() {
        digests.insert(CASE_FILE.to_owned(), sha256_of_file(&path)?);
    }
    let skipped = if again { None } else { Some(AGAIN) };
    collect(&variant_folder(case, variant), "", skipped, &mut digests)?;
    Ok(digests)
}

fn collect(folder: &Path, prefix: &str, skipped: Option<&str>, digests: &mut Digests) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // The ledger's index is disposable, and what begins with a dot is an editor's or half-written.
        let index = name.starts_with(LEDGER) && name != LEDGER;
        if index || name.starts_with('.') || name == VERDICT_FILE || skipped == Some(name.as_str()) {
            continue;
        }
        let key = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{key}/"), None, digests)?;
        } else {
            digests.insert(key, sha256_of_file(&entry.path())?);
        }
    }
    Ok(())
}

/// The names of what is in one and not, or with another content, in the other.
pub fn differing(one: &Digests, other: &Digests) -> Vec<String> {
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_the_case_and_what_a_deployment_left_and_not_what_is_disposable() {
        let folder = tempfile::tempdir().unwrap();
        let variant = variant_folder(folder.path(), 0);
        for path in ["batch-1", "again/batch-1"] {
            fs::create_dir_all(variant.join(path)).unwrap();
            fs::write(variant.join(path).join("state.json"), path).unwrap();
        }
        for file in ["ledger.jsonl", "ledger.jsonl.index", "verdict.json", ".ledger.jsonl.swp"] {
            fs::write(variant.join(file), file).unwrap();
        }
        fs::write(folder.path().join(CASE_FILE), "{}").unwrap();
        let once = of_evidence(folder.path(), 0, false).unwrap();
        assert!(once.keys().eq(["batch-1/state.json", "case.json", "ledger.jsonl"]), "{once:?}");
        let both = of_evidence(folder.path(), 0, true).unwrap();
        assert_eq!(differing(&once, &both), ["again/batch-1/state.json"]);
        fs::write(variant.join("ledger.jsonl"), "other").unwrap();
        let changed = of_evidence(folder.path(), 0, false).unwrap();
        assert_eq!(differing(&once, &changed), ["ledger.jsonl"]);
    }
}
