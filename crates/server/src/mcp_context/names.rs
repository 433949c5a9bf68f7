//! The names under which resources and prompts of the servers behind are offered, kept apart as
//! tools are where there are several.
//!
//! A resource `demo://text/1` of the server `everything` is `tenon+everything+demo://text/1`: a URI
//! whose scheme begins with a label for the server, in which there is no `+`. Whatever follows is
//! the server's own, so templates are expanded as they were. A prompt is named as a tool would be,
//! `mcp_everything_simple`.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tenon_domain::text::hex;
use tenon_domain::{SourceInfo, ToolId, tool_id};
use tenon_tools::ToolSource;

const SCHEME: &str = "tenon+";

/// A source with resources or prompts, and its label. None: it is the only one, and nothing is
/// renamed.
#[derive(Clone)]
pub(super) struct LabelledSource {
    pub(super) label: Option<String>,
    pub(super) source: Arc<dyn ToolSource>,
}

impl LabelledSource {
    /// The URI or URI template under which it is offered.
    pub(super) fn offered_uri(&self, uri: &str) -> String {
        offered_uri(self.label.as_deref(), uri)
    }

    /// Resources in contents and messages, as they are offered.
    pub(super) fn offer_uris(&self, value: &mut Value) {
        let offer = |fields: &mut Map<String, Value>| {
            if let Some(Value::String(uri)) = fields.get_mut("uri") {
                *uri = self.offered_uri(uri);
            }
        };
        let Value::Object(fields) = value else {
            return;
        };
        offer(fields);
        if let Some(Value::Object(resource)) = fields.get_mut("resource") {
            offer(resource);
        }
    }
}

/// The sources of one user, by their ids, so that labels are the same every time.
pub(super) fn label(sources: &[&Arc<dyn ToolSource>]) -> Vec<LabelledSource> {
    let mut taken = HashSet::new();
    let labelled = sources.iter().map(|source| LabelledSource {
        label: Some(unique_label(source.info(), &mut taken)),
        source: Arc::clone(source),
    });
    labelled.collect()
}

/// Schemes are the same in capital and small letters.
fn unique_label(source: &SourceInfo, taken: &mut HashSet<String>) -> String {
    let clean = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') => c,
        _ => '-',
    };
    let mut label: String = source.name.chars().map(clean).collect();
    if label.is_empty() || taken.contains(&label) {
        let hash = Sha256::digest(source.id.as_str());
        label.extend(["-".to_owned(), hex(&hash[..3])]);
    }
    taken.insert(label.clone());
    label
}

pub(super) fn offered_uri(label: Option<&str>, uri: &str) -> String {
    match label {
        Some(label) => format!("{SCHEME}{label}+{uri}"),
        None => uri.to_owned(),
    }
}

/// The label and the server's own URI.
pub(super) fn parse_uri(offered: &str) -> Option<(String, &str)> {
    let (scheme, rest) = offered.split_at_checked(SCHEME.len())?;
    let (label, uri) = rest.split_once('+')?;
    scheme
        .eq_ignore_ascii_case(SCHEME)
        .then(|| (label.to_ascii_lowercase(), uri))
}

/// The names of a source's prompts, in their order.
pub(super) fn prompt_names(
    of: &LabelledSource,
    prompts: &[&str],
    taken: &mut HashSet<ToolId>,
) -> Vec<String> {
    if of.label.is_none() {
        return prompts.iter().map(|name| (*name).to_owned()).collect();
    }
    unique_prompt_names(of.source.info(), prompts, taken)
}

fn unique_prompt_names(
    source: &SourceInfo,
    prompts: &[&str],
    taken: &mut HashSet<ToolId>,
) -> Vec<String> {
    let ids = tool_id::give(source, prompts, taken).into_iter();
    ids.map(|id| id.0).collect()
}

#[cfg(test)]
mod tests {
    use tenon_domain::{SourceId, SourceKind};

    use super::*;

    fn source(id: &str, name: &str) -> SourceInfo {
        SourceInfo {
            id: SourceId::new(id),
            kind: SourceKind::Mcp,
            name: name.into(),
            title: name.into(),
            owner: None,
        }
    }

    #[test]
    fn labels_differ_and_are_schemes() {
        let mut taken = HashSet::new();
        let mut check = |id: &str, name: &str, expected: &str| {
            assert_eq!(unique_label(&source(id, name), &mut taken), expected);
        };
        check("1", "git", "git");
        check("2", "My Files+", "my-files-");
        check("3", "GIT", "git-4e0740");
    }

    #[test]
    fn an_offered_uri_leads_back_to_the_servers_own() {
        for uri in ["test://a/{id}", "a+b://c+d", "file:///x y", "relative"] {
            let offered = offered_uri(Some("git"), uri);
            assert_eq!(parse_uri(&offered), Some(("git".to_owned(), uri)), "{uri}");
        }
        assert_eq!(
            parse_uri("TENON+Git+test://a"),
            Some(("git".to_owned(), "test://a"))
        );
        assert_eq!(parse_uri("test://a"), None);
        assert_eq!(parse_uri("tenon+git"), None);
        assert_eq!(offered_uri(None, "test://a"), "test://a");
    }

    #[test]
    fn prompts_are_named_as_tools_are() {
        let mut taken = HashSet::new();
        let one = unique_prompt_names(&source("1", "git"), &["commit", "a b"], &mut taken);
        assert_eq!(one, ["mcp_git_commit", "mcp_git_a_b"]);
        let other = unique_prompt_names(&source("2", "git"), &["commit"], &mut taken);
        assert!(other[0].starts_with("mcp_git_commit_"), "{other:?}");
    }
}
