//! Equiform tests Infrastructure-as-Code engines: programs that mean the same must build the same infrastructure.
//!
//! Modules follow the flow of data; `DESIGN.md` walks through them in that order. [`cli`] holds one file for each
//! subcommand of the `equiform` binary and is the only place that prints or exits.

pub mod audit;
pub mod batch;
pub mod campaign;
pub mod case;
pub mod cli;
pub mod compare;
pub mod coverage;
pub mod deploy;
pub mod egraph;
pub mod engine;
pub mod generate;
pub mod graph;
pub mod implicit;
mod lexer;
pub mod model;
pub mod observe;
pub mod oracle;
mod private;
pub mod program;
pub mod render;
pub mod rewrite;
pub mod rules;
pub mod source;
pub mod study;
