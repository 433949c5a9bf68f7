//! What an OpenAPI document says, as people see it.

use serde::Serialize;
use tenon_domain::{ErrorDetail, ToolDefinition};
use tenon_sources::openapi::OpenapiPreview;
use tenon_sources::openapi::operation::{
    ParameterLocation, SecurityScheme, SecuritySchemeKind, SkippedOperation,
};
use tenon_sources::{ToolChanges, ToolNote};
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
    /// "GET /pets/{id}"; empty for all beyond the last that is read.
    pub place: String,
    pub why: ErrorDetail,
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

/// Which tools are not what they were, by their own names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct DocumentChange {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<String>,
}

/// What a server would offer.
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
    pub notes: Vec<ErrorDetail>,
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

impl From<SkippedOperation> for SkippedView {
    fn from(skipped: SkippedOperation) -> Self {
        Self {
            place: skipped.operation,
            why: ToolNote::of_operation(&skipped.reason).into(),
        }
    }
}

impl From<SecurityScheme> for SchemeView {
    fn from(scheme: SecurityScheme) -> Self {
        let kind = match scheme.kind {
            SecuritySchemeKind::ApiKey { location, name } => SchemeKindView::Key {
                place: location_name(location).to_owned(),
                name,
            },
            SecuritySchemeKind::Bearer => SchemeKindView::Bearer,
            SecuritySchemeKind::Basic => SchemeKindView::Basic,
            SecuritySchemeKind::ClientCredentials { token_url, scopes } => {
                SchemeKindView::Client { token_url, scopes }
            }
            SecuritySchemeKind::Other(name) => SchemeKindView::Other { name },
        };
        Self {
            name: scheme.name,
            kind,
            description: scheme.description,
        }
    }
}

fn location_name(location: ParameterLocation) -> &'static str {
    match location {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
        ParameterLocation::Header => "header",
        ParameterLocation::Cookie => "cookie",
    }
}

impl From<ToolChanges> for DocumentChange {
    fn from(change: ToolChanges) -> Self {
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

impl From<OpenapiPreview> for SourcePreview {
    fn from(preview: OpenapiPreview) -> Self {
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
