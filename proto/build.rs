//! Generates the plugin protocol's messages and services. `protox` compiles the definitions, so no protoc is needed.

fn main() {}
