//! Shows the progress of a command that takes a few steps of some seconds each, if there is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line that names the current step. It disappears when dropped.
pub struct StepsShown(ProgressBar);

impl StepsShown {
    /// For this many steps; 0 if the number is unknown.
    pub fn new(steps: u64) -> Self {
        // indicatif draws on standard error, and only if that is a terminal.
        let bar = if steps == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(steps) };
        let template = if steps == 0 { "{spinner} {msg}" } else { "{spinner} {pos}/{len} {msg}" };
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Begins the next step.
    pub fn next(&self, text: &str) {
        self.0.inc(1);
        self.0.set_message(text.to_owned());
    }
}

impl Drop for StepsShown {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
