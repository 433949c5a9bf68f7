//! Memory that is no longer needed goes back to the system.
//!
//! A document takes ten times its length while it is read, and some hundred connections take some
//! ten megabytes. Left to itself, glibc keeps what is freed then, for each thread that ever needed
//! it, for as long as Tenon runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Servers start together: once is enough for all of them. What was read is written down by then,
/// which takes memory as well.
const QUIET: Duration = Duration::from_secs(5);

static ASKED: AtomicU64 = AtomicU64::new(0);

/// Releases what is free, once nobody has asked for it for a moment, and the code of what was done
/// last, which is most of what is resident after a burst of work. What is used again is mapped
/// again, from the system's cache.
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

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    use std::ffi::{c_int, c_void};

    #[expect(
        unsafe_code,
        reason = "only glibc can do it; both may be called at any time, by any thread"
    )]
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> c_int;
        safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    #[expect(
        unsafe_code,
        reason = "what is released must be a mapping that can be read again"
    )]
    unsafe extern "C" {
        fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    const M_TRIM_THRESHOLD: c_int = -1;
    const MADV_DONTNEED: c_int = 4;

    /// How much each arena may keep at its end, where `malloc_trim` releases nothing. By default it
    /// grows with the largest thing that was ever freed, up to 64 MiB.
    const MAX_UNUSED_BYTES: c_int = 1024 * 1024;

    pub(super) fn limit_unused() {
        mallopt(M_TRIM_THRESHOLD, MAX_UNUSED_BYTES);
    }

    pub(super) fn release() {
        malloc_trim(0);
        release_code();
    }

    /// The read-only mappings of this program's file. The system reads ahead of every page that
    /// is touched, so work that touches a little of everything has most of the file mapped.
    fn release_code() {
        let (Ok(program), Ok(maps)) = (
            std::env::current_exe(),
            std::fs::read_to_string("/proc/self/maps"),
        ) else {
            return;
        };
        let program = program.to_string_lossy();
        let ours = maps.lines().filter(|line| line.ends_with(&*program));
        for (start, end) in ours.filter_map(clean_mapping) {
            #[expect(
                unsafe_code,
                reason = "a private mapping of a file that nobody has written to is read from the file again"
            )]
            unsafe {
                madvise(start as *mut c_void, end - start, MADV_DONTNEED);
            }
        }
    }

    /// The addresses of a mapping that was never writable: relocations are written where it was.
    fn clean_mapping(line: &str) -> Option<(usize, usize)> {
        let mut fields = line.split_whitespace();
        let (addresses, rights) = (fields.next()?, fields.next()?);
        if rights != "r-xp" {
            return None;
        }
        let (start, end) = addresses.split_once('-')?;
        let address = |digits| usize::from_str_radix(digits, 16).ok();
        Some((address(start)?, address(end)?))
    }
}

/// Other allocators do it by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod allocator {
    pub(super) fn limit_unused() {}

    pub(super) fn release() {}
}
