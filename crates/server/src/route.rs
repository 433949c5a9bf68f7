//! A route, and for whom it is: a list of them makes the router, and a test tries each of them.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::handler::Handler;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use futures::future::BoxFuture;

use crate::authorize::{KeyPolicy, OwnedResource, RouteAccess, RouteRule, authorize};
use crate::operation::{DocumentedHandler, OperationParts};
use crate::request::{BodyLimit, RequestMemory};
use crate::request_span;
use crate::run_to_end::RunToEnd;
use crate::state::ServerState;

pub struct Route {
    pub method: Method,
    /// Below `/api`.
    pub path: &'static str,
    pub access: RouteAccess,
    pub keys: KeyPolicy,
    body_limit: Option<BodyLimit>,
    runs_to_end: bool,
    methods: MethodFilter,
    handler: ErasedHandler,
    describe: fn() -> OperationParts,
}

impl Route {
    fn new<H: DocumentedHandler<T>, T: 'static>(
        method: Method,
        path: &'static str,
        access: RouteAccess,
        (methods, handler): (MethodFilter, H),
    ) -> Self {
        let keys = match access {
            RouteAccess::Open | RouteAccess::User | RouteAccess::Key => KeyPolicy::All,
            RouteAccess::Owner(
                OwnedResource::Chat
                | OwnedResource::Turn
                | OwnedResource::Call
                | OwnedResource::ModelCall
                | OwnedResource::Blob
                | OwnedResource::Folder
                | OwnedResource::File,
            ) => KeyPolicy::All,
            RouteAccess::Owner(
                OwnedResource::Key
                | OwnedResource::Session
                | OwnedResource::Source
                | OwnedResource::Expert
                | OwnedResource::Prompt
                | OwnedResource::Skill,
            )
            | RouteAccess::Admin => KeyPolicy::Full,
            RouteAccess::Shell => KeyPolicy::None,
        };
        Self {
            runs_to_end: method != Method::GET,
            method,
            path,
            access,
            keys,
            body_limit: None,
            methods,
            handler: Arc::new(move |request, state| handler.clone().call(request, state)),
            describe: H::describe,
        }
    }

    /// Lets other keys pass than usual.
    pub(super) fn keys(self, keys: KeyPolicy) -> Self {
        Self { keys, ..self }
    }

    /// Takes bodies of up to so many bytes, where that is more than usual.
    pub(super) fn body(self, bytes: usize) -> Self {
        let body_limit = Some(BodyLimit(bytes));
        Self { body_limit, ..self }
    }

    /// Stops where its client hangs up, although it is no GET: it takes long and changes nothing,
    /// or sees to its end itself.
    pub(super) fn stops_with_client(self) -> Self {
        let runs_to_end = false;
        Self {
            runs_to_end,
            ..self
        }
    }

    /// Changes something, although it is a GET.
    pub(super) fn writes(self) -> Self {
        let runs_to_end = true;
        Self {
            runs_to_end,
            ..self
        }
    }

    /// What it takes and gives.
    pub fn operation(&self) -> OperationParts {
        (self.describe)()
    }

    /// Who may use it.
    pub(super) fn rule(&self) -> RouteRule {
        RouteRule {
            access: self.access,
            keys: self.keys,
        }
    }

    /// The handler behind its authorization.
    pub(super) fn into_handler(self) -> MethodRouter<ServerState> {
        let rule = HandlerRule {
            access: self.rule(),
            body_limit: self.body_limit,
            runs_to_end: self.runs_to_end,
        };
        let handler = self.handler;
        on(self.methods, AuthorizedHandler { handler, rule })
    }
}

/// What holds for every request to one handler.
#[derive(Debug, Clone, Copy)]
struct HandlerRule {
    access: RouteRule,
    body_limit: Option<BodyLimit>,
    /// Whether a write runs to its end if the client disconnects: the database may complete it
    /// anyway, and caches have to be invalidated afterwards.
    runs_to_end: bool,
}

/// A trait object, so that what axum and we build around a handler is compiled once and not for
/// each of them: the compiler would prove for every layer that the handler's future is `Send`.
type ErasedHandler =
    Arc<dyn Fn(Request, ServerState) -> BoxFuture<'static, Response> + Send + Sync>;

/// A handler behind the authorization of its route. Not a layer of middleware: each of those
/// boxes the future of every request, and what it wraps, once more.
#[derive(Clone)]
struct AuthorizedHandler {
    handler: ErasedHandler,
    rule: HandlerRule,
}

impl Handler<(), ServerState> for AuthorizedHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: ServerState) -> Self::Future {
        let Self { handler, rule } = self;
        let (mut parts, body) = request.into_parts();
        // axum tells the template of every route that it calls.
        let route = parts.extensions.get::<MatchedPath>();
        let span = request_span::open(&parts, route.map_or("", MatchedPath::as_str));
        let answering = async move {
            match authorize(rule.access, &state.app, &parts).await {
                Ok(Some(user)) => {
                    // The handler finds them there.
                    parts.extensions.insert(user);
                }
                Ok(None) => {}
                Err(error) => return error.into_response(),
            }
            if let Some(limit) = rule.body_limit {
                parts.extensions.insert(limit);
            }
            // What the handler works with counts as long as it works.
            let memory = RequestMemory::default();
            parts.extensions.insert(memory.clone());
            let response = handler(Request::from_parts(parts, body), state).await;
            drop(memory);
            response
        };
        let answering = request_span::run(span, answering);
        if rule.runs_to_end {
            Box::pin(RunToEnd::new(answering))
        } else {
            Box::pin(answering)
        }
    }
}

macro_rules! methods {
    ($($name:ident $method:ident)*) => {$(
        pub(super) fn $name<H: DocumentedHandler<T>, T: 'static>(
            path: &'static str,
            access: RouteAccess,
            handler: H,
        ) -> Route {
            Route::new(Method::$method, path, access, (MethodFilter::$method, handler))
        }
    )*};
}

methods! {
    get GET
    post POST
    put PUT
    patch PATCH
    delete DELETE
}

/// A WebSocket begins with GET, or with CONNECT where HTTP/2 is spoken.
pub(super) fn websocket<H: DocumentedHandler<T>, T: 'static>(
    path: &'static str,
    access: RouteAccess,
    handler: H,
) -> Route {
    let methods = MethodFilter::GET.or(MethodFilter::CONNECT);
    Route::new(Method::GET, path, access, (methods, handler))
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} /api{} ({:?})", self.method, self.path, self.access)
    }
}
