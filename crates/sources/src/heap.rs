//! Memory that is no longer needed goes back to the system.
//!
//! A document takes ten times its length while it is read, and some hundred connections take some
//! ten megabytes. Left to itself, the allocator keeps part of what is freed then for as long as
//! Tenon runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Servers start together: once is enough for all of them. What was read is written down by then,
/// which takes memory as well.
const QUIET: Duration = Duration::from_secs(5);

static ASKED: AtomicU64 = AtomicU64::new(0);

/// Returns free heap memory to the system after a quiet moment, and also the resident code pages,
/// which are most of the memory after a burst of work. They are mapped again from the page cache
/// when used.
pub fn release_when_quiet() {
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

#[cfg(target_os = "linux")]
mod allocator {
    use std::ffi::{c_int, c_void};

    use libmimalloc_sys::mi_option_t;

    #[expect(
        unsafe_code,
        reason = "what is released must be a mapping that can be read again"
    )]
    unsafe extern "C" {
        fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    const MADV_DONTNEED: c_int = 4;

    /// How long free pages are kept, in milliseconds. `libmimalloc_sys` has no name for it.
    const MI_OPTION_PURGE_DELAY: mi_option_t = 15;

    /// Not at once: a call would give pages back that the next call asks for again. Short, as what
    /// is kept when everything becomes idle stays until something runs again.
    const PURGE_DELAY_MS: i64 = 10;

    pub(super) fn limit_unused() {
        #[expect(unsafe_code, reason = "there is only one thread yet")]
        unsafe {
            libmimalloc_sys::mi_option_set(MI_OPTION_PURGE_DELAY, PURGE_DELAY_MS);
        }
    }

    pub(super) fn release() {
        #[expect(unsafe_code, reason = "it may be called at any time, by any thread")]
        unsafe {
            libmimalloc_sys::mi_collect(true);
        }
        release_code();
    }

    /// The read-only mappings of this program's file. The system reads ahead of every page that
    /// is touched, so work that touches a little of everything has most of the file mapped.
    fn release_code() {
        let (Ok(program), Ok(maps)) = (
            std::env::current_exe(),
            std::fs::read_to_string("/proc/self/smaps"),
        ) else {
            return;
        };
        let program = program.to_string_lossy();
        let mut mapping = None;
        for line in maps.lines() {
            if line.ends_with(&*program) {
                mapping = read_only_mapping(line);
            } else if let Some(size) = line.strip_prefix("Anonymous:") {
                // Relocations were written to some of them, when they were still writable.
                if let (Some((start, end)), "0 kB") = (mapping.take(), size.trim()) {
                    #[expect(
                        unsafe_code,
                        reason = "a private mapping of a file that nobody has written to is read from the file again"
                    )]
                    unsafe {
                        madvise(start as *mut c_void, end - start, MADV_DONTNEED);
                    }
                }
            }
        }
    }

    /// Its addresses, from the first line about it.
    fn read_only_mapping(line: &str) -> Option<(usize, usize)> {
        let mut fields = line.split_whitespace();
        let (addresses, rights) = (fields.next()?, fields.next()?);
        if !matches!(rights, "r-xp" | "r--p") {
            return None;
        }
        let (start, end) = addresses.split_once('-')?;
        let address = |digits| usize::from_str_radix(digits, 16).ok();
        Some((address(start)?, address(end)?))
    }
}

/// Nobody has asked for it elsewhere.
#[cfg(not(target_os = "linux"))]
mod allocator {
    pub(super) fn limit_unused() {}

    pub(super) fn release() {}
}
