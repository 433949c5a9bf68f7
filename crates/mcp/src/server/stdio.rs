//! One client on the standard input and output.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::sync::mpsc;

use super::channel::ClientChannel;
use super::endpoint::McpEndpoint;
use super::message::MAX_REQUEST_BYTES;
use super::service::McpService;
use crate::transport::line_reader::{InputLine, LineReader};

/// What was asked before the end of the input is still answered, within this time.
const DRAIN_TIME: Duration = Duration::from_secs(30);

impl<S: McpService> McpEndpoint<S> {
    /// Serves the client at the other end until it closes its end, or stops reading.
    pub async fn serve_stdio(
        &self,
        reader: impl AsyncRead + Unpin,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        caller: S::Caller,
    ) -> io::Result<()> {
        let (channel, messages) = ClientChannel::new(&self.engine, caller);
        let closed = channel.closed.clone();
        let writing = tokio::spawn(async move {
            let written = write_lines(writer, messages).await;
            closed.cancel();
            written
        });
        let mut lines = LineReader::new(reader, MAX_REQUEST_BYTES);
        while let Some(line) = channel.closed.run_until_cancelled(lines.next()).await {
            match line? {
                None => break,
                Some(InputLine::Whole(line)) if line.trim_ascii().is_empty() => {}
                Some(InputLine::Whole(line)) => channel.on_message(line).await,
                Some(InputLine::TooLong { .. }) => channel.on_oversized_message().await,
            }
        }
        channel.tasks.close();
        let drained = tokio::time::timeout(DRAIN_TIME, channel.tasks.wait());
        channel.closed.run_until_cancelled(drained).await;
        channel.closed.cancel();
        channel.tasks.wait().await;
        drop(channel);
        // Everything that could send is gone, so the queue ends.
        writing.await.unwrap_or(Ok(()))
    }
}

async fn write_lines(
    writer: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<String>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(writer);
    while let Some(message) = messages.recv().await {
        writer.write_all(message.as_bytes()).await?;
        writer.write_all(b"\n").await?;
        // Several messages may go out together.
        if messages.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}
