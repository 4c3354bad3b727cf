// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals. Ctrl-C, or SIGTERM, asks a run to end; a second one ends the program. A file that would
//! grow too large is no reason to end.

use std::sync::OnceLock;

use system::Interrupt;

use crate::error::CommandError;

static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();

/// From now on a write beyond the limit of the size of files (`ulimit -f`) is an error of that write
/// (`EFBIG`), and not the end of the program by SIGXFSZ. Programs that it starts are not concerned: a
/// handler is not inherited, as ignoring a signal would be.
pub fn outlive_large_files() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: the handler does nothing, which is safe at any time.
    let before = unsafe { libc::signal(libc::SIGXFSZ, handler as libc::sighandler_t) };
    assert_ne!(before, libc::SIG_ERR, "SIGXFSZ can be handled");
}

/// From now on Ctrl-C raises the interrupt that this gives.
///
/// # Errors
/// When the system does not let the program handle signals.
pub fn install() -> Result<&'static Interrupt, CommandError> {
    install_with(|| ())
}

/// As [`install`]; besides, Ctrl-C then calls `act`, unless it was installed before.
///
/// # Errors
/// As [`install`].
pub fn install_with(act: impl Fn() + Send + 'static) -> Result<&'static Interrupt, CommandError> {
    if let Some(interrupt) = INTERRUPT.get() {
        return Ok(interrupt);
    }
    let interrupt = INTERRUPT.get_or_init(Interrupt::default);
    ctrlc::set_handler(move || {
        if interrupt.is_raised() {
            std::process::exit(130);
        }
        interrupt.raise();
        act();
    })
    .map_err(|error| CommandError::Internal(format!("cannot handle Ctrl-C: {error}")))?;
    Ok(interrupt)
}
