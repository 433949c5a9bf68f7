//! A future that keeps running when its caller is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::runtime::Handle;

/// Runs in place. Dropped before its end, as it is when a client hangs up, it goes on as a task of
/// its own. A trait object, so that what the runtime needs for a task is compiled once and not for
/// every handler.
pub(crate) struct RunToEnd<T: Send + 'static>(Option<BoxFuture<'static, T>>);

impl<T: Send + 'static> RunToEnd<T> {
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<T: Send + 'static> Future for RunToEnd<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out meanwhile: what panics is not to be run again by the drop.
        let mut future = self.0.take().expect("it is not polled after its end");
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(future);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for RunToEnd<T> {
    fn drop(&mut self) {
        if let (Some(future), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            drop(runtime.spawn(future));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_still_ends() {
        let (go, wait) = oneshot::channel::<()>();
        let (done, ended) = oneshot::channel();
        let running = RunToEnd::new(async move {
            wait.await.unwrap();
            done.send(()).unwrap();
        });
        tokio::select! {
            biased;
            () = running => unreachable!("it waits"),
            () = std::future::ready(()) => {}
        }
        go.send(()).unwrap();
        ended.await.unwrap();
    }
}
