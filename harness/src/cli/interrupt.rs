//! Ctrl-C: once to end cleanly, twice to end now. SIGTERM and SIGHUP count the same.

use std::io::{self, Write};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::deploy::stop::Stop;

/// Turns signals into `stop` from now on.
pub fn watch(stop: Stop) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if stop.asked() {
                stop.now();
            } else {
                stop.soon();
                // After a hang-up there may be nobody to tell.
                let _ = writeln!(io::stderr(), "stopping after the commands in flight; again to stop now");
            }
        }
    });
    Ok(())
}
