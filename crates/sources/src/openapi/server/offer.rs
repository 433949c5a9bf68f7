//! What a server offers at one moment: its tools, each with where and how it is called.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::ToolDefinition;
use url::Url;

use super::library::{Library, Volume};
use crate::openapi::operation::{Operation, Scheme, Skipped};
use crate::openapi::request;
use tenon_net::is_loopback;

/// More tools than any server has. Only an mcpo with many behind it comes near.
const MAX_TOOLS: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct Offer {
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
    /// Where requests go, if not where the documents say.
    pub(super) base_url: Option<Url>,
    /// Whether some were left out.
    pub(super) cut: bool,
}

/// One tool, and all its call needs.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) operation: Arc<Operation>,
    /// The name of the document it is from.
    pub(super) document: Arc<str>,
    /// Where that was, after all redirects: it is the word of this site, wherever requests go.
    /// None: somebody gave it.
    pub(super) found_at: Option<Arc<Url>>,
    /// What relative addresses are relative to. None: the document does not say where its server is.
    pub(super) base: Option<Arc<Url>>,
    /// Where requests go, worked out once. None: a call says why that cannot be.
    pub(super) server: Option<Arc<Url>>,
    pub(super) schemes: Arc<Vec<Scheme>>,
}

/// Which tools are not what they were, by their native names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<String>,
}

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    pub title: String,
    pub version: String,
    pub description: String,
    /// What did not become a tool.
    pub skipped: Vec<Skipped>,
    /// The ways to prove who asks.
    pub schemes: Vec<Scheme>,
    /// The servers behind it, if it is an mcpo.
    pub servers: Vec<String>,
}

impl Offer {
    pub(super) fn of(library: &Library, base_url: Option<&Url>) -> Self {
        let mut offer = Self {
            base_url: base_url.cloned(),
            ..Self::default()
        };
        for volume in library.volumes() {
            let document: Arc<str> = volume.name.as_str().into();
            let found_at = volume.url.clone().map(Arc::new);
            let own = base(volume).map(Arc::new);
            // Nearly all operations of a document are at the same one.
            let mut last: Option<(String, Arc<Url>)> = None;
            for operation in &volume.content.operations {
                if offer.entries.len() == MAX_TOOLS {
                    offer.cut = true;
                    return offer;
                }
                let (operation, base) = match base_url {
                    Some(base_url) => moved(library, volume, operation, base_url),
                    None => (operation.clone(), own.clone()),
                };
                let said = operation.servers.first().map_or("/", String::as_str);
                let server = match &last {
                    Some((same, server)) if same == said => Some(server.clone()),
                    _ => {
                        let base = base.as_deref();
                        let server = base.and_then(|base| request::at(said, base).ok());
                        server.map(Arc::new)
                    }
                };
                last = server.clone().map(|server| (said.to_owned(), server));
                let entry = Entry {
                    operation: operation.clone(),
                    document: document.clone(),
                    found_at: found_at.clone(),
                    base,
                    server,
                    schemes: volume.content.schemes.clone(),
                };
                let name = operation.tool.name.clone();
                // "a/b" and "c" are called as "a" and "b/c" are: the first stays.
                let place = offer.entries.len();
                let is_new = *offer.places.entry(name).or_insert(place) == place;
                if is_new {
                    offer.entries.push(entry);
                }
            }
        }
        offer
    }

    pub(super) fn tools(&self) -> Vec<ToolDefinition> {
        let tools = self.entries.iter().map(|entry| &entry.operation.tool);
        tools.cloned().collect()
    }

    /// Whether some of its tools are nowhere, and what to do about that.
    pub(super) fn homeless(&self) -> Option<&'static str> {
        let is_homeless = self.entries.iter().any(|entry| entry.base.is_none());
        is_homeless.then_some(
            "The document does not say where its server is: enter the base address of the server.",
        )
    }

    /// Which hosts requests go to, if not to where the document came from and nobody said so.
    pub(super) fn other_hosts(&self) -> Option<String> {
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
        let shown = match hosts.as_slice() {
            [] => return None,
            [host] => (*host).to_owned(),
            [first, second] => format!("{first} and {second}"),
            [first, rest @ ..] => format!("{first} and {} other hosts", rest.len()),
        };
        Some(format!(
            "Requests go to {shown}, as the document says; the document is from {from}. Enter a \
             base address if they are to go elsewhere."
        ))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, tool: &str) -> Option<&Entry> {
        self.places
            .get(tool)
            .and_then(|place| self.entries.get(*place))
    }

    /// From what was before to this.
    pub(super) fn since(&self, before: &Self) -> Change {
        let mut change = Change::default();
        for entry in &self.entries {
            let name = &entry.operation.tool.name;
            match before.get(name) {
                None => change.added.push(name.clone()),
                Some(old) if old.is_like(entry) => {}
                Some(_) => change.changed.push(name.clone()),
            }
        }
        let names = before
            .entries
            .iter()
            .map(|entry| &entry.operation.tool.name);
        let gone = names.filter(|name| !self.places.contains_key(*name));
        change.removed = gone.cloned().collect();
        change
    }
}

impl Entry {
    fn is_like(&self, other: &Self) -> bool {
        // Most were not parsed anew.
        let same = Arc::ptr_eq(&self.operation, &other.operation);
        let is_there = self.found_at == other.found_at && self.base == other.base;
        is_there && (same || self.operation == other.operation)
    }
}

impl Change {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl About {
    pub(super) fn of(library: &Library) -> Self {
        let main = &library.main.content;
        let mut about = Self {
            title: main.title.clone(),
            version: main.version.clone(),
            description: main.description.clone(),
            ..Self::default()
        };
        for volume in library.volumes() {
            let prefix = match volume.name.as_str() {
                "" => String::new(),
                name => format!("{name}: "),
            };
            let skipped = volume.content.skipped.iter().map(|skipped| Skipped {
                place: format!("{prefix}{}", skipped.place),
                why: skipped.why.clone(),
            });
            about.skipped.extend(skipped);
            for scheme in volume.content.schemes.iter() {
                if !about.schemes.contains(scheme) {
                    about.schemes.push(scheme.clone());
                }
            }
        }
        let subs = library.subs.iter().flatten();
        about.servers = subs.map(|sub| sub.name.clone()).collect();
        about
    }
}

/// The document's own address, or that of a server, if it says one that is whole.
fn base(volume: &Volume) -> Option<Url> {
    let servers = || {
        let operations = volume.content.operations.iter();
        operations.filter_map(|operation| operation.servers.first())
    };
    let whole = || servers().find_map(|server| Url::parse(server).ok());
    volume.url.clone().or_else(whole)
}

/// The tool at another place. A server behind an mcpo stays behind it: it is
/// where its own address leads from there.
fn moved(
    library: &Library,
    volume: &Volume,
    operation: &Operation,
    base_url: &Url,
) -> (Arc<Operation>, Option<Arc<Url>>) {
    let mut server = base_url.clone();
    server.set_fragment(None);
    if library.subs.is_some()
        && let Some(behind) = behind(library, volume, operation)
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
fn behind(library: &Library, volume: &Volume, operation: &Operation) -> Option<String> {
    let main = library.main.url.as_ref()?;
    let server = operation.servers.first()?;
    let server = volume.url.as_ref()?.join(server).ok()?;
    let folder = main
        .path()
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let path = server.path();
    Some(path.strip_prefix(folder).unwrap_or(path).to_owned())
}
