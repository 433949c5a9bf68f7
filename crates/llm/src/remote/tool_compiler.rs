//! The tools as one provider is told of them, compiled once and not at every step.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::to_raw_value;
use tenon_domain::{InputSchema, ToolId, ToolSpec, WireFormat};
use tokio::sync::Semaphore;

use super::compiled_tool::{CompiledTool, tool_entry};
use super::model_size::is_small;
use super::{Remote, ServerKnowledge};
use crate::ExclusionReason;
use crate::schema::{self, Dialect, SchemaError};

/// Several full tool lists fit; beyond that the oldest entries are evicted.
const MAX_KNOWN: usize = 4_096;

/// More tools than this OpenAI refuses, and no model chooses well among.
pub(crate) const MAX_TOOLS: usize = 128;

/// Limit of tools with unusable schemas: more are a mistake or an attack.
const MAX_FAILED: usize = 200;

/// Limit of schemas that are compiled inline, in values. A reference counts as many, because it is
/// expanded.
const MAX_VALUES_AT_ONCE: usize = 2_000;
const REFERENCE_VALUES: usize = 50;

/// Longer schemas are not even parsed inline.
const MAX_BYTES_AT_ONCE: usize = 64 * 1024;

/// The compiled form or error of each tool, cached until the tool changes.
#[derive(Debug, Default)]
pub(crate) struct ToolCompiler {
    known: Mutex<HashMap<ToolId, CompilerEntry>>,
}

#[derive(Debug)]
struct CompilerEntry {
    spec: Arc<ToolSpec>,
    compiled: Result<Arc<CompiledTool>, SchemaError>,
}

impl ToolCompiler {
    /// Compiles the tools that are not known yet, where nobody waits for the thread if that may
    /// take its time: schemas come from outside.
    pub(super) async fn prepare(
        knowledge: &Arc<ServerKnowledge>,
        tools: &[Arc<ToolSpec>],
        deferred: &[Arc<ToolSpec>],
        remote: &Remote,
    ) {
        static TURNS: Semaphore = Semaphore::const_new(2);
        let compiler = &knowledge.compiler;
        let is_new = |tool: &&Arc<ToolSpec>| compiler.get(tool).is_none();
        let new: Vec<&Arc<ToolSpec>> = tools.iter().chain(deferred).filter(is_new).collect();
        let mut left = MAX_VALUES_AT_ONCE;
        if new
            .iter()
            .all(|tool| is_cheap(&tool.input_schema, &mut left))
        {
            return;
        }
        let (tools, deferred) = (tools.to_vec(), deferred.to_vec());
        let (knowledge, remote) = (knowledge.clone(), remote.clone());
        let turn = TURNS.acquire().await.ok();
        let compiling = tokio::task::spawn_blocking(move || {
            let compiler = &knowledge.compiler;
            compiler.make_room(tools.len() + deferred.len());
            let mut count = CompileCount::default();
            for tool in &tools {
                if count.limit().is_some() {
                    break;
                }
                match compiler.compile(tool, &remote) {
                    Ok(_) => count.compiled += 1,
                    Err(_) => count.failed += 1,
                }
            }
            for tool in &deferred {
                let _ = compiler.compile(tool, &remote);
            }
            drop(turn);
        });
        // A panic there happens again in the compilation below, which reports it.
        let _ = compiling.await;
    }

    /// The tool in a provider's words, or why it has none.
    pub(crate) fn compile(
        &self,
        tool: &Arc<ToolSpec>,
        remote: &Remote,
    ) -> Result<Arc<CompiledTool>, SchemaError> {
        if let Some(known) = self.get(tool) {
            return known;
        }
        // Without the lock: others know theirs, and need not wait for it.
        let compiled = compile(tool, remote).map(Arc::new);
        self.make_room(1);
        let known = CompilerEntry {
            spec: tool.clone(),
            compiled: compiled.clone(),
        };
        self.lock().insert(tool.id.clone(), known);
        compiled
    }

    fn get(&self, tool: &Arc<ToolSpec>) -> Option<Result<Arc<CompiledTool>, SchemaError>> {
        let known = self.lock();
        let known = known.get(&tool.id)?;
        Arc::ptr_eq(&known.spec, tool).then(|| known.compiled.clone())
    }

    fn make_room(&self, tools: usize) {
        let mut known = self.lock();
        if known.len() + tools > MAX_KNOWN {
            known.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ToolId, CompilerEntry>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many tools were compiled for one request.
#[derive(Debug, Default)]
pub(super) struct CompileCount {
    pub(super) compiled: usize,
    pub(super) failed: usize,
}

impl CompileCount {
    /// Why no further tool is compiled.
    pub(super) fn limit(&self) -> Option<ExclusionReason> {
        if self.compiled >= MAX_TOOLS {
            return Some(ExclusionReason::TooMany {
                max: MAX_TOOLS.into(),
            });
        }
        (self.failed >= MAX_FAILED).then(|| ExclusionReason::TooManyFailed {
            max: MAX_FAILED.into(),
        })
    }
}

/// Whether there is little to do; what there is, is taken from `left`.
fn is_cheap(schema: &InputSchema, left: &mut usize) -> bool {
    schema.as_str().len() <= MAX_BYTES_AT_ONCE && has_few_values(&schema.value(), left)
}

fn has_few_values(value: &Value, left: &mut usize) -> bool {
    let is_reference = |name: &&str| value.get(name).is_some_and(Value::is_string);
    let is_reference = ["$ref", "$dynamicRef"].iter().any(is_reference);
    let cost = if is_reference { REFERENCE_VALUES } else { 1 };
    let Some(rest) = left.checked_sub(cost) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| has_few_values(item, left)),
        Value::Object(entries) => entries.values().all(|entry| has_few_values(entry, left)),
        _ => true,
    }
}

fn dialect(remote: &Remote) -> Dialect {
    let dialect = match remote.format {
        WireFormat::Openai | WireFormat::Responses => Dialect::OPENAI,
        WireFormat::Anthropic => Dialect::ANTHROPIC,
    };
    if is_small(remote) {
        dialect.compact()
    } else {
        dialect
    }
}

fn compile(tool: &ToolSpec, remote: &Remote) -> Result<CompiledTool, SchemaError> {
    let dialect = dialect(remote);
    let schema = schema::compile(&tool.input_schema.value(), dialect)?;
    let description = schema::describe(&tool.description, dialect);
    let entry = to_raw_value(&tool_entry(remote.format, &tool.id, &description, &schema));
    Ok(CompiledTool {
        id: tool.id.clone(),
        name: tool.name.clone(),
        description,
        schema,
        entry: entry.map_err(|error| SchemaError::Serialize {
            why: error.to_string().into(),
        })?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::{Map, json};
    use tenon_domain::{Annotations, RunsOn, ToolUse};

    use super::*;

    fn tool(number: usize, input_schema: Value) -> Arc<ToolSpec> {
        Arc::new(ToolSpec {
            id: ToolId::new(format!("t{number}")),
            name: "t".into(),
            title: "t".into(),
            display_name: "t".into(),
            description: String::new(),
            input_schema: input_schema.into(),
            annotations: Annotations::default(),
            runs_on: RunsOn::Server,
        })
    }

    fn remote() -> Remote {
        Remote {
            name: "m".into(),
            format: WireFormat::Openai,
            base_url: String::new(),
            key: None,
            model: "m".into(),
            parameters: Map::new(),
            tools: ToolUse::Native,
            context_tokens: None,
            tool_budget: None,
            reports_progress: false,
        }
    }

    /// Definitions that each say the next one four times.
    fn fan_out() -> Value {
        let mut definitions = Map::new();
        for level in 0..30 {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            definitions.insert(
                format!("d{level}"),
                json!({ "allOf": [next, next, next, next] }),
            );
        }
        definitions.insert("d30".into(), json!({}));
        json!({ "$defs": definitions, "$ref": "#/$defs/d0" })
    }

    #[tokio::test]
    async fn schemas_that_cannot_be_told_keep_nobody_waiting_for_long() {
        let knowledge = Arc::new(ServerKnowledge::default());
        let tools: Vec<_> = (0..2_000).map(|number| tool(number, fan_out())).collect();
        let (remote, mut longest) = (remote(), Duration::ZERO);
        let ticks = async {
            loop {
                let began = Instant::now();
                tokio::time::sleep(Duration::from_millis(5)).await;
                longest = longest.max(began.elapsed());
            }
        };
        tokio::select! {
            () = ToolCompiler::prepare(&knowledge, &tools, &[], &remote) => {}
            () = ticks => unreachable!("it goes on for ever"),
        }
        assert!(longest < Duration::from_secs(1), "{longest:?}");
        assert_eq!(knowledge.compiler.lock().len(), MAX_FAILED);
    }

    #[tokio::test]
    async fn what_is_small_is_compiled_where_it_is_told() {
        let knowledge = Arc::new(ServerKnowledge::default());
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        let tools: Vec<_> = (0..50).map(|number| tool(number, schema.clone())).collect();
        ToolCompiler::prepare(&knowledge, &tools, &[], &remote()).await;
        assert!(knowledge.compiler.lock().is_empty());
        for tool in &tools {
            let told = knowledge.compiler.compile(tool, &remote());
            assert_eq!(told.unwrap().id, tool.id);
        }
        assert_eq!(knowledge.compiler.lock().len(), 50);
    }
}
