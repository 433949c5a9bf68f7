//! Writing frames to a page, with a timeout.

use std::time::Duration;

use futures::SinkExt;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{self, Message};

use super::WebSocket;
use super::incoming::FrameRefusal;
use crate::wire::ServerFrame;

/// A page that reads nothing for this long is considered gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Closes the socket of a page that sends too much or too slowly, with the reason.
pub(super) async fn refuse_frame(socket: &mut WebSocket, error: &tungstenite::Error) {
    let refusal = match error {
        tungstenite::Error::Capacity(_) => Some(FrameRefusal::TooLong),
        tungstenite::Error::Io(error) => FrameRefusal::of(error),
        _ => None,
    };
    if let Some(refusal) = refusal {
        close(socket, refusal.code(), refusal.reason()).await;
    }
}

pub(super) async fn close(socket: &mut WebSocket, code: CloseCode, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let _ = send_message(socket, Message::Close(Some(frame))).await;
}

pub(super) async fn send(socket: &mut WebSocket, frame: &ServerFrame) -> Result<(), ()> {
    let text = match serde_json::to_string(frame) {
        Ok(text) => text,
        Err(error) => {
            tracing::error!(%error, "a frame could not be written as JSON");
            return Err(());
        }
    };
    send_text(socket, text).await
}

pub(super) async fn send_text(socket: &mut WebSocket, text: String) -> Result<(), ()> {
    send_message(socket, Message::Text(text.into())).await
}

/// Sends a ping; a live client answers it.
pub(super) async fn ping(socket: &mut WebSocket) -> Result<(), ()> {
    send_message(socket, Message::Ping(Default::default())).await
}

async fn send_message(socket: &mut WebSocket, message: Message) -> Result<(), ()> {
    match timeout(WRITE_TIMEOUT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(()),
    }
}
