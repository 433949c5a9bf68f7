//! What an OpenAPI document says, as the page is told it.

use serde::Serialize;
use tenon_domain::ToolDefinition;
use tenon_sources::openapi::operation::{Place, Scheme, SchemeKind, Skipped};
use tenon_sources::openapi::{Change, Preview};
use ts_rs::TS;

/// What was found in the document of an OpenAPI server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DocumentView {
    /// Operations that did not become tools.
    pub skipped: Vec<SkippedView>,
    pub schemes: Vec<SchemeView>,
    /// The servers behind it, if it is an mcpo.
    pub servers: Vec<String>,
    /// When it was last read.
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_at: Option<i64>,
    /// What the last reading that changed anything has changed.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<DocumentChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct SkippedView {
    /// "GET /pets/{id}"
    pub place: String,
    pub why: String,
}

/// A way to prove who asks, as the document has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct SchemeView {
    pub name: String,
    pub kind: SchemeKindView,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum SchemeKindView {
    Key {
        /// "header", "query" or "cookie"
        place: String,
        name: String,
    },
    Bearer,
    Basic,
    Client {
        token_url: String,
        scopes: Vec<String>,
    },
    /// Tenon cannot do it by itself.
    Other {
        name: String,
    },
}

/// `POST /api/sources/{id}/refresh`: which tools are not what they were, by their own names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct DocumentChange {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<String>,
}

/// `POST /api/sources/preview`: what a server would offer. The body is that of `POST /api/sources`.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourcePreview {
    pub title: String,
    pub version: String,
    pub tools: Vec<ToolPreview>,
    pub skipped: Vec<SkippedView>,
    pub schemes: Vec<SchemeView>,
    /// The servers behind it, if it is an mcpo.
    pub servers: Vec<String>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolPreview {
    pub name: String,
    pub title: String,
    pub description: String,
    pub read_only: bool,
    /// Off until somebody switches it on.
    pub deprecated: bool,
}

impl From<Skipped> for SkippedView {
    fn from(skipped: Skipped) -> Self {
        Self {
            place: skipped.place,
            why: skipped.why,
        }
    }
}

impl From<Scheme> for SchemeView {
    fn from(scheme: Scheme) -> Self {
        let kind = match scheme.kind {
            SchemeKind::Key { place, name } => SchemeKindView::Key {
                place: place_name(place).to_owned(),
                name,
            },
            SchemeKind::Bearer => SchemeKindView::Bearer,
            SchemeKind::Basic => SchemeKindView::Basic,
            SchemeKind::Client { token_url, scopes } => {
                SchemeKindView::Client { token_url, scopes }
            }
            SchemeKind::Other(name) => SchemeKindView::Other { name },
        };
        Self {
            name: scheme.name,
            kind,
            description: scheme.description,
        }
    }
}

fn place_name(place: Place) -> &'static str {
    match place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
        Place::Cookie => "cookie",
    }
}

impl From<Change> for DocumentChange {
    fn from(change: Change) -> Self {
        Self {
            added: change.added,
            removed: change.removed,
            changed: change.changed,
        }
    }
}

impl From<ToolDefinition> for ToolPreview {
    fn from(tool: ToolDefinition) -> Self {
        Self {
            title: tool.title.unwrap_or_else(|| tool.name.clone()),
            name: tool.name,
            description: tool.description,
            read_only: tool.annotations.read_only,
            deprecated: tool.annotations.deprecated,
        }
    }
}

impl From<Preview> for SourcePreview {
    fn from(preview: Preview) -> Self {
        Self {
            title: preview.title,
            version: preview.version,
            tools: preview.tools.into_iter().map(Into::into).collect(),
            skipped: preview.skipped.into_iter().map(Into::into).collect(),
            schemes: preview.schemes.into_iter().map(Into::into).collect(),
            servers: preview.servers,
            notes: preview.notes,
        }
    }
}
