//! A task that reports its progress as a stream.

use std::future::Future;

use futures::stream::{self, BoxStream, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Runs the task while its stream is read; dropping the stream ends the task. The channel is
/// unbounded, so what a task sends has to be bounded by itself.
pub(super) fn progress_stream<T, F>(
    task: impl FnOnce(mpsc::UnboundedSender<T>) -> F,
) -> BoxStream<'static, T>
where
    T: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::unbounded_channel();
    // The set aborts its task when it is dropped, and it is dropped with the stream.
    let mut tasks = JoinSet::new();
    tasks.spawn(task(sender));
    stream::unfold((receiver, tasks), |(mut receiver, tasks)| async move {
        let item = receiver.recv().await?;
        Some((item, (receiver, tasks)))
    })
    .boxed()
}
