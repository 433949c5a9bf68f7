//! The body of a question. Whole documents may come along in it.

use axum::extract::{FromRequest, Request};

use super::ask::{Ask, Asked};
use crate::api::body::{read, read_with};
use crate::api::error::ApiError;
use crate::app::App;
use crate::budget::BudgetShare;

/// A question, read, and the memory that it takes until it is answered.
pub(crate) struct Question(pub(super) Asked, pub(super) Option<BudgetShare>);

impl FromRequest<App> for Question {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let asked = read_with(request, app, |body| read::<Ask>(body)?.read());
        let (asked, memory) = asked.await?;
        Ok(Self(asked, memory))
    }
}
