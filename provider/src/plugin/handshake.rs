//! What host and plugin say to each other before the first RPC: variables one way, a line the other.

use std::env;
use std::path::Path;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A shared word that tells a host's start of the plugin from a user's. It protects nothing.
const COOKIE_VARIABLE: &str = "TF_PLUGIN_MAGIC_COOKIE";
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The major version of go-plugin's own protocol.
const CORE_VERSION: u32 = 1;
/// Asks for a version of the plugin protocol, where the engine speaks both.
pub const PROTOCOL_VARIABLE: &str = "EQUIFORM_PROTOCOL";

/// A version of the plugin protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Without nested attributes.
    Five,
    /// What engines prefer.
    #[default]
    Six,
}

impl Protocol {
    /// Its number.
    pub fn number(self) -> u32 {
        match self {
            Self::Five => 5,
            Self::Six => 6,
        }
    }

    /// The one that is preferred, if it is offered, or else the other.
    fn among(offered: &str, preferred: Self) -> Option<Self> {
        let offers = |protocol: &Self| {
            offered.split(',').any(|version| version.trim().parse() == Ok(protocol.number()))
        };
        let other = if preferred == Self::Six { Self::Five } else { Self::Six };
        [preferred, other].into_iter().find(offers)
    }
}

impl FromStr for Protocol {
    type Err = NoProtocol;

    fn from_str(text: &str) -> Result<Self, NoProtocol> {
        match text {
            "5" => Ok(Self::Five),
            "6" => Ok(Self::Six),
            _ => Err(NoProtocol(text.to_owned())),
        }
    }
}

/// A text that is no version of the protocol.
#[derive(Debug, thiserror::Error)]
#[error("the plugin protocol's versions are 5 and 6, and not {0:?}")]
pub struct NoProtocol(String);

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
    /// The version of the protocol to speak.
    pub protocol: Protocol,
}

/// A host that we cannot work with.
#[derive(Debug, thiserror::Error)]
pub enum BadOffer {
    #[error(
        "the engine speaks the plugin protocol versions {0:?}, and this provider speaks version 6 and version 5: \
         use Terraform 0.12 or newer, or any OpenTofu"
    )]
    NoCommonVersion(String),
    #[error("{PROTOCOL_VARIABLE}: {0}; leave it out for 6")]
    BadWish(NoProtocol),
}

impl Offer {
    /// Reads the offer from the environment. A provider that is stood in for has a protocol of its own.
    pub fn from_env(own: Option<u32>) -> Result<Self, BadOffer> {
        let wish = env::var(PROTOCOL_VARIABLE).ok().filter(|wish| !wish.is_empty());
        let wish = wish.map(|wish| wish.parse().map_err(BadOffer::BadWish)).transpose()?;
        let own = if own == Some(5) { Protocol::Five } else { Protocol::Six };
        let preferred = wish.unwrap_or(own);
        let protocol = match env::var("PLUGIN_PROTOCOL_VERSIONS").ok() {
            None => preferred,
            Some(offered) => {
                Protocol::among(&offered, preferred).ok_or(BadOffer::NoCommonVersion(offered))?
            }
        };
        Ok(Self {
            protocol,
            client_certificate: env::var("PLUGIN_CLIENT_CERT").ok().filter(|pem| !pem.is_empty()),
            asks_for_multiplexing: env::var_os("PLUGIN_MULTIPLEX_GRPC")
                .is_some_and(|value| !value.is_empty()),
        })
    }
}

/// The line that tells the host where to connect and which certificate to trust.
pub fn line(socket: &Path, server_certificate: Option<&[u8]>, offer: &Offer) -> String {
    let certificate = server_certificate.map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
    let (protocol, socket) = (offer.protocol.number(), socket.display());
    let mut line = format!("{CORE_VERSION}|{protocol}|unix|{socket}|grpc|{certificate}");
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
        let offer = Offer { client_certificate: None, asks_for_multiplexing: false, protocol: Protocol::Six };
        assert_eq!(line(Path::new("/s"), Some(b"ab"), &offer), "1|6|unix|/s|grpc|YWI");
    }

    #[test]
    fn without_tls_the_certificate_is_empty() {
        let offer = Offer { client_certificate: None, asks_for_multiplexing: false, protocol: Protocol::Six };
        assert_eq!(line(Path::new("/s"), None, &offer), "1|6|unix|/s|grpc|");
    }

    #[test]
    fn multiplexing_is_answered_only_where_it_was_asked_for() {
        let offer = Offer { client_certificate: None, asks_for_multiplexing: true, protocol: Protocol::Five };
        assert_eq!(line(Path::new("/s"), None, &offer), "1|5|unix|/s|grpc||false");
    }
}
