//! Where in a configuration the servers are.

use serde_json::{Map, Value};

use super::connection;
use super::vscode_input::VscodeInput;

/// Under what the products keep their servers.
const SERVER_KEYS: [&str; 4] = ["mcpServers", "mcp_servers", "servers", "context_servers"];

/// Under what Open WebUI keeps its connections, and people who follow it.
const CONNECTION_KEYS: [&str; 3] = ["TOOL_SERVER_CONNECTIONS", "tool_servers", "connections"];

/// `{"mcp": {"servers": …}}` is as deep as it gets.
const MAX_NESTING: usize = 3;

pub(super) struct ConfigLayout<'a> {
    pub(super) entries: Vec<ConfigEntry<'a>>,
    pub(super) inputs: Vec<VscodeInput>,
}

pub(super) struct ConfigEntry<'a> {
    pub(super) name: Option<String>,
    pub(super) body: &'a Value,
    /// As Open WebUI writes it.
    pub(super) is_connection: bool,
}

/// The servers of a document, if it is one that has any.
pub(super) fn layout(value: &Value) -> Option<ConfigLayout<'_>> {
    find_layout(value, MAX_NESTING)
}

/// Whether there is a connection of Open WebUI in a document.
pub(super) fn has_connections(value: &Value) -> bool {
    let entries = layout(value)
        .map(|layout| layout.entries)
        .unwrap_or_default();
    entries.iter().any(|entry| entry.is_connection)
}

/// The connections in a document that holds nothing else.
pub(super) fn connections(value: &Value) -> Option<ConfigLayout<'_>> {
    let bodies = match value {
        Value::Array(bodies) => bodies.iter().collect(),
        Value::Object(map) if map.get("url").is_some() => vec![value],
        Value::Object(map) => listed(map)?.iter().collect(),
        _ => return None,
    };
    Some(ConfigLayout {
        entries: bodies.into_iter().map(written).collect(),
        inputs: Vec::new(),
    })
}

fn find_layout(value: &Value, depth: usize) -> Option<ConfigLayout<'_>> {
    let plain = |entries| {
        Some(ConfigLayout {
            entries,
            inputs: Vec::new(),
        })
    };
    match value {
        Value::Array(bodies) if bodies.iter().any(is_server) => plain(unnamed(bodies)),
        Value::Object(_) if is_server(value) => plain(unnamed(std::slice::from_ref(value))),
        Value::Object(map) => {
            let lists: Vec<&Value> = SERVER_KEYS
                .iter()
                .filter_map(|key| list(map, key))
                .collect();
            let connections = listed(map);
            if !lists.is_empty() || connections.is_some() {
                let mut entries: Vec<ConfigEntry> = lists.into_iter().flat_map(entries).collect();
                entries.extend(connections.into_iter().flatten().map(written));
                return Some(ConfigLayout {
                    entries,
                    inputs: VscodeInput::list(map),
                });
            }
            let inner = map.get("mcp").filter(|inner| !is_server(inner));
            if let Some(layout) = inner
                .filter(|_| depth > 0)
                .and_then(|inner| find_layout(inner, depth - 1))
            {
                return Some(layout);
            }
            match map.values().any(is_server) {
                true => plain(named(map)),
                false => None,
            }
        }
        _ => None,
    }
}

/// A list of connections, which an export has one step further in.
fn listed(map: &Map<String, Value>) -> Option<&Vec<Value>> {
    let inner = map.get("tool_server").and_then(Value::as_object);
    let maps = [Some(map), inner].into_iter().flatten();
    let keys = maps.flat_map(|map| CONNECTION_KEYS.iter().map(move |key| (*key, map.get(*key))));
    let mut lists = keys.filter_map(|(key, list)| Some((key, list?.as_array()?)));
    // Others keep other things under so plain a word.
    let is_ours = |list: &[Value]| list.iter().any(|one| one.get("url").is_some());
    let list = lists.find(|(key, list)| *key != "connections" || is_ours(list));
    list.map(|(_, list)| list)
}

fn written(body: &Value) -> ConfigEntry<'_> {
    ConfigEntry {
        name: None,
        body,
        is_connection: true,
    }
}

fn list<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    // A server may be called "servers".
    let value = map.get(key).filter(|value| !is_server(value))?;
    (value.is_object() || value.is_array()).then_some(value)
}

fn entries(list: &Value) -> Vec<ConfigEntry<'_>> {
    match list {
        Value::Object(map) => all(map),
        Value::Array(bodies) => unnamed(bodies),
        _ => Vec::new(),
    }
}

fn all(map: &Map<String, Value>) -> Vec<ConfigEntry<'_>> {
    let entry = |(name, body): (&String, _)| ConfigEntry {
        name: Some(name.clone()),
        body,
        is_connection: connection::is_one(body),
    };
    map.iter().map(entry).collect()
}

/// Where a document is itself the list, what is no object is something about it.
fn named(map: &Map<String, Value>) -> Vec<ConfigEntry<'_>> {
    let mut entries = all(map);
    entries.retain(|entry| entry.body.is_object());
    entries
}

fn unnamed(bodies: &[Value]) -> Vec<ConfigEntry<'_>> {
    let entry = |body| ConfigEntry {
        name: None,
        body,
        is_connection: connection::is_one(body),
    };
    bodies.iter().map(entry).collect()
}

fn is_server(value: &Value) -> bool {
    let tells = ["command", "url", "serverUrl", "httpUrl"];
    tells.iter().any(|key| match value.get(key) {
        Some(value) => value.is_string() || value.is_array(),
        None => false,
    }) || value.get("params").is_some_and(Value::is_object)
        || connection::is_one(value)
}
