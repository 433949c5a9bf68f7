//! Generation options of one request.

use serde_json::{Map, Value};
use tenon_domain::{ToolId, coded_errors};

/// Options that OpenAI's servers, or those on people's machines, take under these names, and that
/// mean nothing to Tenon itself.
pub const SAMPLING_OPTIONS: [&str; 8] = [
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "reasoning_effort",
    "verbosity",
    "top_k",
    "min_p",
    "repeat_penalty",
];

/// Generation options of one request. Unset fields use the model's settings in Tenon or the
/// server's defaults; set fields override both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GenerationOptions {
    pub max_tokens: Option<u64>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub seed: Option<i64>,
    /// The answer ends before the first of these.
    pub stop: Vec<String>,
    pub tool_choice: Option<ToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    pub response_format: Option<OutputFormat>,
    /// [`SAMPLING_OPTIONS`], sent as they are.
    pub sampling: Map<String, Value>,
}

/// Whether the model has to call a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    /// This one.
    Tool(ToolId),
}

/// The form of an answer's text.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputFormat {
    JsonObject,
    /// The `json_schema` of OpenAI's API: a name, a schema, whether it is strict.
    JsonSchema(Value),
}

impl ToolChoice {
    /// As a plain word, in both APIs of OpenAI. A tool that must be called is offered alone, so
    /// `required` means the same and works with more servers: llama.cpp accepts only words.
    pub(crate) fn as_word(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Required | Self::Tool(_) => "required",
        }
    }
}

impl GenerationOptions {
    /// For the steps after the first: a call that was required has been made, and would otherwise
    /// be required for ever.
    pub fn after_first_step(&self) -> Self {
        let tool_choice = self.tool_choice.clone();
        Self {
            tool_choice: tool_choice.filter(|choice| *choice == ToolChoice::None),
            ..self.clone()
        }
    }

    /// Fills unset options from `others`, except `tool_choice`, which only the request decides.
    pub fn or(mut self, others: &Self) -> Self {
        self.max_tokens = self.max_tokens.or(others.max_tokens);
        self.temperature = self.temperature.or(others.temperature);
        self.top_p = self.top_p.or(others.top_p);
        self.seed = self.seed.or(others.seed);
        for (name, value) in &others.sampling {
            let sampling = self.sampling.entry(name);
            sampling.or_insert_with(|| value.clone());
        }
        self
    }

    /// Whether a model that is sent this may call the tool.
    pub(crate) fn allows(&self, tool: &ToolId) -> bool {
        match &self.tool_choice {
            None | Some(ToolChoice::Auto | ToolChoice::Required) => true,
            Some(ToolChoice::None) => false,
            Some(ToolChoice::Tool(only)) => only == tool,
        }
    }

    /// Whether an answer without a call would be wrong.
    pub(crate) fn requires_call(&self) -> bool {
        matches!(
            self.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Tool(_))
        )
    }
}

coded_errors! {
    /// Why a model cannot be asked with an option.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum OptionFault {
        Unsupported { option: String, model: String } = "model_option_unsupported" => "{model} does not take `{option}`. Leave it out, or choose another model.",
        AboveOne { option: String, model: String } = "model_option_above_one" => "{model} takes `{option}` from 0 to 1. Send less, or choose another model.",
        /// The model calls tools by the form of its answer.
        WithTools { option: String, model: String } = "model_option_with_tools" => "{model} does not take `{option}` together with tools. Send `tool_choice` as `none`, or leave it out.",
    }
}

impl OptionFault {
    /// The option's name in OpenAI's API.
    pub fn option(&self) -> &str {
        let (Self::Unsupported { option, .. }
        | Self::AboveOne { option, .. }
        | Self::WithTools { option, .. }) = self;
        option
    }
}
