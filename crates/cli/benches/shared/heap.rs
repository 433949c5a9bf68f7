//! An allocator that counts: the bytes in use, and the most that ever were.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

static HEAP: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);
static IS_DONE: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

/// The bytes in use.
pub fn in_use() -> isize {
    HEAP.load(Ordering::Relaxed)
}

/// The most bytes in use since [`reset_peak`].
pub fn peak() -> isize {
    PEAK.load(Ordering::Relaxed)
}

pub fn reset_peak() {
    PEAK.store(in_use(), Ordering::Relaxed);
}

/// Counts no more. Threads that count at once wait for each other, which would be
/// in the figures of whoever allocates most.
#[allow(dead_code, reason = "some only count")]
pub fn done() {
    IS_DONE.store(true, Ordering::Relaxed);
}

fn counts() -> bool {
    !IS_DONE.load(Ordering::Relaxed)
}

#[expect(
    unsafe_code,
    reason = "an allocator is unsafe to write; this one only counts and passes on"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if counts() {
            let size = layout.size() as isize;
            let now = HEAP.fetch_add(size, Ordering::Relaxed) + size;
            PEAK.fetch_max(now, Ordering::Relaxed);
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if counts() {
            HEAP.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        }
        unsafe { System.dealloc(place, layout) }
    }
}
