//! Freed memory goes back to the system.
//!
//! A document takes ten times its length while it is read. Left to itself, glibc keeps what is
//! freed then, for each thread that ever read one, for as long as Tenon runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Servers start together: once is enough for all of them. What was read is written down by then,
/// which takes memory as well.
const QUIET: Duration = Duration::from_secs(5);

static ASKED: AtomicU64 = AtomicU64::new(0);

/// Releases what is free as soon as nobody has asked for it for a moment.
pub(crate) fn release_when_quiet() {
    let number = ASKED.fetch_add(1, Ordering::Relaxed) + 1;
    tokio::spawn(async move {
        tokio::time::sleep(QUIET).await;
        if ASKED.load(Ordering::Relaxed) == number {
            // It takes some milliseconds.
            let _ = tokio::task::spawn_blocking(allocator::release).await;
        }
    });
}

/// For the whole process, before it does anything.
pub fn limit_unused() {
    allocator::limit_unused();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    use std::ffi::c_int;

    #[expect(
        unsafe_code,
        reason = "only glibc can do it; both may be called at any time, by any thread"
    )]
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> c_int;
        safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    const M_TRIM_THRESHOLD: c_int = -1;

    /// How much each arena may keep at its end, where `malloc_trim` releases nothing. By default it
    /// grows with the largest thing that was ever freed, up to 64 MiB.
    const MAX_UNUSED_BYTES: c_int = 1024 * 1024;

    pub(super) fn limit_unused() {
        mallopt(M_TRIM_THRESHOLD, MAX_UNUSED_BYTES);
    }

    pub(super) fn release() {
        malloc_trim(0);
    }
}

/// Other allocators do it by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod allocator {
    pub(super) fn limit_unused() {}

    pub(super) fn release() {}
}
