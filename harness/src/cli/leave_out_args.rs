//! What commands that judge share: which rules of the model they do without.

use clap::Args;

use crate::spec::LeftOut;

/// Which rules are left out.
#[derive(Debug, Args)]
pub struct LeaveOutArgs {
    /// Rules of the model not to judge by: numbers or names, `contested` for those that upstream argues about, `none`
    #[arg(long, value_name = "RULES")]
    leave_out_rules: Option<LeftOut>,
}

impl LeaveOutArgs {
    /// What the option says; else what was stored.
    pub fn or(&self, stored: &LeftOut) -> LeftOut {
        self.leave_out_rules.as_ref().unwrap_or(stored).clone()
    }
}
