//! What tells one line from another, and one object from another with other attributes.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::entry::Attributes;

/// The SHA-256 of a line, written as 64 hexadecimal digits; `sha256sum` prints the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineHash(pub [u8; 32]);

impl LineHash {
    /// The hash of a line, given without its line break.
    pub fn of(line: &[u8]) -> Self {
        Self(Sha256::digest(line).into())
    }
}

/// What tells one object from another with other attributes: the first half of the SHA-256 of their JSON, which has no
/// blanks and its names sorted. Written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// The digest of an object's attributes.
    pub fn of(attributes: &Attributes) -> Self {
        Self::of_json(&serde_json::to_vec(attributes).expect("attributes are JSON"))
    }

    /// The digest of attributes that are text already.
    pub fn of_json(json: &[u8]) -> Self {
        let whole: [u8; 32] = Sha256::digest(json).into();
        Self(*whole.first_chunk().expect("16 is less than 32"))
    }
}

/// Gives a type around bytes its form in hexadecimal digits, for people and in JSON.
macro_rules! hexadecimal {
    ($type:ident) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_digits(&self.0, f)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $type {
            type Err = NotAHash;

            fn from_str(text: &str) -> Result<Self, NotAHash> {
                read_digits(text).map(Self)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(DigitsVisitor).map(Self)
            }
        }
    };
}

hexadecimal!(LineHash);
hexadecimal!(Digest);

fn write_digits(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0u8; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    f.write_str(std::str::from_utf8(&text[..2 * bytes.len()]).expect("hexadecimal digits are ASCII"))
}

/// A text that is not as many hexadecimal digits as a hash has.
#[derive(Debug, thiserror::Error)]
#[error("a hash is 64 lower-case hexadecimal digits, and a digest 32")]
pub struct NotAHash;

fn read_digits<const N: usize>(text: &str) -> Result<[u8; N], NotAHash> {
    // A table and one test at the end instead of a branch for each digit: every line of a ledger holds a hash.
    const NO_DIGIT: u8 = 0xff;
    const VALUES: [u8; 256] = {
        let mut values = [NO_DIGIT; 256];
        let mut value = 0;
        while value < 16 {
            values[b"0123456789abcdef"[value as usize] as usize] = value;
            value += 1;
        }
        values
    };
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return Err(NotAHash);
    }
    let mut seen = 0;
    let mut hash = [0u8; N];
    for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
        seen |= high | low;
        *byte = high << 4 | low & 15;
    }
    if seen == NO_DIGIT { Err(NotAHash) } else { Ok(hash) }
}

/// Reads hexadecimal digits from JSON.
struct DigitsVisitor<const N: usize>;

impl<const N: usize> Visitor<'_> for DigitsVisitor<N> {
    type Value = [u8; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&NotAHash, f)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<[u8; N], E> {
        read_digits(text).map_err(E::custom)
    }
}
