//! JSON files that people or engines have written, read with a bound, and what is said where they cannot be.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::diagnostic::Problem;

/// The largest file that is read: more than twice the schema of the largest provider.
const MAX_BYTES: u64 = 96 << 20;

/// How much of the way to a place is shown.
const MAX_PATH: usize = 300;

/// A file's text.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where it was read from.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The way to the place, such as `resources.disk.attributes.size`.
    pub path: String,
    /// What is wrong, as a sentence.
    pub message: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        match self.path.char_indices().nth(MAX_PATH) {
            _ if self.path.is_empty() || self.path == "." => {}
            None => write!(f, ", at {}", self.path)?,
            Some((end, _)) => write!(f, ", at {}…", &self.path[..end])?,
        }
        write!(f, ": {}", self.message)
    }
}

impl Defect {
    /// As the engine's user reads it. `what` is what the file holds.
    pub fn problem(self, what: &str) -> Problem {
        Problem::new(format!("The {what} cannot be read"), self.to_string())
    }
}

impl Document {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Defect> {
        let defect =
            |message: String| Defect { file: path.to_owned(), line: None, path: String::new(), message };
        let failed = |error: std::io::Error| defect(format!("The system says: {error}."));
        let file = std::fs::File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(defect("This is not a file.".to_owned()));
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(defect(format!("It has more than {} MiB, which no schema needs.", MAX_BYTES >> 20)));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            Defect { line: Some(line), ..defect("It is not UTF-8.".to_owned()) }
        })?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// The document as a value of a type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Defect> {
        self.parse_part(0..self.text.len(), "")
    }

    /// A part of the document as a value of a type. `path` is the way to it.
    pub fn parse_part<T: DeserializeOwned>(
        &self,
        range: std::ops::Range<usize>,
        path: &str,
    ) -> Result<T, Defect> {
        let mut json = serde_json::Deserializer::from_str(&self.text[range.clone()]);
        let before = || self.text[..range.start].bytes().filter(|byte| *byte == b'\n').count();
        let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let inner = error.path().to_string();
            let path = match (path, inner.as_str()) {
                (path, ".") => path.to_owned(),
                ("", inner) => inner.to_owned(),
                (path, inner) => format!("{path}.{inner}"),
            };
            let error = error.into_inner();
            self.defect(Some(before() + error.line()), path, sentence(&error))
        })?;
        json.end().map_err(|error| self.defect(Some(before() + error.line()), path, sentence(&error)))?;
        Ok(parsed)
    }

    /// A defect of this document.
    pub fn defect(&self, line: Option<usize>, path: impl Into<String>, message: impl Into<String>) -> Defect {
        Defect { file: self.path.clone(), line, path: path.into(), message: message.into() }
    }

    /// The line on which a byte stands, from 1.
    pub fn line_of(&self, offset: usize) -> usize {
        1 + self.text[..offset].bytes().filter(|byte| *byte == b'\n').count()
    }
}

/// An error of the parser as a sentence, without the place, which is told elsewhere.
fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("recursion limit") {
        return "It nests too deep.".to_owned();
    }
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}
