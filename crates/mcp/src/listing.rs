//! Lists of a server besides its tools: resources, resource templates and prompts. A bad entry is
//! skipped alone.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::entry::{EntryKind, ListEntry};
use crate::error::{Error, ProtocolError, json_reason};
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::session::{RpcRequest, Session};
use crate::tools::PageCursor;

/// Bounds memory when a server keeps on listing.
const MAX_ENTRIES: usize = 10_000;
const MAX_PAGES: usize = 1_000;
const MAX_ENTRY_BYTES: usize = 64 * 1024;

/// An entry is asked for by this, so it is never changed.
const MAX_KEY_BYTES: usize = 4 * 1024;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawEntryPage<'a> {
    #[serde(borrow)]
    resources: Vec<&'a RawValue>,
    #[serde(borrow)]
    resource_templates: Vec<&'a RawValue>,
    #[serde(borrow)]
    prompts: Vec<&'a RawValue>,
    next_cursor: Option<Value>,
}

fn entries(kind: EntryKind, page: RawEntryPage<'_>) -> Vec<&RawValue> {
    match kind {
        EntryKind::Resources => page.resources,
        EntryKind::ResourceTemplates => page.resource_templates,
        EntryKind::Prompts => page.prompts,
    }
}

/// All pages as one list; empty where the server does not know the method.
pub(crate) async fn list_all(
    session: &Session,
    kind: EntryKind,
    timeout: Duration,
) -> Result<Vec<ListEntry>, Error> {
    let mut list = Vec::new();
    let mut pages = PageCursor::default();
    let mut params = ParamsBuilder::new();
    for _ in 0..MAX_PAGES {
        let request = RpcRequest::new(kind.method(), params);
        let page = match session.request(request, timeout).await {
            Err(Error::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => break,
            other => other?,
        };
        if pages.add_page(page.get().len()).is_err() {
            break;
        }
        let page: RawEntryPage<'_> = serde_json::from_str(page.get())
            .map_err(|error| ProtocolError::InvalidResult(json_reason(&error)))?;
        let next = page.next_cursor.as_ref().and_then(Value::as_str);
        let next = next.map(str::to_owned).filter(|next| !next.is_empty());
        list.extend(
            entries(kind, page)
                .into_iter()
                .filter_map(|raw| read(kind, raw)),
        );
        list.truncate(MAX_ENTRIES);
        match next {
            Some(next) if list.len() < MAX_ENTRIES && pages.advance(&next).is_ok() => {
                params = ParamsBuilder::new().with("cursor", &next);
            }
            _ => break,
        }
    }
    Ok(list)
}

fn read(kind: EntryKind, raw: &RawValue) -> Option<ListEntry> {
    if raw.get().len() > MAX_ENTRY_BYTES {
        return None;
    }
    let fields: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    let key = fields.get(kind.key())?.as_str()?.to_owned();
    let is_usable = (1..=MAX_KEY_BYTES).contains(&key.len()) && !key.chars().any(char::is_control);
    is_usable.then_some(ListEntry { key, fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_entry_costs_only_itself() {
        let check = |raw: &str, expected: Option<&str>| {
            let raw: &RawValue = serde_json::from_str(raw).unwrap();
            let read = read(EntryKind::Resources, raw).map(|entry| entry.key);
            assert_eq!(read.as_deref(), expected, "{raw}");
        };
        check(r#"{"uri":"a://b","name":"b"}"#, Some("a://b"));
        check(r#"{"uri":""}"#, None);
        check(r#"{"uri":7}"#, None);
        check(r#"{"name":"b"}"#, None);
        check(r#""a://b""#, None);
        check(r#"{"uri":"a:\n"}"#, None);
        check(&format!(r#"{{"uri":"{}"}}"#, "a".repeat(5000)), None);
        let long = "x".repeat(70_000);
        check(&format!(r#"{{"uri":"a:b","description":"{long}"}}"#), None);
    }
}
