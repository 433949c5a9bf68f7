//! Answers the requests to a bridge.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::Request;
use hyper::body::Incoming;
use tenon_domain::CallId;
use tenon_mcp::server::{HttpRequest, McpEndpoint, ServerOptions};
use tenon_tools::{CallContext, CallOrigin, CallTimer};
use tokio_util::sync::CancellationToken;

use super::access::BridgeKey;
use super::cors::CorsPolicy;
use super::endpoint::{BridgeEndpoint, McpTransportPath};
use super::mcp_service::{BridgeMcpService, McpScope};
use super::routes::{RouteTable, Routes};
use super::servers::bridge_user;
use crate::connections::RequestHandler;
use crate::mcpo::docs_page;
use crate::mcpo::fault::McpoFault;
use crate::mcpo::reply_recorder::ReplyRecorder;
use crate::request::{collect, declared_length, is_json};

/// As long as a message to a server may be.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct BridgeHandler(Arc<HandlerState>);

struct HandlerState {
    routes: Arc<Routes>,
    key: Option<BridgeKey>,
    cors: CorsPolicy,
    mcp: McpEndpoint<BridgeMcpService>,
    calls: AtomicU64,
}

impl RequestHandler for BridgeHandler {
    async fn answer(&self, request: Request<Incoming>) -> Response {
        let (parts, body) = request.into_parts();
        let origin = parts.headers.get(header::ORIGIN).cloned();
        let cors = &self.0.cors;
        let mut response = match cors.preflight(&parts.method, &parts.headers) {
            Some(response) => response,
            None => self.respond(&parts, body).await,
        };
        cors.add(origin, &mut response);
        response
    }
}

impl BridgeHandler {
    pub(super) fn new(routes: Arc<Routes>, key: Option<BridgeKey>, cors: CorsPolicy) -> Self {
        let mcp = McpEndpoint::new(
            BridgeMcpService::new(routes.clone()),
            &BridgeMcpService::identity(),
            // Hosts and origins are checked here.
            ServerOptions::default(),
        );
        Self(Arc::new(HandlerState {
            routes,
            mcp,
            key,
            cors,
            calls: AtomicU64::new(0),
        }))
    }

    pub(super) fn has_key(&self) -> bool {
        self.0.key.is_some()
    }

    async fn respond(&self, parts: &Parts, body: Incoming) -> Response {
        let strict = self.0.key.as_ref().filter(|key| key.is_strict);
        if let Some(key) = strict
            && parts.method != Method::OPTIONS
            && let Err(fault) = key.check_strictly(&parts.headers)
        {
            return fault.into_response();
        }
        let found = self.find(parts, body).await;
        found.unwrap_or_else(IntoResponse::into_response)
    }

    async fn find(&self, parts: &Parts, body: Incoming) -> Result<Response, McpoFault> {
        if !self.0.cors.allows(&parts.headers) {
            return Err(McpoFault::Forbidden("This origin is not allowed here."));
        }
        let routes = &self.0.routes;
        let table = routes.load();
        let endpoint = BridgeEndpoint::parse(parts.uri.path(), table.labels());
        match endpoint {
            BridgeEndpoint::Unknown => Err(McpoFault::NotFound),
            BridgeEndpoint::Document(server) => {
                check_method(parts, Method::GET)?;
                let table = routes.settled(server.as_deref()).await;
                self.document(parts, table, server.as_deref()).await
            }
            BridgeEndpoint::Docs(server) => {
                check_method(parts, Method::GET)?;
                docs(&table, server.as_deref())
            }
            BridgeEndpoint::DocsFile(name) => {
                check_method(parts, Method::GET)?;
                Ok(docs_page::file(name))
            }
            BridgeEndpoint::ToolList => {
                check_method(parts, Method::GET)?;
                let table = routes.settled(None).await;
                Ok(table.tool_list().respond(&parts.headers))
            }
            BridgeEndpoint::Mcp(server, transport) => {
                self.mcp(parts, body, (server.as_deref(), transport)).await
            }
            BridgeEndpoint::Tool { server, tool } => {
                self.call(parts, body, table.clone(), (&server, &tool))
                    .await
            }
        }
    }

    /// A document of thousands of tools takes a while to write, once.
    async fn document(
        &self,
        parts: &Parts,
        table: Arc<RouteTable>,
        server: Option<&str>,
    ) -> Result<Response, McpoFault> {
        let server = match server {
            Some(name) => Some(table.server(name).ok_or(McpoFault::NotFound)?),
            None => table.single(),
        };
        let server = server.cloned();
        let writing = tokio::task::spawn_blocking(move || match server {
            Some(server) => server.document(table.labels()).clone(),
            None => table.main_document().clone(),
        });
        Ok(match writing.await {
            Ok(document) => document.respond(&parts.headers),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        })
    }

    async fn mcp(
        &self,
        parts: &Parts,
        body: Incoming,
        (server, transport): (Option<&str>, McpTransportPath),
    ) -> Result<Response, McpoFault> {
        let table = self.0.routes.load();
        if server.is_some_and(|name| table.server(name).is_none()) {
            return Err(McpoFault::NotFound);
        }
        self.check_key(&parts.headers)?;
        let body = read_body(&parts.headers, body).await?;
        let scope = McpScope(server.map(Arc::from));
        let response = match transport {
            McpTransportPath::StreamableHttp => {
                let request = HttpRequest {
                    method: &parts.method,
                    headers: &parts.headers,
                    body: body.into(),
                };
                self.0.mcp.handle_http(request, scope).await
            }
            McpTransportPath::Sse => {
                check_method(parts, Method::GET)?;
                let labels = table.labels();
                let base = match server {
                    Some(name) => labels.path_of(name),
                    None => labels.root_path.clone(),
                };
                let messages = format!("{base}/messages");
                self.0.mcp.open_sse(&parts.headers, &messages, scope)
            }
            McpTransportPath::Messages => {
                check_method(parts, Method::POST)?;
                let query = parts.uri.query().unwrap_or_default();
                let session = query.strip_prefix("session_id=").unwrap_or_default();
                let posted = self
                    .0
                    .mcp
                    .post_sse(&parts.headers, session, body.into(), &scope);
                posted.await
            }
        };
        Ok(response.map(|body| match body.into_bytes() {
            Ok(bytes) => Body::from(bytes),
            Err(events) => Body::new(events),
        }))
    }

    /// Where everything needs the key it was checked before.
    fn check_key(&self, headers: &HeaderMap) -> Result<(), McpoFault> {
        match &self.0.key {
            Some(key) if !key.is_strict => key.check(headers),
            Some(_) | None => Ok(()),
        }
    }

    async fn call(
        &self,
        parts: &Parts,
        body: Incoming,
        mut table: Arc<RouteTable>,
        (server, tool): (&str, &str),
    ) -> Result<Response, McpoFault> {
        let has_tool = |table: &RouteTable| {
            let server = table.server(server);
            server.is_some_and(|server| server.tool(tool).is_some())
        };
        if !has_tool(&table) {
            // Its server may still be starting.
            table = self.0.routes.settled(Some(server)).await;
        }
        let server = table.server(server).ok_or(McpoFault::NotFound)?;
        let route = server.tool(tool).ok_or(McpoFault::NotFound)?;
        check_method(parts, Method::POST)?;
        self.check_key(&parts.headers)?;
        let body = read_body(&parts.headers, body).await?;
        // FastAPI takes a body of no type for JSON.
        let headers = &parts.headers;
        let is_json = is_json(headers) || !headers.contains_key(header::CONTENT_TYPE);
        let arguments = route.form().read(&body, is_json);
        let arguments = arguments.map_err(McpoFault::Arguments)?;
        let headers = server.forwarding.select(headers);
        let recorder = Arc::new(ReplyRecorder::new(headers));
        let number = self.0.calls.fetch_add(1, Ordering::Relaxed);
        let context = CallContext {
            call_id: CallId(number.to_string()),
            origin: CallOrigin::default(),
            user: bridge_user(),
            workspace: None,
            cancel: CancellationToken::new(),
            client: recorder.clone(),
            timer: CallTimer::default(),
        };
        let (result, arguments) = table.call(route, arguments, &context).await;
        let json = recorder.outcome(result, arguments)?;
        let mut response = Response::new(Body::from(json));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        Ok(response)
    }
}

fn docs(table: &RouteTable, server: Option<&str>) -> Result<Response, McpoFault> {
    let labels = table.labels();
    let (title, base) = match server {
        Some(name) => {
            let server = table.server(name).ok_or(McpoFault::NotFound)?;
            (server.name.as_str(), labels.path_of(name))
        }
        None => (labels.title.as_str(), labels.root_path.clone()),
    };
    let document = format!("{base}/openapi.json");
    Ok(docs_page::page(title, &labels.root_path, &document))
}

async fn read_body(headers: &HeaderMap, body: Incoming) -> Result<Vec<u8>, McpoFault> {
    let declared = declared_length(headers, MAX_BODY_BYTES)?;
    Ok(collect(Body::new(body), declared, MAX_BODY_BYTES).await?)
}

fn check_method(parts: &Parts, allowed: Method) -> Result<(), McpoFault> {
    if parts.method == allowed || (allowed == Method::GET && parts.method == Method::HEAD) {
        return Ok(());
    }
    let allowed = if allowed == Method::GET {
        "GET"
    } else {
        "POST"
    };
    Err(McpoFault::WrongMethod(allowed))
}
