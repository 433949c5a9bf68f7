//! `mcp_github_*`: some tools, by how their ids are written.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::ToolId;
use crate::tool_id;

/// Tool ids are shorter, so a longer pattern matches nothing useful.
pub const MAX_PATTERN_BYTES: usize = 200;

/// A tool id in which `*` stands for any characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(type = "string")]
pub struct Pattern(pub String);

impl Pattern {
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether it could match any tool, and is not too long to look at for every call.
    pub fn is_valid(&self) -> bool {
        let is_allowed = |c| c == '*' || tool_id::is_allowed(c);
        (1..=MAX_PATTERN_BYTES).contains(&self.0.len()) && self.0.chars().all(is_allowed)
    }

    pub fn matches(&self, tool: &ToolId) -> bool {
        let Some((head, rest)) = self.0.split_once('*') else {
            return self.0 == tool.as_str();
        };
        let Some(mut left) = tool.as_str().strip_prefix(head) else {
            return false;
        };
        // Every piece at its first place; the last one at the end.
        let mut pieces = rest.split('*').peekable();
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_none() {
                return left.ends_with(piece);
            }
            match left.split_once(piece) {
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let check = |pattern: &str, tool: &str, expected: bool| {
            let matches = Pattern::new(pattern).matches(&ToolId::new(tool));
            assert_eq!(matches, expected, "{pattern} {tool}");
        };
        check("builtin_add", "builtin_add", true);
        check("builtin_add", "builtin_add_2", false);
        check("*", "anything", true);
        check("*", "", true);
        check("mcp_*", "mcp_git_log", true);
        check("mcp_*", "api_git_log", false);
        check("*_log", "mcp_git_log", true);
        check("*_log", "mcp_git_logs", false);
        check("mcp_*_log", "mcp_git_log", true);
        check("mcp_*_log", "mcp_log", false);
        check("a*a", "a", false);
        check("a*b*c", "a-b-b-c", true);
        check("a*b*c", "a-c-b", false);
        check("", "a", false);
    }
}
