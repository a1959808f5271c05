//! Texts as engines hold them. Engines compose every text that they read (Unicode's normalisation form C), so two texts
//! that differ only in how a letter is composed are one to them.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// A text as an engine holds it once it has read it.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// A text that cannot be the key of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// It is empty.
    #[error("a resource has an empty name; give it a name of at least one character")]
    Empty,
    /// Engines would make another text of it.
    #[error(
        "the name {name:?} ({}) is not in Unicode's composed form (NFC), which engines turn it into; write \
         {composed:?} ({})",
        name.escape_unicode(),
        composed.escape_unicode()
    )]
    NotComposed {
        /// The text.
        name: String,
        /// What engines make of it.
        composed: String,
    },
}

/// Refuses a text that cannot be the key of a node.
pub fn check_key(name: &str) -> Result<(), InvalidKey> {
    if name.is_empty() {
        return Err(InvalidKey::Empty);
    }
    let composed = composed(name);
    if *composed == *name {
        return Ok(());
    }
    Err(InvalidKey::NotComposed { name: name.to_owned(), composed: composed.into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_composed_and_nothing_else_changes() {
        assert_eq!(composed("e\u{301}"), "\u{e9}");
        assert_eq!(composed("\u{212b} \u{fb01} \u{1f44d}\r\n"), "\u{c5} \u{fb01} \u{1f44d}\r\n");
    }

    #[test]
    fn a_key_is_a_composed_text_of_at_least_one_character() {
        assert_eq!(check_key("caf\u{e9} ${x}"), Ok(()));
        assert_eq!(check_key(""), Err(InvalidKey::Empty));
        let error = check_key("e\u{301}").unwrap_err().to_string();
        assert!(error.contains(r"(\u{65}\u{301})") && error.contains(r"(\u{e9})"), "{error}");
    }
}
