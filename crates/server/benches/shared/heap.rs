//! An allocator that counts: the bytes in use, and the most that ever were.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

static HEAP: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

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

#[expect(
    unsafe_code,
    reason = "an allocator is unsafe to write; this one only counts and passes on"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size() as isize;
        PEAK.fetch_max(
            HEAP.fetch_add(size, Ordering::Relaxed) + size,
            Ordering::Relaxed,
        );
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HEAP.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.dealloc(place, layout) }
    }
}
