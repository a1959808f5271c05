//! Ctrl-C: once to end cleanly, twice to end now, whatever the process is doing. SIGTERM and SIGHUP count the
//! same.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::INTERRUPTED;
use crate::deploy::stop::{GRACE, Stop};

/// How long the process may take to end cleanly after the second signal: running commands and what they started may
/// take twice the time that they get.
const LAST: Duration = Duration::from_secs(2 * GRACE.as_secs() + 1);

/// Turns signals into `stop` from now on.
pub fn watch(stop: Stop) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if stop.asked_now() {
                end(&stop);
            } else if stop.asked() {
                stop.now();
                let stop = stop.clone();
                thread::spawn(move || {
                    thread::sleep(LAST);
                    end(&stop);
                });
            } else {
                stop.soon();
                // After a hang-up there may be nobody to read it.
                let _ =
                    writeln!(io::stderr(), "stopping after the running commands; press again to stop now");
            }
        }
    });
    Ok(())
}

/// Ends the process immediately. The provider that engines attach to ends when it notices that we are gone.
fn end(stop: &Stop) -> ! {
    stop.clear_up();
    std::process::exit(INTERRUPTED.into())
}
