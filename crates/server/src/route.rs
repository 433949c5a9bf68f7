//! A route, and for whom it is: a list of them makes the router, and a test tries each of them.

use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Extension, Router};

use tenon_app::app::App;

use crate::authorize::{KeyPolicy, OwnedResource, RouteAccess, RouteRule, authorize};
use crate::request::BodyLimit;
use crate::state::ServerState;

pub struct Route {
    pub method: Method,
    /// Below `/api`.
    pub path: &'static str,
    pub access: RouteAccess,
    pub keys: KeyPolicy,
    handler: MethodRouter<ServerState>,
}

impl Route {
    fn new(
        method: Method,
        path: &'static str,
        access: RouteAccess,
        handler: MethodRouter<ServerState>,
    ) -> Self {
        let keys = match access {
            RouteAccess::Open | RouteAccess::User => KeyPolicy::All,
            RouteAccess::Owner(
                OwnedResource::Chat
                | OwnedResource::Turn
                | OwnedResource::Call
                | OwnedResource::Blob,
            ) => KeyPolicy::All,
            RouteAccess::Owner(
                OwnedResource::Key | OwnedResource::Session | OwnedResource::Source,
            )
            | RouteAccess::Admin => KeyPolicy::Full,
            RouteAccess::Shell => KeyPolicy::None,
        };
        Self {
            method,
            path,
            access,
            keys,
            handler,
        }
    }

    /// Lets other keys pass than usual.
    pub(super) fn keys(self, keys: KeyPolicy) -> Self {
        Self { keys, ..self }
    }

    /// Takes bodies of up to so many bytes, where that is more than usual.
    pub(super) fn body(self, bytes: usize) -> Self {
        let handler = self.handler.layer(Extension(BodyLimit(bytes)));
        Self { handler, ..self }
    }

    /// Puts the route into a router, behind its authorization.
    pub(super) fn mount(self, router: Router<ServerState>, app: &App) -> Router<ServerState> {
        let rule = RouteRule {
            app: app.clone(),
            access: self.access,
            keys: self.keys,
        };
        let handler = self
            .handler
            .route_layer(from_fn_with_state(rule, authorize));
        router.route(self.path, handler)
    }
}

macro_rules! methods {
    ($($name:ident $method:ident)*) => {$(
        pub(super) fn $name<H: Handler<T, ServerState>, T: 'static>(
            path: &'static str,
            access: RouteAccess,
            handler: H,
        ) -> Route {
            Route::new(Method::$method, path, access, on(MethodFilter::$method, handler))
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
pub(super) fn websocket<H: Handler<T, ServerState>, T: 'static>(
    path: &'static str,
    access: RouteAccess,
    handler: H,
) -> Route {
    let methods = MethodFilter::GET.or(MethodFilter::CONNECT);
    Route::new(Method::GET, path, access, on(methods, handler))
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} /api{} ({:?})", self.method, self.path, self.access)
    }
}
