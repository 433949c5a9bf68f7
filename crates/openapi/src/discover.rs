//! Finds documents: where a server may have its own, and those of the servers behind an mcpo.
//!
//! An mcpo with several servers has no operations of its own. Its main document only
//! links to theirs, in a description that is meant for people, so any form of link is
//! accepted. Nothing is fetched here.

use std::collections::HashSet;

use serde_json::Value;
use url::Url;

use tenon_text::is_unwanted;

pub mod candidates;
mod links;
pub mod service_desc;

/// More servers than anybody runs behind one address.
const MAX_SUB_DOCUMENTS: usize = 500;

const MAX_NAME_CHARS: usize = 64;

/// Pages about a server; its document is beside them.
pub(crate) const PAGES: &[&str] = &["docs", "redoc", "swagger", "swagger-ui"];

/// What a description may also link to, and what is no server.
const FILES: &[&str] = &[
    "html", "htm", "png", "svg", "jpg", "jpeg", "gif", "ico", "css", "js", "md", "txt", "pdf",
];

/// One server behind an mcpo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubDocument {
    /// Unlike the others'.
    pub name: String,
    /// Where its document is: at the same site as the main one.
    pub url: Url,
}

/// Whether a document says anything about operations.
pub fn has_paths(document: &Value) -> bool {
    match document.get("paths") {
        Some(Value::Object(paths)) => !paths.is_empty(),
        Some(Value::Null) | None => false,
        // Invalid, but not empty: the parser reports the error.
        Some(_) => true,
    }
}

/// The servers a main document links to: nothing where it has operations itself.
pub fn sub_documents(main: &Value, at: &Url) -> Vec<SubDocument> {
    if has_paths(main) {
        return Vec::new();
    }
    let description = main
        .pointer("/info/description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let links = links::links(description);
    let mut list = SubDocumentList::new(at);
    for link in &links {
        list.add(link.title, &link.target);
    }
    list.documents
}

/// The address of a machine-readable index, for servers whose description has no links.
pub fn index_address(at: &Url) -> Option<Url> {
    at.join("mcpo-tools-list").ok()
}

/// The servers in such an index: objects with a name and an address, or bare names.
pub fn listed(index: &Value, at: &Url) -> Vec<SubDocument> {
    let items = index
        .as_array()
        .or_else(|| index.get("tools").and_then(Value::as_array));
    let mut list = SubDocumentList::new(at);
    for item in items.into_iter().flatten() {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        let name = item.as_str().or_else(|| text("name"));
        let target = ["openapi", "url", "path"].into_iter().find_map(text);
        match (target, name) {
            (Some(target), name) => list.add(name.unwrap_or_default(), target),
            (None, Some(name)) => list.add_named(name),
            (None, None) => {}
        }
    }
    list.documents
}

/// The documents that were found so far.
struct SubDocumentList<'a> {
    at: &'a Url,
    documents: Vec<SubDocument>,
    seen: HashSet<String>,
    names: HashSet<String>,
}

impl<'a> SubDocumentList<'a> {
    fn new(at: &'a Url) -> Self {
        Self {
            at,
            documents: Vec::new(),
            seen: HashSet::new(),
            names: HashSet::new(),
        }
    }

    fn add(&mut self, title: &str, target: &str) {
        let target = target.trim();
        // A place on the same page.
        if target.is_empty() || target.starts_with('#') {
            return;
        }
        if let Ok(url) = self.at.join(target) {
            self.take(title, url);
        }
    }

    /// A server of which only the name is known: it is beside the main document.
    fn add_named(&mut self, name: &str) {
        if name.contains('/') {
            return self.add("", name);
        }
        let Ok(mut url) = self.at.join(".") else {
            return;
        };
        url.set_query(None);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(name.trim());
        }
        self.take(name, url);
    }

    fn take(&mut self, title: &str, url: Url) {
        // A description must not lead us to other hosts.
        if self.documents.len() >= MAX_SUB_DOCUMENTS || url.origin() != self.at.origin() {
            return;
        }
        let Some((url, own)) = document(url, self.at) else {
            return;
        };
        if !self.seen.insert(url.to_string()) {
            return;
        }
        let name = self.name(title, &own);
        self.names.insert(name.clone());
        self.documents.push(SubDocument { name, url });
    }

    /// Its title, unless it has none or another has it.
    fn name(&self, title: &str, own: &str) -> String {
        let is_free = |name: &String| !name.is_empty() && !self.names.contains(name);
        let (title, own) = (clean(title), clean(own));
        [title, own.clone()]
            .into_iter()
            .find(is_free)
            .or_else(|| {
                (2..=MAX_SUB_DOCUMENTS + 1)
                    .map(|number| format!("{own}-{number}"))
                    .find(is_free)
            })
            .unwrap_or(own)
    }
}

/// Where the document of what is linked to is, and what its address calls it.
fn document(mut url: Url, at: &Url) -> Option<(Url, String)> {
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let (stem, last) = path.rsplit_once('/')?;
    let extension = last
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    let extension = extension.as_deref().unwrap_or_default();
    if matches!(extension, "json" | "yaml" | "yml") {
        let file = last.rsplit_once('.').map_or(last, |(file, _)| file);
        let own = match file {
            "openapi" | "swagger" => stem.rsplit('/').next().unwrap_or_default(),
            file => file,
        };
        let own = own.to_owned();
        return (url.path() != at.path()).then_some((url, own));
    }
    if FILES.contains(&extension) {
        return None;
    }
    let stem = if PAGES.contains(&last) { stem } else { &path };
    // A link back to the index or to itself is not a server.
    let here = at.path().rsplit_once('/').map_or("", |(here, _)| here);
    if stem.is_empty() || stem == here {
        return None;
    }
    let own = stem.rsplit('/').next().unwrap_or_default().to_owned();
    let stem = stem.to_owned();
    url.set_path(&format!("{stem}/openapi.json"));
    url.set_query(None);
    Some((url, own))
}

/// A name without what only decorates it, or is not seen at all.
fn clean(name: &str) -> String {
    let kept = name
        .chars()
        .filter(|c| !is_unwanted(*c) && !matches!(c, '*' | '`' | '[' | ']'));
    let kept: String = kept.take(MAX_NAME_CHARS).collect();
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests;
