//! An option that commands which judge share: the rules of the model to leave out.

use clap::Args;

use crate::spec::LeftOut;

/// Which rules are left out.
#[derive(Debug, Args)]
pub struct LeaveOutArgs {
    /// Rules of the model to leave out: numbers or names, `contested` for those that upstream disputes, or `none`
    #[arg(long, value_name = "RULES")]
    leave_out_rules: Option<LeftOut>,
}

impl LeaveOutArgs {
    /// The value of the option, if it was given.
    pub fn given(&self) -> Option<&LeftOut> {
        self.leave_out_rules.as_ref()
    }

    /// The value of the option, or else the stored one.
    pub fn or(&self, stored: &LeftOut) -> LeftOut {
        self.leave_out_rules.as_ref().unwrap_or(stored).clone()
    }
}
