//! Minting ids: never guessable, never used twice.

/// Crockford's alphabet: digits and letters that are not mistaken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new id: the prefix and 100 random bits, such as `node-8w3c0q…`.
pub fn mint(prefix: &str) -> String {
    let mut random = [0u8; 20];
    getrandom::fill(&mut random).expect("the operating system gives random numbers");
    let digits = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    format!("{prefix}-{}", digits.collect::<String>())
}
