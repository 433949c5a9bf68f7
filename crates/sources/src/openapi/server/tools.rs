//! The tools of a server, each with the URL and the operation of its calls.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::ToolDefinition;
use tenon_net::is_loopback;
use tenon_openapi::operation::{Operation, SecurityScheme, SkippedOperation};
use tenon_openapi::request;
use url::Url;

use super::document_set::{DocumentSet, OpenapiDocument};
use crate::openapi::mapping::tool_definition;
use crate::supervisor::{DocumentSummary, ToolChanges};
use crate::tool_note::ToolNote;

/// More tools than any server has. Only an mcpo with many behind it comes near.
const MAX_TOOLS: usize = 20_000;

const MAX_SHOWN_HOSTS: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct OpenapiTools {
    entries: Vec<OpenapiTool>,
    index: HashMap<String, usize>,
    /// Where requests go, if not where the documents say.
    pub(super) base_url: Option<Url>,
    /// Whether some were left out.
    pub(super) cut: bool,
}

/// One tool, and all its call needs.
#[derive(Debug, Clone)]
pub(super) struct OpenapiTool {
    pub(super) operation: Arc<Operation>,
    /// The name of the document it is from.
    pub(super) document: Arc<str>,
    /// Where that was, after all redirects: it is the word of this site, wherever requests go.
    /// None: somebody gave it.
    pub(super) found_at: Option<Arc<Url>>,
    /// Base of relative addresses. None if the document does not say where its server is.
    pub(super) base: Option<Arc<Url>>,
    /// Where requests go, worked out once. None: a call says why that cannot be.
    pub(super) server: Option<Arc<Url>>,
    pub(super) schemes: Arc<Vec<SecurityScheme>>,
}

impl OpenapiTools {
    pub(super) fn of(set: &DocumentSet, base_url: Option<&Url>) -> Self {
        let mut tools = Self {
            base_url: base_url.cloned(),
            ..Self::default()
        };
        for document in set.documents() {
            let name: Arc<str> = document.name.as_str().into();
            let found_at = document.url.clone().map(Arc::new);
            let own = base(document).map(Arc::new);
            // Nearly all operations of a document are at the same one.
            let mut last: Option<(String, Arc<Url>)> = None;
            for operation in &document.content.operations {
                if tools.entries.len() == MAX_TOOLS {
                    tools.cut = true;
                    return tools;
                }
                let (operation, base) = match base_url {
                    Some(base_url) => rebased(set, document, operation, base_url),
                    None => (operation.clone(), own.clone()),
                };
                let declared = operation.servers.first().map_or("/", String::as_str);
                let server = match &last {
                    Some((same, server)) if same == declared => Some(server.clone()),
                    _ => {
                        let base = base.as_deref();
                        let server = base.and_then(|base| request::server_url(declared, base).ok());
                        server.map(Arc::new)
                    }
                };
                last = server.clone().map(|server| (declared.to_owned(), server));
                let entry = OpenapiTool {
                    operation: operation.clone(),
                    document: name.clone(),
                    found_at: found_at.clone(),
                    base,
                    server,
                    schemes: document.content.schemes.clone(),
                };
                let tool_name = operation.name.clone();
                // "a/b" and "c" are called as "a" and "b/c" are: the first stays.
                let position = tools.entries.len();
                let is_new = *tools.index.entry(tool_name).or_insert(position) == position;
                if is_new {
                    tools.entries.push(entry);
                }
            }
        }
        tools
    }

    pub(super) fn definitions(&self) -> Vec<ToolDefinition> {
        let entries = self.entries.iter();
        entries
            .map(|entry| tool_definition(&entry.operation))
            .collect()
    }

    /// Advice for tools whose document names no server, if there are any.
    pub(super) fn without_server(&self) -> Option<ToolNote> {
        let lacks_server = self.entries.iter().any(|entry| entry.base.is_none());
        lacks_server.then_some(ToolNote::NoServerAddress)
    }

    /// The hosts that requests go to, if they differ from the document's host and no base URL was
    /// set.
    pub(super) fn other_hosts(&self) -> Option<ToolNote> {
        if self.base_url.is_some() {
            return None;
        }
        let mut hosts: Vec<&str> = Vec::new();
        let mut from = "";
        for entry in &self.entries {
            let (Some(found_at), Some(server)) = (&entry.found_at, &entry.server) else {
                continue;
            };
            let (here, there) = (found_at.host_str(), server.host_str());
            // All names of this machine are the same one.
            let is_same = here == there || (is_loopback(found_at) && is_loopback(server));
            if let (Some(here), Some(there)) = (here, there)
                && !is_same
                && !hosts.contains(&there)
            {
                from = here;
                hosts.push(there);
            }
        }
        if hosts.is_empty() {
            return None;
        }
        if hosts.len() > MAX_SHOWN_HOSTS {
            hosts.truncate(MAX_SHOWN_HOSTS);
            hosts.push("…");
        }
        Some(ToolNote::OtherHosts {
            hosts: hosts.join(", ").into(),
            from: from.into(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, tool: &str) -> Option<&OpenapiTool> {
        self.index
            .get(tool)
            .and_then(|position| self.entries.get(*position))
    }

    /// From what was before to this.
    pub(super) fn since(&self, before: &Self) -> ToolChanges {
        let mut change = ToolChanges::default();
        for entry in &self.entries {
            let name = &entry.operation.name;
            match before.get(name) {
                None => change.added.push(name.clone()),
                Some(old) if old.is_like(entry) => {}
                Some(_) => change.changed.push(name.clone()),
            }
        }
        let names = before.entries.iter().map(|entry| &entry.operation.name);
        let gone = names.filter(|name| !self.index.contains_key(*name));
        change.removed = gone.cloned().collect();
        change
    }
}

impl OpenapiTool {
    fn is_like(&self, other: &Self) -> bool {
        // Most were not parsed anew.
        let same = Arc::ptr_eq(&self.operation, &other.operation);
        let is_there = self.found_at == other.found_at && self.base == other.base;
        is_there && (same || self.operation == other.operation)
    }
}

impl ToolChanges {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl DocumentSummary {
    pub(super) fn of(set: &DocumentSet) -> Self {
        let main = &set.main.content;
        let mut about = Self {
            title: main.title.clone(),
            version: main.version.clone(),
            description: main.description.clone(),
            ..Self::default()
        };
        for document in set.documents() {
            let prefix = match document.name.as_str() {
                "" => String::new(),
                name => format!("{name}: "),
            };
            let skipped = document
                .content
                .skipped
                .iter()
                .map(|skipped| SkippedOperation {
                    operation: format!("{prefix}{}", skipped.operation),
                    reason: skipped.reason.clone(),
                });
            about.skipped.extend(skipped);
            for scheme in document.content.schemes.iter() {
                if !about.schemes.contains(scheme) {
                    about.schemes.push(scheme.clone());
                }
            }
        }
        let subs = set.subs.iter().flatten();
        about.servers = subs.map(|sub| sub.name.clone()).collect();
        about
    }
}

/// The document's own address, or that of a server, if it says one that is whole.
fn base(document: &OpenapiDocument) -> Option<Url> {
    let servers = || {
        let operations = document.content.operations.iter();
        operations.filter_map(|operation| operation.servers.first())
    };
    let whole = || servers().find_map(|server| Url::parse(server).ok());
    document.url.clone().or_else(whole)
}

/// The tool at another place. A server behind an mcpo stays behind it: it is
/// where its own address leads from there.
fn rebased(
    set: &DocumentSet,
    document: &OpenapiDocument,
    operation: &Operation,
    base_url: &Url,
) -> (Arc<Operation>, Option<Arc<Url>>) {
    let mut server = base_url.clone();
    server.set_fragment(None);
    if set.subs.is_some()
        && let Some(behind) = path_behind(set, document, operation)
        && let Ok(mut segments) = server.path_segments_mut()
    {
        let behind = behind.split('/').filter(|segment| !segment.is_empty());
        segments.pop_if_empty().extend(behind);
    }
    let mut operation = Operation::clone(operation);
    operation.servers = vec![server.as_str().trim_end_matches('/').to_owned()];
    (Arc::new(operation), Some(Arc::new(server)))
}

/// The way from where the main document is to a server behind it.
fn path_behind(
    set: &DocumentSet,
    document: &OpenapiDocument,
    operation: &Operation,
) -> Option<String> {
    let main = set.main.url.as_ref()?;
    let server = operation.servers.first()?;
    let server = document.url.as_ref()?.join(server).ok()?;
    let folder = main
        .path()
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let path = server.path();
    Some(path.strip_prefix(folder).unwrap_or(path).to_owned())
}
