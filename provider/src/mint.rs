//! Minting ids, and finding them again wherever they stand.
//!
//! Two kinds. Those of the mock's own nodes are random: never guessable, never used twice. Those of other types follow
//! from a seed; they carry a checksum, so that they are recognised in any text without a look into the world.

use sha2::{Digest as _, Sha256};

/// Crockford's alphabet: digits and letters that are not mistaken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The digits of a random id.
const RANDOM_DIGITS: usize = 20;
/// What ids of nodes begin with.
pub const NODE: &str = "node";
/// The digits of a seeded id that are drawn.
const DRAWN_DIGITS: usize = 12;
/// The digits of a seeded id that follow from the others and from its prefix.
const CHECK_DIGITS: usize = 5;
/// The longest prefix of a seeded id.
const MAX_PREFIX: usize = 16;

/// A new random id, such as `node-8w3c0q…`: the prefix and 100 random bits.
pub fn random(prefix: &str) -> String {
    let mut random = [0u8; RANDOM_DIGITS];
    getrandom::fill(&mut random).expect("the operating system gives random numbers");
    let digits = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    format!("{prefix}-{}", digits.collect::<String>())
}

/// The id that follows from a prefix and a digest, such as `vpc-0b1f…`.
pub fn seeded(prefix: &str, digest: &[u8]) -> String {
    let prefix: String = prefix.chars().filter(char::is_ascii_alphanumeric).take(MAX_PREFIX).collect();
    let prefix = if prefix.is_empty() { "obj".to_owned() } else { prefix.to_ascii_lowercase() };
    let drawn = &hexadecimal(digest)[..DRAWN_DIGITS];
    format!("{prefix}-{drawn}{}", checksum(&prefix, drawn))
}

fn checksum(prefix: &str, drawn: &str) -> String {
    let digest = Sha256::digest(format!("equiform id {prefix}-{drawn}").as_bytes());
    hexadecimal(&digest)[..CHECK_DIGITS].to_owned()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every minted id in a text, in order, wherever it stands: in an ARN, in JSON, between other words.
pub fn ids_in(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (dash, _) in text.match_indices('-') {
        let digits = bytes[dash + 1..].iter();
        let hexadecimal =
            digits.clone().take_while(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)).count();
        if hexadecimal >= DRAWN_DIGITS + CHECK_DIGITS {
            let (middle, end) = (dash + 1 + DRAWN_DIGITS, dash + 1 + DRAWN_DIGITS + CHECK_DIGITS);
            let longest =
                bytes[..dash].iter().rev().take_while(|byte| is_prefix(**byte)).take(MAX_PREFIX).count();
            let starts = (1..=longest).rev().map(|length| dash - length);
            let mut fits = starts
                .filter(|start| checksum(&text[*start..dash], &text[dash + 1..middle]) == text[middle..end]);
            if let Some(start) = fits.next() {
                found.push(&text[start..end]);
                continue;
            }
        }
        let random = digits.take_while(|byte| ALPHABET.contains(byte)).count();
        if random == RANDOM_DIGITS && text[..dash].ends_with(NODE) {
            found.push(&text[dash - NODE.len()..dash + 1 + RANDOM_DIGITS]);
        }
    }
    found
}

fn is_prefix(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_minted_id_is_found_in_any_text(
            prefix in "[a-z][a-z0-9]{0,9}",
            seed: [u8; 8],
            before in "[ -~]{0,12}",
            after in "([^0-9a-f][ -~]{0,9})?",
        ) {
            let id = seeded(&prefix, &Sha256::digest(seed));
            let text = format!("{before}{id}{after}");
            prop_assert_eq!(ids_in(&text), vec![id.as_str()]);
        }

        #[test]
        fn other_texts_hold_no_id(text in "[ -~]{0,60}") {
            prop_assert!(ids_in(&text).is_empty());
        }
    }

    #[test]
    fn several_ids_are_found_in_one_text() {
        let (first, second, node) = (seeded("vpc", &[1; 32]), seeded("i", &[2; 32]), random(NODE));
        let text = format!(r#"{{"Resource":"arn:cloud:x:{first}/*","Also":["{second}","{node}"]}}"#);
        assert_eq!(ids_in(&text), [first, second, node]);
    }

    #[test]
    fn a_digit_more_or_less_makes_another_id() {
        let id = seeded("vpc", &[7; 32]);
        assert!(ids_in(&id[..id.len() - 1]).is_empty());
        let mut other = id.clone();
        let last = if other.pop() == Some('0') { '1' } else { '0' };
        other.push(last);
        assert!(ids_in(&other).is_empty());
    }
}
