//! Engines that are kept warm: they do what fresh processes do, and when they break, nothing is lost.

mod broken;
mod findings;
mod memory;
mod same;
mod support;
