//! The names that a constrained model calls tools by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tenon_domain::ToolId;

use crate::remote::compiled_tool::CompiledTool;

/// A source's own name that is longer, or of other characters, is not sent.
const MAX_NAME_BYTES: usize = 64;

/// Each tool by its own name where that is unique, by its id elsewhere: the prefix that says which
/// source it is from only distracts a small model. Speaking has a name that no tool has.
#[derive(Debug)]
pub(crate) struct ShortNames {
    reply: String,
    names: BTreeMap<ToolId, String>,
    ids: BTreeMap<String, ToolId>,
}

impl ShortNames {
    pub(crate) fn new(tools: &[Arc<CompiledTool>]) -> Self {
        let ids: BTreeSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        let mut reply = String::from("reply");
        while ids.contains(&*reply) {
            reply.push('_');
        }
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in tools {
            *uses.entry(&tool.name).or_default() += 1;
        }
        let name = |tool: &CompiledTool| {
            let is_taken = ids.contains(&*tool.name) || tool.name == reply;
            if is_plain(&tool.name) && uses[&*tool.name] == 1 && !is_taken {
                tool.name.clone()
            } else {
                tool.id.0.clone()
            }
        };
        let names = tools.iter().map(|tool| (tool.id.clone(), name(tool)));
        let names: BTreeMap<ToolId, String> = names.collect();
        let ids = names.iter().map(|(id, name)| (name.clone(), id.clone()));
        Self {
            ids: ids.collect(),
            reply,
            names,
        }
    }

    /// What speaking to the user is called.
    pub(crate) fn reply(&self) -> &str {
        &self.reply
    }

    /// A tool that is not offered any more has its id.
    pub(crate) fn name<'a>(&'a self, id: &'a ToolId) -> &'a str {
        self.names.get(id).map_or(id.as_str(), String::as_str)
    }

    /// The tool id for a short name. An unknown name is passed on and refused later as an unknown
    /// tool.
    pub(crate) fn id_of(&self, name: String) -> String {
        self.ids.get(&name).map_or(name, |id| id.0.clone())
    }
}

fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    fn names(tools: &[(&str, &str)]) -> ShortNames {
        let tools = tools.iter().map(|(id, name)| {
            Arc::new(CompiledTool {
                id: ToolId::new(*id),
                name: (*name).into(),
                description: String::new(),
                schema: json!({}),
                entry: RawValue::NULL.to_owned(),
            })
        });
        ShortNames::new(&tools.collect::<Vec<_>>())
    }

    #[test]
    fn tools_have_their_own_name_where_it_is_unique() {
        for (tools, expected) in [
            (
                &[("builtin_calculate", "calculate")][..],
                &["calculate"][..],
            ),
            (
                &[("mcp_a_search", "search"), ("mcp_b_search", "search")],
                &["mcp_a_search", "mcp_b_search"],
            ),
            (
                &[("search", "x y"), ("mcp_b_search", "search")],
                &["search", "mcp_b_search"],
            ),
            (&[("openapi_get_pets", "GET /pets")], &["openapi_get_pets"]),
            (&[("mcp_mail_reply", "reply")], &["mcp_mail_reply"]),
            (&[("mcp_a_", "")], &["mcp_a_"]),
        ] {
            let names = names(tools);
            for ((id, _), name) in tools.iter().zip(expected) {
                assert_eq!(names.name(&ToolId::new(*id)), *name);
                assert_eq!(names.id_of((*name).into()), *id);
            }
            assert_eq!(names.reply(), "reply");
        }
    }

    #[test]
    fn speaking_has_a_name_that_no_tool_has() {
        let names = names(&[("reply", "reply"), ("mcp_a_reply_", "reply_")]);
        assert_eq!(names.reply(), "reply_");
        assert_eq!(names.name(&ToolId::new("reply")), "reply");
        assert_eq!(names.name(&ToolId::new("mcp_a_reply_")), "mcp_a_reply_");
    }

    #[test]
    fn other_names_are_told_as_they_are() {
        let names = names(&[("builtin_calculate", "calculate")]);
        assert_eq!(names.name(&ToolId::new("mcp_gone")), "mcp_gone");
        assert_eq!(names.id_of("builtin_calculate".into()), "builtin_calculate");
    }
}
