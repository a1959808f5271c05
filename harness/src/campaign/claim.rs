//! A folder belongs to one campaign: what it was started with is written there first. And to one process at a time.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Settings;
use super::options::OptionDifference;
use super::programs::Programs;
use super::shard::Shard;
use crate::deploy::Mode;
use crate::engines::{EngineId, RecordedEngine};
use crate::judge::oracles::Oracle;
use crate::util::files::{Access, AtomicFile};

const FILE: &str = "campaign.json";

/// How the name of a claim begins while it is being written.
const DRAFT: &str = ".campaign.json-";

/// The version of the file that this program writes. It reads version 1 too, which did not tell the programs.
const VERSION: u32 = 3;

/// All that the verdicts in a folder depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    version: u32,
    engine: RecordedEngine,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    programs: Option<Programs>,
    #[serde(default)]
    #[serde(alias = "manner")]
    mode: Mode,
    oracles: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<Shard>,
    settings: Settings,
}

/// A folder that cannot be used for a campaign.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another campaign is in it.
    #[error(
        "{} holds a campaign with other settings:\n  {}\nResume it with --resume, or name another folder with --out",
        folder.display(),
        differences.join("\n  ")
    )]
    Other {
        /// The folder.
        folder: PathBuf,
        /// In what they differ, stored and given.
        differences: Vec<String>,
    },
    /// The verdicts in it are those of other programs.
    #[error(
        "{} holds the verdicts of other builds: {what} changed since then. Name a new folder with --out to judge \
         what is there now, or go back to the builds that it was begun with",
        folder.display()
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What changed.
        what: String,
    },
    /// Something else is in it.
    #[error("{} is not empty and holds no campaign: name another folder with --out", .0.display())]
    Foreign(PathBuf),
    /// Another process is at it.
    #[error(
        "another process is running the campaign in {}: wait for its end, or name another folder with --out",
        .0.display()
    )]
    Busy(PathBuf),
    /// The file is there and is no claim.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It cannot be made, read or written.
    #[error("the folder {} cannot be used: {source}; name another with --out", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// A folder that is this process's for as long as this lives. The system takes the lock away from a process that dies.
#[derive(Debug)]
pub struct CampaignLock {
    /// Whether the folder does not tell which builds its verdicts are of.
    pub untold: bool,
    _file: File,
}

impl Claim {
    /// The claim of a campaign, or a part of one, on an engine.
    pub fn new(
        engine: RecordedEngine,
        mode: Mode,
        oracles: &[&Oracle],
        shard: Option<Shard>,
        settings: Settings,
    ) -> Self {
        let oracles = oracles.iter().map(|oracle| oracle.name.to_owned()).collect();
        Self { version: VERSION, engine, programs: None, mode, oracles, shard, settings }
    }

    /// The same claim, on these builds only.
    pub fn on(self, programs: Programs) -> Self {
        let id = EngineId { build: Some(programs.build()), ..self.engine.id };
        let engine = RecordedEngine { id, path: self.engine.path };
        Self { engine, programs: Some(programs), ..self }
    }

    /// The claim in a folder, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>, ClaimError> {
        #[derive(Deserialize)]
        struct AnyVersion {
            version: u32,
        }
        let path = folder.join(FILE);
        let unreadable = |why: String| ClaimError::Unreadable { path: path.clone(), why };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ClaimError::Io { path: folder.to_owned(), source }),
        };
        let no_claim = |error: serde_json::Error| unreadable(format!("this is no campaign's file: {error}"));
        let any: AnyVersion = serde_json::from_slice(&bytes).map_err(no_claim)?;
        if any.version > VERSION {
            let found = any.version;
            return Err(unreadable(format!(
                "it has version {found}, and this program reads versions up to {VERSION}: use a newer equiform"
            )));
        }
        let claim: Self = serde_json::from_slice(&bytes).map_err(no_claim)?;
        claim
            .settings
            .check()
            .map_err(|error| unreadable(format!("its settings cannot be used: {error}")))?;
        Ok(Some(claim))
    }

    /// The engine.
    pub fn engine(&self) -> &RecordedEngine {
        &self.engine
    }

    /// How it is run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The oracles that are asked.
    pub fn oracles(&self) -> &[String] {
        &self.oracles
    }

    /// The part of the campaign that this is; none for the whole.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// What is generated.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The campaign of which this is a part.
    pub fn whole(&self) -> Self {
        Self { shard: None, ..self.clone() }
    }

    /// What tells one campaign from another. Where the engine lies on some machine is no part of it.
    pub fn identity(&self) -> Self {
        Self { engine: self.engine.id.clone().into(), ..self.clone() }
    }

    /// What people chose: the claim without the builds.
    fn settled(&self) -> Self {
        let engine = self.engine.id.any_build().into();
        Self { version: VERSION, engine, programs: None, ..self.clone() }
    }

    /// The numbers of the cases.
    pub fn cases(&self) -> impl Iterator<Item = usize> {
        self.shard.unwrap_or(Shard::WHOLE).cases(self.settings.sources)
    }

    /// Makes the folder this campaign's, and this process's. One that is this campaign's already may be resumed.
    pub fn lock(&self, folder: &Path) -> Result<CampaignLock, ClaimError> {
        let io = |source| ClaimError::Io { path: folder.to_owned(), source };
        crate::private::create_folder(folder).map_err(io)?;
        if !folder.join(FILE).exists() {
            // Another process may begin the same campaign right now: its file may have come since.
            if holds_something_else(folder).map_err(io)? && !folder.join(FILE).exists() {
                return Err(ClaimError::Foreign(folder.to_owned()));
            }
            self.write(folder).map_err(io)?;
        }
        let gone = || io::Error::other(format!("{FILE} was removed just now"));
        let there = Self::read(folder)?.ok_or_else(|| io(gone()))?;
        if there.settled() != self.settled() {
            let differences = there.differences(self).into_iter();
            let told =
                |it: OptionDifference| format!("{}: stored {}, given {}", it.option, it.here, it.there);
            let differences = differences.map(told).collect();
            return Err(ClaimError::Other { folder: folder.to_owned(), differences });
        }
        if let (Some(there), Some(now)) = (&there.programs, &self.programs)
            && let Some(what) = there.changed(now)
        {
            return Err(ClaimError::Changed { folder: folder.to_owned(), what });
        }
        let untold = there.programs.is_none();
        let locked = File::open(folder.join(FILE)).map_err(io)?;
        match locked.try_lock() {
            Ok(()) => Ok(CampaignLock { untold, _file: locked }),
            Err(TryLockError::WouldBlock) => Err(ClaimError::Busy(folder.to_owned())),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Writes the claim, unless there is one already.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = AtomicFile::begin(&folder.join(FILE), Access::Private)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.finish_unless_there().map(drop)
    }
}

/// Whether a folder holds anything but claims that are being written.
fn holds_something_else(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if !entry?.file_name().as_encoded_bytes().starts_with(DRAFT.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engines::{EngineName, Version};
    use crate::judge::oracles::ORACLES;

    /// A campaign of single resources, or a part of it.
    pub fn small(seed: u64, sources: usize, shard: Option<Shard>) -> Claim {
        let settings = Settings {
            seed,
            sources,
            variants: 1,
            batches: 1,
            resources: 1..=1,
            edges: 0..=0,
            ..Settings::default()
        };
        let engine = EngineId::new(EngineName::Terraform, Version::new(1, 15, 5));
        Claim::new(engine.into(), Mode::default(), &[&ORACLES[0]], shard, settings)
    }

    fn claim(seed: u64) -> Claim {
        small(seed, 1, None)
    }

    #[test]
    fn a_campaign_may_come_back_to_its_folder_and_another_may_not() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/folder");
        drop(claim(1).lock(&out).unwrap());
        drop(claim(1).lock(&out).unwrap());
        let before = fs::read(out.join(FILE)).unwrap();
        assert!(matches!(claim(2).lock(&out), Err(ClaimError::Other { .. })));
        let part = Claim { shard: Some(Shard::WHOLE), ..claim(1) };
        assert!(matches!(part.lock(&out), Err(ClaimError::Other { .. })), "a part is another campaign");
        let mode = Mode { syntax: crate::engines::driver::Syntax::Json, ..Mode::default() };
        let in_json = Claim { mode, ..claim(1) };
        assert!(matches!(in_json.lock(&out), Err(ClaimError::Other { .. })), "so is another syntax");
        assert_eq!(fs::read(out.join(FILE)).unwrap(), before);
        assert_eq!(Claim::read(&out).unwrap(), Some(claim(1)));
    }

    #[test]
    fn another_campaign_is_told_in_what_it_differs_stored_and_given() {
        let folder = tempfile::tempdir().unwrap();
        drop(claim(1).lock(folder.path()).unwrap());
        let shard = Some("1/2".parse().unwrap());
        let engine = EngineId::new(EngineName::Tofu, Version::new(1, 12, 6)).into();
        let mut other = Claim { shard, engine, ..claim(2) };
        other.mode.warm = false;
        let error = other.lock(folder.path()).unwrap_err().to_string();
        for line in [
            "--engine: stored terraform@1.15.5, given tofu@1.12.6",
            "--seed: stored 1, given 2",
            "--shard: stored not given, given 1/2",
        ] {
            assert!(error.contains(&format!("\n  {line}\n")), "{error}");
        }
        assert_eq!(error.lines().count(), 5, "and in nothing else: {error}");
        assert!(error.ends_with("Resume it with --resume, or name another folder with --out"), "{error}");
    }

    fn programs(engine: &str) -> Programs {
        Programs {
            equiform: "0.1.0".to_owned(),
            engine: [("executable".to_owned(), engine.to_owned())].into(),
            provider_version: None,
            provider: "cd".to_owned(),
        }
    }

    #[test]
    fn another_build_at_the_same_path_is_refused_with_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!claim(1).on(programs("ab")).lock(folder.path()).unwrap().untold);
        claim(1).on(programs("ab")).lock(folder.path()).unwrap();
        let error = claim(1).on(programs("ba")).lock(folder.path()).unwrap_err().to_string();
        assert!(error.contains("other builds: the engine's executable changed since then"), "{error}");
        assert!(error.contains("--out"), "{error}");
    }

    #[test]
    fn the_same_build_at_another_path_is_the_same_engine() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| {
            let claim = claim(1);
            let engine = RecordedEngine { id: claim.engine.id.clone(), path: Some(path.into()) };
            Claim { engine, ..claim }.on(programs("ab"))
        };
        at("/home/ada/terraform").lock(folder.path()).unwrap();
        at("/opt/engines/my-terraform").lock(folder.path()).unwrap();
        assert_eq!(at("/home/ada/terraform").identity(), at("/opt/engines/my-terraform").identity());
        assert_ne!(at("/opt").identity(), claim(1).on(programs("ba")).identity(), "this is another build");
    }

    #[test]
    fn a_claim_of_the_first_version_is_resumed_and_does_not_tell_the_builds() {
        let folder = tempfile::tempdir().unwrap();
        let mut older = serde_json::to_value(claim(1)).unwrap();
        older["version"] = 1.into();
        fs::write(folder.path().join(FILE), older.to_string()).unwrap();
        assert!(claim(1).on(programs("ab")).lock(folder.path()).unwrap().untold);
        assert!(matches!(claim(2).lock(folder.path()), Err(ClaimError::Other { .. })));
    }

    #[test]
    fn a_folder_is_one_process_s_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = claim(1).lock(folder.path()).unwrap();
        assert!(matches!(claim(1).lock(folder.path()), Err(ClaimError::Busy(_))));
        drop(held);
        claim(1).lock(folder.path()).unwrap();
    }

    #[test]
    fn of_several_starts_in_a_new_folder_one_runs_and_the_others_are_told_that_it_does() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let start = std::sync::Barrier::new(8);
            let held: Vec<_> = std::thread::scope(|scope| {
                let begin = || {
                    start.wait();
                    claim(1).lock(folder.path())
                };
                let starts: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
                starts.into_iter().map(|start| start.join().unwrap()).collect()
            });
            let busy = |it: &&Result<CampaignLock, ClaimError>| matches!(it, Err(ClaimError::Busy(_)));
            assert_eq!(held.iter().filter(|it| it.is_ok()).count(), 1, "{held:?}");
            assert_eq!(held.iter().filter(busy).count(), 7, "{held:?}");
        }
    }

    #[test]
    fn a_start_that_finds_another_one_half_begun_does_not_take_the_folder_for_a_foreign_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(format!("{DRAFT}a1b2")), "{").unwrap();
        claim(1).lock(folder.path()).unwrap();
    }

    #[test]
    fn settings_that_were_edited_so_that_nothing_can_be_generated_give_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let error = |edit: &dyn Fn(&mut serde_json::Value)| {
            let mut stored = serde_json::to_value(claim(1)).unwrap();
            edit(&mut stored["settings"]);
            fs::write(folder.path().join(FILE), stored.to_string()).unwrap();
            Claim::read(folder.path()).unwrap_err().to_string()
        };
        let circle = serde_json::json!({"given": {"nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]]}});
        assert!(error(&|settings| settings["from"] = circle.clone()).contains("cycle"));
        let unknown = serde_json::json!({"given": {"nodes": ["a"], "edges": [["a", "b"]]}});
        assert!(error(&|settings| settings["from"] = unknown.clone()).contains("settings cannot be used"));
        let nothing = serde_json::json!({"given": {"nodes": [], "edges": []}});
        assert!(error(&|settings| settings["from"] = nothing.clone()).contains("no nodes"));
        for name in ["sources", "variants", "batches"] {
            assert!(error(&|settings| settings[name] = 0.into()).contains(&format!("`{name}` is 0")));
        }
        let range = serde_json::json!({"start": 5, "end": 3});
        assert!(error(&|settings| settings["edges"] = range.clone()).contains("`edges` goes from 5 to 3"));
        assert!(error(&|settings| settings["create_before_destroy"] = 2.into()).contains("from 0 to 1"));
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
        assert!(matches!(claim(1).lock(folder.path()), Err(ClaimError::Foreign(_))));
    }

    #[test]
    fn a_claim_of_a_newer_version_gives_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), r#"{"version":7,"new":true}"#).unwrap();
        let error = claim(1).lock(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("use a newer equiform"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_gives_a_sentence() {
        let error = claim(1).lock(Path::new("/dev/null/folder")).unwrap_err().to_string();
        assert!(error.starts_with("the folder /dev/null/folder cannot be used: "), "{error}");
    }
}
