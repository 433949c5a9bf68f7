//! The body of a question. Whole documents may come along in it.

use axum::extract::{FromRequest, Request};

use super::ask::{Ask, Asked};
use crate::api::body::{read, read_with};
use crate::api::error::ApiError;
use crate::app::App;

/// A question, read.
pub(crate) struct Question(pub(super) Asked);

impl FromRequest<App> for Question {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let asked = read_with(request, app, |body| read::<Ask>(body)?.read());
        asked.await.map(Self)
    }
}
