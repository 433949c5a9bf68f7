//! Events of a response in, deltas out.
//!
//! A response is a list of items: thoughts, texts, calls, and what the server did by itself. Each
//! begins, grows and is repeated whole; servers that imitate OpenAI's leave out some of that, and
//! those that do not stream send the list alone.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};
use tenon_domain::StopReason;
use tenon_net::sse::SseEvent;

use super::event::{ItemKind, ResponseEvent, ResponseObject, plain, texts, word};
use crate::assemble::StopTracker;
use crate::remote::Decode;
use crate::remote::provider_error::{ProviderError, ProviderErrorBody};
use crate::{CallFragment, ModelDelta, Remote, chat_span};

/// Reads one streamed response.
#[derive(Debug)]
pub(crate) struct ResponsesDecoder {
    remote: Remote,
    items: HashMap<u64, ItemProgress>,
    /// Those that are not done, for servers that do not number them.
    open: BTreeSet<(ItemKind, u64)>,
    /// The items by their ids, for the same.
    places: HashMap<String, u64>,
    next_place: u64,
    /// The item whose text or thought came last, with nothing else since.
    last_said: Option<u64>,
    stop: StopTracker,
}

/// What has come of an item.
#[derive(Debug, Default)]
struct ItemProgress {
    /// Words, thoughts, or the arguments of a call.
    has_text: bool,
    is_call: bool,
    is_done: bool,
}

impl ResponsesDecoder {
    pub(crate) fn new(remote: &Remote) -> Self {
        Self {
            remote: remote.clone(),
            items: HashMap::new(),
            open: BTreeSet::new(),
            places: HashMap::new(),
            next_place: 0,
            last_said: None,
            stop: StopTracker::default(),
        }
    }

    fn apply(
        &mut self,
        event: ResponseEvent,
        out: &mut Vec<ModelDelta>,
    ) -> Result<(), ProviderError> {
        let index = match event.kind() {
            Some(kind) => self.place(&event, kind),
            None => 0,
        };
        match event.r#type.as_str() {
            "response.created" => {
                let model = event.response.and_then(|response| response.model);
                if let Some(model) = model.as_ref().and_then(Value::as_str) {
                    chat_span::record_response_model(model);
                }
            }
            "response.output_item.added" => {
                self.begin_call(index, event.item.as_ref(), out);
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.text(index, plain(event.delta), out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thought(index, plain(event.delta), out);
            }
            "response.reasoning_summary_part.added" if self.has_text(index) => {
                self.thought(index, "\n\n".to_owned(), out);
            }
            "response.function_call_arguments.delta" => {
                self.arguments(index, plain(event.delta), out);
            }
            "response.function_call_arguments.done" if !self.has_text(index) => {
                self.arguments(index, plain(event.arguments), out);
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.finish_item(index, item, out);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                self.finish_response(event.response.unwrap_or_default(), out)?;
            }
            // The progress of tools of the server, what was already said piece by piece, and what
            // will be added one day.
            _ => {}
        }
        Ok(())
    }

    /// The place of the item that an event is about: where its server does not number them, that of
    /// its id. Where it has none either, what goes on is the item that began last, and what is done
    /// is the first one of its kind that was not.
    fn place(&mut self, event: &ResponseEvent, kind: ItemKind) -> u64 {
        let item = event.item.as_ref();
        let id = event.item_id.as_deref();
        let id = id.or_else(|| Some(word(item?, "id"))).unwrap_or_default();
        let known = || self.places.get(id).copied();
        let last = self.next_place.checked_sub(1);
        let place = event
            .output_index
            .or_else(known)
            .or_else(|| match &*event.r#type {
                "response.output_item.added" => None,
                "response.output_item.done" => {
                    let mut open = self.open.range((kind, 0)..=(kind, u64::MAX));
                    open.next().map(|(_, place)| *place)
                }
                _ => last.filter(|last| self.open.contains(&(kind, *last))),
            });
        let place = place.unwrap_or(self.next_place);
        self.next_place = self.next_place.max(place.saturating_add(1));
        if !id.is_empty() && event.output_index.is_none() {
            self.places.insert(id.to_owned(), place);
        }
        if !self.items.entry(place).or_default().is_done {
            self.open.insert((kind, place));
        }
        place
    }

    fn has_text(&self, index: u64) -> bool {
        self.items.get(&index).is_some_and(|item| item.has_text)
    }

    fn text(&mut self, index: u64, text: String, out: &mut Vec<ModelDelta>) {
        if text.is_empty() {
            return;
        }
        self.items.entry(index).or_default().has_text = true;
        self.last_said = Some(index);
        out.push(ModelDelta::Text(text));
    }

    fn thought(&mut self, index: u64, text: String, out: &mut Vec<ModelDelta>) {
        if text.is_empty() {
            return;
        }
        self.items.entry(index).or_default().has_text = true;
        self.last_said = Some(index);
        out.push(ModelDelta::Thinking(text));
    }

    fn arguments(&mut self, index: u64, arguments: String, out: &mut Vec<ModelDelta>) {
        if arguments.is_empty() {
            return;
        }
        self.items.entry(index).or_default().has_text = true;
        out.push(ModelDelta::Call(CallFragment {
            index: Some(index),
            arguments,
            ..CallFragment::default()
        }));
    }

    /// Where the item is a call that has not begun.
    fn begin_call(
        &mut self,
        index: u64,
        item: Option<&Map<String, Value>>,
        out: &mut Vec<ModelDelta>,
    ) {
        let Some(item) = item.filter(|item| word(item, "type") == "function_call") else {
            return;
        };
        let progress = self.items.entry(index).or_default();
        if std::mem::replace(&mut progress.is_call, true) {
            return;
        }
        self.last_said = None;
        self.stop.has_calls = true;
        let id = Some(word(item, "call_id")).filter(|id| !id.is_empty());
        let mut block = Map::new();
        if let Some(id) = id {
            block.insert("id".into(), json!(id));
        }
        if let Some(Value::String(namespace)) = item.get("namespace") {
            block.insert("namespace".into(), json!(namespace));
        }
        let has_block = !block.is_empty();
        out.push(ModelDelta::Call(CallFragment {
            index: Some(index),
            id: id.map(str::to_owned),
            name: Some(word(item, "name").to_owned()).filter(|name| !name.is_empty()),
            arguments: String::new(),
            provider_block: has_block.then(|| self.remote.provider_block(Value::Object(block))),
        }));
    }

    /// An item as a whole: what has not come piece by piece, and what is to be told back.
    fn finish_item(&mut self, index: u64, mut item: Map<String, Value>, out: &mut Vec<ModelDelta>) {
        let progress = self.items.entry(index).or_default();
        if std::mem::replace(&mut progress.is_done, true) {
            return;
        }
        let is_news = !progress.has_text;
        let kind = ItemKind::of(&item);
        self.open.remove(&(kind, index));
        match kind {
            ItemKind::Message => {
                if is_news {
                    let said = texts(&item, "content", "");
                    self.text(index, said, out);
                }
                // Which part of an answer it is; only models that say so want to hear it again.
                let phase = item.remove("phase").filter(Value::is_string);
                if let Some(phase) = phase.filter(|_| self.last_said == Some(index)) {
                    let block = json!({ "phase": phase });
                    out.push(ModelDelta::Keep(self.remote.provider_block(block)));
                }
            }
            ItemKind::Thought => {
                if is_news {
                    let summary = texts(&item, "summary", "\n\n");
                    let whole = || texts(&item, "content", "\n\n");
                    let thought = Some(summary).filter(|text| !text.is_empty());
                    self.thought(index, thought.unwrap_or_else(whole), out);
                }
                self.keep_thought(index, item, out);
            }
            ItemKind::Call => {
                self.begin_call(index, Some(&item), out);
                if is_news {
                    let arguments = item.remove("arguments").unwrap_or_default();
                    self.arguments(index, plain(arguments), out);
                }
            }
            ItemKind::Other => {
                self.last_said = None;
                item.remove("created_by");
                // With its id it would be refused without the thought before it, once that is old.
                if word(&item, "type").starts_with("tool_search") {
                    item.remove("id");
                }
                let block = self.remote.provider_block(Value::Object(item));
                out.push(ModelDelta::Opaque(block));
            }
        }
    }

    /// A thought that is neither here nor encrypted its server would look for among those it stores.
    fn keep_thought(
        &mut self,
        index: u64,
        mut item: Map<String, Value>,
        out: &mut Vec<ModelDelta>,
    ) {
        let has = |name: &str| {
            let member = item.get(name);
            member.is_some_and(|member| match member {
                Value::String(text) => !text.is_empty(),
                Value::Array(parts) => !parts.is_empty(),
                _ => false,
            })
        };
        if !has("encrypted_content") && !has("content") {
            return;
        }
        if self.last_said != Some(index) {
            let is_last = index.saturating_add(1) >= self.next_place;
            if self.has_text(index) || !is_last {
                // It comes after what it led to, where nobody takes it back.
                return;
            }
            // The thought itself is withheld.
            out.push(ModelDelta::Thinking(String::new()));
        }
        self.last_said = None;
        item.remove("status");
        let block = self.remote.provider_block(Value::Object(item));
        out.push(ModelDelta::Keep(block));
    }

    fn finish_response(
        &mut self,
        response: ResponseObject,
        out: &mut Vec<ModelDelta>,
    ) -> Result<(), ProviderError> {
        if let Some(error) = response.error.filter(|error| !error.is_null()) {
            return Err(self.failed(&json!({ "error": error })));
        }
        if matches!(response.status.as_deref(), Some("failed" | "cancelled")) {
            return Err(self.failed(&json!({"error": {"code": "server_error"}})));
        }
        // What came as events is in it once more.
        if self.items.is_empty() {
            for (index, item) in (0..).zip(response.output.into_iter().flatten()) {
                self.next_place = index + 1;
                self.finish_item(index, item, out);
            }
        }
        if let Some(usage) = response.usage {
            out.push(ModelDelta::Usage(usage.into()));
        }
        let details = response.incomplete_details;
        let reason = details.and_then(|details| details.reason);
        self.stop.reported = Some(match (response.status.as_deref(), reason.as_deref()) {
            (_, Some("content_filter")) => StopReason::Filtered,
            (Some("incomplete"), _) | (_, Some(_)) => StopReason::Length,
            _ => StopReason::End,
        });
        self.stop.is_done = true;
        Ok(())
    }

    fn failed(&self, error: &Value) -> ProviderError {
        ProviderErrorBody::of_json(200, error).into_error(&self.remote)
    }
}

impl Decode for ResponsesDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let nonsense = |_| ProviderError::unexpected_response(&self.remote, data);
        let mut read: ResponseEvent = match serde_json::from_str(data) {
            Ok(read) => read,
            // A server that forgets the blank line between its events.
            Err(_) if data.contains('\n') => {
                return data.lines().try_for_each(|line| {
                    let line = line.strip_prefix("data:").unwrap_or(line);
                    let event = SseEvent {
                        name: String::new(),
                        data: line.to_owned(),
                    };
                    self.event(&event, out)
                });
            }
            Err(error) => return Err(nonsense(error)),
        };
        if read.r#type.is_empty() {
            read.r#type.clone_from(&event.name);
        }
        if read.object.as_deref() == Some("response") {
            let whole: ResponseObject = serde_json::from_str(data).map_err(nonsense)?;
            if let Some(model) = whole.model.as_ref().and_then(Value::as_str) {
                chat_span::record_response_model(model);
            }
            return self.finish_response(whole, out);
        }
        let is_bare = read.r#type.is_empty();
        if read.r#type == "error" || is_bare && (read.error.is_some() || read.message.is_some()) {
            let error = read.error.filter(|error| !error.is_null());
            let error = error.unwrap_or_else(
                || json!({"code": read.code, "message": read.message, "param": read.param}),
            );
            return Err(self.failed(&json!({ "error": error })));
        }
        self.apply(read, out)
    }

    fn end(&mut self, out: &mut Vec<ModelDelta>) {
        out.extend(self.stop.reason().map(ModelDelta::Stop));
    }

    fn is_done(&self) -> bool {
        self.stop.is_done
    }
}
