//! What programs mean, and which programs mean the same. Nothing here knows of engines.
//!
//! In the order in which data passes: [`signature`] is what resources and edges can be like and [`weights`] how often,
//! [`graph`] is what a program means, [`program`] the steps that build one,
//! [`source`] the graphs that tests start from, [`rules`] the equalities as data, [`egraph`] the e-graph that
//! they saturate and [`implicit`] the one that is not built, [`rewrite`] the baseline, [`generate`] variants on
//! all cores, [`batch`] where they are cut, [`study`] how varied they are.

pub mod batch;
pub mod egraph;
pub mod generate;
pub mod graph;
pub mod implicit;
mod lexer;
pub mod program;
pub mod rewrite;
pub mod rules;
pub mod signature;
pub mod source;
pub mod study;
pub mod weights;
