//! A provider's address, as programs and people write it: `hashicorp/aws`, `registry.example.org/team/cloud`.

use std::fmt::{self, Display};
use std::str::FromStr;

use semver::Version;

use super::constraint;

/// The hosts that engines take where an address names none, each engine its own.
pub const DEFAULT_HOSTS: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// The namespace of a provider that is named by its type alone.
const DEFAULT_NAMESPACE: &str = "hashicorp";

/// The most characters of a part: it becomes the name of a folder.
const MOST: usize = 128;

/// A provider's address. It is always one that can be a path below a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddress {
    /// The host; none means the engine's own.
    pub host: Option<String>,
    /// Who makes it.
    pub namespace: String,
    /// What it is for, which is also the beginning of its types' names.
    pub type_name: String,
}

/// A text that is no address of a provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Too many or too few parts.
    #[error(
        "`{0}` is not the address of a provider; write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE, as in hashicorp/aws"
    )]
    Shape(String),
    /// A part with other characters.
    #[error(
        "`{part}` in `{text}` cannot be part of a provider's address: letters, digits, `-` and `_` can, and a host \
         has a dot"
    )]
    Part {
        /// The address.
        text: String,
        /// The part.
        part: String,
    },
    /// A version that is none.
    #[error("`{0}` is not a version; write one such as 5.31.0")]
    Version(String),
}

impl ProviderAddress {
    /// The address of a provider that a program names by its local name alone.
    pub fn implied(local: &str) -> Result<Self, AddressError> {
        local.parse()
    }

    /// Whether the provider knows its types without a schema: it is tfcoremock, the engines' own mock.
    pub fn needs_no_schema(&self) -> bool {
        self.type_name == "tfcoremock"
    }

    /// The same with a host.
    pub fn at(&self, host: &str) -> Self {
        Self { host: Some(host.to_owned()), ..self.clone() }
    }

    /// The address with each host that it means.
    pub fn with_hosts(&self) -> Vec<Self> {
        match &self.host {
            Some(_) => vec![self.clone()],
            None => DEFAULT_HOSTS.iter().map(|host| self.at(host)).collect(),
        }
    }

    /// The same without a host that engines take anyway.
    pub fn without_default_host(self) -> Self {
        let is_default = self.host.as_deref().is_some_and(|host| DEFAULT_HOSTS.contains(&host));
        Self { host: self.host.filter(|_| !is_default), ..self }
    }

    /// Whether both mean the same provider on some engine.
    pub fn means(&self, other: &Self) -> bool {
        let same_host = match (&self.host, &other.host) {
            (Some(one), Some(other)) => one == other,
            (None, Some(host)) | (Some(host), None) => DEFAULT_HOSTS.contains(&host.as_str()),
            (None, None) => true,
        };
        same_host && self.namespace == other.namespace && self.type_name == other.type_name
    }
}

impl Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}/")?;
        }
        write!(f, "{}/{}", self.namespace, self.type_name)
    }
}

impl FromStr for ProviderAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let lower = text.to_lowercase();
        let parts: Vec<&str> = lower.split('/').collect();
        let (host, namespace, type_name) = match parts[..] {
            [type_name] => (None, DEFAULT_NAMESPACE, type_name),
            [namespace, type_name] => (None, namespace, type_name),
            [host, namespace, type_name] => (Some(host), namespace, type_name),
            _ => return Err(AddressError::Shape(text.to_owned())),
        };
        if parts.contains(&"") {
            return Err(AddressError::Shape(text.to_owned()));
        }
        let bad = |part: &str| AddressError::Part { text: text.to_owned(), part: part.to_owned() };
        for part in [namespace, type_name] {
            if !is_name(part) {
                return Err(bad(part));
            }
        }
        if let Some(host) = host.filter(|host| !is_host(host)) {
            return Err(bad(host));
        }
        Ok(Self {
            host: host.map(str::to_owned),
            namespace: namespace.to_owned(),
            type_name: type_name.to_owned(),
        })
    }
}

fn is_name(part: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    part.len() <= MOST && part.chars().all(fits) && part.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn is_host(part: &str) -> bool {
    let (name, port) = part.split_once(':').map_or((part, None), |(name, port)| (name, Some(port)));
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let has_dot = name == "localhost" || name.contains('.');
    has_dot
        && part.len() <= MOST
        && name.split('.').all(is_label)
        && port.is_none_or(|port| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()))
}

/// An address with a version, as people give it: `hashicorp/aws@5.31.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedAddress {
    /// The provider.
    pub address: ProviderAddress,
    /// Its version, if one was given.
    pub version: Option<Version>,
}

impl FromStr for VersionedAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (address, version) =
            text.split_once('@').map_or((text, None), |(address, version)| (address, Some(version)));
        let version = match version {
            None => None,
            Some(given) => {
                Some(constraint::version(given).ok_or_else(|| AddressError::Version(given.to_owned()))?)
            }
        };
        Ok(Self { address: address.parse()?, version })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse().map(|address: ProviderAddress| address.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_address_has_a_host_or_means_that_of_the_engine() {
        assert_eq!(read("Hashicorp/AWS").unwrap(), "hashicorp/aws");
        assert_eq!(read("aws").unwrap(), "hashicorp/aws");
        let address: ProviderAddress = "hashicorp/aws".parse().unwrap();
        let hosts: Vec<String> = address.with_hosts().iter().map(ProviderAddress::to_string).collect();
        assert_eq!(hosts, ["registry.terraform.io/hashicorp/aws", "registry.opentofu.org/hashicorp/aws"]);
        assert_eq!(read("example.org:8080/a/b").unwrap(), "example.org:8080/a/b");
        let own: ProviderAddress = "example.org/hashicorp/aws".parse().unwrap();
        assert!(address.at(DEFAULT_HOSTS[1]).means(&address) && !own.means(&address));
    }

    #[test]
    fn what_leads_out_of_a_folder_is_no_address() {
        for text in
            ["../aws", "a/../b", "/etc/passwd", "a//b", "", "a/b/c/d", "host/a/b", "a/.b", "x.y/a/b c"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"a".repeat(200)).is_err());
        assert_eq!(
            read("../aws").unwrap_err(),
            "`..` in `../aws` cannot be part of a provider's address: letters, digits, `-` and `_` can, and a host \
             has a dot"
        );
    }

    #[test]
    fn a_version_follows_an_at_sign() {
        let read = |text: &str| text.parse::<VersionedAddress>();
        assert_eq!(read("hashicorp/aws@5.31").unwrap().version, Some(Version::new(5, 31, 0)));
        assert_eq!(read("hashicorp/aws").unwrap().version, None);
        assert_eq!(
            read("a/b@latest").unwrap_err().to_string(),
            "`latest` is not a version; write one such as 5.31.0"
        );
        assert!(read("a/b@../../x").is_err());
    }
}
