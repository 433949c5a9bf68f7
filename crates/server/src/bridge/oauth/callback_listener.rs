//! Where a browser comes back to from a log-in: a port of this machine that is open meanwhile.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tenon_mcp::oauth::LoginCallback;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// For the browser to read the last answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// More than one browser that comes back at a time is a mistake.
const MAX_WAITING: usize = 4;

pub(super) struct CallbackListener {
    redirect: String,
    callbacks: mpsc::Receiver<ReturnedLogin>,
    closing: CancellationToken,
    serving: AbortOnDropHandle<()>,
}

/// A browser that has come back, and waits to be told how it went.
pub(super) struct ReturnedLogin {
    pub(super) callback: LoginCallback,
    pub(super) reply: oneshot::Sender<String>,
}

impl CallbackListener {
    pub(super) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let (sender, callbacks) = mpsc::channel(MAX_WAITING);
        let router = Router::new()
            .route("/callback", get(on_callback))
            .with_state(sender);
        let closing = CancellationToken::new();
        let closed = closing.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            let serving = axum::serve(listener, router).with_graceful_shutdown(closed);
            if let Err(error) = serving.await {
                tracing::warn!(%error, "the port of a log-in has failed");
            }
        });
        Ok(Self {
            redirect: format!("http://127.0.0.1:{port}/callback"),
            callbacks,
            closing,
            serving: AbortOnDropHandle::new(serving),
        })
    }

    pub(super) fn redirect(&self) -> &str {
        &self.redirect
    }

    /// Waits for the callback with this state. Other callbacks are answered with an error. None if
    /// the port has failed.
    pub(super) async fn receive(&mut self, state: &str) -> Option<ReturnedLogin> {
        loop {
            let returned = self.callbacks.recv().await?;
            if returned.callback.state == state {
                return Some(returned);
            }
        }
    }

    /// Once the last answer is sent.
    pub(super) async fn close(self) {
        self.closing.cancel();
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.serving).await;
    }
}

async fn on_callback(
    State(callbacks): State<mpsc::Sender<ReturnedLogin>>,
    Query(callback): Query<LoginCallback>,
) -> Response {
    let (reply, replied) = oneshot::channel();
    let _ = callbacks.send(ReturnedLogin { callback, reply }).await;
    match replied.await {
        Ok(said) => said.into_response(),
        Err(_) => {
            let said = "This log-in is over. The bridge has logged the address of the newest one.";
            (StatusCode::BAD_REQUEST, said).into_response()
        }
    }
}
