//! Where in a configuration the servers are.

use serde_json::{Map, Value};

use crate::text::line;
use crate::variables::is_name;

/// Under what the products keep their servers.
const LISTS: [&str; 4] = ["mcpServers", "mcp_servers", "servers", "context_servers"];

/// `{"mcp": {"servers": …}}` is as deep as it gets.
const MAX_WAYS: usize = 3;

/// A description of what is asked for stands in a note.
const MAX_DESCRIPTION: usize = 300;

pub(super) struct Shape<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) inputs: Vec<Input>,
}

pub(super) struct Entry<'a> {
    pub(super) name: Option<String>,
    pub(super) body: &'a Value,
}

/// Something VS Code asks a person for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    id: String,
    description: Option<String>,
    otherwise: Option<String>,
}

/// The servers of a document, if it is one that has any.
pub(super) fn shape(value: &Value) -> Option<Shape<'_>> {
    look(value, MAX_WAYS)
}

fn look(value: &Value, ways: usize) -> Option<Shape<'_>> {
    let plain = |entries| {
        Some(Shape {
            entries,
            inputs: Vec::new(),
        })
    };
    match value {
        Value::Array(bodies) if bodies.iter().any(is_server) => plain(unnamed(bodies)),
        Value::Object(_) if is_server(value) => plain(unnamed(std::slice::from_ref(value))),
        Value::Object(map) => {
            let lists: Vec<&Value> = LISTS.iter().filter_map(|key| list(map, key)).collect();
            if !lists.is_empty() {
                return Some(Shape {
                    entries: lists.into_iter().flat_map(entries).collect(),
                    inputs: inputs(map),
                });
            }
            let inner = map.get("mcp").filter(|inner| !is_server(inner));
            if let Some(shape) = inner
                .filter(|_| ways > 0)
                .and_then(|inner| look(inner, ways - 1))
            {
                return Some(shape);
            }
            match map.values().any(is_server) {
                true => plain(named(map)),
                false => None,
            }
        }
        _ => None,
    }
}

impl Input {
    /// How it is written in a server's texts.
    pub(super) fn written(&self) -> String {
        format!("${{input:{}}}", self.id)
    }

    /// What is written there instead, so that what VS Code would suggest is what is used.
    pub(super) fn instead(&self) -> Option<String> {
        let otherwise = self.otherwise.as_ref()?;
        Some(format!("${{input.{}:-{otherwise}}}", self.id))
    }

    pub(super) fn note(&self) -> Option<String> {
        let description = self.description.as_ref()?;
        Some(format!("`{}` is: {description}", self.written()))
    }
}

fn list<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    // A server may be called "servers".
    let value = map.get(key).filter(|value| !is_server(value))?;
    (value.is_object() || value.is_array()).then_some(value)
}

fn entries(list: &Value) -> Vec<Entry<'_>> {
    match list {
        Value::Object(map) => all(map),
        Value::Array(bodies) => unnamed(bodies),
        _ => Vec::new(),
    }
}

fn all(map: &Map<String, Value>) -> Vec<Entry<'_>> {
    let entry = |(name, body): (&String, _)| Entry {
        name: Some(name.clone()),
        body,
    };
    map.iter().map(entry).collect()
}

/// Where a document is itself the list, what is no object is something about it.
fn named(map: &Map<String, Value>) -> Vec<Entry<'_>> {
    let mut entries = all(map);
    entries.retain(|entry| entry.body.is_object());
    entries
}

fn unnamed(bodies: &[Value]) -> Vec<Entry<'_>> {
    let entry = |body| Entry { name: None, body };
    bodies.iter().map(entry).collect()
}

fn is_server(value: &Value) -> bool {
    let tells = ["command", "url", "serverUrl", "httpUrl"];
    tells.iter().any(|key| match value.get(key) {
        Some(told) => told.is_string() || told.is_array(),
        None => false,
    }) || value.get("params").is_some_and(Value::is_object)
}

fn inputs(map: &Map<String, Value>) -> Vec<Input> {
    let listed = map.get("inputs").and_then(Value::as_array);
    let text = |input: &Value, key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let input = |input: &Value| {
        let id = text(input, "id").filter(|id| is_name(id))?;
        let description = text(input, "description").map(|text| line(&text, MAX_DESCRIPTION));
        let otherwise = text(input, "default");
        Some(Input {
            id,
            description: description.filter(|text| !text.is_empty()),
            otherwise: otherwise.filter(|text| !text.contains('}') && text.len() <= 500),
        })
    };
    let inputs = listed.into_iter().flatten().filter_map(input);
    inputs.take(200).collect()
}
