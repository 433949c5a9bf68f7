//! A connection that wakes itself while it runs is polled again at once.
//!
//! hyper does that with each request that has a body: the handler asks for the body, and the
//! connection, which runs in the same task, is woken to read it. Left to the scheduler, the task is
//! queued and another thread is woken to take it, which costs more than the request itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::task::AtomicWaker;

/// How often in a row, before others have their turn.
const MAX_POLLS: usize = 8;

/// Bits of the state.
const RUNNING: u8 = 1;
const WOKEN: u8 = 2;

/// Polls a future again for as long as it wakes itself.
#[derive(Debug)]
pub(super) struct SelfWakes {
    state: Arc<WakeState>,
    waker: Waker,
}

#[derive(Debug, Default)]
struct WakeState {
    bits: AtomicU8,
    task: AtomicWaker,
}

impl SelfWakes {
    pub(super) fn new() -> Self {
        let state = Arc::new(WakeState::default());
        let waker = Waker::from(state.clone());
        Self { state, waker }
    }

    pub(super) fn poll<T>(
        &self,
        context: &Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let WakeState { bits, task } = &*self.state;
        task.register(context.waker());
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..MAX_POLLS {
            // Also sees what was written before a wake until now.
            bits.swap(RUNNING, Ordering::AcqRel);
            let polled = poll(&mut inner);
            let is_woken = bits.swap(0, Ordering::AcqRel) & WOKEN != 0;
            if polled.is_ready() || !is_woken {
                return polled;
            }
        }
        task.wake();
        Poll::Pending
    }
}

impl Wake for WakeState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let before = self.bits.fetch_or(WOKEN, Ordering::AcqRel);
        if before & RUNNING == 0 {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Debug, Default)]
    struct WakeCounter(AtomicUsize);

    impl Wake for WakeCounter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_what_comes_while_it_does_not_run_wakes_the_task() {
        let task = Arc::new(WakeCounter::default());
        let waker = Waker::from(task.clone());
        let context = Context::from_waker(&waker);
        let wakes = SelfWakes::new();
        let mut polls = 0;
        let mut kept = None;
        let polled = wakes.poll::<()>(&context, |inner| {
            polls += 1;
            kept = Some(inner.waker().clone());
            if polls < 3 {
                inner.waker().wake_by_ref();
            }
            Poll::Pending
        });
        assert_eq!((polled, polls), (Poll::Pending, 3));
        assert_eq!(task.0.load(Ordering::Relaxed), 0);
        kept.unwrap().wake();
        assert_eq!(task.0.load(Ordering::Relaxed), 1);

        // One that never stops gives way.
        polls = 0;
        let polled = wakes.poll::<()>(&context, |inner| {
            polls += 1;
            inner.waker().wake_by_ref();
            Poll::Pending
        });
        assert_eq!((polled, polls), (Poll::Pending, MAX_POLLS));
        assert_eq!(task.0.load(Ordering::Relaxed), 2);
        assert_eq!(wakes.poll(&context, |_| Poll::Ready(7)), Poll::Ready(7));
    }
}
