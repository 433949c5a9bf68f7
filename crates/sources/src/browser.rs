//! Tools on people's own machines, run by their own browsers.
//!
//! A page finds tool servers at `localhost`, tells Tenon about them over its
//! socket, and executes what Tenon sends back. Tenon never reaches those
//! servers itself, and never sees the keys a person has for them.
//!
//! A [`Desk`] knows everybody's devices. A device is one browser of one
//! person, with as many pages as they have open; each server that one of them
//! found is a [`server::LocalServer`] in the registry, seen by that person
//! alone. A call goes to one page, and to another of the same device while the
//! first has not begun with it.

mod answer;
mod check;
mod desk;
mod device;
mod held;
mod offer;
mod page;
mod remember;
mod seat;
mod server;
mod wire;

pub use desk::{Desk, Told};
pub use held::{DeviceStatus, LocalStatus};
pub use offer::preview;
pub use remember::{Memory, Remembered};
pub use seat::Seat;
pub use wire::{
    Answered, DeviceInfo, Execute, Failure, FailureKind, Found, Frame, Offered, Outcome, Problem,
    Registered, RegisteredServer, Registration, Sign, Via,
};

#[cfg(test)]
mod tests;
