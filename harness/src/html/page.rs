//! A page: one file with style, script and data in it, and a policy that lets it load nothing else.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::util::files::{Access, AtomicFile};

/// The name of a page in the folder that it tells of.
pub const FILE: &str = "report.html";

/// By what a file is known to be one that may be written anew.
const MARK: &str = "<!doctype html>\n<!-- a report of equiform -->\n";

const STYLE: &str = concat!(include_str!("assets/base.css"), include_str!("assets/pictures.css"));

/// What all pages share.
const BASE: &str = include_str!("assets/base.js");
const TABLE: &str = include_str!("assets/table.js");
const GRAPH: &str = include_str!("assets/graph.js");

/// What a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A campaign on an engine.
    Campaign,
    /// The campaigns of several engines.
    Comparison,
    /// A ledger.
    Ledger,
}

impl Kind {
    fn scripts(self) -> &'static [&'static str] {
        match self {
            Self::Campaign => &[
                BASE,
                TABLE,
                GRAPH,
                include_str!("assets/timeline.js"),
                include_str!("assets/sections.js"),
                include_str!("assets/campaign.js"),
                include_str!("assets/stage.js"),
                include_str!("assets/case.js"),
            ],
            Self::Comparison => &[BASE, TABLE, include_str!("assets/comparison.js")],
            Self::Ledger => &[
                BASE,
                TABLE,
                GRAPH,
                include_str!("assets/ledger_timeline.js"),
                include_str!("assets/ledger_world.js"),
                include_str!("assets/ledger.js"),
            ],
        }
    }
}

/// A page that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Something else is in its place.
    #[error("{} is there and is no report of equiform: name another file with --out", .0.display())]
    Foreign(PathBuf),
    /// It cannot be written.
    #[error("cannot write the report {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// A page that is being written. Its file is there when it is finished, whole or not at all.
pub struct Page {
    path: PathBuf,
    out: BufWriter<AtomicFile>,
    bytes: u64,
    kind: Kind,
}

impl Page {
    /// Begins a page. A page beside evidence is as private as that; one that somebody named is as others are.
    pub fn begin(path: &Path, private: bool, kind: Kind, title: &str) -> Result<Self, PageError> {
        let io = |source| PageError::Io { path: path.to_owned(), source };
        if !may_be_replaced(path).map_err(io)? {
            return Err(PageError::Foreign(path.to_owned()));
        }
        let access = if private { Access::Private } else { Access::Usual };
        let file = AtomicFile::begin(path, access).map_err(io)?;
        let out = BufWriter::with_capacity(1 << 18, file);
        let mut page = Self { path: path.to_owned(), out, bytes: 0, kind };
        page.head(title).map_err(io)?;
        Ok(page)
    }

    /// How long it is so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes += text.len() as u64;
        self.out.write_all(text.as_bytes())
    }

    fn head(&mut self, title: &str) -> io::Result<()> {
        let script = hash(&self.script());
        let style = hash(STYLE);
        let title = escaped(title);
        self.text(&format!(
            "{MARK}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{script}'; \
             style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
             <div id=\"page\"><noscript><p>This page draws itself by a script that it holds, from data that it \
             holds. Without scripts, <code>equiform judge</code>, <code>equiform show</code> and \
             <code>equiform ledger show</code> tell the same.</p></noscript></div>\n"
        ))
    }

    fn script(&self) -> String {
        format!("\"use strict\";\n(() => {{\n{}}})();\n", self.kind.scripts().concat())
    }

    /// Adds data, which the script finds by its name.
    pub fn block(&mut self, name: &str, data: &impl Serialize) -> Result<(), PageError> {
        let json = as_data(data);
        self.raw_block(name, &json)
    }

    /// Adds data that [`as_data`] has made.
    pub fn raw_block(&mut self, name: &str, json: &str) -> Result<(), PageError> {
        let name = escaped(name);
        let text = format!("<script type=\"application/json\" id=\"{name}\">{json}</script>\n");
        self.text(&text).map_err(|source| PageError::Io { path: self.path.clone(), source })
    }

    /// Puts the page in its place, and gives how long it is.
    pub fn finish(mut self) -> Result<u64, PageError> {
        let path = self.path.clone();
        let io = |source| PageError::Io { path: path.clone(), source };
        let script = self.script();
        self.text(&format!("<script>{script}</script>\n</body>\n</html>\n")).map_err(io)?;
        let file = self.out.into_inner().map_err(|error| io(error.into_error()))?;
        file.finish().map_err(io)?;
        Ok(self.bytes)
    }
}

/// Data as JSON that can stand in a page: nothing in it can end the element that it stands in.
pub fn as_data(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("a page's data is JSON").replace('<', "\\u003c")
}

/// Whether there is nothing in a page's place, or an older page.
fn may_be_replaced(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut beginning = Vec::new();
    file.take(MARK.len() as u64).read_to_end(&mut beginning)?;
    Ok(beginning == MARK.as_bytes())
}

/// The source of a script or style, as a policy names it.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn data_cannot_end_the_element_that_it_stands_in() {
        let hostile = "</script><script>alert(1)</script><!--";
        let json = as_data(&hostile);
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn a_page_replaces_an_older_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let write = || Page::begin(&path, true, Kind::Ledger, "a < b").and_then(Page::finish);
        write().unwrap();
        write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("<title>a &lt; b</title>"), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "my thesis").unwrap();
        assert!(write().unwrap_err().to_string().contains("name another file with --out"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "my thesis");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written is left");
    }

    #[test]
    fn scripts_put_no_text_into_the_page_as_markup() {
        for kind in [Kind::Campaign, Kind::Comparison, Kind::Ledger] {
            let script = kind.scripts().concat();
            for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
                assert!(!script.contains(forbidden), "{kind:?} has {forbidden}");
            }
        }
    }
}
