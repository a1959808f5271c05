//! Joining the parts of a campaign.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::case_folder;
use super::folder::{self, Expected, FolderError};
use super::manifest::{CampaignManifest, ManifestDifference, ManifestError};
use super::report::Report;
use super::stored;
use crate::judge::known::KnownFindings;
use crate::private;
use crate::util::files::{Copying, copy_folder, folder_of, is_occupied};

/// Parts that cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A folder is no campaign, or no part of one.
    #[error("{} is not a part of a campaign: it was not run with --shard", .0.display())]
    NoPart(PathBuf),
    /// Two folders are of different campaigns.
    #[error(
        "{} and {} are parts of different campaigns: {}",
        first.display(),
        second.display(),
        differences.join("; ")
    )]
    Different {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// In what they differ.
        differences: Vec<String>,
    },
    /// Two folders are the same part.
    #[error("{} and {} are the same part, {part}", first.display(), second.display())]
    Twice {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// Which part.
        part: String,
    },
    /// A part is not there.
    #[error("part {0} is missing: name its folder too")]
    Missing(String),
    /// A part was not run to its end.
    #[error(
        "{} is not finished: its case {case} has no verdict on variant {variant}; `equiform run --resume {}` \
         resumes it",
        folder.display(),
        folder.display()
    )]
    Unfinished {
        /// The part's folder.
        folder: PathBuf,
        /// The first case that has none.
        case: usize,
        /// The first variant in it.
        variant: usize,
    },
    /// The folder to write is in use.
    #[error("{} is not empty: name a new folder with --out", .0.display())]
    Occupied(PathBuf),
    /// A manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The joint campaign cannot be read.
    #[error(transparent)]
    Joint(#[from] FolderError),
    /// A file cannot be read or written.
    #[error("cannot copy to {}: {source}", path.display())]
    Io {
        /// Where to.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// Joins the parts in `folders` into the new folder `out`, which is there whole or not at all. Gives the joint campaign
/// with what came of it, by what is known now.
pub fn merge(
    folders: &[PathBuf],
    out: &Path,
    known: &KnownFindings,
) -> Result<(CampaignManifest, Report), MergeError> {
    join(folders, out)?;
    Ok(folder::read(out, known, Expected::Generated, || ())?)
}

/// Joins the parts, without a look at what came of them.
fn join(folders: &[PathBuf], out: &Path) -> Result<(), MergeError> {
    let parts = parts(folders)?;
    let io = |source| MergeError::Io { path: out.to_owned(), source };
    if is_occupied(out) {
        return Err(MergeError::Occupied(out.to_owned()));
    }
    let parent = folder_of(out);
    private::create_folder(parent).map_err(io)?;
    let joint = tempfile::Builder::new()
        .prefix(".merge-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(io)?;
    let whole = parts[0].1.whole();
    for (folder, manifest) in &parts {
        for number in manifest.cases() {
            let (from, to) = (case_folder(folder, number), case_folder(joint.path(), number));
            // Evidence is never changed.
            copy_folder(&from, &to, Copying::Linked, &[]).map_err(io)?;
        }
    }
    whole.write(joint.path()).map_err(io)?;
    fs::rename(joint.path(), out).map_err(io)?;
    // What it would remove at its end is `out` by now.
    let _ = joint.keep();
    Ok(())
}

/// The manifests of the parts, checked: each part of one campaign once, and finished.
fn parts(folders: &[PathBuf]) -> Result<Vec<(&PathBuf, CampaignManifest)>, MergeError> {
    let mut parts: Vec<(&PathBuf, CampaignManifest)> = Vec::new();
    for folder in folders {
        let manifest = CampaignManifest::read(folder)?.ok_or_else(|| MergeError::NoPart(folder.clone()))?;
        let shard = manifest.shard().ok_or_else(|| MergeError::NoPart(folder.clone()))?;
        if let Some((first, other)) = parts.first()
            && (other.whole().identity() != manifest.whole().identity()
                || !other.shard().is_some_and(|part| part.all().eq(shard.all())))
        {
            let (first, second) = ((*first).clone(), folder.clone());
            return Err(MergeError::Different { first, second, differences: differences(other, &manifest) });
        }
        if let Some((first, _)) = parts.iter().find(|(_, other)| other.shard() == Some(shard)) {
            let (first, second, part) = ((*first).clone(), folder.clone(), shard.to_string());
            return Err(MergeError::Twice { first, second, part });
        }
        parts.push((folder, manifest));
    }
    let all =
        parts.first().and_then(|(_, manifest)| manifest.shard()).into_iter().flat_map(|shard| shard.all());
    for shard in all {
        if !parts.iter().any(|(_, manifest)| manifest.shard() == Some(shard)) {
            return Err(MergeError::Missing(shard.to_string()));
        }
    }
    for (folder, manifest) in &parts {
        for case in manifest.cases() {
            let variants = usize::try_from(manifest.settings().variants).unwrap_or(usize::MAX);
            if let Some(variant) = stored::missing(&case_folder(folder, case), variants).first() {
                return Err(MergeError::Unfinished { folder: (*folder).clone(), case, variant: *variant });
            }
        }
    }
    Ok(parts)
}

/// In what two parts differ that are not of one campaign.
fn differences(one: &CampaignManifest, other: &CampaignManifest) -> Vec<String> {
    let chosen = one.whole().differences(&other.whole());
    let sentence = |it: &ManifestDifference| {
        let [here, there] = it.values();
        format!("{}: {here} and {there}", it.key)
    };
    let chosen: Vec<String> = chosen.iter().map(sentence).collect();
    let parts = |manifest: &CampaignManifest| manifest.shard().map_or(0, |shard| shard.all().count());
    match (chosen.is_empty(), parts(one), parts(other)) {
        (false, ..) => chosen,
        (true, here, there) if here != there => vec![format!("shard: of {here} and of {there} parts")],
        _ => vec!["the builds of engine or provider differ".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::tests::small;
    use super::*;
    use crate::judge::verdict::{VariantResult, VariantVerdict};
    use crate::util::files::tests::names;

    fn manifest(shard: Option<&str>, seed: u64) -> CampaignManifest {
        small(seed, 5, shard.map(|text| text.parse().unwrap()))
    }

    /// A part as a run leaves it.
    fn part(root: &Path, name: &str, manifest: &CampaignManifest) -> PathBuf {
        let folder = root.join(name);
        drop(manifest.lock(&folder).unwrap());
        for number in manifest.cases() {
            let case = case_folder(&folder, number);
            fs::create_dir_all(case.join("variant-0000/batch-1")).unwrap();
            fs::write(case.join("variant-0000/batch-1/main.tf"), number.to_string()).unwrap();
            stored::write(&case, &VariantVerdict::new(0, VariantResult::Pass)).unwrap();
        }
        folder
    }

    #[test]
    fn joined_parts_are_the_whole_campaign() {
        let root = tempfile::tempdir().unwrap();
        let folders = [
            part(root.path(), "b", &manifest(Some("2/2"), 1)),
            part(root.path(), "a", &manifest(Some("1/2"), 1)),
        ];
        let out = root.path().join("new/out");
        join(&folders, &out).unwrap();
        let cases = (0..5).map(|number| format!("case-{number:04}"));
        let expected: Vec<String> = ["campaign.json".to_owned()].into_iter().chain(cases).collect();
        assert_eq!(names(&out), expected);
        assert_eq!(names(&root.path().join("new")), ["out"], "nothing else is left");
        assert_eq!(fs::read(out.join("case-0003/variant-0000/batch-1/main.tf")).unwrap(), b"3");
        manifest(None, 1).lock(&out).expect("the whole campaign resumes here");
    }

    #[test]
    fn what_does_not_fit_together_is_refused_and_nothing_is_written() {
        let root = tempfile::tempdir().unwrap();
        let make = |name, shard, seed| part(root.path(), name, &manifest(shard, seed));
        let (first, second) = (make("a", Some("1/2"), 1), make("b", Some("2/2"), 1));
        let (other, third) = (make("c", Some("2/2"), 2), make("d", Some("2/3"), 1));
        let (whole, again) = (make("e", None, 1), make("f", Some("1/2"), 1));
        let unfinished = make("g", Some("2/2"), 1);
        fs::remove_dir_all(case_folder(&unfinished, 3).join("variant-0000")).unwrap();
        let out = root.path().join("out");
        let error = |folders: &[&PathBuf]| {
            let folders: Vec<PathBuf> = folders.iter().map(|folder| (*folder).clone()).collect();
            join(&folders, &out).unwrap_err()
        };
        assert!(matches!(error(&[&first, &other]), MergeError::Different { .. }));
        assert!(matches!(error(&[&first, &third]), MergeError::Different { .. }));
        assert!(matches!(error(&[&first, &again]), MergeError::Twice { .. }));
        assert!(matches!(error(&[&first]), MergeError::Missing(part) if part == "2/2"));
        assert!(matches!(error(&[&whole]), MergeError::NoPart(_)));
        assert!(matches!(error(&[&first, &unfinished]), MergeError::Unfinished { case: 3, variant: 0, .. }));
        assert!(
            error(&[&first, &other]).to_string().ends_with("different campaigns: settings.seed: 1 and 2")
        );
        assert!(error(&[&first, &third]).to_string().ends_with("campaigns: shard: of 2 and of 3 parts"));
        assert!(!out.exists());
        let occupied = join(&[first.clone(), second], &first).unwrap_err();
        assert!(matches!(occupied, MergeError::Occupied(_)));
    }
}
