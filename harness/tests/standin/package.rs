//! `make package`: what is packed for a release is what engines install.

use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::{ENGINES, engine, printed, root, write};

#[test]
fn engines_install_what_was_packed_and_its_documentation_is_of_its_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dist");
    // What was there before goes as a whole.
    write(&out, "old.zip", "");
    let provider = Path::new(env!("CARGO_BIN_EXE_equiform")).with_file_name("terraform-provider-mock");
    let packed = Command::new(root().join("scripts/package"))
        .arg("--engine")
        .arg(engine(ENGINES[0]))
        .arg("--provider")
        .arg(provider)
        .arg("--out")
        .arg(&out)
        .arg("--no-cross")
        .output()
        .unwrap();
    let (said, _) = printed(&packed, 0);
    assert!(said.contains("linux_arm64 is not packed: it was not asked for"), "{said}");
    let version = env!("CARGO_PKG_VERSION");
    let name = |rest: &str| format!("terraform-provider-mock_{version}_{rest}");
    let (archive, manifest) = (name("linux_amd64.zip"), name("manifest.json"));
    assert!(!out.join("old.zip").exists());

    let sums = fs::read_to_string(out.join(name("SHA256SUMS"))).unwrap();
    let listed: Vec<(&str, &str)> = sums.lines().map(|line| line.split_once("  ").unwrap()).collect();
    assert_eq!(listed.iter().map(|(_, name)| *name).collect::<Vec<_>>(), [&*archive, &*manifest]);
    for (sum, file) in listed {
        let digest = Sha256::digest(fs::read(out.join(file)).unwrap());
        assert_eq!(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), sum);
    }
    let said: serde_json::Value = serde_json::from_slice(&fs::read(out.join(manifest)).unwrap()).unwrap();
    assert_eq!(said, serde_json::json!({ "version": 1, "metadata": { "protocol_versions": ["6.0"] } }));

    let index = fs::read_to_string(out.join("docs/index.md")).unwrap();
    assert!(
        index.starts_with("---\npage_title: \"mock Provider\"\n") && index.contains("\n- `ledger` (String) ")
    );
    let node = fs::read_to_string(out.join("docs/resources/node.md")).unwrap();
    assert!(node.contains("### Required\n\n- `key` (String) "), "{node}");
    assert!(out.join("docs/data-sources/node.md").exists());

    let mirror = folder.path().join("mirror/equiform.test/equiform/mock");
    fs::create_dir_all(&mirror).unwrap();
    fs::copy(out.join(&archive), mirror.join(&archive)).unwrap();
    let config = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
        folder.path().join("mirror")
    );
    let config = write(folder.path(), "cli.tfrc", &config);
    for name in ENGINES {
        let program = tempfile::tempdir().unwrap();
        fs::copy(root().join("fixtures/programs/hello/main.tf"), program.path().join("main.tf")).unwrap();
        for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
            let mut command = Command::new(engine(name));
            command.args(arguments).args(["-no-color", "-input=false"]).current_dir(program.path());
            command.env("TF_CLI_CONFIG_FILE", &config).env("CHECKPOINT_DISABLE", "1");
            printed(&command.output().unwrap(), 0);
        }
        assert!(program.path().join("equiform.ledger.jsonl").exists());
    }
}
