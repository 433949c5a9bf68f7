//! The body of a chat completion request. Whole OpenAPI documents may be part of it.

use axum::extract::{FromRequest, Request};

use super::completion_request::{ChatCompletionRequest, CompletionRequest};
use crate::error::ApiError;
use crate::request::{read, read_with};
use crate::state::ServerState;
use tenon_app::budget::BudgetShare;

/// A question, read, and the memory that it takes until it is answered.
pub(crate) struct CompletionBody(pub(super) CompletionRequest, pub(super) Option<BudgetShare>);

impl FromRequest<ServerState> for CompletionBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, ApiError> {
        let asked = read_with(request, &state.app, |body| {
            read::<ChatCompletionRequest>(body)?.read()
        });
        let (asked, memory) = asked.await?;
        Ok(Self(asked, memory))
    }
}
