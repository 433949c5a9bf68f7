//! A route, and for whom it is. A list of them is a router, and a test.

use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Extension, Router};

use super::body::BodyLimit;
use crate::app::App;
use crate::auth::gate::{Gate, Keys, Reach, Thing, gate};

pub struct Route {
    pub method: Method,
    /// Below `/api`.
    pub path: &'static str,
    pub reach: Reach,
    pub keys: Keys,
    handler: MethodRouter<App>,
}

impl Route {
    fn new(method: Method, path: &'static str, reach: Reach, handler: MethodRouter<App>) -> Self {
        let keys = match reach {
            Reach::Open | Reach::User => Keys::All,
            Reach::Of(Thing::Chat | Thing::Turn | Thing::Call | Thing::Blob) => Keys::All,
            Reach::Of(Thing::Key | Thing::Session | Thing::Source) | Reach::Admin => Keys::Full,
            Reach::Shell => Keys::None,
        };
        Self {
            method,
            path,
            reach,
            keys,
            handler,
        }
    }

    /// Lets other keys pass than usual.
    pub(super) fn keys(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// Takes bodies of up to so many bytes, where that is more than usual.
    pub(super) fn body(self, bytes: usize) -> Self {
        let handler = self.handler.layer(Extension(BodyLimit(bytes)));
        Self { handler, ..self }
    }

    /// Puts the route into a router, behind its gate.
    pub(super) fn mount(self, router: Router<App>, app: &App) -> Router<App> {
        let guarded = Gate {
            app: app.clone(),
            reach: self.reach,
            keys: self.keys,
        };
        let handler = self.handler.route_layer(from_fn_with_state(guarded, gate));
        router.route(self.path, handler)
    }
}

macro_rules! methods {
    ($($name:ident $method:ident)*) => {$(
        pub(super) fn $name<H: Handler<T, App>, T: 'static>(
            path: &'static str,
            reach: Reach,
            handler: H,
        ) -> Route {
            Route::new(Method::$method, path, reach, on(MethodFilter::$method, handler))
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

/// A socket begins with GET, or with CONNECT where HTTP/2 is spoken.
pub(super) fn socket<H: Handler<T, App>, T: 'static>(
    path: &'static str,
    reach: Reach,
    handler: H,
) -> Route {
    let methods = MethodFilter::GET.or(MethodFilter::CONNECT);
    Route::new(Method::GET, path, reach, on(methods, handler))
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} /api{} ({:?})", self.method, self.path, self.reach)
    }
}
