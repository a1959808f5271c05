//! The mock provider.
fn main() {}
