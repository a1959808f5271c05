//! Reduced cases that lie beside a campaign: `reduced/NAME/` with a case, its evidence, and `reduction.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::clip::{MOST, short};
use crate::campaign::reduce::symptom::Symptom;
use crate::campaign::reduce::{REDUCTION_FILE, REDUCTION_VERSION};
use crate::campaign::reductions::REDUCED;

/// A signature, as pages name it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct NamedSignature {
    oracle: &'static str,
    kind: String,
}

/// A reduction, as far as a page tells of it. What else its file has is passed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    version: u32,
    /// The name of its folder.
    #[serde(default, skip_deserializing)]
    name: String,
    /// What was reduced, such as `case-0003/variant-0001`.
    from: String,
    /// By what the failure was recognised.
    symptom: Symptom,
    /// The same as pages name it.
    #[serde(default, skip_deserializing)]
    signature: NamedSignature,
    /// How large it was: resources, edges, batches, commands.
    #[serde(default)]
    before: BTreeMap<String, u64>,
    /// How large it is.
    #[serde(default)]
    after: BTreeMap<String, u64>,
    #[serde(default)]
    attempts: u64,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    flaky_rate: Option<f64>,
    /// Whether there is a bundle to pass on.
    #[serde(default, skip_deserializing)]
    bundle: bool,
    /// Whether the page shows it.
    #[serde(default, skip_deserializing)]
    pub shown: bool,
}

/// The reductions in a campaign's folder, each with its folder, and a sentence on each that cannot be read.
pub fn read(campaign: &Path) -> (Vec<(PathBuf, Reduction)>, Vec<String>) {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    let entries = fs::read_dir(campaign.join(REDUCED)).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let path = folder.join(REDUCTION_FILE);
        let Ok(bytes) = fs::read(&path) else { continue };
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match serde_json::from_slice::<Reduction>(&bytes) {
            Ok(read) if read.version == REDUCTION_VERSION => {
                let bundle = folder.join("bundle").is_dir();
                let Symptom { signature, .. } = read.symptom;
                let signature = NamedSignature { oracle: signature.oracle().name(), kind: signature.what() };
                found.push((folder, Reduction { name: short(&name, MOST), bundle, signature, ..read }));
            }
            Ok(read) => wrong.push(format!(
                "{} has version {}, and this program reads version {REDUCTION_VERSION}: use a newer equiform",
                path.display(),
                read.version
            )),
            Err(error) => wrong.push(format!("{} tells of no reduction: {error}", path.display())),
        }
    }
    (found, wrong)
}

impl Reduction {
    /// The name of its folder.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduction_is_read_and_one_that_is_none_is_told() {
        let campaign = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let folder = campaign.path().join(REDUCED).join(name);
            fs::create_dir_all(folder.join("bundle")).unwrap();
            fs::write(folder.join(REDUCTION_FILE), text).unwrap();
        };
        assert_eq!(read(campaign.path()), (Vec::new(), Vec::new()));
        write(
            "a",
            r#"{"version":2,"from":"case-0003/variant-0001","symptom":{"signature":{"oracle":"order",
            "kind":"order-violated"},"engine":{"family":"terraform","name":"tofu","version":"1.12.6"}},
            "before":{"resources":9},"after":{"resources":2},"attempts":3,"seconds":1.5,"flaky_rate":null,
            "new":true}"#,
        );
        write(
            "b",
            r#"{"version":3,"from":"","symptom":{"signature":{"oracle":"idle","kind":"idle-plans-change"},
            "engine":{"family":"terraform","name":"tofu","version":"1.12.6"}}}"#,
        );
        write("c", "{");
        let (found, wrong) = read(campaign.path());
        assert_eq!((found.len(), found[0].1.name(), found[0].1.bundle), (1, "a", true));
        assert!(wrong[0].ends_with("use a newer equiform") && wrong[1].contains("no reduction"), "{wrong:?}");
    }
}
