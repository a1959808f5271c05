//! Equiform tests Infrastructure-as-Code engines: programs that mean the same must build the same infrastructure.
//!
//! The binary `equiform` is what people use; this is the library behind it, in layers. Each layer knows only
//! those before it:
//!
//! - [`algebra`]: which programs mean the same. It generates families of equivalent programs from an e-graph.
//! - [`spec`]: what a correct engine must do in a step: the operations, and their order.
//! - [`case`]: a source with its variants and their stages, as data on disk.
//! - [`evidence`]: what is on disk after a stage, whichever engine it was.
//! - [`engines`]: find and install engines; drive them, and read back what they leave.
//! - [`deploy`]: runs the stages of a variant on an engine.
//! - [`standin`]: programs that people have, with the mock provider in the place of theirs.
//! - [`judge`]: holds the evidence against the specification; it deploys nothing.
//! - [`campaign`]: many cases on one engine, and what comes of them.
//! - [`audit`]: a ledger, for people. [`html`]: campaigns and ledgers as pictures. [`cli`]: the subcommands, the only
//!   place that prints or exits.
//!
//! The programs of a campaign come from its settings alone:
//!
//! ```
//! use equiform::campaign::Settings;
//!
//! let case = Settings { seed: 7, variants: 3, ..Settings::default() }.case(0);
//! assert_eq!(case.variants.len(), 3);
//! // All variants end in the same program.
//! let last = |variant| case.batches(variant).unwrap().last().unwrap().program.clone();
//! assert_eq!(last(0), last(1));
//! ```
//!
//! And what an engine must do in a step follows from what is deployed and what is written:
//!
//! ```
//! use equiform::campaign::Settings;
//! use equiform::spec::semantics::terraform::TERRAFORM;
//! use equiform::spec::{Deployed, LeftOut, Options, Step};
//!
//! let case = Settings::default().case(0);
//! let batches = case.batches(0).unwrap();
//! let (first, second) = (&batches[0].program, &batches[1].program);
//! let (deployed, options) = (&Deployed::by(first), &Options::default());
//! let step = Step { deployed, configuration: second, options, semantics: TERRAFORM };
//! let expectation = step.expectation(&LeftOut::none());
//! for (one, other, reason) in expectation.pairs() {
//!     println!("{one} ends before {other} begins: {}", reason.rule.text());
//! }
//! ```

/// Which programs mean the same: a crate of its own, below all layers.
pub use equiform_algebra as algebra;

pub mod audit;
pub mod campaign;
pub mod case;
pub mod cli;
pub mod deploy;
pub mod engine_id;
pub mod engines;
pub mod evidence;
pub mod html;
pub mod judge;
mod private;
pub mod spec;
pub mod standin;
mod util;
