//! Colours for text that goes to a terminal.

use anstyle::{AnsiColor, Style};
use equiform_proto::ledger::{Entry, Operation, Phase};

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// Text as it is.
    Plain,
    /// Text with ANSI colours.
    Coloured,
}

impl Palette {
    /// Text that matters less.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// Text that says something is wrong.
    pub fn alarm(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default(), text)
    }

    /// Text of something that is new.
    pub fn added(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// Text of something that has changed.
    pub fn changed(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    /// Text that stands for what an entry did.
    pub fn of_entry(self, entry: &Entry, text: &str) -> String {
        match (entry.phase, entry.op) {
            (Phase::Begin, _) => self.faint(text),
            (Phase::Fail, _) => self.alarm(text),
            (Phase::Commit, Operation::Create) => self.added(text),
            (Phase::Commit, Operation::Update | Operation::Drift) => self.changed(text),
            (Phase::Commit, Operation::Delete) => self.paint(AnsiColor::Magenta.on_default(), text),
            (Phase::Commit, _) => text.to_owned(),
        }
    }

    fn paint(self, style: Style, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("{style}{text}{style:#}"),
        }
    }
}
