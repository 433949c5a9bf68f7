//! The ids of calls as sent to the provider.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tenon_domain::{CallId, ProviderBlock, ToolCall, WireFormat};

/// The ids of calls as one provider knows them: its own where it gave one,
/// else made from ours. No two calls of a request share one.
pub(crate) struct CallIds {
    format: WireFormat,
    maker: String,
    given: HashMap<CallId, String>,
    taken: HashSet<String>,
}

impl CallIds {
    pub(crate) fn new(format: WireFormat, maker: String) -> Self {
        Self {
            format,
            maker,
            given: HashMap::new(),
            taken: HashSet::new(),
        }
    }

    /// The block, if this provider made it.
    pub(crate) fn own<'a>(&self, provider_block: &'a Option<ProviderBlock>) -> Option<&'a Value> {
        provider_block
            .as_ref()
            .and_then(|provider_block| self.own_block(provider_block))
    }

    pub(crate) fn own_block<'a>(&self, provider_block: &'a ProviderBlock) -> Option<&'a Value> {
        (provider_block.maker == self.maker).then_some(&provider_block.block)
    }

    pub(crate) fn give(&mut self, call: &ToolCall, own: Option<&str>) -> String {
        let own = own.filter(|own| !own.is_empty()).map(str::to_owned);
        let made = (0_u64..).map(|number| match (self.format, number) {
            (WireFormat::Anthropic, 0) => call.id.0.clone(),
            (WireFormat::Anthropic, number) => format!("{}_{number}", call.id),
            (WireFormat::Openai | WireFormat::Responses, number) => short(&call.id.0, number),
        });
        let id = own
            .into_iter()
            .chain(made)
            .find(|id| !self.taken.contains(id))
            .expect("there are more numbers than calls");
        self.taken.insert(id.clone());
        self.given.insert(call.id.clone(), id.clone());
        id
    }

    pub(crate) fn of(&self, call: &CallId) -> String {
        let known = self.given.get(call).cloned();
        known.unwrap_or_else(|| call.0.clone())
    }
}

/// Nine letters and digits: what the strictest server (Mistral's) accepts, and all others do.
pub(crate) fn short(text: &str, number: u64) -> String {
    const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // FNV-1a: any spread of bits will do, only it must be the same tomorrow.
    let mut hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64 ^ number, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut short = String::with_capacity(9);
    for _ in 0..9 {
        short.push(char::from(SIGNS[(hash % 62) as usize]));
        hash /= 62;
    }
    short
}
