//! The tools as one provider is told of them, compiled once and not at every step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tenon_domain::{ToolId, ToolSpec, WireFormat};

use crate::schema::{self, Dialect};
use crate::{anthropic, openai};

/// Far more tools than a model is ever told of; beyond that, old ones are forgotten.
const MAX_KNOWN: usize = 4_096;

/// A tool as a model is told of it.
#[derive(Debug)]
pub(crate) struct Offered {
    pub id: ToolId,
    pub description: String,
    pub schema: Value,
    /// All of it, in the provider's words.
    pub entry: Box<RawValue>,
}

/// What became of each tool, for as long as the tool stays the same.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    known: Mutex<HashMap<ToolId, Known>>,
}

#[derive(Debug)]
struct Known {
    spec: Arc<ToolSpec>,
    compiled: Result<Arc<Offered>, String>,
}

impl Catalogue {
    /// The tool in a provider's words, or why it has none.
    pub(crate) fn compile(
        &self,
        tool: &Arc<ToolSpec>,
        format: WireFormat,
    ) -> Result<Arc<Offered>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&tool.id)
            && Arc::ptr_eq(&known.spec, tool)
        {
            return known.compiled.clone();
        }
        let compiled = compile(tool, format).map(Arc::new);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(
            tool.id.clone(),
            Known {
                spec: tool.clone(),
                compiled: compiled.clone(),
            },
        );
        compiled
    }
}

fn compile(tool: &ToolSpec, format: WireFormat) -> Result<Offered, String> {
    type Entry = fn(&ToolId, &str, &Value) -> Value;
    let (dialect, entry): (Dialect, Entry) = match format {
        WireFormat::Openai => (Dialect::OPENAI, openai::tool),
        WireFormat::Anthropic => (Dialect::ANTHROPIC, anthropic::tool),
    };
    let schema = schema::compile(&tool.input_schema, dialect)?;
    let description = schema::describe(&tool.description, dialect.max_description);
    let entry = to_raw_value(&entry(&tool.id, &description, &schema));
    Ok(Offered {
        id: tool.id.clone(),
        description,
        schema,
        entry: entry.map_err(|error| error.to_string())?,
    })
}
