//! A file that `terraform providers schema -json` has written: what providers say of their types.
//!
//! Real ones have tens of megabytes. So the file is read once, cut into the parts of its providers without a look into
//! them, and of the one that is asked for every type is checked, and nothing of it kept.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::address::ProviderAddress;
use super::schema_check::{self, Counts};

/// The most bytes of a file. The largest providers have some 30 MB; a program may use several.
const MOST: u64 = 96_000_000;

/// What engines of before 1.1 wrote, and which.
const OLD: [(&str, &str); 2] = [("0.1", "Terraform 0.12 to 0.14"), ("0.2", "Terraform 0.15 and 1.0")];

/// The format that is read: its first number, which changes with what is not compatible.
const FORMAT: &str = "1.";

/// The address of what is built into engines, which needs no provider.
const BUILT_IN: &str = "terraform.io/builtin/";

/// A schema file.
#[derive(Debug)]
pub struct SchemaFile {
    path: PathBuf,
    text: String,
    /// The part of each provider, by the address that the file has.
    parts: Vec<(String, Range<usize>)>,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// It is too large.
    #[error(
        "{}: the file has more than {} MB, which is more than any schema needs; write it with fewer providers",
        path.display(), MOST / 1_000_000
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Something in it is wrong.
    #[error("{}:{line}:{column}: {at}{what}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
        /// The names that lead there, with a colon at the end; empty at the top.
        at: String,
        /// What is wrong.
        what: String,
    },
    /// It is something else, or of another format.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It has no such provider.
    #[error("{}: there is no schema of {asked} in it; {there}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The provider.
        asked: ProviderAddress,
        /// What there is.
        there: String,
    },
}

#[derive(Deserialize)]
struct Document<'a> {
    format_version: Option<String>,
    #[serde(borrow, default)]
    provider_schemas: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
}

impl SchemaFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, SchemaError> {
        let io = |source| SchemaError::Io { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        File::open(path).map_err(io)?.take(MOST + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MOST {
            return Err(SchemaError::TooLarge { path: path.to_owned() });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let (line, column) = place(error.as_bytes(), error.utf8_error().valid_up_to());
            let what = "this is not UTF-8".to_owned();
            SchemaError::Wrong { path: path.to_owned(), line, column, at: String::new(), what }
        })?;
        Self::of(path, text)
    }

    fn of(path: &Path, text: String) -> Result<Self, SchemaError> {
        let format = |what: String| SchemaError::Format { path: path.to_owned(), what };
        let document: Document<'_> =
            serde_json::from_str(&text).map_err(|error| wrong(path, &text, 0, &error, String::new()))?;
        let how = "`terraform providers schema -json` writes a suitable one";
        match document.format_version.as_deref() {
            None => {
                return Err(format(format!(
                    "there is no `format_version`, so this is not a schema file; {how}"
                )));
            }
            Some(version) if version.starts_with(FORMAT) => {}
            Some(version) => {
                let by = OLD.iter().find(|(old, _)| *old == version);
                let by = by.map_or("an unknown engine", |(_, engines)| engines);
                return Err(format(format!(
                    "it has format {version}, which {by} wrote; {FORMAT}x is read, as engines since 1.1 write it: \
                     write it anew with one of those"
                )));
            }
        }
        let Some(providers) = document.provider_schemas else {
            return Err(format(format!(
                "there are no `provider_schemas` in it; {how} if the program has providers"
            )));
        };
        let begin = text.as_ptr() as usize;
        let parts = providers.into_iter().map(|(address, part)| {
            let start = part.get().as_ptr() as usize - begin;
            (address.into_owned(), start..start + part.get().len())
        });
        let parts = parts.collect();
        Ok(Self { path: path.to_owned(), text, parts })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The addresses of the providers in it, but for what is built into engines.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .map(|(address, _)| address.as_str())
            .filter(|address| !address.starts_with(BUILT_IN))
    }

    /// The part of a provider, if there is one.
    pub fn part(&self, asked: &ProviderAddress) -> Option<Part<'_>> {
        let means = |address: &str| address.parse().is_ok_and(|address| asked.means(&address));
        let (_, range) = self.parts.iter().find(|(address, _)| means(address))?;
        Some(Part { file: self, range: range.clone() })
    }

    /// The part of a provider, which has to be there.
    pub fn expect(&self, asked: &ProviderAddress) -> Result<Part<'_>, SchemaError> {
        self.part(asked).ok_or_else(|| {
            let there: Vec<&str> = self.addresses().collect();
            let there = match there[..] {
                [] => "it has no schemas at all: was it written in a folder whose program uses the provider?"
                    .to_owned(),
                _ => format!("it has {}", there.join(", ")),
            };
            SchemaError::Missing { path: self.path.clone(), asked: asked.clone(), there }
        })
    }
}

/// What a schema file says of one provider.
#[derive(Debug)]
pub struct Part<'a> {
    file: &'a SchemaFile,
    range: Range<usize>,
}

impl Part<'_> {
    /// Checks every type, and counts them.
    pub fn check(&self) -> Result<Counts, SchemaError> {
        let SchemaFile { path, text, .. } = self.file;
        schema_check::check(&text[self.range.clone()]).map_err(|(error, at)| {
            let mut names = String::new();
            for name in &at {
                let _ = write!(names, "{}{}", if names.is_empty() { "" } else { "." }, short(name));
            }
            let at = if names.is_empty() { names } else { format!("{names}: ") };
            wrong(path, text, self.range.start, &error, at)
        })
    }

    /// A schema file of this provider alone, under an address.
    pub fn cut(&self, address: &ProviderAddress) -> String {
        let part = &self.file.text[self.range.clone()];
        format!("{{\"format_version\":\"1.0\",\"provider_schemas\":{{\"{address}\":{part}}}}}\n")
    }
}

/// A name of any length, for a line of text.
fn short(name: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN).is_some() { format!("{shown}…") } else { shown }
}

/// The error of a parser that began somewhere in a text.
fn wrong(path: &Path, text: &str, begin: usize, error: &serde_json::Error, at: String) -> SchemaError {
    let (first, before) = place(text.as_bytes(), begin);
    // Both count lines from 1, and the first one of the parser begins in the midst of one of ours.
    let column = if error.line() == 1 { before - 1 + error.column() } else { error.column() };
    let line = first - 1 + error.line().max(1);
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    let said = said.strip_suffix(&suffix).unwrap_or(&said);
    let what = match said {
        "recursion limit exceeded" => "this is nested deeper than any schema".to_owned(),
        said => said.to_owned(),
    };
    SchemaError::Wrong { path: path.to_owned(), line, column: column.max(1), at, what }
}

/// The line and the column of a byte, both counted from 1.
fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    (line, before.len() - start + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn file(text: impl Into<String>) -> Result<SchemaFile, String> {
        SchemaFile::of(Path::new("schema.json"), text.into()).map_err(|error| error.to_string())
    }

    fn aws() -> ProviderAddress {
        "hashicorp/aws".parse().unwrap()
    }

    fn with_type(name: &str, block: &Json) -> String {
        let types = json!({ name: { "version": 0, "block": block } });
        let providers = json!({ "registry.terraform.io/hashicorp/aws": { "resource_schemas": types } });
        json!({ "format_version": "1.0", "provider_schemas": providers }).to_string()
    }

    fn check(text: &str) -> Result<Counts, String> {
        let file = file(text)?;
        let part = file.expect(&aws()).map_err(|error| error.to_string())?;
        part.check().map_err(|error| error.to_string())
    }

    #[test]
    fn the_part_of_a_provider_is_cut_out_as_it_is() {
        let block = json!({ "attributes": { "id": { "type": "string", "computed": true } } });
        let file = file(with_type("aws_vpc", &block)).unwrap();
        let address = aws().at("registry.opentofu.org");
        let cut: Json = serde_json::from_str(&file.expect(&aws()).unwrap().cut(&address)).unwrap();
        assert_eq!(cut["format_version"], "1.0");
        let types = &cut["provider_schemas"]["registry.opentofu.org/hashicorp/aws"]["resource_schemas"];
        assert_eq!(types["aws_vpc"]["block"], block);
        assert_eq!(file.part(&aws()).unwrap().check().unwrap().resources, 1);
    }

    #[test]
    fn a_provider_that_is_not_there_is_answered_with_those_that_are() {
        let other: ProviderAddress = "hashicorp/google".parse().unwrap();
        let error = file(with_type("aws_vpc", &json!({}))).unwrap().expect(&other).unwrap_err().to_string();
        insta::assert_snapshot!(
            error,
            @"schema.json: there is no schema of hashicorp/google in it; it has registry.terraform.io/hashicorp/aws"
        );
    }

    #[test]
    fn other_formats_are_named() {
        let format =
            |version: &str| file(format!(r#"{{"format_version":"{version}","provider_schemas":{{}}}}"#));
        insta::assert_snapshot!(
            format("0.1").unwrap_err(),
            @"schema.json: it has format 0.1, which Terraform 0.12 to 0.14 wrote; 1.x is read, as engines since 1.1 \
              write it: write it anew with one of those"
        );
        assert!(format("2.0").unwrap_err().contains("format 2.0, which an unknown engine wrote"));
        assert!(format("1.7").is_ok());
        assert!(file(r#"{"types": []}"#).unwrap_err().contains("this is not a schema file"));
        assert!(file(r#"{"format_version":"1.0"}"#).unwrap_err().contains("there are no `provider_schemas`"));
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let pretty = |block: Json| {
            let text: Json = serde_json::from_str(&with_type("aws_vpc", &block)).unwrap();
            check(&serde_json::to_string_pretty(&text).unwrap()).unwrap_err()
        };
        insta::assert_snapshot!(
            pretty(json!({ "attributes": { "cidr": { "type": "strin" } } })),
            @"schema.json:10:31: resource_schemas.aws_vpc.block.attributes.cidr.type: `strin` is not a type"
        );
        insta::assert_snapshot!(
            pretty(json!({ "attributes": { "cidr": { "optional": true } } })),
            @"schema.json:11:15: resource_schemas.aws_vpc.block.attributes.cidr: an attribute needs a `type` or a \
              `nested_type`"
        );
        let error = pretty(json!({ "block_types": { "rule": { "nesting_mode": "bag", "block": {} } } }));
        let end = "resource_schemas.aws_vpc.block.block_types.rule.nesting_mode: `bag` is not a nesting mode; \
                   use single, group, list, set or map";
        assert!(error.starts_with("schema.json:11:") && error.ends_with(end), "{error}");
        let error = file("{\n  \"format_version\": 1.0\n}").unwrap_err();
        assert!(error.starts_with("schema.json:2:") && error.contains("expected a string"), "{error}");
        assert!(file("{").unwrap_err().starts_with("schema.json:1:1: EOF while parsing an object"));
    }

    #[test]
    fn a_type_that_is_named_like_a_path_is_refused() {
        for name in ["../../etc/passwd", "a/b", "", "a b", "\u{1b}[31m"] {
            let error = check(&with_type(name, &json!({}))).unwrap_err();
            assert!(error.contains("cannot be the name of a type"), "{error}");
            assert!(!error.contains('\u{1b}'), "{error:?}");
        }
    }

    #[test]
    fn ten_thousand_levels_are_refused_wherever_they_are() {
        let deep =
            |open: &str, close: &str| format!("{}\"string\"{}", open.repeat(10_000), close.repeat(10_000));
        let types = with_type("aws_vpc", &json!({ "attributes": { "x": { "type": "HERE" } } }));
        let blocks = with_type("aws_vpc", &json!({ "block_types": { "x": "HERE" } }));
        let texts = [
            types.replace("\"HERE\"", &deep("[\"list\",", "]")),
            blocks
                .replace("\"HERE\"", &deep(r#"{"nesting_mode":"list","block":{"block_types":{"x":"#, "}}}")),
            with_type("aws_vpc", &json!({ "unknown": "HERE" })).replace("\"HERE\"", &deep("[", "]")),
        ];
        for text in &texts[..2] {
            let error = check(text).unwrap_err();
            assert!(error.contains("nested deeper than any schema"), "{error}");
            assert!(error.starts_with("schema.json:1:"), "{error}");
        }
        // What is not looked at may be anything.
        assert!(check(&texts[2]).is_ok());
        assert!(check(&deep("[", "]")).is_err());
    }

    #[test]
    fn a_file_that_is_far_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.json");
        File::create(&path).unwrap().set_len(MOST + 1).unwrap();
        let error = SchemaFile::read(&path).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "has more than 96 MB, which is more than any schema needs; write it with fewer providers"
            ),
            "{error}"
        );
    }
}
