//! Folders that campaigns come back to, and folders that they must not use.

use super::*;
use crate::engine_id::EngineId;
use crate::engines::{EngineName, Version};
use crate::judge::oracles::ORACLES;

/// A campaign of single resources, or a part of it.
pub fn small(seed: u64, sources: usize, shard: Option<Shard>) -> CampaignManifest {
    let settings = Settings {
        seed,
        sources,
        variants: 1,
        batches: 1,
        resources: 1..=1,
        edges: 0..=0,
        ..Settings::default()
    };
    built("ab", None, shard, settings)
}

/// A campaign with a build of an engine, which may be named by its path.
fn built(build: &str, path: Option<&str>, shard: Option<Shard>, settings: Settings) -> CampaignManifest {
    let builds = Builds {
        equiform: "0.1.0".to_owned(),
        engine: [("executable".to_owned(), build.to_owned())].into(),
        provider_version: None,
        provider: "cd".to_owned(),
    };
    let id = EngineId::new(EngineName::Terraform, Version::new(1, 15, 5));
    let engine = RecordedEngine { id, path: path.map(Into::into) };
    CampaignManifest::new(engine, builds, Mode::default(), &[&ORACLES[0]], shard, settings)
}

fn campaign(seed: u64) -> CampaignManifest {
    small(seed, 1, None)
}

#[test]
fn a_campaign_may_come_back_to_its_folder_and_another_may_not() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/folder");
    drop(campaign(1).lock(&out).unwrap());
    drop(campaign(1).lock(&out).unwrap());
    let before = fs::read(out.join(FILE)).unwrap();
    assert!(matches!(campaign(2).lock(&out), Err(ManifestError::Other { .. })));
    let part = CampaignManifest { shard: Some("1/1".parse().unwrap()), ..campaign(1) };
    assert!(matches!(part.lock(&out), Err(ManifestError::Other { .. })), "a part is another campaign");
    let mode = Mode { syntax: crate::engines::driver::Syntax::Json, ..Mode::default() };
    let in_json = CampaignManifest { mode, ..campaign(1) };
    assert!(matches!(in_json.lock(&out), Err(ManifestError::Other { .. })), "so is another syntax");
    assert_eq!(fs::read(out.join(FILE)).unwrap(), before);
    assert_eq!(CampaignManifest::read(&out).unwrap(), Some(campaign(1)));
}

#[test]
fn another_campaign_is_told_in_what_it_differs_stored_and_given() {
    let folder = tempfile::tempdir().unwrap();
    drop(campaign(1).lock(folder.path()).unwrap());
    let shard = Some("1/2".parse().unwrap());
    let engine = EngineId::new(EngineName::Tofu, Version::new(1, 12, 6)).into();
    let mut other = CampaignManifest { shard, engine, ..campaign(2) };
    other.mode.warm = false;
    let error = other.lock(folder.path()).unwrap_err().to_string();
    for line in [
        "engine: stored terraform@1.15.5, given tofu@1.12.6",
        "settings.seed: stored 1, given 2",
        "shard: stored nothing, given 1/2",
    ] {
        assert!(error.contains(&format!("\n  {line}\n")), "{error}");
    }
    assert_eq!(error.lines().count(), 5, "and in nothing else: {error}");
    assert!(error.ends_with("Resume it with --resume, or name another folder with --out"), "{error}");
}

#[test]
fn another_build_at_the_same_path_is_refused_with_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let with = |build: &str| built(build, None, None, Settings::default());
    drop(with("ab").lock(folder.path()).unwrap());
    with("ab").lock(folder.path()).unwrap();
    let error = with("ba").lock(folder.path()).unwrap_err().to_string();
    assert!(error.contains("other builds: the engine's executable changed since then"), "{error}");
    assert!(error.contains("--out"), "{error}");
}

#[test]
fn the_same_build_at_another_path_is_the_same_engine() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| built("ab", Some(path), None, Settings::default());
    at("/home/ada/terraform").lock(folder.path()).unwrap();
    at("/opt/engines/my-terraform").lock(folder.path()).unwrap();
    assert_eq!(at("/home/ada/terraform").identity(), at("/opt/engines/my-terraform").identity());
    let other = built("ba", None, None, Settings::default());
    assert_ne!(at("/opt").identity(), other.identity(), "this is another build");
}

#[test]
fn a_folder_is_one_process_s_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let held = campaign(1).lock(folder.path()).unwrap();
    assert!(matches!(campaign(1).lock(folder.path()), Err(ManifestError::Busy(_))));
    drop(held);
    campaign(1).lock(folder.path()).unwrap();
}

#[test]
fn of_several_starts_in_a_new_folder_one_runs_and_the_others_are_told_that_it_does() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(8);
        let held: Vec<_> = std::thread::scope(|scope| {
            let begin = || {
                start.wait();
                campaign(1).lock(folder.path())
            };
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        let busy = |it: &&Result<CampaignLock, ManifestError>| matches!(it, Err(ManifestError::Busy(_)));
        assert_eq!(held.iter().filter(|it| it.is_ok()).count(), 1, "{held:?}");
        assert_eq!(held.iter().filter(busy).count(), 7, "{held:?}");
    }
}

#[test]
fn a_start_that_finds_another_one_half_begun_does_not_take_the_folder_for_a_foreign_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(format!("{DRAFT}a1b2")), "{").unwrap();
    campaign(1).lock(folder.path()).unwrap();
}

#[test]
fn settings_that_were_edited_so_that_nothing_can_be_generated_give_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let error = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut stored = serde_json::to_value(campaign(1)).unwrap();
        edit(&mut stored["settings"]);
        fs::write(folder.path().join(FILE), stored.to_string()).unwrap();
        CampaignManifest::read(folder.path()).unwrap_err().to_string()
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
    assert!(matches!(campaign(1).lock(folder.path()), Err(ManifestError::Foreign(_))));
}

#[test]
fn a_manifest_of_another_version_gives_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), r#"{"version":7,"new":true}"#).unwrap();
    let error = campaign(1).lock(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("use the equiform that wrote it"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_gives_a_sentence() {
    let error = campaign(1).lock(Path::new("/dev/null/folder")).unwrap_err().to_string();
    assert!(error.starts_with("the folder /dev/null/folder cannot be used: "), "{error}");
}
