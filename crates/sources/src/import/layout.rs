//! Where in a configuration the servers are.

use serde_json::{Map, Value};

use super::connection;
use super::note::ImportNote;
use crate::variables::is_name;
use tenon_domain::text::line;

/// Under what the products keep their servers.
const SERVER_KEYS: [&str; 4] = ["mcpServers", "mcp_servers", "servers", "context_servers"];

/// Under what Open WebUI keeps its connections, and people who follow it.
const CONNECTION_KEYS: [&str; 3] = ["TOOL_SERVER_CONNECTIONS", "tool_servers", "connections"];

/// `{"mcp": {"servers": …}}` is as deep as it gets.
const MAX_NESTING: usize = 3;

/// A description of what is asked for stands in a note.
const MAX_DESCRIPTION: usize = 300;

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

/// Something VS Code asks a person for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VscodeInput {
    id: String,
    description: Option<String>,
    otherwise: Option<String>,
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
                    inputs: inputs(map),
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

impl VscodeInput {
    /// How it is written in a server's texts.
    pub(super) fn written(&self) -> String {
        format!("${{input:{}}}", self.id)
    }

    /// What is written there instead, so that what VS Code would suggest is what is used.
    pub(super) fn instead(&self) -> Option<String> {
        let otherwise = self.otherwise.as_ref()?;
        Some(format!("${{input.{}:-{otherwise}}}", self.id))
    }

    pub(super) fn note(&self) -> Option<ImportNote> {
        let description = self.description.as_ref()?;
        Some(ImportNote::Input {
            input: self.written().into(),
            description: description.into(),
        })
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
        Some(told) => told.is_string() || told.is_array(),
        None => false,
    }) || value.get("params").is_some_and(Value::is_object)
        || connection::is_one(value)
}

fn inputs(map: &Map<String, Value>) -> Vec<VscodeInput> {
    let listed = map.get("inputs").and_then(Value::as_array);
    let text = |input: &Value, key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let input = |input: &Value| {
        let id = text(input, "id").filter(|id| is_name(id))?;
        let description = text(input, "description").map(|text| line(&text, MAX_DESCRIPTION));
        let otherwise = text(input, "default");
        Some(VscodeInput {
            id,
            description: description.filter(|text| !text.is_empty()),
            otherwise: otherwise.filter(|text| !text.contains('}') && text.len() <= 500),
        })
    };
    let inputs = listed.into_iter().flatten().filter_map(input);
    inputs.take(200).collect()
}
