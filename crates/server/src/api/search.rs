//! `/api/search`: full-text search in one's chats.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::QueryParams;
use crate::wire::{SearchHit, SearchHitKind, SnippetPiece};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

/// How much is found where nobody says how much, and the most there is.
const DEFAULT_HITS: usize = 30;
const MAX_HITS: usize = 100;

#[derive(Debug, Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(default)]
pub(crate) struct SearchParams {
    q: String,
    limit: Option<usize>,
}

pub(crate) async fn search(
    State(app): State<App>,
    user: CurrentUser,
    QueryParams(params): QueryParams<SearchParams>,
) -> Result<Json<Vec<SearchHit>>, ApiError> {
    let limit = params.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let hits = app.store.search(&user.id, &params.q, limit).await?;
    Ok(Json(hits.into_iter().map(view).collect()))
}

fn view(hit: tenon_store::SearchMatch) -> SearchHit {
    let pieces = hit.snippet.into_iter().map(|piece| SnippetPiece {
        text: piece.text,
        found: piece.found,
    });
    SearchHit {
        chat_id: hit.chat,
        title: hit.title,
        kind: match hit.kind {
            tenon_store::MatchKind::Title => SearchHitKind::Title,
            tenon_store::MatchKind::Message => SearchHitKind::Message,
            tenon_store::MatchKind::Call => SearchHitKind::Call,
        },
        turn_id: hit.turn,
        snippet: pieces.collect(),
        at: hit.at,
        archived: hit.archived,
    }
}
