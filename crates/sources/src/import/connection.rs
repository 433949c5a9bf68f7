//! One connection of Open WebUI: an OpenAPI server, or an MCP server over HTTP.
//!
//! What is not known there is ignored, as it is there. Who may use it, and as whom
//! people come, is another matter in each house, so what of that is lost is said.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use tenon_domain::{McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig};

use super::Taken;
use super::description::{origin, reached, title};
use super::fields::Fields;
use super::names::{clean, host};
use super::server::address;
use crate::openapi::document;
use crate::text::line;
use crate::{mcp, openapi};

/// Where a document is, if nothing is said.
const DOCUMENT: &str = "openapi.json";

const AUTHORIZATION: &str = "Authorization";

/// Whether something is written as Open WebUI writes it.
pub(super) fn is_one(value: &Value) -> bool {
    match value.get("type").and_then(Value::as_str) {
        Some(said) => matches!(said, "openapi" | "mcp"),
        None => {
            let tells = ["auth_type", "spec_type"];
            let has_document = value.get("openapi").is_some_and(Value::is_object);
            value.get("url").is_some_and(Value::is_string)
                && (has_document || tells.iter().any(|key| value.get(key).is_some()))
        }
    }
}

pub(super) fn take(body: &Value) -> Taken {
    let Value::Object(map) = body else {
        return Taken::refused("It is not an object with a `url`.");
    };
    let mut fields = Fields::new(plain(map), &[]);
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
    Taken {
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

type Given = (Arc<[u8]>, Option<String>);

fn reach(
    fields: &mut Fields<'_>,
    map: &Map<String, Value>,
    document: &mut Option<Given>,
) -> Result<SourceConfig, String> {
    let kind = fields.text(&["type"])?;
    let is_mcp = match kind.as_deref() {
        None | Some("" | "openapi") => false,
        Some("mcp") => true,
        Some(other) => {
            let other = line(other, 40);
            return Err(format!("Its type “{other}” is not one of openapi and mcp."));
        }
    };
    let url = fields.kept("url")?;
    let url = url.filter(|url| !url.trim().is_empty());
    let url = address(&url.ok_or("It has no `url`.")?)?;
    let headers = headers(fields, is_mcp)?;
    if is_mcp {
        let transport = McpTransport::Http { url, headers };
        return Ok(SourceConfig::Mcp(McpConfig {
            transport,
            timeout_ms: None,
            tool_timeouts_ms: BTreeMap::new(),
            sleep_after_ms: None,
            start_timeout_ms: None,
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
    let origin = match is_json || document_there.is_some() {
        true => {
            let given = given(document_there)?;
            let origin = origin(&given.0);
            *document = Some(given);
            origin
        }
        false => OpenapiOrigin::Url {
            url: joined(&url, path.trim())?,
        },
    };
    Ok(SourceConfig::Openapi(OpenapiConfig {
        // Requests go there, whatever the document says.
        base_url: Some(url.trim_end_matches('/').to_owned()),
        headers,
        ..reached(origin)
    }))
}

fn joined(url: &str, path: &str) -> Result<String, String> {
    if path.starts_with("http://") || path.starts_with("https://") {
        return address(path);
    }
    let path = match path.trim_start_matches('/') {
        "" => DOCUMENT,
        path => path,
    };
    Ok(format!("{}/{path}", url.trim_end_matches('/')))
}

/// A document as text, or as the object it is.
fn given(spec: Option<&Value>) -> Result<Given, String> {
    let body: Arc<[u8]> = match spec {
        Some(Value::String(text)) if !text.trim().is_empty() => text.as_bytes().into(),
        Some(object @ Value::Object(_)) => object.to_string().into_bytes().into(),
        _ => return Err("It has no document in its `spec`.".into()),
    };
    let value = document::read(&body).map_err(|wrong| wrong.to_string())?;
    match document::is_document(&value) {
        true => Ok((body, title(&value))),
        false => Err("What stands in its `spec` is no OpenAPI document.".into()),
    }
}

fn headers(fields: &mut Fields<'_>, is_mcp: bool) -> Result<BTreeMap<String, String>, String> {
    let mut headers = fields.map(&["headers"])?;
    let way = fields.text(&["auth_type"])?;
    let key = fields.text(&["key"])?;
    let key = key.map(|key| key.trim().to_owned());
    let key = key.filter(|key| !key.is_empty());
    match (way.as_deref(), key) {
        (None | Some("" | "bearer"), Some(key)) => {
            // What is written out counts, as it does there.
            let is_said = |name: &String| name.eq_ignore_ascii_case(AUTHORIZATION);
            if !headers.keys().any(is_said) {
                headers.insert(AUTHORIZATION.into(), format!("Bearer {key}"));
            }
        }
        (None | Some("" | "none" | "bearer"), _) => {}
        (Some("oauth_2.1" | "oauth_2.1_static"), _) if is_mcp => {
            fields.note("People log in at it for themselves.");
        }
        (Some(way), _) => {
            let way = line(way, 40);
            fields.note(&format!(
                "Its auth_type “{way}” cannot be taken over: nothing is sent that lets Tenon in. Enter a key if it wants one."
            ));
        }
    }
    let check_header = match is_mcp {
        true => mcp::check_header,
        false => openapi::check_header,
    };
    for (name, value) in &headers {
        check_header(name, value)?;
    }
    if headers.values().any(|value| value.contains("{{")) {
        fields.note("What stands in {{…}} in its headers is sent as it is: only Open WebUI puts something in its place.");
    }
    Ok(headers)
}

/// What Open WebUI lets an admin narrow, and is set elsewhere here.
fn limits(fields: &mut Fields<'_>, config: &mut Fields<'_>) {
    let is_there = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if config
        .take("function_name_filter_list")
        .is_some_and(|list| is_there(&list))
    {
        fields.note("Its `function_name_filter_list` is not taken over: switch the tools off that nobody should use.");
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
        fields.note("Who may use it in Open WebUI is not taken over.");
    }
}
