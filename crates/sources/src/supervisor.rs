//! Supervision of MCP and OpenAPI servers.
//!
//! Each server has a task of its own that [`run`]s the steps of a [`SupervisedTask`] until the
//! server is stopped or dropped. A [`ServerCore`] is what the task and the calls of the server
//! share: the [`StatusCell`] that the task writes, logs, timeouts, and how to restart and stop it.

mod backoff;
mod messages;
mod server;
mod status;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;

pub(crate) use backoff::{Backoff, MINUTE, RetryDecision};
pub(crate) use messages::CallErrors;
pub use server::SupervisedServer;
pub(crate) use server::{HasCore, ServerCore, SupervisorTimeouts};
pub(crate) use status::{Availability, Inner, StatusCell, UnavailableReason};
pub use status::{DocumentSummary, ServerStatus, Startup, StartupStep, ToolChanges};

/// The steps by which one kind of server is kept up. A restart or a stop drops the step that is
/// under way, so each is cancel safe.
pub(crate) trait SupervisedTask: Send {
    type Step: Send;

    /// The step after a restart was asked for.
    const RESTART: Self::Step;

    /// Does a step and says which is next.
    fn step(&mut self, step: Self::Step) -> impl Future<Output = Self::Step> + Send;

    /// A step panicked, which is a fault of ours: nothing a server does may lead here.
    fn crashed(&mut self) -> impl Future<Output = Self::Step> + Send;

    /// The server is to end for good.
    fn end(&mut self) -> impl Future<Output = ()> + Send;
}

/// Runs until the server is stopped or dropped.
pub(crate) async fn run<T: SupervisedTask, O, C: Clone>(
    core: Arc<ServerCore<O, C>>,
    mut task: T,
    first: T::Step,
) {
    let _stopped = core.stopped.clone().drop_guard();
    let mut next = first;
    loop {
        // A panic must not leave a server that is neither up nor tried again.
        let step = AssertUnwindSafe(Box::pin(task.step(next))).catch_unwind();
        next = tokio::select! {
            biased;
            () = core.stopping.cancelled() => break,
            () = core.restart.notified() => T::RESTART,
            next = step => match next {
                Ok(next) => next,
                Err(_panic) => task.crashed().await,
            },
        };
    }
    core.status.off();
    task.end().await;
    core.logs.note("Stopped.");
}
