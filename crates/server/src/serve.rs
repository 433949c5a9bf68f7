//! Listening, and ending well.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::serve::ListenerExt;
use tokio::net::{TcpListener, TcpSocket};

use crate::api;
use crate::app::App;

/// How long a shutdown waits for answers that are being given.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long it then waits for connections to close.
const GOODBYE: Duration = Duration::from_secs(5);

/// How many connections may wait to be accepted. The usual 128 makes a burst of a few hundred wait a second.
const BACKLOG: u32 = 1024;

/// Serves until told to stop, then lets running turns finish.
pub async fn serve(app: App, listener: TcpListener) -> Result<()> {
    let router = api::router(app.clone());
    // Small frames must not wait for more to come.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let closing = app.closing.clone();
    let server = axum::serve(listener, router)
        .with_graceful_shutdown(async move { closing.cancelled().await });
    let ended = async {
        app.closing.cancelled().await;
        tokio::time::sleep(GOODBYE).await;
    };
    tokio::select! {
        served = async { server.await } => served.context("the server stopped")?,
        () = ended => {}
    }
    Ok(())
}

/// Waits for the operator's signal, then for the turns that run, then closes. A second signal ends at once.
pub async fn close_on_signal(app: App) {
    signal().await;
    tokio::spawn(async {
        signal().await;
        std::process::exit(130);
    });
    tracing::info!("stopping: waiting for running answers; once more stops at once");
    app.agent.drain(PATIENCE).await;
    app.closing.cancel();
}

/// A socket on this machine alone: until there are accounts, whoever can connect is the user.
pub fn listen(address: SocketAddr) -> Result<TcpListener> {
    if !address.ip().is_loopback() {
        bail!(
            "Tenon has no accounts yet and would give everybody on the network your chats and tools: \
             it listens on 127.0.0.1 or [::1] only, not on {address}"
        );
    }
    bind(address).with_context(|| format!("Tenon cannot listen on {address}"))
}

fn bind(address: SocketAddr) -> Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    let bound = socket.bind(address).and_then(|()| socket.listen(BACKLOG));
    bound.map_err(|error: io::Error| match error.kind() {
        ErrorKind::AddrInUse => anyhow::anyhow!(
            "the port is taken, perhaps by another Tenon; choose another with --listen 127.0.0.1:PORT"
        ),
        _ => error.into(),
    })
}

async fn signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            let _ = interrupt.await;
            return;
        };
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupt.await;
}
