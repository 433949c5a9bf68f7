//! Tenon's own API: what the page and scripts talk to.

pub mod error;
pub mod route;
pub mod typescript;
pub mod wire;

mod audit;
mod auth;
mod blobs;
pub(crate) mod body;
pub(crate) mod calls;
mod chats;
mod devices;
mod export;
mod id;
mod info;
mod invites;
pub(crate) mod keys;
mod line;
mod login;
mod me;
mod models;
mod oidc;
mod query;
mod search;
mod settings;
mod share;
mod shell;
mod socket;
mod sources;
pub mod tools;
mod turns;
pub(crate) mod users;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use tower_http::compression::CompressionLayer;

use crate::app::App;
use crate::auth::gate::Keys;
use crate::auth::gate::Reach::{Admin, Of, Open, Shell, User};
use crate::auth::gate::Thing::{Blob, Call, Chat, Key, Session, Source, Turn};
use crate::expose::openai;
use crate::guard::guard;
use crate::sources::Sources;
use crate::ui;

use error::ApiError;
use route::{Route, delete, get, patch, post, put, socket};

/// Every route of the API, and for whom it is.
pub fn routes() -> Vec<Route> {
    vec![
        get("/info", User, info::info),
        post("/chat/completions", User, openai::complete).body(openai::MAX_BODY),
        // Accounts.
        get("/auth/state", Open, auth::state),
        post("/auth/setup", Open, auth::set_up),
        post("/auth/login", Open, auth::log_in),
        post("/auth/sign-up", Open, auth::sign_up),
        get("/auth/invites/{token}", Open, auth::invitation),
        get("/auth/oidc/start", Open, oidc::start),
        get("/auth/oidc/callback", Open, oidc::callback),
        post("/auth/logout", Open, auth::log_out),
        post("/auth/logout-everywhere", User, me::log_out_everywhere).keys(Keys::None),
        delete("/auth/switched-off", User, me::forget_switched_off).keys(Keys::None),
        get("/auth/me", User, me::show),
        patch("/auth/me", User, me::change).keys(Keys::Full),
        get("/auth/sessions", User, me::sessions).keys(Keys::Full),
        delete("/auth/sessions/{id}", Of(Session), me::end_session).keys(Keys::None),
        get("/keys", User, keys::list).keys(Keys::Full),
        post("/keys", User, keys::create).keys(Keys::None),
        delete("/keys/{id}", Of(Key), keys::delete),
        get("/users", Admin, users::list),
        post("/users", Admin, users::create),
        patch("/users/{id}", Admin, users::change),
        delete("/users/{id}", Admin, users::delete),
        get("/invites", Admin, invites::list),
        post("/invites", Admin, invites::create),
        delete("/invites/{id}", Admin, invites::delete),
        get("/settings", Admin, settings::show),
        patch("/settings", Admin, settings::change),
        get("/audit", Admin, audit::list),
        // Chats.
        get("/chats", User, chats::list),
        post("/chats", User, chats::create),
        get("/chats/{id}", Of(Chat), chats::show),
        patch("/chats/{id}", Of(Chat), chats::change),
        delete("/chats/{id}", Of(Chat), chats::delete),
        get("/chats/{id}/messages", Of(Chat), chats::messages),
        post("/chats/{id}/restore", Of(Chat), chats::restore),
        get("/chats/{id}/export", Of(Chat), export::export),
        post("/chats/import", User, export::import),
        get("/search", User, search::search),
        get("/chats/{id}/share", Of(Chat), share::show),
        post("/chats/{id}/share", Of(Chat), share::make),
        delete("/chats/{id}/share", Of(Chat), share::take_back),
        get("/shares", User, share::list),
        get("/shared/{token}", Open, share::read),
        post("/chats/{id}/turns", Of(Chat), turns::start),
        post("/chats/{id}/branch", Of(Chat), turns::choose_branch),
        post("/turns/{id}/cancel", Of(Turn), turns::cancel),
        // A key that may only use tools must not decide which it may use.
        post("/calls/{id}/answer", Of(Call), calls::answer).keys(Keys::Full),
        post("/calls/{id}/form", Of(Call), calls::answer_form).keys(Keys::Full),
        get("/blobs/{id}", Of(Blob), blobs::show),
        get("/blobs/{id}/frame", Of(Blob), blobs::frame),
        socket("/ws", User, socket::open),
        // Tools and models.
        get("/tools", User, tools::list),
        patch("/tools", User, tools::change).keys(Keys::Full),
        post("/tools/{id}/call", User, tools::call),
        get("/shell/sources", Shell, shell::sources),
        get("/shell/tools", Shell, shell::tools),
        post("/shell/tools/{id}/call", Shell, shell::call),
        get("/models", User, models::list),
        post("/models", Admin, models::create),
        post("/models/discover", Admin, models::discover),
        get("/models/{id}", User, models::show),
        patch("/models/{id}", Admin, models::change),
        delete("/models/{id}", Admin, models::delete),
        post("/models/{id}/test", Admin, models::test),
        get("/endpoints", User, models::endpoints),
        // Servers on people's own machines.
        get("/devices", User, devices::list),
        delete("/devices/{id}", User, devices::forget).keys(Keys::Full),
        post("/devices/behind", User, devices::behind),
        get("/devices/endpoints", User, devices::endpoints),
        put("/devices/endpoints", User, devices::set_endpoints).keys(Keys::Full),
        // Servers.
        get("/sources", User, sources::list),
        post("/sources", User, sources::create)
            .keys(Keys::Full)
            .body(Sources::MAX_BODY),
        post("/sources/preview", User, sources::preview)
            .keys(Keys::Full)
            .body(Sources::MAX_BODY),
        post("/sources/import", User, sources::import)
            .keys(Keys::Full)
            .body(Sources::MAX_BODY),
        get("/sources/{id}", Of(Source), sources::show).keys(Keys::All),
        post("/sources/{id}/login", Of(Source), login::start).keys(Keys::None),
        delete("/sources/{id}/login", Of(Source), login::end),
        patch("/sources/{id}", Of(Source), sources::change).body(Sources::MAX_BODY),
        delete("/sources/{id}", Of(Source), sources::delete),
        post("/sources/{id}/restart", Of(Source), sources::restart),
        post("/sources/{id}/refresh", Of(Source), sources::refresh),
        get("/sources/{id}/logs", Of(Source), sources::logs),
        get("/sources/callback", Open, login::callback),
        get("/sources/client", Open, login::describe),
        get("/secrets", User, sources::secrets).keys(Keys::Full),
        put("/secrets/{name}", User, sources::set_secret).keys(Keys::Full),
        delete("/secrets/{name}", User, sources::remove_secret).keys(Keys::Full),
    ]
}

/// What clients made for OpenAI find below `/v1`.
fn v1_routes() -> Vec<Route> {
    vec![
        get("/models", User, openai::models),
        post("/chat/completions", User, openai::complete).body(openai::MAX_BODY),
    ]
}

/// All of them and the page, behind the guard.
pub fn router(app: App) -> Router {
    let mount = |routes: Vec<Route>| {
        let router = Router::new();
        routes
            .into_iter()
            .fold(router, |router, route| route.mount(router, &app))
            .fallback(no_such_route)
            .method_not_allowed_fallback(no_such_method)
    };
    Router::new()
        .nest("/api", mount(routes()))
        .nest(
            "/v1",
            mount(v1_routes()).layer(map_response(openai::in_their_words)),
        )
        .route("/health", axum::routing::get(info::health))
        .route("/", axum::routing::get(ui::index))
        .fallback(axum::routing::get(ui::asset))
        .method_not_allowed_fallback(no_such_method)
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn no_such_route() -> ApiError {
    ApiError::not_found("There is no such address in Tenon's API.")
}

async fn no_such_method() -> ApiError {
    ApiError::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        "wrong_method",
        "This address does not take that method.",
    )
}
