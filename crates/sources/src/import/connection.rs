//! One connection of Open WebUI: an OpenAPI server, or an MCP server over HTTP.
//!
//! Unknown fields are ignored, as Open WebUI does. Access rules and user mapping have no
//! equivalent here; a note says what of them is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use tenon_domain::{McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig};

use super::ServerDraft;
use super::description::{origin, title};
use super::entry_fields::EntryFields;
use super::error::ServerEntryError;
use super::names::{clean, host};
use super::note::ImportNote;
use super::server::address;
use crate::fault::document_fault;
use crate::{mcp, openapi};
use tenon_domain::text::line;
use tenon_openapi::document;

/// Where a document is, if nothing is said.
const DOCUMENT_PATH: &str = "openapi.json";

const AUTHORIZATION: &str = "Authorization";

/// Whether something is written as Open WebUI writes it.
pub(super) fn is_one(value: &Value) -> bool {
    match value.get("type").and_then(Value::as_str) {
        Some(kind) => matches!(kind, "openapi" | "mcp"),
        None => {
            let tells = ["auth_type", "spec_type"];
            let has_document = value.get("openapi").is_some_and(Value::is_object);
            value.get("url").is_some_and(Value::is_string)
                && (has_document || tells.iter().any(|key| value.get(key).is_some()))
        }
    }
}

pub(super) fn read(body: &Value) -> ServerDraft {
    let Value::Object(map) = body else {
        return ServerDraft::refused(ServerEntryError::NotAConnection);
    };
    let mut fields = EntryFields::new(plain(map), &[]);
    let mut info = fields.inner(&["info"]);
    let mut config = fields.inner(&["config"]);
    let mut named = |key: &str| {
        let text = info.text(&[key]).ok().flatten();
        text.filter(|text| !text.trim().is_empty())
    };
    let (id, shown) = (named("id"), named("name"));
    let mut document = None;
    let reached = reach(&mut fields, map, &mut document);
    limits(&mut fields, &mut config);
    let enabled = config.flag("enable").unwrap_or(true);
    let address = fields.text(&["url"]).ok().flatten();
    let at = address.as_deref().map(host).filter(|host| !host.is_empty());
    let title = document.as_ref().and_then(|(_, title)| title.clone());
    ServerDraft {
        title: shown.clone().or(title).or(id.clone()).or(at.clone()),
        name: id.or(shown).or(at.map(|host| clean(&host))),
        config: reached,
        document: document.map(|(document, _)| document),
        enabled,
        notes: fields.notes,
    }
}

/// Headers may be written as the text of an object.
fn plain(map: &Map<String, Value>) -> Map<String, Value> {
    let mut plain = map.clone();
    // Those are long, and looked at where they are.
    plain.shift_remove("spec");
    plain.shift_remove("openapi");
    if let Some(Value::String(text)) = map.get("headers") {
        let headers = serde_json::from_str(text).unwrap_or(Value::Null);
        let is_kept = headers.is_object() || text.trim().is_empty();
        if is_kept {
            plain.insert("headers".into(), headers);
        }
    }
    plain
}

/// A document in the configuration itself, and its title.
type InlineDocument = (Arc<[u8]>, Option<String>);

fn reach(
    fields: &mut EntryFields<'_>,
    map: &Map<String, Value>,
    document: &mut Option<InlineDocument>,
) -> Result<SourceConfig, ServerEntryError> {
    let kind = fields.text(&["type"])?;
    let is_mcp = match kind.as_deref() {
        None | Some("" | "openapi") => false,
        Some("mcp") => true,
        Some(other) => {
            let kind = line(other, 40).into();
            return Err(ServerEntryError::UnknownType { kind });
        }
    };
    let url = fields.peek("url")?;
    let url = url.filter(|url| !url.trim().is_empty());
    let url = address(&url.ok_or(ServerEntryError::NoUrl)?)?;
    let headers = headers(fields, is_mcp)?;
    if is_mcp {
        let transport = McpTransport::Http { url, headers };
        return Ok(SourceConfig::Mcp(McpConfig {
            transport,
            timeout_ms: None,
            tool_timeouts_ms: BTreeMap::new(),
            sleep_after_ms: None,
            start_timeout_ms: None,
            exclusive: false,
            client: None,
        }));
    }
    let path = fields.text(&["path"])?.unwrap_or_default();
    let spec_type = fields.text(&["spec_type"])?;
    let is_there = |value: &&Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        value => value.is_object(),
    };
    let is_json = spec_type.as_deref() == Some("json");
    let spec = map.get("spec").filter(|_| is_json).filter(is_there);
    let document_there = spec.or_else(|| map.get("openapi").filter(is_there));
    let origin = if is_json || document_there.is_some() {
        let inline = inline_document(document_there)?;
        let origin = origin(&inline.0);
        *document = Some(inline);
        origin
    } else {
        OpenapiOrigin::Url {
            url: joined(&url, path.trim())?,
        }
    };
    Ok(SourceConfig::Openapi(OpenapiConfig {
        // Requests go there, whatever the document says.
        base_url: Some(url.trim_end_matches('/').to_owned()),
        headers,
        ..OpenapiConfig::new(origin)
    }))
}

fn joined(url: &str, path: &str) -> Result<String, ServerEntryError> {
    if path.starts_with("http://") || path.starts_with("https://") {
        return address(path);
    }
    let path = match path.trim_start_matches('/') {
        "" => DOCUMENT_PATH,
        path => path,
    };
    Ok(format!("{}/{path}", url.trim_end_matches('/')))
}

/// A document as text, or as the object it is.
fn inline_document(spec: Option<&Value>) -> Result<InlineDocument, ServerEntryError> {
    let body: Arc<[u8]> = match spec {
        Some(Value::String(text)) if !text.trim().is_empty() => text.as_bytes().into(),
        Some(object @ Value::Object(_)) => object.to_string().into_bytes().into(),
        _ => return Err(ServerEntryError::NoDocument),
    };
    let value = document::read(&body)
        .map_err(|wrong| ServerEntryError::Other(document_fault(&wrong).into()))?;
    if !document::is_document(&value) {
        return Err(ServerEntryError::NotADocument);
    }
    Ok((body, title(&value)))
}

fn headers(
    fields: &mut EntryFields<'_>,
    is_mcp: bool,
) -> Result<BTreeMap<String, String>, ServerEntryError> {
    let mut headers = fields.map(&["headers"])?;
    let auth_type = fields.text(&["auth_type"])?;
    let key = fields.text(&["key"])?;
    let key = key.map(|key| key.trim().to_owned());
    let key = key.filter(|key| !key.is_empty());
    match (auth_type.as_deref(), key) {
        (None | Some("" | "bearer"), Some(key)) => {
            // As in Open WebUI, an explicit `Authorization` header wins over `key`.
            let is_said = |name: &String| name.eq_ignore_ascii_case(AUTHORIZATION);
            if !headers.keys().any(is_said) {
                headers.insert(AUTHORIZATION.into(), format!("Bearer {key}"));
            }
        }
        (None | Some("" | "none" | "bearer"), _) => {}
        (Some("oauth_2.1" | "oauth_2.1_static"), _) if is_mcp => {
            fields.note(ImportNote::LogIn);
        }
        (Some(auth_type), _) => {
            let auth_type = line(auth_type, 40).into();
            fields.note(ImportNote::AuthType { auth_type });
        }
    }
    for (name, value) in &headers {
        let checked = if is_mcp {
            mcp::check_header(name, value)
        } else {
            openapi::check_header(name, value).map_err(|error| error.fault())
        };
        checked.map_err(|error| ServerEntryError::Other(error.into()))?;
    }
    if headers.values().any(|value| value.contains("{{")) {
        fields.note(ImportNote::Placeholders);
    }
    Ok(headers)
}

/// Notes the restrictions of Open WebUI that are not imported, because Tenon sets them elsewhere.
fn limits(fields: &mut EntryFields<'_>, config: &mut EntryFields<'_>) {
    let is_there = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if config
        .take("function_name_filter_list")
        .is_some_and(|list| is_there(&list))
    {
        fields.note(ImportNote::ToolFilter);
    }
    let is_everybody = |grant: &Value| grant.get("principal_id").is_some_and(|id| id == "*");
    let granted = match config.take("access_grants") {
        Some(Value::Array(grants)) => !grants.iter().any(is_everybody),
        _ => false,
    };
    let controlled = config
        .take("access_control")
        .is_some_and(|value| value.is_object());
    if granted || controlled {
        fields.note(ImportNote::AccessControl);
    }
}
