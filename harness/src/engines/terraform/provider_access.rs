//! How Terraform and OpenTofu are led to a provider: one that is up, or one in a mirror.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use equiform_proto::control::{Endpoint, Network};

/// The address that programs give for the mock provider.
pub(super) const PROVIDER_ADDRESS: &str = "equiform.test/equiform/mock";

/// The value of `TF_REATTACH_PROVIDERS` by which an engine finds the provider at an endpoint.
pub fn reattach_value(endpoint: &Endpoint) -> String {
    let network = match endpoint.network {
        Network::Unix => "unix",
    };
    let value = serde_json::json!({
        PROVIDER_ADDRESS: {
            "Protocol": "grpc",
            "ProtocolVersion": endpoint.protocol_version,
            "Pid": endpoint.pid,
            "Test": true,
            "Addr": {"Network": network, "String": endpoint.address},
        }
    });
    value.to_string()
}

/// The operating system and the machine as engines name them: `linux_amd64`.
pub fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("{system}_{machine}")
}

/// Where the mock provider's binary stands in a mirror, from the mirror's folder on.
pub fn place_in_mirror(version: &str) -> PathBuf {
    let folder = Path::new(PROVIDER_ADDRESS).join(version).join(platform());
    folder.join("terraform-provider-mock")
}

/// Makes a mirror with the mock provider in a folder. Gives the configuration file that names it.
pub fn make_mirror(provider: &Path, folder: &Path) -> io::Result<PathBuf> {
    let binary = folder.join(place_in_mirror(env!("CARGO_PKG_VERSION")));
    fs::create_dir_all(binary.parent().unwrap_or(folder))?;
    // Engines put a link to it into each folder they prepare; a copy would be written and hashed again for each.
    fs::copy(provider, binary)?;
    let config = folder.join("cli.tfrc");
    fs::write(&config, mirror_configuration(folder))?;
    Ok(config)
}

/// The text of a configuration file by which engines install the provider from a mirror, and nothing else from there.
fn mirror_configuration(mirror: &Path) -> String {
    let mirror = serde_json::Value::from(mirror.to_string_lossy().as_ref());
    format!(
        "provider_installation {{\n  filesystem_mirror {{\n    \
         path    = {mirror}\n    include = [\"equiform.test/*/*\"]\n  }}\n}}\n"
    )
}

/// The text of a configuration file by which engines install all providers from a mirror, and none from elsewhere.
pub fn whole_mirror_configuration(mirror: &Path) -> String {
    let mirror = serde_json::Value::from(mirror.to_string_lossy().as_ref());
    format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror}\n  }}\n}}\n")
}

/// The text of a configuration file by which engines install our provider and those at some addresses from a mirror,
/// and all others from where they usually do.
pub fn mirror_and_direct(mirror: &Path, addresses: &[String]) -> String {
    let mirror = serde_json::Value::from(mirror.to_string_lossy().as_ref());
    let ours = ["equiform.test/*/*"].into_iter().chain(addresses.iter().map(String::as_str));
    let ours: Vec<String> = ours.map(|address| serde_json::Value::from(address).to_string()).collect();
    let ours = ours.join(", ");
    format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path    = {mirror}\n    include = [{ours}]\n  }}\n  \
         direct {{\n    exclude = [{ours}]\n  }}\n}}\n"
    )
}
