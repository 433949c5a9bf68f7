//! The body of a question. Whole documents may come along in it, so a large one
//! is read where nobody waits for the thread, and not many at once.

use axum::extract::{FromRequest, Request};

use super::ask::{Ask, Asked};
use crate::api::body;
use crate::api::error::ApiError;
use crate::app::App;

/// Read in about a millisecond.
const READ_APART: usize = 256 * 1024;

/// A question, read.
pub(crate) struct Question(pub(super) Asked);

impl FromRequest<App> for Question {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let body = body::whole(request, app).await?;
        let asked = match body.len() > READ_APART {
            false => read(&body),
            true => {
                let turn = app.sources.parses().acquire_owned().await.ok();
                let reading = tokio::task::spawn_blocking(move || {
                    let asked = read(&body);
                    drop(turn);
                    asked
                });
                let failed = |_panic| ApiError::bad_request("The request cannot be read.");
                reading.await.map_err(failed)?
            }
        };
        asked.map(Self)
    }
}

fn read(body: &[u8]) -> Result<Asked, ApiError> {
    body::read::<Ask>(body)?.read()
}
