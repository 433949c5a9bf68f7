//! Accepting connections and serving HTTP on them, with a timeout for each phase.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tenon_sources::heap;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::self_wakes::SelfWakes;
use super::stream::TimedStream;
use super::{ClientConnection, Connections};

/// Time limit from connecting to the first request.
const FIRST_REQUEST: Duration = Duration::from_secs(15);

/// Idle time between requests on a connection, headers included. Proxies keep connections for a
/// minute.
const NEXT_REQUEST: Duration = Duration::from_secs(75);

/// What is read ahead of a request, headers included, and written ahead of an answer.
const BUFFER_BYTES: usize = 64 * 1024;

/// How long to wait before asking for a connection again that the system could not give.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Answers the requests of all connections.
pub(crate) trait RequestHandler: Clone + Send + 'static {
    fn answer(&self, request: hyper::Request<Incoming>) -> impl Future<Output = Response> + Send;
}

/// Serves connections until told to close, then waits for the answers that are being given.
pub(crate) async fn serve(
    (listener, tls): (TcpListener, Option<TlsAcceptor>),
    handler: impl RequestHandler,
    connections: Connections,
    closing: CancellationToken,
    goodbye: Duration,
) {
    let serving = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Small frames must not wait for more to come.
                let _ = stream.set_nodelay(true);
                if let Some(wait) = connections.accept_delay() {
                    sleep(wait).await;
                }
                let connection = connections.open(peer.ip());
                let (handler, closing) = (handler.clone(), closing.clone());
                let Some(tls) = tls.clone() else {
                    serving.spawn(serve_one(stream, peer, connection, handler, closing));
                    continue;
                };
                serving.spawn(async move {
                    let shaken = timeout(FIRST_REQUEST, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        serve_one(stream, peer, connection, handler, closing).await;
                    }
                });
            }
            // It may be that there are no files left to open.
            Err(error) => {
                tracing::debug!(%error, "a connection was not accepted");
                connections.close_one();
                sleep(ACCEPT_AGAIN).await;
            }
        }
    }
    drop(listener);
    serving.close();
    let _ = timeout(goodbye, serving.wait()).await;
}

async fn serve_one(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: SocketAddr,
    connection: ClientConnection,
    handler: impl RequestHandler,
    closing: CancellationToken,
) {
    let io = TokioIo::new(TimedStream::new(stream, connection.clone()));
    let asked = connection.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let asked = asked.clone();
        asked.begin_answer();
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(asked.clone());
        let handler = handler.clone();
        async move {
            let answer = handler.answer(request).await;
            asked.end_answer();
            Ok::<_, Infallible>(answer)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(NEXT_REQUEST)
        .max_buf_size(BUFFER_BYTES);
    let serving = http.serve_connection(io, service).with_upgrades();
    let mut serving = std::pin::pin!(serving);
    let wakes = SelfWakes::new();
    let mut first_request = std::pin::pin!(sleep(FIRST_REQUEST));
    let (mut is_watched, mut is_closing) = (true, false);
    loop {
        let served = poll_fn(|context| wakes.poll(context, |inner| serving.as_mut().poll(inner)));
        tokio::select! {
            biased;
            // However it ended: the other side knows, or is gone.
            _ = served => break,
            () = connection.0.close.cancelled() => break,
            () = first_request.as_mut(), if is_watched => {
                is_watched = false;
                if !connection.0.has_asked.load(Ordering::Relaxed) {
                    break;
                }
            }
            () = closing.cancelled(), if !is_closing => {
                is_closing = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
    heap::release_when_quiet();
}
