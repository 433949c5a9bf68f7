//! `/api/image`: a picture on the web that a person wants to see.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::QueryParams;

/// `GET /api/image?url=`
#[derive(Debug, Deserialize, TS)]
pub(crate) struct WebImageQuery {
    url: String,
}

pub(crate) async fn show(
    State(app): State<App>,
    _user: CurrentUser,
    QueryParams(image): QueryParams<WebImageQuery>,
) -> Result<Response, ApiError> {
    let image = app.web_images.fetch(&image.url).await?;
    let headers = [
        (header::CONTENT_TYPE, image.media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'",
        ),
    ];
    Ok((headers, image.data).into_response())
}
