//! The document, from the list of routes.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use tenon_server::authorize::{KeyPolicy, RouteAccess};
use tenon_server::operation::{OperationBody, OperationParts, OperationResponse};
use tenon_server::route::Route;
use tenon_server::router::routes;

use super::json_schema::{self, SCHEMAS};
use super::summaries::{SECTIONS, SUMMARIES};
use crate::typescript;

/// Tenon's own API as an OpenAPI 3.1 document.
pub(super) fn document() -> Value {
    let summaries: HashMap<&str, (&str, u16)> = SUMMARIES
        .iter()
        .map(|(route, summary, status)| (*route, (*summary, *status)))
        .collect();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes() {
        let name = format!("{} {}", route.method, route.path);
        let known = summaries.get(name.as_str());
        let (summary, status) = known.unwrap_or_else(|| panic!("{name} has no summary"));
        let method = route.method.as_str().to_ascii_lowercase();
        let path = paths.entry(format!("/api{}", route.path));
        let operations = path.or_insert_with(|| json!({}));
        operations[method] = operation(&route, summary, *status);
    }
    let tags = SECTIONS.map(|(name, _)| json!({ "name": name }));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tenon",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Tenon's own API. Send an API key as bearer token; its owner creates it on the page, under Settings. Clients made for OpenAI find /v1 on the same server.",
        },
        "tags": tags,
        "paths": paths,
        "components": {"securitySchemes": {
            "key": {"type": "http", "scheme": "bearer", "description": "An API key."},
            "session": {"type": "apiKey", "in": "cookie", "name": "tenon", "description": "The session of a browser that is logged in."},
            "shell": {"type": "http", "scheme": "bearer", "description": "The token in the data folder, for commands on the machine of the server."},
        }},
    });
    document["components"]["schemas"] = schemas(&document["paths"]);
    document
}

fn operation(route: &Route, summary: &str, status: u16) -> Value {
    let parts = route.operation();
    let mut operation = json!({
        "operationId": operation_id(route),
        "tags": [section(route.path)],
        "summary": summary,
        "security": security(route),
    });
    let parameters = parameters(route.path, &parts);
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = &parts.body {
        operation["requestBody"] = request_body(body);
    }
    let error = json!({
        "description": "What went wrong, and what to do",
        "content": json_content(json_schema::schema("ErrorBody")),
    });
    let mut responses = json!({"default": error});
    responses[status.to_string()] = response(&parts, status);
    operation["responses"] = responses;
    operation
}

/// `getChatsIdMessages`: unique as method and path are.
fn operation_id(route: &Route) -> String {
    let mut id = route.method.as_str().to_ascii_lowercase();
    let words = route.path.split(|c: char| !c.is_ascii_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        id.push_str(&first.to_ascii_uppercase());
        id.push_str(rest);
    }
    id
}

fn section(path: &str) -> &'static str {
    let first = path.split('/').nth(1).unwrap_or_default();
    let section = SECTIONS.iter().find(|(_, parts)| parts.contains(&first));
    let (name, _) = section.unwrap_or_else(|| panic!("{path} has no section"));
    name
}

fn security(route: &Route) -> Value {
    match (route.access, route.keys) {
        (RouteAccess::Open, _) => json!([]),
        (RouteAccess::Shell, _) => json!([{"shell": []}]),
        (_, KeyPolicy::None) => json!([{"session": []}]),
        (_, KeyPolicy::All | KeyPolicy::Full) => json!([{"key": []}, {"session": []}]),
    }
}

fn parameters(path: &str, parts: &OperationParts) -> Vec<Value> {
    let names = path
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'));
    let id = parts.path.as_deref().unwrap_or("string");
    let mut parameters: Vec<Value> = names
        .map(|(name, _)| {
            json!({"name": name, "in": "path", "required": true, "schema": json_schema::schema(id)})
        })
        .collect();
    let query = parts.query.as_deref().map(json_schema::schema);
    let query = query.unwrap_or_default();
    for (name, schema) in query["properties"].as_object().into_iter().flatten() {
        let mut schema = schema.clone();
        let description = schema
            .as_object_mut()
            .and_then(|it| it.remove("description"));
        let mut parameter =
            json!({"name": name, "in": "query", "required": false, "schema": schema});
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameters.push(parameter);
    }
    parameters
}

fn json_content(schema: Value) -> Value {
    json!({"application/json": {"schema": schema}})
}

fn request_body(body: &OperationBody) -> Value {
    match body {
        OperationBody::Json { schema, required } => json!({
            "required": required,
            "content": json_content(json_schema::schema(schema)),
        }),
        OperationBody::ChatCompletion => json!({
            "required": true,
            "content": json_content(chat_completion()),
        }),
        OperationBody::File => json!({
            "required": true,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }),
    }
}

/// The fields that are Tenon's own, and those that no request does without.
fn chat_completion() -> Value {
    json!({
        "type": "object",
        "description": "A chat completion request of OpenAI's API.",
        "properties": {
            "model": {"type": "string", "description": "Left out, the default model."},
            "messages": {"type": "array", "items": {"type": "object"}},
            "stream": {"type": "boolean"},
            "tools": {"type": "array", "items": {"type": "object"}, "description": "Functions that the client runs, instead of Tenon's tools."},
            "tool_ids": {"type": "array", "items": {"type": "string"}, "description": "These of Tenon's tools alone; left out, those that are switched on."},
            "tool_servers": {"type": "array", "items": {"type": "object"}, "description": "OpenAPI documents of servers whose tools come along for this request. Calls of a server that only the client reaches go back to it as `tool_calls`."},
            "session_id": {"type": "string", "description": "An open page of the caller, which makes those calls instead."},
            "chat_id": {"type": "string", "description": "A chat of the caller that keeps this conversation on record."},
        },
        "required": ["messages"],
    })
}

fn response(parts: &OperationParts, status: u16) -> Value {
    let description = match status {
        101 => "The connection speaks WebSocket from here on",
        201 => "It was created",
        202 => "It was begun",
        204 => "It was done",
        303 => "It goes on there",
        _ => "Success",
    };
    let mut response = json!({ "description": description });
    let content = match (&parts.response, &parts.body) {
        (OperationResponse::Any, Some(OperationBody::ChatCompletion)) => json!({
            "application/json": {"schema": {"type": "object", "description": "A chat completion of OpenAI's API."}},
            "text/event-stream": {"schema": {"type": "string", "description": "Its chunks, with `stream`."}},
        }),
        (OperationResponse::Any, _) if status == 200 => json!({"*/*": {"schema": {}}}),
        (OperationResponse::Empty | OperationResponse::Any, _) => return response,
        (OperationResponse::Json(schema), _) => json_content(json_schema::schema(schema)),
        (OperationResponse::EventStream, _) => {
            json!({"text/event-stream": {"schema": {"type": "string"}}})
        }
    };
    response["content"] = content;
    response
}

/// The schemas that the paths mention, and those that these mention.
fn schemas(paths: &Value) -> Value {
    let declared: HashMap<String, Value> = json_schema::declarations(&typescript::declarations())
        .into_iter()
        .collect();
    let mut wanted = BTreeSet::new();
    mentioned(paths, &mut wanted);
    let mut found = std::collections::BTreeMap::new();
    while let Some(name) = wanted.pop_first() {
        let schema = declared.get(&name);
        let schema = schema.unwrap_or_else(|| panic!("{name} is not among the types of the page"));
        mentioned(schema, &mut wanted);
        found.insert(name, schema.clone());
        wanted.retain(|name| !found.contains_key(name));
    }
    json!(found)
}

fn mentioned(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str);
            names.extend(
                name.and_then(|name| name.strip_prefix(SCHEMAS))
                    .map(str::to_owned),
            );
            fields.values().for_each(|value| mentioned(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| mentioned(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_route_is_in_the_document_and_back() {
    let document = document();
    let listed: BTreeSet<String> = routes()
        .iter()
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let documented: BTreeSet<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, operations)| {
            let path = path.strip_prefix("/api").unwrap();
            let operations = operations.as_object().unwrap().keys();
            operations.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    assert_eq!(documented, listed);
    let summaries: BTreeSet<String> = SUMMARIES
        .iter()
        .map(|(route, ..)| (*route).to_owned())
        .collect();
    assert_eq!(
        summaries, listed,
        "summaries of routes that are gone, or twice"
    );
    assert_eq!(summaries.len(), SUMMARIES.len());
}

#[test]
fn an_operation_says_what_its_handler_takes_and_gives() {
    let document = document();
    let turn = &document["paths"]["/api/chats/{id}/turns"]["post"];
    let schema = |name: &str| json!({"$ref": format!("{SCHEMAS}{name}")});
    assert_eq!(turn["parameters"][0]["schema"], schema("ChatId"));
    let content = |value: &Value| value["content"]["application/json"]["schema"].clone();
    assert_eq!(content(&turn["requestBody"]), schema("StartTurn"));
    assert_eq!(content(&turn["responses"]["202"]), schema("TurnStarted"));
    assert_eq!(content(&turn["responses"]["default"]), schema("ErrorBody"));
    let list = &document["paths"]["/api/chats"]["get"];
    let names = list["parameters"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"before"), "{names:?}");
    assert_eq!(list["security"], json!([{"key": []}, {"session": []}]));
}
