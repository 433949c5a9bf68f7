//! Chats as files: JSON that Tenon reads again, Markdown for people.

mod file_name;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tenon_app::chats::{self, ExportedSettings, ImportError, MAX_IMPORT_BYTES};
use tenon_domain::ChatId;
use tenon_store::{NewChat, now};
use tokio::sync::Semaphore;
use ts_rs::TS;

use super::chats::summary;
use crate::api_fault::ApiFault;
use crate::concurrency;
use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::QueryParams;
use crate::request::receive;
use crate::wire::ChatSummary;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::budget::run_blocking;

/// One file at a time: each takes several times its size of memory, and is
/// written in one go while nobody else writes.
static IMPORTS: Semaphore = Semaphore::const_new(1);

#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
pub(crate) struct ExportParams {
    #[serde(default)]
    #[ts(inline)]
    format: Format,
    /// With the files that were attached, in JSON.
    #[serde(default)]
    files: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Markdown,
}

pub(crate) async fn export(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    QueryParams(params): QueryParams<ExportParams>,
) -> Result<Response, ApiError> {
    let transcript = match params.format {
        Format::Json => app.store.transcript(&user.id, &chat).await?,
        Format::Markdown => app.store.active_branch_transcript(&user.id, &chat).await?,
    };
    let title = transcript.chat.title.clone();
    let (media_type, extension, text) = match params.format {
        Format::Json => {
            let settings =
                ExportedSettings::of_chat(&app.store, &app.experts, &user.id, &transcript.chat);
            let settings = settings.await?;
            let mut exported = chats::export(transcript);
            exported.settings = settings;
            let files = if params.files {
                chats::export_files(&app.store, &chat, exported.file_ids()).await?
            } else {
                Vec::new()
            };
            let write = move || {
                exported.files = files.into_iter().map(Into::into).collect();
                serde_json::to_string_pretty(&exported)
            };
            let text = run_blocking(write)
                .await?
                .map_err(tenon_store::Error::from)?;
            ("application/json", "json", text)
        }
        Format::Markdown => {
            let write = move || chats::write_markdown(&chats::export(transcript));
            (
                "text/markdown; charset=utf-8",
                "md",
                run_blocking(write).await?,
            )
        }
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            file_name::attachment(&title, extension),
        ),
    ];
    Ok((headers, text).into_response())
}

pub(crate) async fn import(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    request: Request,
) -> Result<(StatusCode, Json<ChatSummary>), ApiError> {
    app.storage.check_room()?;
    // Received before a slot is taken, so that slow clients do not block others.
    let receiving = receive(request, &app.budget, Some(&user.id), MAX_IMPORT_BYTES);
    let received = receiving.await.map_err(|error| {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            let mib = MAX_IMPORT_BYTES / (1024 * 1024);
            ApiError::new(
                error.status(),
                not_importable(ImportError::TooLarge { mib }),
            )
        } else {
            error
        }
    })?;
    let _permit = concurrency::acquire(&IMPORTS).await?;
    let reading = app
        .budget
        .parse(&user.id, received.bytes, |body| chats::read(body, now()));
    let (chat, _memory) = reading.await?;
    drop(received.reservation);
    let (chat, settings) = chat.map_err(|error| ApiError::bad_request(not_importable(error)))?;
    let state = settings.resolve(&app.experts, &user.id).await?;
    let importing = app.store.import_chat(&user.id, NewChat { state, ..chat });
    let chat = importing.await?;
    let address = caller.address.to_string();
    user.note(
        &app.store,
        &address,
        "chat.imported",
        chat.id.as_str(),
        json!({}),
    )
    .await;
    Ok((StatusCode::CREATED, Json(summary(&app, chat).await?)))
}

fn not_importable(why: ImportError) -> ApiFault {
    ApiFault::NotImportable { why: why.into() }
}
