//! Routes for shell commands with the same data folder: sources, tools and calls, without starting
//! anything a second time.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tenon_domain::ToolId;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::{Id, JsonBody, QueryParams};
use crate::run_to_end::RunToEnd;
use crate::wire::{CallTool, CallToolAnswer, SourceDetail, ToolView};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::tools::{ToolCaller, ToolListFilter};
use tokio_util::sync::CancellationToken;

/// `GET /api/shell/tools?q=&limit=`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
pub(crate) struct ShellToolsQuery {
    q: Option<String>,
    limit: Option<usize>,
}

pub(crate) async fn tools(
    State(app): State<App>,
    user: CurrentUser,
    QueryParams(query): QueryParams<ShellToolsQuery>,
) -> Result<Json<Vec<ToolView>>, ApiError> {
    // Include changes that another command has just written.
    app.sources.sync().await;
    app.settle_sources(&user).await;
    let access = app.tools.access(&user, None).await?;
    let filter = ToolListFilter {
        query: query.q.as_deref(),
        limit: query.limit.unwrap_or(usize::MAX),
        ..ToolListFilter::ALL
    };
    let page = app.tools.page(&app.registry.toolset(access), &filter);
    Ok(Json(page.tools))
}

/// `GET /api/shell/sources`
pub(crate) async fn sources(State(app): State<App>, user: CurrentUser) -> Json<Vec<SourceDetail>> {
    app.sources.sync().await;
    Json(app.sources.list(&user))
}

/// `POST /api/shell/tools/{toolId}/call`; null where there is no such tool.
pub(crate) async fn call(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ToolId>,
    JsonBody(call): JsonBody<CallTool>,
) -> Result<Json<Option<CallToolAnswer>>, ApiError> {
    let cancel = CancellationToken::new();
    // Ending the command (Ctrl-C) cancels its call.
    let _hung_up = cancel.clone().drop_guard();
    // The call is recorded even if the command disconnects.
    let calling = RunToEnd::new(async move {
        app.sources.sync().await;
        let toolset = app.registry.toolset(app.tools.access(&user, None).await?);
        if toolset.find(&id).is_none() {
            app.settle_sources(&user).await;
        }
        let caller = ToolCaller::new(&user, "");
        app.tools.call(caller, id, call.arguments, cancel).await
    });
    Ok(Json(calling.await?))
}
