//! The tools that a call in the text may name.

use std::cell::OnceCell;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::cursor::Unparsed;
use crate::remote::compiled_tool::CompiledTool;

/// The offered tools, with validators that are built for those that are called.
pub(super) struct CallableTools {
    tools: Vec<CallableTool>,
}

struct CallableTool {
    tool: Arc<CompiledTool>,
    /// None: its schema cannot be used, so nothing can be said against a call.
    validator: OnceCell<Option<Validator>>,
}

/// One call of an offered tool, with arguments that fit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What says that a text is meant as a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallEvidence {
    /// Marks that stand nowhere else.
    Marks,
    /// Its shape alone: a JSON object may be an example of anything.
    Shape,
}

impl CallableTools {
    pub(super) fn new(tools: &[Arc<CompiledTool>]) -> Self {
        let tools = tools.iter().map(|tool| CallableTool {
            tool: tool.clone(),
            validator: OnceCell::new(),
        });
        Self {
            tools: tools.collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether a name is the name of an offered tool, or a beginning of one.
    pub(super) fn check_name(&self, name: &str, is_whole: bool) -> Result<(), Unparsed> {
        let is_theirs = |tool: &CallableTool| {
            let id = tool.tool.id.as_str();
            if is_whole {
                id == name
            } else {
                id.starts_with(name)
            }
        };
        match (self.tools.iter().any(is_theirs), is_whole) {
            (true, true) => Ok(()),
            (true, false) => Err(Unparsed::Incomplete),
            (false, _) => Err(Unparsed::Mismatch),
        }
    }

    /// The call, if its tool takes these arguments.
    pub(super) fn call(
        &self,
        name: &str,
        arguments: Option<Value>,
        evidence: CallEvidence,
    ) -> Result<ParsedCall, Unparsed> {
        let mut tools = self.tools.iter();
        let tool = tools
            .find(|tool| tool.tool.id.as_str() == name)
            .ok_or(Unparsed::Mismatch)?;
        let mut arguments = match (arguments, evidence) {
            (Some(Value::Object(arguments)), _) => arguments,
            // OpenAI's own form: JSON in a string.
            (Some(Value::String(text)), _) => {
                serde_json::from_str(&text).map_err(|_| Unparsed::Mismatch)?
            }
            (None | Some(Value::Null), CallEvidence::Marks) => Map::new(),
            _ => return Err(Unparsed::Mismatch),
        };
        let schema = &tool.tool.schema;
        read_typed_strings(&mut arguments, schema);
        if evidence == CallEvidence::Shape && !are_declared(&arguments, schema) {
            return Err(Unparsed::Mismatch);
        }
        let arguments = Value::Object(arguments);
        if tool.fits(&arguments) {
            let tool = name.to_owned();
            Ok(ParsedCall { tool, arguments })
        } else {
            Err(Unparsed::Mismatch)
        }
    }
}

impl CallableTool {
    fn fits(&self, arguments: &Value) -> bool {
        let validator = self.validator.get_or_init(|| {
            jsonschema::options()
                .with_pattern_options(PatternOptions::regex())
                .build(&self.tool.schema)
                .ok()
        });
        let fits = |validator: &Validator| validator.is_valid(arguments);
        validator.as_ref().is_none_or(fits)
    }
}

/// Parameters in XML have no type, and small models put numbers into quotes: what the schema
/// wants as anything but a string is read as JSON.
fn read_typed_strings(arguments: &mut Map<String, Value>, schema: &Value) {
    for (name, value) in arguments {
        let wanted = schema["properties"][name]["type"].as_str();
        let Value::String(text) = &*value else {
            continue;
        };
        let read = match (wanted, text.trim()) {
            (None | Some("string"), _) => continue,
            (Some("boolean"), "True") => Some(Value::Bool(true)),
            (Some("boolean"), "False") => Some(Value::Bool(false)),
            (Some(_), text) => serde_json::from_str(text).ok(),
        };
        if let Some(read) = read {
            *value = read;
        }
    }
}

/// Whether the schema knows all these arguments by name.
fn are_declared(arguments: &Map<String, Value>, schema: &Value) -> bool {
    let is_open = schema
        .get("additionalProperties")
        .is_some_and(|other| *other != Value::Bool(false));
    let mut names = arguments.keys();
    is_open || names.all(|name| schema["properties"].get(name).is_some())
}
