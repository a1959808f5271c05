//! The algebra that a command uses.

use clap::{Args, ValueEnum};

use crate::signature::Signature;
use crate::weights::Weights;

/// What resources and edges can be like.
#[derive(Debug, Clone, Copy, Args)]
pub struct AlgebraArgs {
    /// What resources and edges can be like.
    #[arg(long, value_enum, default_value_t = AlgebraName::Bare)]
    algebra: AlgebraName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AlgebraName {
    /// Resources and edges only.
    Bare,
    /// Resources have attributes, and edges have kinds.
    Attributed,
}

impl AlgebraArgs {
    /// The attributes and kinds.
    pub fn signature(self) -> &'static Signature {
        match self.algebra {
            AlgebraName::Bare => Signature::bare(),
            AlgebraName::Attributed => Signature::attributed(),
        }
    }

    /// How values and kinds are drawn.
    pub fn weights(self) -> Weights {
        match self.algebra {
            AlgebraName::Bare => Weights::bare().clone(),
            AlgebraName::Attributed => Weights::half_default(self.signature()),
        }
    }
}
