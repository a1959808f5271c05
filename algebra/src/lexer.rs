//! Words and parentheses with their places in the text: what terms and rule files are made of.

use std::collections::VecDeque;
use std::fmt;
use std::io::BufRead;

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A text that cannot be read: where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {message}")]
pub struct SyntaxError {
    /// Where it went wrong.
    pub position: Position,
    /// What is wrong there.
    pub message: String,
}

impl SyntaxError {
    /// An error at a place.
    pub fn new(position: Position, message: impl Into<String>) -> Self {
        Self { position, message: message.into() }
    }
}

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A word, or any text in double quotes.
    Word(String),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Open => write!(f, "`(`"),
            Token::Close => write!(f, "`)`"),
            Token::Word(word) => write!(f, "`{word}`"),
        }
    }
}

/// Reads tokens from a stream, a line at a time. `;` starts a comment that ends with the line.
pub struct Lexer<R> {
    input: R,
    line: String,
    line_number: usize,
    end: Position,
    tokens: VecDeque<(Token, Position)>,
}

impl<R: BufRead> Lexer<R> {
    /// Starts at the first line of the stream.
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: String::new(),
            line_number: 0,
            end: Position { line: 1, column: 1 },
            tokens: VecDeque::new(),
        }
    }

    /// The next token, or nothing at the end of the stream.
    pub fn next(&mut self) -> Result<Option<(Token, Position)>, SyntaxError> {
        while self.tokens.is_empty() {
            if !self.next_line()? {
                return Ok(None);
            }
            self.split_line()?;
        }
        Ok(self.tokens.pop_front())
    }

    /// The token so many places after the next, which stays to be read; nothing beyond the end of the stream.
    #[cfg(feature = "laboratory")]
    pub fn peek(&mut self, places: usize) -> Result<Option<&Token>, SyntaxError> {
        while self.tokens.len() <= places {
            if !self.next_line()? {
                return Ok(None);
            }
            self.split_line()?;
        }
        Ok(self.tokens.get(places).map(|(token, _)| token))
    }

    /// The next token, which must be there.
    pub fn expect(&mut self, what: &str) -> Result<(Token, Position), SyntaxError> {
        self.next()?
            .ok_or_else(|| SyntaxError::new(self.end(), format!("the text ends where {what} is expected")))
    }

    /// The next token, which must be a word.
    pub fn expect_word(&mut self, what: &str) -> Result<(String, Position), SyntaxError> {
        match self.expect(what)? {
            (Token::Word(word), position) => Ok((word, position)),
            (token, position) => {
                Err(SyntaxError::new(position, format!("{what} is expected here, not {token}")))
            }
        }
    }

    /// The whole next line as it is, when no token of the present one is left and it starts with this character.
    pub fn take_line_starting_with(&mut self, start: char) -> Result<Option<(&str, usize)>, SyntaxError> {
        while self.tokens.is_empty() {
            if !self.next_line()? {
                return Ok(None);
            }
            if self.line.trim_start().starts_with(start) {
                return Ok(Some((self.line.trim(), self.line_number)));
            }
            self.split_line()?;
        }
        Ok(None)
    }

    /// The place behind the last character read.
    pub fn end(&self) -> Position {
        self.end
    }

    fn next_line(&mut self) -> Result<bool, SyntaxError> {
        self.line.clear();
        let read = self.input.read_line(&mut self.line).map_err(|error| {
            SyntaxError::new(
                Position { line: self.line_number + 1, column: 1 },
                format!("cannot be read: {error}"),
            )
        })?;
        if read > 0 {
            self.line_number += 1;
            self.end = Position { line: self.line_number, column: self.line.trim_end().chars().count() + 1 };
        }
        Ok(read > 0)
    }

    fn split_line(&mut self) -> Result<(), SyntaxError> {
        let mut characters = self.line.chars().zip(1..).peekable();
        while let Some((character, column)) = characters.next() {
            let position = Position { line: self.line_number, column };
            let token = match character {
                ';' => break,
                '(' => Token::Open,
                ')' => Token::Close,
                c if c.is_whitespace() => continue,
                '"' => Token::Word(quoted(&mut characters, position)?),
                first => {
                    let mut word = String::from(first);
                    while let Some((next, _)) = characters.next_if(|&(c, _)| !ends_word(c)) {
                        word.push(next);
                    }
                    Token::Word(word)
                }
            };
            self.tokens.push_back((token, position));
        }
        Ok(())
    }
}

fn quoted(
    characters: &mut impl Iterator<Item = (char, usize)>,
    start: Position,
) -> Result<String, SyntaxError> {
    let mut word = String::new();
    loop {
        let next = match characters.next() {
            Some(('"', _)) => return Ok(word),
            Some(('\\', _)) => match characters.next() {
                Some(('n', _)) => Some('\n'),
                Some(('r', _)) => Some('\r'),
                other => other.map(|(c, _)| c),
            },
            other => other.map(|(c, _)| c).filter(|&c| c != '\n'),
        };
        word.push(next.ok_or_else(|| SyntaxError::new(start, "this quote is never closed in its line"))?);
    }
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, '(' | ')' | ';' | '"')
}

/// Writes a word so that it reads back as itself, in quotes if it has to be.
pub fn push_word(out: &mut String, word: &str) {
    if !word.is_empty() && !word.chars().any(ends_word) {
        out.push_str(word);
        return;
    }
    out.push('"');
    for character in word.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' | '\\' => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out.push('"');
}
