//! A model: how it is reached, how it is used, and what it costs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::error::ErrorDetail;
use crate::id::{ModelId, ToolId};
use crate::message::Usage;

/// How a model is reached and used, as a person configures it. Its key is kept apart.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    pub id: ModelId,
    /// For people.
    pub name: String,
    pub provider: WireFormat,
    /// Up to and without `/chat/completions`, `/responses` or `/v1/messages`.
    pub base_url: String,
    /// The endpoint of this server's environment or machine that it belongs to:
    /// address and key are then taken from there.
    pub endpoint: Option<String>,
    /// What the endpoint calls it.
    pub model: String,
    /// Sent with every request as they are: `temperature`, `max_tokens`, `thinking` …
    pub parameters: Map<String, Value>,
    pub tool_mode: ToolMode,
    /// What the last test saw.
    pub tools_seen: Option<ToolUse>,
    pub context_tokens: Option<u64>,
    /// How many tokens its tools may take. None: a tenth of its context.
    pub tool_budget: Option<u64>,
    pub prices: Option<Prices>,
}

/// The languages model servers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// `POST …/chat/completions`
    Openai,
    /// `POST …/responses`
    Responses,
    /// `POST …/v1/messages`
    Anthropic,
}

/// How tools are put before a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ToolMode {
    /// What the test saw to work; native until it was run.
    #[default]
    Auto,
    /// As the provider's API has it.
    Native,
    /// As a JSON schema that every answer must fit, for models that cannot call tools by
    /// themselves.
    Constrained,
    /// Described in the system prompt; calls are read from the text.
    Text,
    /// Not at all.
    None,
}

/// A way in which a model calls tools: what it is asked in, or what a test found to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ToolUse {
    Native,
    Constrained,
    Text,
    /// No tools are offered, or none was called in the test.
    None,
}

/// What a million tokens cost. Entered by a person; none are invented.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prices {
    /// "USD", "CNY", "€": shown as it is.
    pub currency: String,
    pub input: f64,
    pub output: f64,
    /// The price of input where it is left out.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_read: Option<f64>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write: Option<f64>,
}

/// What a turn cost, at the prices of its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    pub currency: String,
    /// Millionths of the currency's unit.
    #[ts(type = "number")]
    pub micros: u64,
}

/// Which model answered, by the name it had then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    pub id: ModelId,
    pub name: String,
}

/// A tool that a model was not offered, and why. The others were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OmittedTool {
    pub tool_id: ToolId,
    pub display_name: String,
    pub why: ErrorDetail,
}

impl ToolMode {
    /// The way in which tools are put before a model, by what a person chose and a test saw. Only
    /// the person can take them away: that no call came in a test does not.
    pub fn tool_use(self, seen: Option<ToolUse>) -> ToolUse {
        match (self, seen) {
            (Self::Constrained, _) => ToolUse::Constrained,
            (Self::Text, _) => ToolUse::Text,
            (Self::None, _) => ToolUse::None,
            (Self::Native, _) | (Self::Auto, None | Some(ToolUse::None)) => ToolUse::Native,
            (Self::Auto, Some(seen)) => seen,
        }
    }
}

/// Used always, whatever a test sees.
impl From<ToolUse> for ToolMode {
    fn from(tools: ToolUse) -> Self {
        match tools {
            ToolUse::Native => Self::Native,
            ToolUse::Constrained => Self::Constrained,
            ToolUse::Text => Self::Text,
            ToolUse::None => Self::None,
        }
    }
}

impl WireFormat {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
        }
    }
}

impl Prices {
    /// Prices are per million tokens, so a token at price 1 is one millionth: a micro.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let plain = usage
            .input_tokens
            .saturating_sub(usage.cache_read_tokens)
            .saturating_sub(usage.cache_write_tokens);
        let micros = plain as f64 * self.input
            + usage.cache_read_tokens as f64 * self.cache_read.unwrap_or(self.input)
            + usage.cache_write_tokens as f64 * self.cache_write.unwrap_or(self.input)
            + usage.output_tokens as f64 * self.output;
        Cost {
            currency: self.currency.clone(),
            micros: micros.round() as u64,
        }
    }

    /// Whether these can be prices at all.
    pub fn is_sane(&self) -> bool {
        let is_price = |price: f64| price.is_finite() && (0.0..=1e9).contains(&price);
        let optional = [self.cache_read, self.cache_write];
        is_price(self.input)
            && is_price(self.output)
            && optional.into_iter().flatten().all(is_price)
            && (1..=8).contains(&self.currency.chars().count())
            && !self.currency.contains(char::is_control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let prices = Prices {
            currency: "USD".into(),
            input: 3.0,
            output: 15.0,
            cache_read: Some(0.3),
            cache_write: None,
        };
        let usage = Usage {
            input_tokens: 1_000,
            output_tokens: 100,
            cache_read_tokens: 600,
            cache_write_tokens: 200,
        };
        // 200 plain and 200 written at 3, 600 read at 0.3, 100 out at 15.
        assert_eq!(prices.cost(&usage).micros, 600 + 600 + 180 + 1_500);
    }
}
