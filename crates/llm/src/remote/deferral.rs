//! Tools that a model's server finds for it: the tool search of Anthropic, and of OpenAI's Responses.
//!
//! All tools are part of the request, marked to be read only once they are found. Where the server
//! has no such search, or refuses it, the request has our own tools to find them with instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tenon_domain::text::shorten;
use tenon_domain::{ToolSpec, WireFormat};

use super::{Capabilities, Remote, ToolCompiler};
use crate::DeferredTools;
use crate::history::short;

/// A parameter of a model that says whether its server finds tools. It is not sent.
pub(crate) const TOOL_SEARCH_PARAMETER: &str = "tool_search";

/// How much is sent with every request only to be searched. Beyond that our own search is used.
const MAX_TOOLS: usize = 2_000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Of a namespace, which is all that a model reads before it searches.
const MAX_DESCRIPTION_CHARS: usize = 400;
const MAX_NAME_CHARS: usize = 40;

impl Remote {
    fn searches_tools(&self) -> bool {
        let set = self.parameters.get(TOOL_SEARCH_PARAMETER);
        let set = set.and_then(serde_json::Value::as_bool);
        // The server that is known to find tools.
        let host = match self.format {
            WireFormat::Openai => return false,
            WireFormat::Responses => "api.openai.com",
            WireFormat::Anthropic => "api.anthropic.com",
        };
        set.unwrap_or_else(|| self.host() == host)
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
    let mut found = Vec::new();
    for tool in tools {
        // A tool that cannot be compiled is left out; the others are still deferred.
        let Some(entry) = entry(remote, compiler, capabilities, tool) else {
            continue;
        };
        bytes += entry.get().len();
        if bytes > MAX_BYTES {
            return None;
        }
        found.push((tool, entry));
    }
    let (search, found) = match remote.format {
        WireFormat::Responses => (json!({"type": "tool_search"}), namespaces(&found)?),
        WireFormat::Openai | WireFormat::Anthropic => (
            json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}),
            found.into_iter().map(|(_, entry)| entry).collect(),
        ),
    };
    let search = to_raw_value(&search).ok()?;
    Some([search].into_iter().chain(found).collect())
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

/// The tools of each source, or of those with one title, in a namespace: OpenAI's models read no more of them than its
/// name and description before they search.
fn namespaces(tools: &[(&Arc<ToolSpec>, Box<RawValue>)]) -> Option<Vec<Box<RawValue>>> {
    let mut sources: BTreeMap<&str, (Vec<&str>, Vec<&RawValue>)> = BTreeMap::new();
    for (tool, entry) in tools {
        let source = sources.entry(source_title(tool)).or_default();
        source.0.push(&tool.title);
        source.1.push(entry);
    }
    let namespaces = sources.into_iter().map(|(title, (titles, entries))| {
        let description = format!("{title}: {}", titles.join(", "));
        to_raw_value(&Namespace {
            r#type: "namespace",
            name: namespace_name(title),
            description: &shorten(&description, MAX_DESCRIPTION_CHARS),
            tools: entries,
        })
        .ok()
    });
    namespaces.collect()
}

#[derive(Serialize)]
struct Namespace<'a> {
    r#type: &'static str,
    name: String,
    description: &'a str,
    tools: Vec<&'a RawValue>,
}

fn source_title(tool: &ToolSpec) -> &str {
    let title = tool.display_name.strip_suffix(&*tool.title);
    let title = title.and_then(|title| title.strip_suffix('/'));
    title.unwrap_or(&tool.display_name)
}

/// Letters and digits, and always the same: earlier calls in a chat have it too.
fn namespace_name(title: &str) -> String {
    let plain = |char: char| match char {
        char if char.is_ascii_alphanumeric() => char.to_ascii_lowercase(),
        _ => '_',
    };
    let name: String = title.chars().take(MAX_NAME_CHARS).map(plain).collect();
    format!("{}_{}", name.trim_matches('_'), short(title, 0))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
        use WireFormat::{Anthropic, Openai, Responses};
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
        check(Responses, "https://api.openai.com/v1", json!({}), true);
        check(Responses, "http://127.0.0.1:9/v1", json!({}), false);
        check(
            Responses,
            "http://127.0.0.1:9/v1",
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

    #[test]
    fn tools_of_a_source_share_a_namespace_where_the_server_is_openais() {
        let remote = remote(
            WireFormat::Responses,
            "https://api.openai.com/v1",
            json!({}),
        );
        let (compiler, capabilities) = (ToolCompiler::default(), Capabilities::default());
        let mut deferred = deferred();
        for (id, title) in [
            ("mcp_s_shut", "S"),
            ("mcp_x_open", "天气"),
            ("mcp_y_open", "天"),
        ] {
            let mut tool = (*deferred.tools[0]).clone();
            tool.id = ToolId::new(id);
            tool.display_name = format!("{title}/{}", tool.title);
            deferred.tools.push(Arc::new(tool));
        }
        let entries = entries(&remote, &compiler, &capabilities, &deferred).unwrap();
        let entries: Vec<Value> = entries
            .iter()
            .map(|entry| serde_json::from_str(entry.get()).unwrap())
            .collect();
        assert_eq!(entries[0], json!({"type": "tool_search"}));
        let namespaces = &entries[1..];
        let names: HashSet<&str> = namespaces
            .iter()
            .map(|namespace| namespace["name"].as_str().unwrap())
            .collect();
        assert_eq!((names.len(), namespaces.len()), (3, 3), "{names:?}");
        assert!(
            names.iter().all(|name| name.len() <= 64
                && name
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || char == '_')),
            "{names:?}"
        );
        assert_eq!(namespaces[0]["description"], "S: open, open");
        let tools = namespaces[0]["tools"].as_array().unwrap();
        let ids: Vec<&str> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["mcp_s_open", "mcp_s_shut"]);
        assert!(tools.iter().all(|tool| tool["defer_loading"] == true));
    }
}
