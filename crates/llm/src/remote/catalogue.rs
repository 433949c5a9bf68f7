//! The tools as one provider is told of them, compiled once and not at every step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tenon_domain::{ToolId, ToolSpec};

use crate::schema::{self, Dialect};

/// Far more tools than a model is ever told of; beyond that, old ones are forgotten.
const MAX_KNOWN: usize = 4_096;

/// A tool as a model is told of it.
#[derive(Debug)]
pub(crate) struct Offered {
    pub id: ToolId,
    pub description: String,
    pub schema: Value,
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
        dialect: Dialect,
    ) -> Result<Arc<Offered>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&tool.id)
            && Arc::ptr_eq(&known.spec, tool)
        {
            return known.compiled.clone();
        }
        let compiled = schema::compile(&tool.input_schema, dialect).map(|schema| {
            Arc::new(Offered {
                id: tool.id.clone(),
                description: schema::describe(&tool.description, dialect.max_description),
                schema,
            })
        });
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
