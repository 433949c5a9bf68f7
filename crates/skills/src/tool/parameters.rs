//! The schema of a tool's arguments: there, an object, and one that can be checked against.

use serde_json::{Map, Value};
use tenon_text::line;

use crate::error::{SkillError, SkillProblem};
use crate::fields::Fields;
use crate::yaml::{self, YamlEntry, YamlNode, YamlValue};

const KEYS: [&str; 5] = [
    "parameters",
    "usage",
    "inputSchema",
    "input_schema",
    "schema",
];

/// Compiling a schema is bounded by its size.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;

pub(super) fn parse(tool: &str, fields: Fields<'_>) -> Result<Value, SkillError> {
    let Some(entry) = fields.any(&KEYS) else {
        return Err(fields.error(fields.line, SkillProblem::NoParameters(tool.to_owned())));
    };
    let node = schema_node(tool, fields, entry)?;
    let refuse = |line: u64, reason: String| {
        let tool = tool.to_owned();
        fields.error(line, SkillProblem::InvalidSchema { tool, reason })
    };
    let schema = match node.to_json() {
        Value::Object(schema) => object_schema(schema).ok_or_else(|| {
            let right = "it must describe an object, `type: object` with `properties`";
            refuse(entry.line, right.to_owned())
        })?,
        _ => return Err(refuse(entry.line, "it is no object".to_owned())),
    };
    if schema.to_string().len() > MAX_SCHEMA_BYTES {
        let reason = format!("it has more than {} KB", MAX_SCHEMA_BYTES / 1024);
        return Err(refuse(entry.line, reason));
    }
    if let Err(error) = jsonschema::meta::validate(&schema) {
        let at = node.line_at(error.instance_path().as_str()).max(entry.line);
        return Err(refuse(at, line(&error.to_string(), 200)));
    }
    // What passes the meta-schema can still refer to what is not there, or have a pattern that is
    // none.
    if let Err(error) = jsonschema::validator_for(&schema) {
        return Err(refuse(entry.line, line(&error.to_string(), 200)));
    }
    Ok(schema)
}

/// Some write the schema as JSON in a text.
fn schema_node(tool: &str, fields: Fields<'_>, entry: &YamlEntry) -> Result<YamlNode, SkillError> {
    let YamlValue::Text(text) = &entry.node.value else {
        return Ok(entry.node.clone());
    };
    let value: Result<Value, _> = serde_json::from_str(text);
    match value {
        Ok(value) => Ok(YamlNode::from(&value)),
        Err(_) => yaml::parse(text).map_err(|error| {
            let problem = SkillProblem::InvalidSchema {
                tool: tool.to_owned(),
                reason: error.reason,
            };
            fields.error(entry.line, problem)
        }),
    }
}

/// A schema without `type` that has properties is one of an object. None: it is of something else.
fn object_schema(mut schema: Map<String, Value>) -> Option<Value> {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        None if schema.contains_key("properties") => {
            schema.insert("type".to_owned(), "object".into());
        }
        _ => return None,
    }
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    Some(Value::Object(schema))
}
