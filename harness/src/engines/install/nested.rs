//! The modules inside an engine's repository that its archive in the module registry does not have.
//!
//! An archive ends where another module begins: Terraform's remote backends are modules of their own, which no registry
//! has, and its `go.mod` leads to their folders. A module of the same name takes the place of each. It has what the
//! engine calls, a function that makes the backend, and no dependencies. Nothing in the engine's own files is changed.

use std::fs;
use std::io;
use std::path::{Component, Path};

use serde::Deserialize;

use super::go::{SourceError, go_command};

/// The interface of backends, within a module.
const BACKEND: &str = "internal/backend";

/// What `go mod edit -json` prints, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoMod {
    module: Option<Module>,
    go: Option<String>,
    replace: Option<Vec<Replacement>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replacement {
    old: Module,
    new: Module,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    path: String,
    version: Option<String>,
}

/// Adds the modules to a copy of an engine's source that its `go.mod` leads to and that are absent.
pub(super) fn complete(go: &Path, source: &Path) -> Result<(), SourceError> {
    let output = go_command(go, source)
        .args(["mod", "edit", "-json"])
        .output()
        .map_err(|error| SourceError::GoMod(error.to_string()))?;
    let read: GoMod = serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        SourceError::GoMod(if said.is_empty() { error.to_string() } else { said })
    })?;
    add_missing(&read, source).map_err(SourceError::Copy)
}

fn add_missing(read: &GoMod, source: &Path) -> io::Result<()> {
    let own = read.module.as_ref().map_or("", |module| &module.path);
    let interface = source.join(BACKEND).is_dir().then(|| format!("{own}/{BACKEND}"));
    for Replacement { old, new } in read.replace.iter().flatten() {
        let inside = Path::new(&new.path);
        let leads_inside = new.version.is_none()
            && inside.components().next() == Some(Component::CurDir)
            && !inside.components().any(|part| part == Component::ParentDir);
        let folder = source.join(inside);
        if !leads_inside || folder.exists() {
            continue;
        }
        let go = read.go.as_ref().map(|go| format!("\ngo {go}\n")).unwrap_or_default();
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("go.mod"), format!("module {}\n{go}", old.path))?;
        fs::write(folder.join("equiform.go"), package(&old.path, interface.as_deref()))?;
    }
    Ok(())
}

/// The only file of a module that takes the place of a missing one.
fn package(module: &str, interface: Option<&str>) -> String {
    let name = module.rsplit('/').next().unwrap_or(module).replace('-', "_");
    let body = interface.map(|interface| {
        format!(
            "\nimport \"{interface}\"\n\nfunc New() backend.Backend {{\n\
             \tpanic(\"equiform built this engine without its backend {name}, which the module registry does not \
             have\")\n}}\n"
        )
    });
    format!(
        "// Written by equiform, in the place of a module that the registry does not have.\n\npackage {name}\n{}",
        body.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_inside_the_engine_gets_a_module() {
        let folder = tempfile::tempdir().unwrap();
        for present in ["internal/backend", "internal/there"] {
            fs::create_dir_all(folder.path().join(present)).unwrap();
        }
        let read: GoMod = serde_json::from_value(serde_json::json!({
            "Module": { "Path": "example.test/engine" },
            "Go": "1.26.4",
            "Require": [{ "Path": "example.test/other", "Version": "v1.0.0" }],
            "Replace": [
                { "Old": { "Path": "example.test/engine/internal/s3" }, "New": { "Path": "./internal/s3" } },
                { "Old": { "Path": "example.test/engine/internal/there" }, "New": { "Path": "./internal/there" } },
                { "Old": { "Path": "a" }, "New": { "Path": "example.test/fork", "Version": "v1.2.3" } },
                { "Old": { "Path": "b" }, "New": { "Path": "../outside" } },
                { "Old": { "Path": "c" }, "New": { "Path": "./../outside" } },
            ],
        }))
        .unwrap();
        add_missing(&read, folder.path()).unwrap();
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        assert_eq!(read("internal/s3/go.mod"), "module example.test/engine/internal/s3\n\ngo 1.26.4\n");
        let text = read("internal/s3/equiform.go");
        assert!(text.contains("\npackage s3\n\nimport \"example.test/engine/internal/backend\"\n"), "{text}");
        assert_eq!(fs::read_dir(folder.path().join("internal")).unwrap().count(), 3);
        assert_eq!(fs::read_dir(folder.path().join("internal/there")).unwrap().count(), 0);
        assert!(!folder.path().parent().unwrap().join("outside").exists());
    }
}
