//! Refuses options that have no effect in combination with others: whoever gives one expects an effect.

use super::CannotRun;

/// Refuses an option that was given and has no effect, with the reason.
pub fn refuse(given: bool, option: &str, because: &str) -> Result<(), CannotRun> {
    if given { Err(format!("{option} has no effect {because}: leave it out").into()) } else { Ok(()) }
}
