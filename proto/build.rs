//! Generates the plugin protocol's messages and services. `protox` compiles the definitions, so no protoc is needed.

#[cfg(feature = "plugin")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(
        ["proto/tfplugin6.proto", "proto/tfplugin5.proto", "proto/goplugin.proto"],
        ["proto"],
    )?;
    // Clients are for tests only, which dial the provider as an engine would.
    tonic_prost_build::configure().build_client(true).build_transport(false).compile_fds(files)?;
    Ok(())
}

#[cfg(not(feature = "plugin"))]
fn main() {}
