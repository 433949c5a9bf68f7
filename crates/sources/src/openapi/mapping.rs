//! Types of the OpenAPI protocol as types of Tenon.

use tenon_domain::{
    Annotations, Content, ErrorKind, SourceCredential, ToolDefinition, ToolError, ToolOutput,
    ToolResult,
};
use tenon_openapi::Operation;
use tenon_openapi::request::BuildError;
use tenon_openapi::response::{ResponseContent, ResponseError};
use tenon_openapi::security::SchemeCredential;
use tenon_openapi::security::apply::CredentialError;

use super::page;
use crate::call_error::{RequestInputError, ServerCallError, failed};

pub(crate) fn tool_definition(operation: &Operation) -> ToolDefinition {
    ToolDefinition {
        name: operation.name.clone(),
        title: operation.title.clone(),
        description: operation.description.clone(),
        input_schema: operation.input_schema.clone().into_raw().into(),
        annotations: Annotations {
            read_only: operation.is_safe(),
            destructive: operation.method == reqwest::Method::DELETE,
            idempotent: operation.is_idempotent(),
            open_world: true,
            deprecated: operation.deprecated,
            ..Annotations::default()
        },
    }
}

pub(crate) fn tool_result(read: Result<Vec<ResponseContent>, ResponseError>) -> ToolResult {
    let read = read.map_err(|error| ToolError::failed(error.to_string()))?;
    let mut content = Vec::with_capacity(read.len());
    for one in read {
        match one {
            ResponseContent::Text(text) => content.push(Content::Text { text }),
            ResponseContent::Json(value) => content.push(Content::Json { value }),
            ResponseContent::Image { media_type, data } => content.push(Content::Image {
                media_type: media_type.to_owned(),
                data,
            }),
            ResponseContent::File {
                media_type,
                name,
                data,
            } => content.push(Content::File {
                media_type,
                name,
                data,
            }),
            ResponseContent::InlinePage { html, name } => {
                content.extend(page::content(&html, name))
            }
        }
    }
    Ok(ToolOutput { content })
}

pub(crate) fn build_error(error: BuildError) -> ToolError {
    let kind = if error.is_invalid_input() {
        ErrorKind::InvalidInput
    } else {
        ErrorKind::Failed
    };
    ToolError::coded(kind, RequestInputError::from(error))
}

pub(super) fn credential_error(error: CredentialError) -> ToolError {
    match error {
        CredentialError::Cookie(error) => build_error(error),
        CredentialError::NotAHeaderValue => failed(ServerCallError::KeyUnsendable),
        CredentialError::HeaderName(error) => failed(RequestInputError::from(error)),
    }
}

pub(super) fn scheme_credential(credential: &SourceCredential) -> SchemeCredential {
    match credential.clone() {
        SourceCredential::Key { value } => SchemeCredential::Key { value },
        SourceCredential::Basic { user, password } => SchemeCredential::Basic { user, password },
        SourceCredential::Client {
            id,
            secret,
            token_url,
            scopes,
        } => SchemeCredential::Client {
            id,
            secret,
            token_url,
            scopes,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tenon_openapi::parse;

    use super::*;

    #[test]
    fn methods_hint_at_what_a_tool_does() {
        let operation = json!({ "deprecated": true });
        let methods: Value = ["get", "post", "put", "delete", "query", "patch"]
            .into_iter()
            .map(|method| (method.to_owned(), operation.clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let document = json!({ "openapi": "3.2.0", "paths": { "/a": methods } });
        let parsed = parse::parse(&document).unwrap();
        let hints = parsed.operations.iter().map(|operation| {
            let hints = tool_definition(operation).annotations;
            assert!(hints.open_world && hints.deprecated && !hints.ends_turn);
            let hints = (hints.read_only, hints.destructive, hints.idempotent);
            (operation.method.as_str(), hints)
        });
        assert_eq!(
            hints.collect::<Vec<_>>(),
            [
                ("GET", (true, false, true)),
                ("POST", (false, false, false)),
                ("PUT", (false, false, true)),
                ("DELETE", (false, true, true)),
                ("QUERY", (true, false, true)),
                ("PATCH", (false, false, false)),
            ]
        );
    }
}
