//! Tenon's own API: what the page and scripts talk to.

pub mod error;
pub mod typescript;
pub mod wire;

mod body;
mod chats;
mod id;
mod info;
mod models;
mod socket;
pub mod tools;
mod turns;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use tower_http::compression::CompressionLayer;

use crate::app::App;
use crate::guard::guard;
use crate::ui;

use error::ApiError;

/// Every route there is, behind the guard.
pub fn router(app: App) -> Router {
    let api = Router::new()
        .route("/info", get(info::info))
        .route("/chats", get(chats::list).post(chats::create))
        .route(
            "/chats/{id}",
            get(chats::show).patch(chats::change).delete(chats::delete),
        )
        .route("/chats/{id}/messages", get(chats::messages))
        .route("/chats/{id}/turns", post(turns::start))
        .route("/turns/{id}/cancel", post(turns::cancel))
        .route("/tools", get(tools::list))
        .route("/tools/{id}/call", post(tools::call))
        .route("/models", get(models::list).post(models::create))
        .route("/models/discover", post(models::discover))
        .route(
            "/models/{id}",
            get(models::show)
                .patch(models::change)
                .delete(models::delete),
        )
        .route("/models/{id}/test", post(models::test))
        .route("/endpoints", get(models::endpoints))
        .route("/blobs/{id}", get(tools::blob))
        .route("/ws", any(socket::open))
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method);
    Router::new()
        .nest("/api", api)
        .route("/health", get(info::health))
        .route("/", get(ui::index))
        .fallback(get(ui::asset))
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
