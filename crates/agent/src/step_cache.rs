//! Steps that a completion made before it handed calls over to its client.
//!
//! The client sends back what it was shown: its own calls, and their results. What Tenon called before
//! is not among that, so it is remembered here under the ids of the calls that were handed over, and put
//! back in its place. Nothing depends on it: without it the model only calls those tools again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenon_domain::{CallId, Message, Part, UserId};

use crate::lock::lock;

/// Longer than a client takes for the calls of a step.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// Memory limits of all entries, and of one.
const MAX_BYTES: usize = 32 * 1024 * 1024;
const MAX_ENTRY_BYTES: usize = 2 * 1024 * 1024;

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepCache(Arc<Mutex<CachedSteps>>);

#[derive(Debug, Default)]
struct CachedSteps {
    /// Oldest first.
    entries: VecDeque<CachedStep>,
    bytes: usize,
}

#[derive(Debug)]
struct CachedStep {
    user: UserId,
    /// The first of the calls that were handed over.
    call: CallId,
    messages: Arc<[Message]>,
    bytes: usize,
    stored_at: Instant,
}

impl StepCache {
    /// Remembers what came before the message with this call.
    pub(crate) fn store(&self, user: &UserId, call: &CallId, messages: Vec<Message>) {
        let bytes = messages.iter().map(bytes).sum();
        if messages.is_empty() || bytes > MAX_ENTRY_BYTES {
            return;
        }
        let mut steps = lock(&self.0);
        steps.bytes += bytes;
        steps.entries.push_back(CachedStep {
            user: user.clone(),
            call: call.clone(),
            messages: messages.into(),
            bytes,
            stored_at: Instant::now(),
        });
        steps.evict();
    }

    /// The conversation with the steps that its client does not know. They stay remembered: a request may
    /// be sent again.
    pub(crate) fn restore(&self, user: &UserId, messages: Vec<Message>) -> Vec<Message> {
        let mut steps = lock(&self.0);
        steps.evict();
        if steps.entries.is_empty() {
            return messages;
        }
        let mut restored = Vec::with_capacity(messages.len());
        for message in messages {
            if let Some(call) = first_call(&message) {
                let found = steps.entries.iter();
                let mut found = found.filter(|entry| entry.user == *user && entry.call == *call);
                if let Some(entry) = found.next() {
                    restored.extend(entry.messages.iter().cloned());
                }
            }
            restored.push(message);
        }
        restored
    }
}

impl CachedSteps {
    fn evict(&mut self) {
        while let Some(oldest) = self.entries.front()
            && (self.bytes > MAX_BYTES || oldest.stored_at.elapsed() > MAX_AGE)
        {
            self.bytes -= oldest.bytes;
            self.entries.pop_front();
        }
    }
}

fn first_call(message: &Message) -> Option<&CallId> {
    match message {
        Message::Assistant { parts } => {
            let mut calls = parts.iter().filter_map(Part::as_call);
            calls.next().map(|call| &call.id)
        }
        Message::User { .. } | Message::Tools { .. } => None,
    }
}

/// About what a message takes in memory.
fn bytes(message: &Message) -> usize {
    let content = match message {
        Message::User { text, files, .. } => {
            let files = files.iter().filter_map(|file| file.text.as_deref());
            text.len() + files.map(str::len).sum::<usize>()
        }
        Message::Assistant { parts } => {
            let parts = parts.iter().map(|part| match part {
                Part::Text { text, .. } | Part::Thinking { text, .. } => text.len(),
                Part::Call { call, .. } => call.input.to_string().len(),
                Part::Image(image) => image.data.len(),
                Part::File { file } => file.name.len(),
                Part::Opaque { provider_block } => provider_block.block.to_string().len(),
            });
            parts.sum()
        }
        Message::Tools { answers } => {
            let results = answers.iter().map(|answer| match &answer.result {
                Ok(output) => serde_json::to_string(output).map_or(0, |json| json.len()),
                Err(error) => error.message.len(),
            });
            results.sum()
        }
    };
    content + size_of::<Message>()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_domain::{ToolCall, ToolId};

    use super::*;

    fn called(id: &str) -> Message {
        let call = ToolCall {
            id: CallId::new(id),
            tool_id: ToolId::new("t"),
            input: json!({}),
        };
        Message::Assistant {
            parts: vec![Part::call(call)],
        }
    }

    #[test]
    fn steps_come_back_before_their_call_and_to_their_user_alone() {
        let cache = StepCache::default();
        let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
        let steps = vec![called("own"), Message::user("result")];
        cache.store(&ada, &CallId::new("theirs"), steps.clone());
        let sent = vec![Message::user("hi"), called("theirs")];
        let whole = [&sent[..1], &steps, &sent[1..]].concat();
        // Sent twice, it is the same.
        assert_eq!(cache.restore(&ada, sent.clone()), whole);
        assert_eq!(cache.restore(&ada, sent.clone()), whole);
        assert_eq!(cache.restore(&bob, sent.clone()), sent);
    }

    #[test]
    fn the_oldest_steps_make_way() {
        let cache = StepCache::default();
        let ada = UserId::new("ada");
        let text = "x".repeat(MAX_ENTRY_BYTES - 1024);
        for number in 0..20 {
            let call = CallId::new(format!("c{number}"));
            cache.store(&ada, &call, vec![Message::user(text.as_str())]);
        }
        let length = |id: &str| cache.restore(&ada, vec![called(id)]).len();
        assert_eq!((length("c0"), length("c19")), (1, 2));
    }
}
