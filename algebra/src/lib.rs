//! What programs mean, and which programs mean the same. Nothing here knows of engines.
//!
//! In the order in which data passes: [`signature`] is what resources and edges can be like and [`weights`] how often,
//! [`graph`] is what a program means, [`program`] the steps that build one, [`source`] the graphs that tests start
//! from, [`implicit`] the e-graph that is never built, [`generate`] variants on all cores, [`batch`] where they are
//! cut. [`cli`] is what the commands of this crate and of the harness share.
//!
//! Campaigns need no more than that. The feature `laboratory` adds what the implicit e-graph is checked against and
//! compared with, and the binary `equiform-lab`: `rules` are the equalities as data, `egraph` is the e-graph that they
//! saturate, `rewrite` the baseline, `study` tells how varied the programs of each generator are.

pub mod batch;
pub mod cli;
#[cfg(feature = "laboratory")]
pub mod egraph;
pub mod generate;
pub mod graph;
pub mod implicit;
mod lexer;
pub mod program;
#[cfg(feature = "laboratory")]
pub mod rewrite;
#[cfg(feature = "laboratory")]
pub mod rules;
pub mod signature;
pub mod source;
#[cfg(feature = "laboratory")]
pub mod study;
pub mod weights;
