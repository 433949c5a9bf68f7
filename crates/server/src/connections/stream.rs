//! The bytes of one connection, with a write timeout, closed when the connection is evicted.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::ClientConnection;

/// A client that reads nothing for this long is disconnected, and its queued data dropped.
const STALLED_WRITE: Duration = Duration::from_secs(30);

pub(super) struct TimedStream<S> {
    inner: S,
    connection: ClientConnection,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Runs while bytes wait to be taken.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedStream<S> {
    pub(super) fn new(inner: S, connection: ClientConnection) -> Self {
        Self {
            inner,
            closed: Box::pin(connection.0.close.clone().cancelled_owned()),
            connection,
            stalled: None,
        }
    }

    /// Passes on the result of a write, or an error if writes have stalled for too long.
    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            self.connection.touch();
            return written;
        }
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(STALLED_WRITE)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
        }
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        if read.is_ready() {
            self.connection.touch();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<S> Drop for TimedStream<S> {
    fn drop(&mut self) {
        self.connection.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::connections::Connections;

    #[tokio::test(start_paused = true)]
    async fn who_never_reads_is_not_written_to_for_ever() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let _never_reads = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (inner, peer) = listener.accept().await.unwrap();
        let connections = Connections::new(None);
        let mut stream = TimedStream::new(inner, connections.open(peer.ip()));
        let bytes = vec![0; 64 * 1024 * 1024];
        let error = stream.write_all(&bytes).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
