//! Legacy HTTP with SSE: one long stream for all that the server says, and a
//! POST for each thing we say.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use url::Url;

use tenon_net::sse::{SseEvent, SseParser};

use super::board::Board;
use super::courier::Courier;
use super::fault::Fault;
use super::message::MAX_MESSAGE;
use super::site::{self, Request, Site};

/// How long a message to the server may take to be taken. Its answer comes elsewhere.
const TAKEN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Sse {
    site: Arc<Site>,
    endpoint: Url,
    board: Arc<Board>,
    courier: Arc<Courier>,
    reading: JoinHandle<()>,
}

impl Sse {
    /// Opens the stream and waits for the address of the other half.
    pub(super) async fn start(site: Arc<Site>, board: Arc<Board>) -> Result<Arc<Self>, Fault> {
        let mut response = site.send(Request::stream(site.url.clone())).await?;
        if site::content_type(&response) != "text/event-stream" {
            return Err(Fault::Strange(
                "There is no MCP server at this address: it answers with something else than events.".into(),
            ));
        }
        let mut parser = SseParser::new(MAX_MESSAGE);
        let (endpoint, rest) = loop {
            let Some(mut events) = site::next_events(&mut response, &mut parser).await? else {
                return Err(Fault::Strange(
                    "There is no MCP server at this address: its stream of events names no endpoint.".into(),
                ));
            };
            if let Some(at) = events.iter().position(|event| event.name == "endpoint") {
                let rest = events.split_off(at + 1);
                let path = std::mem::take(&mut events[at].data);
                break (site.join(path.trim()).map_err(Fault::Strange)?, rest);
            }
        };
        let courier = Courier::start(site.clone(), board.logs().clone());
        let reading = {
            let (courier, board, endpoint) = (courier.clone(), board.clone(), endpoint.clone());
            tokio::spawn(async move {
                let hear = |events: Vec<SseEvent>| {
                    for event in events {
                        // Ignores what is neither named "message" nor nameless.
                        if matches!(event.name.as_str(), "" | "message") {
                            for reply in board.hear(event.data.as_bytes(), None).replies {
                                courier.send(Request::post(endpoint.clone(), reply));
                            }
                        }
                    }
                };
                hear(rest);
                let why = loop {
                    match site::next_events(&mut response, &mut parser).await {
                        Ok(Some(events)) => hear(events),
                        Ok(None) => break "The server closed the connection.".to_owned(),
                        Err(fault) => break fault.to_string(),
                    }
                };
                board.end(why);
            })
        };
        Ok(Arc::new(Self {
            site,
            endpoint,
            board,
            courier,
            reading,
        }))
    }

    pub(super) async fn send(&self, body: String) -> Result<(), Fault> {
        let sending = self.site.send(Request::post(self.endpoint.clone(), body));
        let sent = tokio::time::timeout(TAKEN, sending).await;
        match sent.unwrap_or(Err(Fault::Silent)) {
            Ok(_) => Ok(()),
            Err(Fault::Status(status, said)) if is_forgotten(status, &said) => {
                let why = "The server has forgotten the session.".to_owned();
                self.board.end(why.clone());
                Err(Fault::Unreached(why))
            }
            Err(fault) => Err(fault),
        }
    }

    pub(super) fn push(&self, body: String) {
        let request = Request::post(self.endpoint.clone(), body);
        self.courier.send(request);
    }

    pub(super) fn close(&self) {
        self.reading.abort();
        self.courier.stop();
        self.board.end("The connection was closed.".into());
    }
}

/// Whether it does not know the session any more. Some say so with 400, which is otherwise
/// about the message alone.
fn is_forgotten(status: u16, said: &str) -> bool {
    matches!(status, 404 | 410) || status == 400 && said.to_lowercase().contains("session")
}

impl Drop for Sse {
    fn drop(&mut self) {
        self.reading.abort();
        self.courier.stop();
    }
}
