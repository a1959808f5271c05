//! A campaign's claim as options of the command line: what it was started with, and in what two of them differ.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::claim::Claim;
use super::settings::{Algebra, Sources};
use crate::engines::EngineChoice;

/// An option in which two claims differ, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionDifference {
    /// The option.
    pub option: String,
    /// Its value in one of them.
    pub here: String,
    /// Its value in the other.
    pub there: String,
}

impl Claim {
    /// All that it was started with, by the long names of the options.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let (settings, mode) = (self.settings(), self.mode());
        let range = |range: &RangeInclusive<u32>| format!("{}..{}", range.start(), range.end());
        let options = [
            ("engine", EngineChoice::again(self.engine()).to_string()),
            ("provider-mode", mode.provider.to_string()),
            ("syntax", mode.syntax.to_string()),
            ("hold", mode.hold.to_string()),
            ("oracles", self.oracles().join(",")),
            ("seed", settings.seed.to_string()),
            ("sources", settings.sources.to_string()),
            ("variants", settings.variants.to_string()),
            ("batches", settings.batches.to_string()),
            ("resources", range(&settings.resources)),
            ("edges", range(&settings.edges)),
            ("create-before-destroy", settings.create_before_destroy.to_string()),
            ("algebra", if settings.algebra == Algebra::Bare { "bare" } else { "attributed" }.to_owned()),
            ("workflows", settings.workflows.to_string()),
            ("leave-out-rules", settings.left_out.to_string()),
        ];
        let from = match &settings.from {
            Sources::Random => ("shape", "random".to_owned()),
            Sources::Real => ("shape", "real".to_owned()),
            Sources::Given(graph) => ("source", serde_json::to_string(graph).expect("a graph is JSON")),
        };
        let cold = (!mode.warm).then(|| ("cold", "true".to_owned()));
        let shard = self.shard().map(|shard| ("shard", shard.to_string()));
        options.into_iter().chain([from]).chain(cold).chain(shard).collect()
    }

    /// In which options another claim differs, each with the value here and there, for people.
    pub fn differences(&self, other: &Self) -> Vec<OptionDifference> {
        let (own, others) = (self.options(), other.options());
        let by_name =
            |options: &[(&'static str, String)]| options.iter().cloned().collect::<BTreeMap<_, _>>();
        let (own_values, others_values) = (by_name(&own), by_name(&others));
        let mut names: Vec<&str> = own.iter().chain(&others).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let differing = names.into_iter().filter(|name| own_values.get(name) != others_values.get(name));
        let told = |values: &BTreeMap<&str, String>, name: &str| match values.get(name).map(String::as_str) {
            None => "not given".to_owned(),
            Some("true") => "given".to_owned(),
            Some(value) => value.to_owned(),
        };
        differing
            .map(|name| OptionDifference {
                option: format!("--{name}"),
                here: told(&own_values, name),
                there: told(&others_values, name),
            })
            .collect()
    }
}
