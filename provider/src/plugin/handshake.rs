//! What host and plugin say to each other before the first RPC: variables one way, a line the other.

use std::env;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A shared word that tells a host's start of the plugin from a user's. It protects nothing.
const COOKIE_VARIABLE: &str = "TF_PLUGIN_MAGIC_COOKIE";
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The major version of go-plugin's own protocol.
const CORE_VERSION: u32 = 1;
/// The version of the plugin protocol that this provider speaks.
pub const PROTOCOL: u32 = 6;

/// Whether an engine started this process.
pub fn started_by_engine() -> bool {
    env::var(COOKIE_VARIABLE).is_ok_and(|cookie| cookie == COOKIE)
}

/// What the host asked for in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The host's certificate, as PEM. Without it the host wants no TLS.
    pub client_certificate: Option<String>,
    /// Whether the host wants to know if connections can be multiplexed.
    pub asks_for_multiplexing: bool,
}

/// A host that we cannot work with.
#[derive(Debug, thiserror::Error)]
#[error(
    "the engine speaks the plugin protocol versions {offered}, and this provider speaks version {PROTOCOL}: \
     use Terraform 1.0 or newer, or any OpenTofu"
)]
pub struct NoCommonVersion {
    offered: String,
}

impl Offer {
    /// Reads the offer from the environment.
    pub fn from_env() -> Result<Self, NoCommonVersion> {
        let versions = env::var("PLUGIN_PROTOCOL_VERSIONS").ok();
        if let Some(offered) = versions
            && !offered.split(',').any(|version| version.trim().parse() == Ok(PROTOCOL))
        {
            return Err(NoCommonVersion { offered });
        }
        Ok(Self {
            client_certificate: env::var("PLUGIN_CLIENT_CERT").ok().filter(|pem| !pem.is_empty()),
            asks_for_multiplexing: env::var_os("PLUGIN_MULTIPLEX_GRPC")
                .is_some_and(|value| !value.is_empty()),
        })
    }
}

/// The line that tells the host where to connect and which certificate to trust.
pub fn line(socket: &Path, server_certificate: Option<&[u8]>, offer: &Offer) -> String {
    let certificate = server_certificate.map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
    let socket = socket.display();
    let mut line = format!("{CORE_VERSION}|{PROTOCOL}|unix|{socket}|grpc|{certificate}");
    if offer.asks_for_multiplexing {
        // One connection a host is all there is: the provider never opens a second channel to it.
        line.push_str("|false");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_certificate_without_padding() {
        let offer = Offer { client_certificate: None, asks_for_multiplexing: false };
        assert_eq!(line(Path::new("/s"), Some(b"ab"), &offer), "1|6|unix|/s|grpc|YWI");
    }

    #[test]
    fn without_tls_the_certificate_is_empty() {
        let offer = Offer { client_certificate: None, asks_for_multiplexing: false };
        assert_eq!(line(Path::new("/s"), None, &offer), "1|6|unix|/s|grpc|");
    }

    #[test]
    fn multiplexing_is_answered_only_where_it_was_asked_for() {
        let offer = Offer { client_certificate: None, asks_for_multiplexing: true };
        assert_eq!(line(Path::new("/s"), None, &offer), "1|6|unix|/s|grpc||false");
    }
}
