//! What `make` does to the machine of whoever types it: nothing is installed unasked, no evidence is removed,
//! and what is deployed can still be destroyed.
//!
//! The Makefile is run in a folder of its own, with stand-ins for the tools it calls: each writes its name to
//! a file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use equiform::engines::Engines;
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Writes a file that can be run. It is copied by another process: one that this process has open for writing
/// may be so in a child that another test is just starting, and cannot be run as long.
fn executable(path: &Path, content: &[u8]) {
    let draft = path.with_extension("draft");
    fs::write(&draft, content).unwrap();
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("cp").arg(&draft).arg(path).status().unwrap().success());
    fs::remove_file(draft).unwrap();
}

/// The Makefile in a folder of its own, on a machine that has the tools named and stand-ins for others.
struct Place(TempDir);

impl Place {
    /// With a user of this number, and without a C compiler or pip.
    fn new(user: u32) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("bin")).unwrap();
        for name in ["Makefile", "Cargo.toml", "scripts"] {
            symlink(root().join(name), place.path(name)).unwrap();
        }
        for tool in ["bash", "sh", "make", "sed", "head", "uname", "tr", "env", "rm", "mv", "cp", "mkdir"] {
            let path =
                Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap().stdout;
            let path = String::from_utf8(path).unwrap();
            symlink(path.trim_end(), place.path("bin").join(tool)).unwrap();
        }
        for tool in ["cargo", "sudo", "apt-get"] {
            place.script(tool, &format!("echo {tool} \"$@\" >>'{}'", place.path("called").display()));
        }
        place.script("id", &format!("echo {user}"));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        executable(&self.path("bin").join(name), format!("#!/bin/sh\n{text}\n").as_bytes());
    }

    fn make(&self, target: &str, ci: Option<&str>) -> Output {
        let mut command = Command::new(self.path("bin").join("make"));
        command.arg(target).current_dir(self.0.path()).env_clear().env("PATH", self.path("bin"));
        command.envs(ci.map(|ci| ("CI", ci))).output().unwrap()
    }

    fn called(&self) -> String {
        fs::read_to_string(self.path("called")).unwrap_or_default()
    }
}

#[test]
fn what_is_missing_is_told_and_nothing_is_installed_unasked() {
    let place = Place::new(1000);
    for ci in [None, Some("")] {
        let output = place.make("tools", ci);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{said}");
        for part in ["a C compiler (cc)", "Python 3 with pip", "`make system-packages`"] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(place.called(), "");
    }
    assert!(place.make("system-packages", None).status.success());
    assert!(place.called().starts_with("sudo apt-get update -q\n"), "{}", place.called());
}

#[test]
fn root_and_ci_have_installed_what_is_missing() {
    for (user, ci, first) in [(0, None, "apt-get update"), (1000, Some("true"), "sudo apt-get update")] {
        let place = Place::new(user);
        let output = place.make("tools", ci);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(place.called().starts_with(first), "{}", place.called());
    }
}

#[test]
fn a_browser_is_installed_for_root_and_ci_and_asked_for_of_others() {
    for (user, ci, first) in [(0, None, "apt-get update"), (1000, Some("true"), "sudo apt-get update")] {
        let place = Place::new(user);
        assert!(place.make("browser", ci).status.success());
        assert!(place.called().starts_with(first), "{}", place.called());
        assert!(place.called().contains(" chromium"), "{}", place.called());
    }
    let place = Place::new(1000);
    let output = place.make("browser", None);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("`make system-packages` installs it"), "{said}");
    assert_eq!(place.called(), "");
    place.script("chromium", "");
    assert!(place.make("browser", Some("true")).status.success());
    assert_eq!(place.called(), "");
}

#[test]
fn a_machine_that_has_everything_is_left_as_it_is() {
    let place = Place::new(1000);
    place.script("cc", "");
    place.script("python3", "");
    assert!(place.make("tools", Some("true")).status.success());
    assert_eq!(place.called(), "");
}

#[test]
fn cleaning_removes_what_was_built_and_leaves_evidence() {
    let place = Place::new(1000);
    let (built, evidence) = (
        ["mirror/provider", "cli.tfrc", "cache/egraph"],
        ["runs/1/case-0000/verdict.json", "campaign/campaign.json", "study/diversity.csv"],
    );
    let file = |name: &&str| place.path(".equiform").join(name);
    for path in built.iter().chain(&evidence).map(file) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    assert!(place.make("clean", None).status.success());
    assert_eq!(place.called(), "cargo clean\n");
    assert!(built.iter().map(file).all(|path| !path.exists()));
    assert!(evidence.iter().map(file).all(|path| path.exists()));
    assert!(place.make("remove-evidence", None).status.success());
    assert!(!place.path(".equiform").exists());
}

/// A folder with the hello program, and a mirror to install the provider from.
struct Hello {
    folder: TempDir,
    engine: PathBuf,
}

impl Hello {
    fn new(engine: &str) -> Self {
        let engines = Engines::from_env().unwrap();
        let engine = engines.find(&engine.parse().unwrap()).unwrap_or_else(|error| panic!("{error}")).path;
        let hello = Self { folder: tempfile::tempdir().unwrap(), engine };
        fs::create_dir(hello.program()).unwrap();
        let main = "fixtures/programs/hello/main.tf";
        fs::copy(root().join(main), hello.program().join("main.tf")).unwrap();
        let config = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            hello.folder.path().join("mirror")
        );
        fs::write(hello.folder.path().join("cli.tfrc"), config).unwrap();
        hello.install(b"");
        hello
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("hello")
    }

    /// Puts the provider into the mirror, with bytes after its end: another build.
    fn install(&self, more: &[u8]) {
        let provider = Path::new(env!("CARGO_BIN_EXE_equiform")).with_file_name("terraform-provider-mock");
        let version = env!("CARGO_PKG_VERSION");
        let place =
            self.folder.path().join(format!("mirror/equiform.test/equiform/mock/{version}/linux_amd64"));
        fs::create_dir_all(&place).unwrap();
        let (new, bytes) = (place.join(".new"), fs::read(provider).unwrap());
        executable(&new, &[&bytes, more].concat());
        fs::rename(new, place.join("terraform-provider-mock")).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.engine)
            .args(arguments)
            .arg("-no-color")
            .current_dir(self.program())
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("cli.tfrc"))
            .env("CHECKPOINT_DISABLE", "1")
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }
}

#[test]
fn what_was_deployed_before_the_provider_was_rebuilt_can_be_destroyed() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    assert!(makefile.contains("scripts/accept-rebuilt-provider $(HELLO)"), "`make install` does it");
    for engine in ["terraform@1.6.6", "terraform@1.15.5", "tofu@1.12.6"] {
        let hello = Hello::new(engine);
        hello.run(&["init"]).unwrap();
        hello.run(&["apply", "-auto-approve"]).unwrap();
        hello.install(b"rebuilt");
        hello.run(&["destroy", "-auto-approve"]).expect_err("the engine knows the hash");
        let script = root().join("scripts/accept-rebuilt-provider");
        assert!(Command::new(&script).arg(hello.program()).status().unwrap().success());
        let destroyed = hello.run(&["destroy", "-auto-approve"]).unwrap();
        assert!(destroyed.contains("Resources: 3 destroyed"), "{destroyed}");
        hello.run(&["init"]).unwrap();
        let lock = fs::read_to_string(hello.program().join(".terraform.lock.hcl")).unwrap();
        assert!(lock.contains("h1:"), "the new hash is recorded: {lock}");
    }
}

#[test]
fn the_hashes_of_other_providers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join(".terraform.lock.hcl");
    let block = |address: &str, hashes: &str| {
        format!("provider \"{address}\" {{\n  version = \"1.0.0\"\n{hashes}}}\n")
    };
    let hashes = "  hashes = [\n    \"h1:abc\",\n    \"zh:def\",\n  ]\n";
    let file = |ours: &str| {
        ["a.test/a/a", "equiform.test/equiform/mock", "z.test/z/mock"]
            .map(|address| block(address, if address.starts_with("equiform") { ours } else { hashes }))
            .concat()
    };
    fs::write(&lock, file(hashes)).unwrap();
    let script = root().join("scripts/accept-rebuilt-provider");
    let nothing = folder.path().join("nothing");
    assert!(Command::new(&script).arg(folder.path()).arg(&nothing).status().unwrap().success());
    assert_eq!(fs::read_to_string(&lock).unwrap(), file(""));
    assert!(!nothing.exists());
}

#[test]
fn installing_the_provider_prints_the_lines_to_export() {
    let place = Place::new(0);
    place.script("cc", "true");
    place.script("python3", "true");
    place.script("grep", "true");
    fs::create_dir_all(place.path("target/release")).unwrap();
    fs::write(place.path("target/release/terraform-provider-mock"), "").unwrap();
    let output = place.make("install", None);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let here = place.0.path().display();
    assert!(said.contains(&format!("\n  export TF_CLI_CONFIG_FILE={here}/.equiform/cli.tfrc\n")), "{said}");
    assert!(said.contains(&format!("\n  export PATH={here}/target/release:$PATH ")), "{said}");
    assert!(place.path(".equiform/cli.tfrc").exists());
}
