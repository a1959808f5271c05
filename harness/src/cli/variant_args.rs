//! What commands about one stored variant share: which variant, and what is known.

use std::path::PathBuf;

use clap::Args;

use super::CannotRun;
use super::known_args::KnownArgs;
use super::leave_out_args::LeaveOutArgs;
use crate::campaign::place::StoredVariant;
use crate::judge::known::KnownFindings;

/// Which variant.
#[derive(Debug, Args)]
pub struct VariantArgs {
    /// The folder of a variant, or of a case: then the first variant with a new finding, or else with a known one
    folder: PathBuf,
    /// The variant of the case, counted from 0
    #[arg(long, value_name = "N")]
    variant: Option<usize>,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
    #[command(flatten)]
    known: KnownArgs,
}

impl VariantArgs {
    /// The variant, which is judged without the rules that the options leave out, and what is known.
    pub fn find(&self) -> Result<(StoredVariant, KnownFindings), CannotRun> {
        let known = self.known.read()?;
        let mut found = StoredVariant::find(&self.folder, self.variant, &known)?;
        found.case.left_out = self.leave_out.or(&found.case.left_out);
        Ok((found, known))
    }
}
