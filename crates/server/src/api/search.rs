//! Finding again what was said.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::error::ApiError;
use super::query::Params;
use super::wire::{HitKind, SearchHit, SnippetPiece};
use crate::app::App;
use crate::auth::CurrentUser;

/// How much is found where nobody says how much, and the most there is.
const FOUND: usize = 30;
const MAX_FOUND: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SearchParams {
    q: String,
    limit: Option<usize>,
}

pub(super) async fn search(
    State(app): State<App>,
    user: CurrentUser,
    Params(params): Params<SearchParams>,
) -> Result<Json<Vec<SearchHit>>, ApiError> {
    let limit = params.limit.unwrap_or(FOUND).clamp(1, MAX_FOUND);
    let hits = app.store.search(&user.id, &params.q, limit).await?;
    Ok(Json(hits.into_iter().map(view).collect()))
}

fn view(hit: tenon_store::Hit) -> SearchHit {
    let pieces = hit.snippet.into_iter().map(|piece| SnippetPiece {
        text: piece.text,
        found: piece.found,
    });
    SearchHit {
        chat_id: hit.chat,
        title: hit.title,
        kind: match hit.kind {
            tenon_store::HitKind::Title => HitKind::Title,
            tenon_store::HitKind::Message => HitKind::Message,
            tenon_store::HitKind::Call => HitKind::Call,
        },
        turn_id: hit.turn,
        snippet: pieces.collect(),
        at: hit.at,
        archived: hit.archived,
    }
}
