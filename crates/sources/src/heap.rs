//! Freed memory goes back to the system.
//!
//! A document takes ten times its length while it is read. glibc keeps what is freed then, for
//! each thread that ever read one, and would keep it for as long as Tenon runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Servers start together: once is enough for all of them. What was read is written down by then.
const QUIET: Duration = Duration::from_secs(2);

static ASKED: AtomicU64 = AtomicU64::new(0);

/// Releases what is free as soon as nobody has asked for it for a moment.
pub(crate) fn release_when_quiet() {
    let number = ASKED.fetch_add(1, Ordering::Relaxed) + 1;
    tokio::spawn(async move {
        tokio::time::sleep(QUIET).await;
        if ASKED.load(Ordering::Relaxed) == number {
            // It takes some milliseconds.
            let _ = tokio::task::spawn_blocking(release).await;
        }
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn release() {
    #[expect(
        unsafe_code,
        reason = "only glibc can do it; it may be called at any time, by any thread"
    )]
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
    malloc_trim(0);
}

/// Other allocators do it by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn release() {}
