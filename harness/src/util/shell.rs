//! Text as words of a shell.

use std::borrow::Cow;

/// A text as one word of a shell, quoted where it needs to be. A NUL character, which no argument can contain, is
/// dropped.
pub fn word(text: &str) -> Cow<'_, str> {
    // An option with its value needs no quotes for the sign between them.
    let is_plain = |part: &str| part.is_empty() || matches!(shlex::try_quote(part), Ok(Cow::Borrowed(_)));
    if text.starts_with('-') && text.split('=').all(is_plain) {
        return Cow::Borrowed(text);
    }
    shlex::try_quote(text).unwrap_or_else(|_| {
        let without = text.replace('\0', "");
        Cow::Owned(shlex::try_quote(&without).expect("only NUL cannot be quoted").into_owned())
    })
}

/// A text as one word of a shell, always in single quotes, for scripts whose lines should look alike.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Words as one line of a shell.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_words_as_they_were() {
        let words = [
            "plain",
            "",
            "two words",
            "it's",
            "$HOME",
            "`id`",
            "a\nb",
            "\"",
            "\\",
            "--x={\"a\":[1]}",
            "*",
            "!",
        ];
        for line in [line(words), words.map(quoted).join(" ")] {
            let printed =
                Command::new("sh").arg("-c").arg(format!("printf '%s\\0' {line}")).output().unwrap();
            let read = String::from_utf8(printed.stdout).unwrap();
            assert_eq!(read.split_terminator('\0').collect::<Vec<_>>(), words, "{line}");
        }
    }

    #[test]
    fn a_plain_word_stays_as_it_is() {
        assert_eq!(
            line(["run", "--seed=7", "a/b.json", "terraform@1.15.5"]),
            "run --seed=7 a/b.json terraform@1.15.5"
        );
    }
}
