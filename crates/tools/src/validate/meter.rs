//! How much work a check may do, counted while it does it.
//!
//! The checker is somebody else's code and cannot be told to stop. So all it looks at
//! [consumes fuel](consume_fuel), and where there is none left the check is unwound. The meter
//! belongs to the thread: a check runs on one from its beginning to its end.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// What one check may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkLimits {
    /// Steps of some nanoseconds each.
    pub(super) fuel: u64,
    /// For what a step cannot tell: a slow machine, or steps that are longer than they look.
    pub(super) time: Duration,
    /// How much deeper the stack may become.
    pub(super) stack_bytes: usize,
}

/// A check was given up, and nothing is known about what it checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfFuel;

/// Clock, stack and cancellation are looked at once in so many steps.
const CHECK_INTERVAL_STEPS: u64 = 64;

struct WorkMeter {
    /// The fuel until the next check of the deadline.
    at_hand: Cell<u64>,
    /// The fuel after that.
    in_tank: Cell<u64>,
    ends: Cell<Option<Instant>>,
    stack_base: Cell<usize>,
    stack_bytes: Cell<usize>,
    name_cost: Cell<u64>,
    error_cost: Cell<u64>,
}

thread_local! {
    static METER: WorkMeter = const {
        WorkMeter {
            at_hand: Cell::new(u64::MAX),
            in_tank: Cell::new(u64::MAX),
            ends: Cell::new(None),
            stack_base: Cell::new(0),
            stack_bytes: Cell::new(usize::MAX),
            name_cost: Cell::new(0),
            error_cost: Cell::new(0),
        }
    };
    static CANCEL: RefCell<Option<CancellationToken>> = const { RefCell::new(None) };
}

/// Does some work within limits. `cancel` is for work that somebody waits for.
pub(super) fn run<T>(
    limits: WorkLimits,
    cancel: Option<&CancellationToken>,
    work: impl FnOnce() -> T,
) -> Result<T, OutOfFuel> {
    METER.with(|meter| {
        meter.at_hand.set(0);
        meter.in_tank.set(limits.fuel);
        meter.ends.set(Instant::now().checked_add(limits.time));
        meter.stack_base.set(stack_pointer());
        meter.stack_bytes.set(limits.stack_bytes);
        meter.name_cost.set(0);
        meter.error_cost.set(0);
    });
    CANCEL.with_borrow_mut(|place| *place = cancel.cloned());
    let done = catch_unwind(AssertUnwindSafe(work));
    CANCEL.with_borrow_mut(|place| *place = None);
    METER.with(|meter| {
        meter.at_hand.set(u64::MAX);
        meter.ends.set(None);
    });
    done.map_err(
        |panic: Box<dyn Any + Send>| match panic.downcast::<OutOfFuel>() {
            Ok(exhausted) => *exhausted,
            Err(panic) => resume_unwind(panic),
        },
    )
}

/// Consumes fuel. Panics with [`OutOfFuel`], which [`run`] catches, once fuel or time is used up.
#[inline]
pub(super) fn consume_fuel(steps: u64) {
    METER.with(|meter| match meter.at_hand.get().checked_sub(steps) {
        Some(left) => meter.at_hand.set(left),
        None => check_deadline(meter, steps),
    });
}

/// The steps of going over so many bytes.
#[inline]
pub(super) fn consume_fuel_for_bytes(bytes: usize) {
    consume_fuel(1 + bytes as u64 / 64);
}

/// What is left of the time.
pub(super) fn time_left() -> Duration {
    let ends = METER.with(|meter| meter.ends.get());
    ends.map_or(Duration::MAX, |ends| {
        ends.saturating_duration_since(Instant::now())
    })
}

/// What matching a byte of a property's name takes in this check.
pub(super) fn set_name_cost(steps: u64) {
    METER.with(|meter| meter.name_cost.set(steps));
}

#[inline]
pub(super) fn consume_fuel_for_name(name: &str) {
    let cost = METER.with(|meter| meter.name_cost.get());
    consume_fuel(1 + name.len() as u64 / 64 + name.len() as u64 * cost);
}

/// What writing down one error takes in this check.
pub(super) fn set_error_cost(steps: u64) {
    METER.with(|meter| meter.error_cost.set(steps));
}

#[inline]
pub(super) fn consume_fuel_for_error() {
    consume_fuel(METER.with(|meter| meter.error_cost.get()));
}

#[cold]
#[inline(never)]
fn check_deadline(meter: &WorkMeter, steps: u64) {
    let needed = steps - meter.at_hand.get();
    let Some(left) = meter.in_tank.get().checked_sub(needed) else {
        give_up();
    };
    let next = left.min(CHECK_INTERVAL_STEPS);
    meter.at_hand.set(next);
    meter.in_tank.set(left - next);
    let is_late = meter.ends.get().is_some_and(|ends| Instant::now() >= ends);
    let is_deep = stack_pointer().abs_diff(meter.stack_base.get()) > meter.stack_bytes.get();
    let is_cancelled =
        CANCEL.with_borrow(|cancel| cancel.as_ref().is_some_and(|it| it.is_cancelled()));
    if is_late || is_deep || is_cancelled {
        give_up();
    }
}

/// Unwinds to [`run`]. No panic: nothing is wrong, and nobody has to read about it.
fn give_up() -> ! {
    resume_unwind(Box::new(OutOfFuel))
}

/// About where the stack is now.
#[inline(never)]
fn stack_pointer() -> usize {
    let here = 0_u8;
    std::hint::black_box(std::ptr::from_ref(&here)).addr()
}
