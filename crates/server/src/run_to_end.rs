//! A future that ends also where nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Runs in place. Dropped before its end, as it is when a client hangs up, it goes on as a task of
/// its own.
pub(crate) struct RunToEnd<F>(Option<Pin<Box<F>>>)
where
    F: Future<Output: Send> + Send + 'static;

impl<F: Future<Output: Send> + Send + 'static> RunToEnd<F> {
    pub(crate) fn new(future: F) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for RunToEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Taken out meanwhile: what panics is not to be run again by the drop.
        let mut future = self.0.take().expect("it is not polled after its end");
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(future);
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for RunToEnd<F> {
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
