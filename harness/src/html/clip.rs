//! Texts that are cut short, so that one long line does not make a page that no browser opens.

use serde::Serialize;

/// The most characters of a text that a page holds.
pub const MOST: usize = 4000;

/// A text, and how many bytes of it are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clipped(pub String, pub usize);

/// The beginning of a text.
pub fn clip(text: &str, most: usize) -> Clipped {
    match text.char_indices().nth(most) {
        None => Clipped(text.to_owned(), 0),
        Some((end, _)) => Clipped(text[..end].to_owned(), text.len() - end),
    }
}

/// The beginning of a text, with a remark if there is more.
pub fn short(text: &str, most: usize) -> String {
    let Clipped(beginning, left_out) = clip(text, most);
    if left_out == 0 { beginning } else { format!("{beginning}… ({left_out} more bytes)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_how_much_is_left_out() {
        assert_eq!(clip("äöü", 2), Clipped("äö".to_owned(), 2));
        assert_eq!(clip("äöü", 3), Clipped("äöü".to_owned(), 0));
        assert_eq!(short("abcdef", 2), "ab… (4 more bytes)");
    }
}
