//! Blocking work on a thread of its own that can be cancelled.

use tenon_domain::ToolError;
use tenon_tools::CallContext;
use tokio_util::sync::CancellationToken;

/// Runs `work` on a thread that may block. A thread cannot be dropped, so the
/// work is handed a token to look at: it fires when the call is cancelled and
/// also when this future is dropped, which is how a deadline arrives.
pub(super) async fn blocking<T: Send + 'static>(
    context: &CallContext,
    work: impl FnOnce(&StopSignal) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = StopSignal(context.cancel.child_token());
    let _fires_when_dropped = stop.0.clone().drop_guard();
    match tokio::task::spawn_blocking(move || work(&stop)).await {
        Ok(result) => result,
        // The hub catches panics and words them; here they would only be hidden.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_shutting_down) => Err(ToolError::lost()),
    }
}

/// Whether blocking work should go on.
#[derive(Debug, Clone)]
pub(super) struct StopSignal(CancellationToken);

impl StopSignal {
    /// Call between two steps of work, with `?`: fails once the call is cancelled or out of time.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.0.is_cancelled() {
            Err(ToolError::cancelled())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
impl StopSignal {
    pub(super) fn never() -> Self {
        Self(CancellationToken::new())
    }

    pub(super) fn now() -> Self {
        let stop = Self::never();
        stop.0.cancel();
        stop
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tenon_domain::{CallId, ErrorKind, UserId};
    use tenon_tools::{CallOrigin, CallTimer, NoClient};

    use super::*;

    fn context() -> CallContext {
        CallContext {
            call_id: CallId::new("call"),
            origin: CallOrigin::default(),
            user: UserId::new("ada"),
            workspace: None,
            cancel: CancellationToken::new(),
            client: Arc::new(NoClient),
            timer: CallTimer::default(),
        }
    }

    /// Never ends by itself; says through the channel why it ended.
    fn endless(
        ended: tokio::sync::oneshot::Sender<ToolError>,
        started: tokio::sync::oneshot::Sender<()>,
    ) -> impl FnOnce(&StopSignal) -> Result<(), ToolError> + Send + 'static {
        move |stop| {
            started.send(()).ok();
            loop {
                if let Err(error) = stop.check() {
                    ended.send(error.clone()).ok();
                    return Err(error);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[tokio::test]
    async fn work_stops_when_the_call_is_cancelled() {
        let (ended, end) = tokio::sync::oneshot::channel();
        let (started, start) = tokio::sync::oneshot::channel();
        let context = context();
        let cancel = async {
            start.await.unwrap();
            context.cancel.cancel();
        };
        let (result, ()) = tokio::join!(blocking(&context, endless(ended, started)), cancel);
        assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
        assert_eq!(end.await.unwrap().kind, ErrorKind::Cancelled);
    }

    #[tokio::test]
    async fn work_stops_when_its_future_is_dropped() {
        let (ended, end) = tokio::sync::oneshot::channel();
        let (started, start) = tokio::sync::oneshot::channel();
        let context = context();
        tokio::select! {
            _ = blocking(&context, endless(ended, started)) => panic!("it never ends by itself"),
            _ = start => {}
        }
        assert_eq!(end.await.unwrap().kind, ErrorKind::Cancelled);
    }
}
