//! What a command left: its exit code and its words.

use std::fmt;

/// The end of a command.
pub struct Output {
    /// The command line, for people.
    pub command: String,
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// No engine may say any of these about a correct provider.
const COMPLAINTS: &[&str] = &[
    "inconsistent result",
    "inconsistent final plan",
    "invalid plan",
    "invalid new value",
    "Warning",
    "bug in",
    "broke the plugin protocol",
    "panic",
    "crash",
];

impl Output {
    /// Demands that the command succeeded and that there was nothing to complain of.
    #[track_caller]
    pub fn succeeded(&self) -> &Self {
        self.ended_with(0).clean()
    }

    /// Demands an exit code.
    #[track_caller]
    pub fn ended_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Demands that there was nothing to complain of.
    #[track_caller]
    pub fn clean(&self) -> &Self {
        self.clean_but_for(&[])
    }

    /// Demands that there was nothing to complain of, but for warnings that the engine may owe its user.
    #[track_caller]
    pub fn clean_but_for(&self, expected: &[&str]) -> &Self {
        let mut text = self.text();
        for expected in expected {
            text = text.replace(expected, "");
        }
        for complaint in COMPLAINTS {
            assert!(!text.contains(complaint), "the engine says {complaint:?}:\n{self}");
        }
        self
    }

    /// Demands that a sentence was said, however the engine broke its lines.
    #[track_caller]
    pub fn says(&self, sentence: &str) -> &Self {
        assert!(unwrapped(&self.text()).contains(sentence), "{sentence:?} is missing:\n{self}");
        self
    }

    fn text(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// The text in one line, without the frame that engines draw around diagnostics.
fn unwrapped(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !matches!(*word, "│" | "╷" | "╵"));
    words.collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, code, stdout, stderr } = self;
        write!(f, "{command} ended with {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}
