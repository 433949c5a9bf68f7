//! An HTTP server with scripted responses that counts connections.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::stream;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: axum::http::HeaderMap,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }
}

pub enum Reply {
    Whole(u16, Vec<(&'static str, String)>, String),
    /// Base64 of what is compressed, and how: "gzip".
    Packed(&'static str, &'static str),
    /// Nothing at all, for as long as the other side waits.
    Silence,
    /// Without an end.
    Endless,
    /// The beginning, and then the connection breaks.
    Cut,
}

pub fn ok(body: impl ToString) -> Reply {
    let json = vec![("content-type", "application/json".into())];
    Reply::Whole(200, json, body.to_string())
}

pub fn status(status: u16) -> Reply {
    Reply::Whole(status, Vec::new(), String::new())
}

pub fn redirect(status: u16, to: impl ToString) -> Reply {
    Reply::Whole(status, vec![("location", to.to_string())], String::new())
}

pub struct TestHttpServer {
    pub address: SocketAddr,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    /// Connections, not requests.
    pub accepted: Arc<AtomicUsize>,
    /// Answers nobody waited for any longer.
    pub dropped: Arc<AtomicUsize>,
    _stops: DropGuard,
}

impl TestHttpServer {
    pub async fn start(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), reply).await
    }

    /// At an address where there was one before.
    pub async fn at(
        address: SocketAddr,
        reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let mut listener = TcpListener::bind(address).await;
        // The one before may still be on its way out.
        for _ in 0..100 {
            if listener.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            listener = TcpListener::bind(address).await;
        }
        let listener = listener.unwrap();
        let stop = CancellationToken::new();
        let http_server = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            accepted: Arc::default(),
            dropped: Arc::default(),
            _stops: stop.clone().drop_guard(),
        };
        let listener = Counting(listener, http_server.accepted.clone());
        let (seen, dropped, reply) = (
            http_server.seen.clone(),
            http_server.dropped.clone(),
            Arc::new(reply),
        );
        let app = Router::new().fallback(move |request: Request| {
            let (seen, dropped, reply) = (seen.clone(), dropped.clone(), reply.clone());
            async move {
                let request = read(request).await;
                seen.lock().unwrap().push(request.clone());
                write(reply(&request), dropped).await
            }
        });
        let stopping = stop.clone();
        let serve = axum::serve(listener, app)
            .with_graceful_shutdown(async move { stopping.cancelled().await });
        tokio::spawn(async move {
            serve.await.unwrap();
        });
        http_server
    }

    /// Ends it, and comes back when its port refuses connections.
    pub async fn close(self) {
        let address = self.address;
        drop(self);
        let closing = async {
            while TcpStream::connect(address).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let closed = tokio::time::timeout(Duration::from_secs(10), closing).await;
        closed.expect("its port is still open");
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn count(&self, path: &str) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.path == path).count()
    }

    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// A document with these operations, each a GET that takes `q` and has no more to it.
pub fn document(paths: &[&str]) -> Value {
    let paths = paths.iter().map(|path| {
        let id = path.trim_matches('/').replace('/', "_");
        let query = json!({"name": "q", "in": "query", "schema": {"type": "string"}});
        let get = json!({"operationId": id, "parameters": [query], "responses": {}});
        ((*path).to_owned(), json!({"get": get}))
    });
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Site", "version": "1"},
        "paths": paths.collect::<serde_json::Map<_, _>>(),
    })
}

async fn read(request: Request) -> Seen {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    Seen {
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().unwrap().to_string(),
        headers: parts.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    }
}

/// Counts when it is dropped before its time.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn write(reply: Reply, dropped: Arc<AtomicUsize>) -> Response {
    let mut response = Response::builder();
    match reply {
        Reply::Whole(status, headers, body) => {
            response = response.status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(Body::from(body)).unwrap()
        }
        Reply::Packed(how, body) => {
            let body = STANDARD.decode(body).unwrap();
            let response = response.header("content-encoding", how);
            response.body(Body::from(body)).unwrap()
        }
        Reply::Silence => {
            let _waiting = Waiting(dropped);
            std::future::pending().await
        }
        Reply::Endless => {
            let chunk = Bytes::from_static(&[b' '; 64 * 1024]);
            let waiting = Waiting(dropped);
            let endless = stream::repeat_with(move || {
                let _ = &waiting;
                Ok::<_, Infallible>(chunk.clone())
            });
            response.body(Body::from_stream(endless)).unwrap()
        }
        Reply::Cut => {
            let begin = Ok(Bytes::from_static(b"{\"openapi\":"));
            let broken = Err(std::io::Error::other("cut"));
            let body = Body::from_stream(stream::iter([begin, broken]));
            response.body(body).unwrap()
        }
    }
}

struct Counting(TcpListener, Arc<AtomicUsize>);

impl axum::serve::Listener for Counting {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let accepted = axum::serve::Listener::accept(&mut self.0).await;
        self.1.fetch_add(1, Ordering::SeqCst);
        accepted
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
