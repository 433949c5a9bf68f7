//! Tools that a model's server finds for it: Anthropic's tool search.
//!
//! All tools are part of the request, marked to be read only once they are found. Where the server
//! has no such search, or refuses it, the request has our own tools to find them with instead.

use std::sync::{Arc, LazyLock};

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tenon_domain::{ToolSpec, WireFormat};

use super::{Capabilities, Remote, ToolCompiler};
use crate::DeferredTools;

/// A parameter of a model that says whether its server finds tools. It is not sent.
pub(crate) const TOOL_SEARCH_PARAMETER: &str = "tool_search";

/// The server that is known to find tools.
const SEARCHING_HOST: &str = "api.anthropic.com";

/// How much is sent with every request only to be searched. Beyond that our own search is used.
const MAX_TOOLS: usize = 2_000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

static SEARCH: LazyLock<Option<Box<RawValue>>> = LazyLock::new(|| {
    let search = json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"});
    to_raw_value(&search).ok()
});

impl Remote {
    fn searches_tools(&self) -> bool {
        let set = self.parameters.get(TOOL_SEARCH_PARAMETER);
        let set = set.and_then(serde_json::Value::as_bool);
        self.format == WireFormat::Anthropic && set.unwrap_or_else(|| self.host() == SEARCHING_HOST)
    }
}

/// Those that are going to be part of a request.
pub(super) fn compiled_ahead<'a>(
    remote: &Remote,
    deferred: &'a DeferredTools,
) -> &'a [Arc<ToolSpec>] {
    if remote.searches_tools() && deferred.tools.len() <= MAX_TOOLS {
        &deferred.tools
    } else {
        &[]
    }
}

/// The entries of a request that leave finding tools to the server. None: it does not, or there is
/// nothing to find.
pub(super) fn entries(
    remote: &Remote,
    compiler: &ToolCompiler,
    capabilities: &Capabilities,
    deferred: &DeferredTools,
) -> Option<Vec<Box<RawValue>>> {
    let tools = &deferred.tools;
    let is_wanted = remote.searches_tools() && capabilities.searches_tools;
    if !is_wanted || tools.is_empty() || tools.len() > MAX_TOOLS {
        return None;
    }
    let mut bytes = 0;
    let mut entries = vec![SEARCH.clone()?];
    for tool in tools {
        // A tool that cannot be compiled is left out; the others are still deferred.
        let Some(entry) = entry(remote, compiler, capabilities, tool) else {
            continue;
        };
        bytes += entry.get().len();
        if bytes > MAX_BYTES {
            return None;
        }
        entries.push(entry);
    }
    Some(entries)
}

fn entry(
    remote: &Remote,
    compiler: &ToolCompiler,
    capabilities: &Capabilities,
    tool: &Arc<ToolSpec>,
) -> Option<Box<RawValue>> {
    let compiled = compiler.compile(tool, remote).ok()?;
    if capabilities
        .refusal(&compiled.id, &compiled.schema)
        .is_some()
    {
        return None;
    }
    let whole = compiled.entry.get();
    let open = whole.strip_suffix('}')?;
    RawValue::from_string(format!("{open},\"defer_loading\":true}}")).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};
    use tenon_domain::{
        Annotations, SourceId, SourceInfo, SourceKind, ToolDefinition, ToolId, ToolUse,
    };

    use super::*;

    fn remote(format: WireFormat, base_url: &str, parameters: Value) -> Remote {
        Remote {
            name: "m".into(),
            format,
            base_url: base_url.into(),
            key: None,
            model: "m".into(),
            parameters: parameters.as_object().cloned().unwrap_or_else(Map::new),
            tools: ToolUse::Native,
            context_tokens: None,
            tool_budget: None,
            reports_progress: false,
        }
    }

    fn deferred() -> DeferredTools {
        let source = SourceInfo {
            id: SourceId::new("s"),
            kind: SourceKind::Mcp,
            name: "s".into(),
            title: "S".into(),
            owner: None,
        };
        let definition = ToolDefinition {
            name: "open".into(),
            title: None,
            description: "Opens it.".into(),
            input_schema: json!({"type": "object", "properties": {}}).into(),
            annotations: Annotations::default(),
        };
        let tool = source.spec(ToolId::new("mcp_s_open"), definition);
        DeferredTools {
            tools: vec![Arc::new(tool)],
            finders: vec![ToolId::new("tool_search")],
        }
    }

    #[test]
    fn only_a_server_that_searches_gets_them() {
        let check = |format, base_url: &str, parameters: Value, expected: bool| {
            let remote = remote(format, base_url, parameters);
            let (compiler, mut capabilities) = (ToolCompiler::default(), Capabilities::default());
            let found = entries(&remote, &compiler, &capabilities, &deferred());
            assert_eq!(
                found.is_some(),
                expected,
                "{base_url} {:?}",
                remote.parameters
            );
            capabilities.searches_tools = false;
            assert!(entries(&remote, &compiler, &capabilities, &deferred()).is_none());
        };
        use WireFormat::{Anthropic, Openai};
        check(Anthropic, "https://api.anthropic.com", json!({}), true);
        check(
            Anthropic,
            "https://api.anthropic.com",
            json!({"tool_search": false}),
            false,
        );
        check(Anthropic, "http://127.0.0.1:9", json!({}), false);
        check(
            Anthropic,
            "http://127.0.0.1:9",
            json!({"tool_search": true}),
            true,
        );
        check(
            Openai,
            "http://127.0.0.1:9/v1",
            json!({"tool_search": true}),
            false,
        );
    }

    #[test]
    fn each_is_marked_to_be_read_when_it_is_found() {
        let remote = remote(
            WireFormat::Anthropic,
            "https://api.anthropic.com",
            json!({}),
        );
        let (compiler, capabilities) = (ToolCompiler::default(), Capabilities::default());
        let entries = entries(&remote, &compiler, &capabilities, &deferred()).unwrap();
        let entries: Vec<Value> = entries
            .iter()
            .map(|entry| serde_json::from_str(entry.get()).unwrap())
            .collect();
        assert_eq!(entries[0]["name"], "tool_search_tool_bm25");
        assert_eq!(entries[1]["name"], "mcp_s_open");
        assert_eq!(entries[1]["defer_loading"], true);
        assert_eq!(entries[1]["input_schema"]["type"], "object");
    }
}
