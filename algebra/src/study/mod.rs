//! Experiments that compare the generators.

mod charts;
mod diversity;
mod plot;
mod trace;

pub use diversity::{Generators, Grid, Results, StudyError, run};
pub use plot::{Chart, Series};
pub use trace::{Diversity, Tally};
