//! What commands that run cases show while they do.

use super::campaign_text::{ProgressDisplay, note};
use super::reduce::Display;
use crate::campaign::reduce::symptom::Symptom;
use crate::campaign::session::Observer;
use crate::campaign::{Watcher, reduce};

/// Shows the progress of a session on the terminal.
pub struct SessionDisplay {
    /// Whether to say how much an earlier run has done even if that is nothing.
    pub is_resumed: bool,
}

impl Observer for SessionDisplay {
    fn begins(&self, variants: usize, left: usize) -> Box<dyn Watcher> {
        if left < variants || self.is_resumed {
            let earlier = variants - left;
            note(&format!("{earlier} of {variants} variants are from an earlier run, {left} are left"));
        }
        Box::new(ProgressDisplay::new(variants as u64))
    }

    fn reducing(&self, symptom: &Symptom) -> Box<dyn reduce::Watcher> {
        Box::new(Display::new(Some(symptom)))
    }

    fn problem(&self, sentence: &str) {
        note(sentence);
    }
}
