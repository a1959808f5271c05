//! How the provider holds operations between their begin and their end, so that what an engine allows to overlap does.

pub use equiform_proto::holds::Hold;

/// The longest time that can be asked for. An operation that takes longer than an engine's command may tests nothing.
const LONGEST_SECONDS: u64 = 60;

/// A hold as people write it on the command line. The seed is not theirs to give: each stage has its own.
pub fn parse(text: &str) -> Result<Hold, InvalidHold> {
    let hold: Hold = text.parse().map_err(|_| InvalidHold)?;
    let is_short = hold.time().is_none_or(|time| time.as_secs() <= LONGEST_SECONDS);
    if is_short && hold == hold.with_seed(0) { Ok(hold) } else { Err(InvalidHold) }
}

/// A text that does not say how operations are held.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("operations are held `quiet`, `quiet:5ms`, `5ms` or `off`")]
pub struct InvalidHold;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_anything_else_is_refused() {
        let quiet_for = Hold::UntilQuiet { after: Some(5), seed: 0 };
        for hold in [Hold::Off, Hold::QUIET, quiet_for, Hold::For { milliseconds: 60_000 }] {
            assert_eq!(parse(&hold.to_string()), Ok(hold));
        }
        for text in ["", "on", "5", "quiet:", "quiet:5", "61000ms", "quiet:5ms:1"] {
            assert_eq!(parse(text), Err(InvalidHold), "{text:?}");
        }
    }
}
