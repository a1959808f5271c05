//! What commands that generate cases share: which cases.

use clap::Args;

use super::amount::Amount;
use crate::campaign::Settings;

/// Which cases are generated.
#[derive(Debug, Args)]
pub struct CasesArgs {
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many sources
    #[arg(long, default_value_t = 10)]
    sources: usize,
    /// How many variants of each source
    #[arg(long, default_value_t = 10)]
    variants: u64,
    /// Into how many batches each variant is cut
    #[arg(long, default_value_t = 4)]
    batches: usize,
    /// How many resources a source has: a number or a range
    #[arg(long, value_name = "N", default_value = "3..12")]
    resources: Amount,
    /// How many edges a source has: a number or a range
    #[arg(long, value_name = "M", default_value = "1..16")]
    edges: Amount,
    /// The share of resources with create_before_destroy
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = share)]
    create_before_destroy: f64,
}

impl CasesArgs {
    /// The same as settings.
    pub fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            sources: self.sources,
            variants: self.variants,
            batches: self.batches,
            resources: self.resources.range(),
            edges: self.edges.range(),
            create_before_destroy: self.create_before_destroy,
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is no share; give a number from 0 to 1"))
}
