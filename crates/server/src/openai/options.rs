//! What a chat completion request asks of the generation: read, checked, or refused by name.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use tenon_llm::{GenerationOptions, OutputFormat, SAMPLING_OPTIONS};

use super::error::{invalid_option, unsupported_option};
use crate::error::ApiError;

/// As many as OpenAI takes, and as long as any is.
const MAX_STOPS: usize = 4;
const MAX_STOP_BYTES: usize = 1024;

/// Options that would be answered otherwise than they are meant, and what to do instead.
const UNSUPPORTED: [(&str, &str); 8] = [
    ("logprobs", "probabilities of tokens are not passed on"),
    ("top_logprobs", "probabilities of tokens are not passed on"),
    ("functions", "send them as `tools`"),
    ("function_call", "send it as `tool_choice`"),
    ("audio", "an answer is text"),
    ("web_search_options", "give the model a tool that searches"),
    ("suffix", "send the whole text as a message"),
    ("best_of", "there is one answer"),
];

/// The fields of a request that are not about its conversation.
pub(super) struct OptionFields(Map<String, Value>);

impl OptionFields {
    /// Clients write `null` where they mean nothing.
    pub(super) fn new(mut fields: Map<String, Value>) -> Self {
        fields.retain(|_, value| !value.is_null());
        Self(fields)
    }

    /// All but the choice of tools, which takes knowing the tools.
    pub(super) fn read(mut self) -> Result<GenerationOptions, ApiError> {
        self.refuse_unsupported()?;
        let renamed = self.tokens("max_completion_tokens")?;
        let max_tokens = self.tokens("max_tokens")?;
        Ok(GenerationOptions {
            max_tokens: renamed.or(max_tokens),
            temperature: self.number("temperature", 0.0..=2.0)?,
            top_p: self.number("top_p", 0.0..=1.0)?,
            seed: self.integer("seed")?,
            stop: self.stop()?,
            tool_choice: None,
            parallel_tool_calls: self.flag("parallel_tool_calls")?,
            response_format: self.response_format()?,
            sampling: self.sampling()?,
        })
    }

    fn refuse_unsupported(&mut self) -> Result<(), ApiError> {
        if self.integer("n")?.is_some_and(|n| n != 1) {
            return Err(unsupported_option("n", "there is one answer"));
        }
        for (name, instead) in UNSUPPORTED {
            let is_nothing = |value: &Value| match value {
                Value::Bool(flag) => !flag,
                Value::Array(list) => list.is_empty(),
                Value::Number(number) => number.as_u64() == Some(0),
                Value::Null | Value::String(_) | Value::Object(_) => false,
            };
            if self.0.remove(name).is_some_and(|value| !is_nothing(&value)) {
                return Err(unsupported_option(name, instead));
            }
        }
        let modalities = self.0.remove("modalities");
        let is_text = |modalities: &Value| *modalities == serde_json::json!(["text"]);
        if modalities.is_some_and(|modalities| !is_text(&modalities)) {
            return Err(unsupported_option("modalities", "an answer is text"));
        }
        Ok(())
    }

    fn tokens(&mut self, name: &str) -> Result<Option<u64>, ApiError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let tokens = value.as_u64().filter(|tokens| *tokens > 0);
        let tokens = tokens.ok_or_else(|| invalid_option(name, "a whole number above 0"))?;
        Ok(Some(tokens))
    }

    fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, ApiError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| range.contains(number));
        let number = number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            invalid_option(name, &format!("a number from {least} to {most}"))
        })?;
        Ok(Some(number))
    }

    fn integer(&mut self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let number = value.as_i64();
        let number = number.ok_or_else(|| invalid_option(name, "a whole number"))?;
        Ok(Some(number))
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let flag = value.as_bool();
        let flag = flag.ok_or_else(|| invalid_option(name, "`true` or `false`"))?;
        Ok(Some(flag))
    }

    fn stop(&mut self) -> Result<Vec<String>, ApiError> {
        let wrong = || invalid_option("stop", "a text that is not empty, or up to four of them");
        let mut stops = match self.0.remove("stop") {
            None => return Ok(Vec::new()),
            Some(Value::String(one)) if one.is_empty() => return Err(wrong()),
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => {
                let texts = many.iter().map(|one| one.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().ok_or_else(wrong)?
            }
            Some(_) => return Err(wrong()),
        };
        stops.retain(|one| !one.is_empty());
        if stops.len() > MAX_STOPS || stops.iter().any(|one| one.len() > MAX_STOP_BYTES) {
            return Err(wrong());
        }
        Ok(stops)
    }

    fn response_format(&mut self) -> Result<Option<OutputFormat>, ApiError> {
        let Some(mut format) = self.0.remove("response_format") else {
            return Ok(None);
        };
        match format["type"].as_str() {
            Some("text") => Ok(None),
            Some("json_object") => Ok(Some(OutputFormat::JsonObject)),
            Some("json_schema") if format["json_schema"]["schema"].is_object() => {
                Ok(Some(OutputFormat::JsonSchema(format["json_schema"].take())))
            }
            Some("json_schema") => Err(invalid_option(
                "response_format",
                "`json_schema` with a `name` and a `schema`",
            )),
            _ => Err(invalid_option(
                "response_format",
                "of the type `text`, `json_object` or `json_schema`",
            )),
        }
    }

    /// Their ranges are for the model's server to know.
    fn sampling(&mut self) -> Result<Map<String, Value>, ApiError> {
        let mut sampling = Map::new();
        for name in SAMPLING_OPTIONS {
            let Some(value) = self.0.remove(name) else {
                continue;
            };
            let (is_fit, expected) = match name {
                "logit_bias" => (value.is_object(), "an object of token ids"),
                "reasoning_effort" | "verbosity" => (value.is_string(), "a word"),
                _ => (value.is_number(), "a number"),
            };
            if !is_fit {
                return Err(invalid_option(name, expected));
            }
            sampling.insert(name.to_owned(), value);
        }
        Ok(sampling)
    }
}
