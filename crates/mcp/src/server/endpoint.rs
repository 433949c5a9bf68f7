//! The interface between transports and the request engine.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;

use super::body::ServerResponse;
use super::engine::Engine;
use super::legacy_sse::SseConnections;
use super::options::ServerOptions;
use super::service::{McpService, ServerIdentity};

/// Serves an [`McpService`]. Clones serve the same sessions.
pub struct McpEndpoint<S: McpService> {
    pub(super) engine: Arc<Engine<S>>,
    sse: Arc<SseConnections<S>>,
}

impl<S: McpService> McpEndpoint<S> {
    pub fn new(service: S, identity: &ServerIdentity, options: ServerOptions) -> Self {
        let engine = Arc::new(Engine::new(service, identity, options));
        let sse = Arc::new(SseConnections::new(&engine));
        Self { engine, sse }
    }

    pub fn service(&self) -> &S {
        &self.engine.service
    }

    /// GET of the stream of legacy SSE. Its client posts its messages to `messages_path`, with the
    /// `session_id` that is added to it.
    pub fn open_sse(
        &self,
        headers: &HeaderMap,
        messages_path: &str,
        caller: S::Caller,
    ) -> ServerResponse {
        SseConnections::open(&self.sse, headers, messages_path, caller)
    }

    /// POST of a message of legacy SSE. What comes of it goes out on the stream.
    pub async fn post_sse(
        &self,
        headers: &HeaderMap,
        session_id: &str,
        message: Bytes,
        caller: &S::Caller,
    ) -> ServerResponse {
        self.sse.post(headers, session_id, message, caller).await
    }
}

impl<S: McpService> Clone for McpEndpoint<S> {
    fn clone(&self) -> Self {
        Self {
            engine: Arc::clone(&self.engine),
            sse: Arc::clone(&self.sse),
        }
    }
}

impl<S: McpService> fmt::Debug for McpEndpoint<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpEndpoint").finish_non_exhaustive()
    }
}
