//! Features that a server turned out not to support. Learned from refusals, once: a change that
//! made one request succeed is used for the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tenon_domain::ToolId;

use super::compiled_tool::CompiledTool;
use crate::ExclusionReason;
use tenon_domain::text::shorten;

/// A chat that is lighter than this is not what fills a model.
const MIN_SHRINKABLE_TOKENS: usize = 800;

/// How much of a refusal a person is shown.
const MAX_QUOTE_CHARS: usize = 200;

/// How servers say that a model cannot call tools: Ollama, OpenRouter, vLLM, llama.cpp.
const NO_TOOLS_PHRASES: [&str; 5] = [
    "does not support tools",
    "not support function calling",
    "support tool use",
    "tool choice requires",
    "tools param requires",
];

/// How servers say that a model cannot see: llama.cpp, OpenRouter, vLLM, DeepSeek, OpenAI.
const NO_IMAGES_PHRASES: [&str; 8] = [
    "image input is not supported",
    "support image input",
    "not support image",
    "not support vision",
    "not a multimodal",
    "unknown variant `image_url`",
    "image_url is only supported",
    "mmproj",
];

/// The fields thinking goes back in, as a refusal names them.
const REASONING_FIELDS: [&str; 6] = [
    "reasoning_content",
    "reasoning_details",
    "'reasoning'",
    "`reasoning`",
    "encrypted_content",
    "encrypted content",
];

#[derive(Debug, Clone)]
pub(crate) struct Capabilities {
    /// Knows `stream_options`.
    pub counts_tokens: bool,
    /// Knows `cache_control`.
    pub caches: bool,
    pub sees_images: bool,
    /// Takes tools at all.
    pub takes_tools: bool,
    /// Takes its thoughts back.
    pub takes_thoughts: bool,
    /// Says its thoughts in short.
    pub summarises_thoughts: bool,
    /// Whether a default temperature may be sent; reasoning models refuse it.
    pub takes_temperature: bool,
    /// Lets the user speak right after a tool has.
    pub takes_users_after_tools: bool,
    /// Knows `max_tokens`; others know `max_completion_tokens` alone.
    pub takes_max_tokens: bool,
    /// Knows `stop`.
    pub takes_stop: bool,
    /// Finds tools for its model, where it is one that does.
    pub searches_tools: bool,
    /// Writes no more than this.
    pub max_tokens: Option<u64>,
    /// Reads no more than this.
    pub context_tokens: Option<u64>,
    /// A chat of this weight was too long.
    pub full_at: Option<usize>,
    quarantine: BTreeMap<ToolId, RefusedTool>,
    /// An image in this request cannot be read. The next images may be fine.
    has_bad_image: bool,
}

/// A refused tool and the reason. A changed schema makes it a different tool.
#[derive(Debug, Clone, PartialEq)]
struct RefusedTool {
    schema: Value,
    why: ExclusionReason,
}

/// The change of capabilities that a refusal leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CapabilityChange {
    None,
    Changed,
    /// Some tools are left out. There are only so many.
    ToolsExcluded,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            counts_tokens: true,
            caches: true,
            sees_images: true,
            takes_tools: true,
            takes_thoughts: true,
            summarises_thoughts: true,
            takes_temperature: true,
            takes_users_after_tools: true,
            takes_max_tokens: true,
            takes_stop: true,
            searches_tools: true,
            max_tokens: None,
            context_tokens: None,
            full_at: None,
            quarantine: BTreeMap::new(),
            has_bad_image: false,
        }
    }
}

impl Capabilities {
    /// Learns from a refusal of a request with these tools.
    pub(crate) fn learn(
        &mut self,
        said: &str,
        tools: &[Arc<CompiledTool>],
        has_images: bool,
    ) -> CapabilityChange {
        let lower = said.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let switch = if says(&["stream_options", "include_usage"]) {
            &mut self.counts_tokens
        } else if self.searches_tools
            && (says(&["defer_loading"]) || says(&["tool_search"]) && !has_finder(tools))
        {
            &mut self.searches_tools
        } else if says(&["reasoning.summary", "reasoning summar"]) {
            &mut self.summarises_thoughts
        } else if says(&["cache_control"]) {
            &mut self.caches
        } else if says(&["after role 'tool'"]) {
            &mut self.takes_users_after_tools
        } else if says(&["max_completion_tokens"]) {
            &mut self.takes_max_tokens
        } else if says(&["'stop'", "`stop`"]) {
            &mut self.takes_stop
        } else if says_no_tools(&lower) {
            &mut self.takes_tools
        } else if says(&REASONING_FIELDS) {
            &mut self.takes_thoughts
        } else if says(&["temperature"]) {
            &mut self.takes_temperature
        } else if has_images && says_no_images(&lower) {
            &mut self.sees_images
        } else if let Some(most) = max_tokens_limit(&lower) {
            let is_new = self.max_tokens.replace(most) != Some(most);
            return change_if(is_new);
        } else if has_images && says(&["image", "picture"]) {
            return change_if(!std::mem::replace(&mut self.has_bad_image, true));
        } else {
            return self.exclude_tools(said, tools);
        };
        change_if(std::mem::replace(switch, false))
    }

    fn exclude_tools(&mut self, said: &str, tools: &[Arc<CompiledTool>]) -> CapabilityChange {
        let why = shorten(said.trim(), MAX_QUOTE_CHARS);
        let refused_tools = refused_tools(said, tools);
        for tool in &refused_tools {
            let refused = RefusedTool {
                schema: tool.schema.clone(),
                why: ExclusionReason::Refused {
                    said: why.as_ref().into(),
                },
            };
            self.quarantine.insert(tool.id.clone(), refused);
        }
        if refused_tools.is_empty() {
            CapabilityChange::None
        } else {
            CapabilityChange::ToolsExcluded
        }
    }

    /// A chat of this weight was too long. `None`: it cannot get much shorter.
    pub(crate) fn shrink(&mut self, weight: usize) -> CapabilityChange {
        let is_less = self.full_at.is_none_or(|full| weight < full);
        if weight < MIN_SHRINKABLE_TOKENS || !is_less {
            return CapabilityChange::None;
        }
        self.full_at = Some(weight);
        CapabilityChange::Changed
    }

    /// The weight that a chat must be reduced to. None if no chat of this weight was ever refused;
    /// otherwise below the limit, so that the next messages still fit.
    pub(crate) fn budget(&self, weight: usize) -> Option<usize> {
        let full = self.full_at.filter(|full| weight >= *full);
        full.map(|full| full * 6 / 10)
    }

    pub(crate) fn shows_images(&self) -> bool {
        self.sees_images && !self.has_bad_image
    }

    /// Why a tool with this schema is not told of.
    pub(crate) fn refusal(&self, tool: &ToolId, schema: &Value) -> Option<&ExclusionReason> {
        let refused = self.quarantine.get(tool)?;
        (refused.schema == *schema).then_some(&refused.why)
    }

    /// Takes over what another one learned and found to be right.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.counts_tokens &= other.counts_tokens;
        self.caches &= other.caches;
        self.sees_images &= other.sees_images;
        self.takes_tools &= other.takes_tools;
        self.takes_thoughts &= other.takes_thoughts;
        self.summarises_thoughts &= other.summarises_thoughts;
        self.takes_temperature &= other.takes_temperature;
        self.takes_users_after_tools &= other.takes_users_after_tools;
        self.takes_max_tokens &= other.takes_max_tokens;
        self.takes_stop &= other.takes_stop;
        self.searches_tools &= other.searches_tools;
        self.max_tokens = other.max_tokens.or(self.max_tokens);
        self.context_tokens = other.context_tokens.or(self.context_tokens);
        self.full_at = other.full_at.or(self.full_at);
        let refused = other.quarantine.iter();
        self.quarantine
            .extend(refused.map(|(id, refused)| (id.clone(), refused.clone())));
    }
}

/// Whether this is a server's way to say that its model cannot call tools.
pub(crate) fn says_no_tools(said: &str) -> bool {
    NO_TOOLS_PHRASES.iter().any(|words| said.contains(words))
}

/// Whether this is a server's way to say that its model cannot see.
pub(crate) fn says_no_images(said: &str) -> bool {
    NO_IMAGES_PHRASES.iter().any(|words| said.contains(words))
}

/// Whether a request has our own tool that finds others, which is then what is meant by its name.
fn has_finder(tools: &[Arc<CompiledTool>]) -> bool {
    let mut ids = tools.iter().map(|tool| tool.id.as_str());
    ids.any(|id| id.contains("tool_search"))
}

fn change_if(is_new: bool) -> CapabilityChange {
    if is_new {
        CapabilityChange::Changed
    } else {
        CapabilityChange::None
    }
}

/// "max_tokens: 8192 > 4096, which is the maximum…"
fn max_tokens_limit(said: &str) -> Option<u64> {
    let rest = &said[said.find("max_tokens")?..];
    let (_, most) = rest.split_once('>')?;
    number(most.trim_start()).filter(|most| *most > 0)
}

/// The tools a refusal is about: numbered in it, or called by their names.
fn refused_tools<'a>(said: &str, tools: &'a [Arc<CompiledTool>]) -> Vec<&'a CompiledTool> {
    let lower = said.to_lowercase();
    // Gemini counts functions inside its one tool; all others count tools.
    let numbers = [
        &["function_declarations[", "functiondeclarations["][..],
        &["tools[", "tools.", "tools/", "functions["][..],
    ]
    .into_iter()
    .map(|marks| numbers(&lower, marks))
    .find(|numbers| !numbers.is_empty())
    .unwrap_or_default();
    let numbered: Vec<&CompiledTool> = numbers
        .into_iter()
        .filter_map(|number| tools.get(number).map(AsRef::as_ref))
        .collect();
    // An error about the conversation names tools without meaning them.
    let is_about_tools = ["schema", "function", "parameters", "declaration"]
        .iter()
        .any(|word| lower.contains(word))
        && !["messages", "role"].iter().any(|word| lower.contains(word));
    if !numbered.is_empty() || !is_about_tools {
        return numbered;
    }
    let named = tools.iter().filter(|tool| is_named(said, &tool.id));
    named.map(AsRef::as_ref).collect()
}

/// Whether a name is meant as one: many ids are words of their own.
fn is_named(said: &str, id: &ToolId) -> bool {
    let quoted = ["'", "\"", "`"].map(|quote| format!("{quote}{id}{quote}"));
    let called = [format!("function {id} "), format!("tool {id} ")];
    let mut forms = quoted.iter().chain(&called);
    forms.any(|form| said.contains(form.as_str()))
}

/// Every number that follows on one of these marks.
fn numbers(said: &str, marks: &[&str]) -> Vec<usize> {
    let found = marks.iter().flat_map(|mark| {
        let rests = said.split(mark).skip(1);
        rests.filter_map(|rest| usize::try_from(number(rest)?).ok())
    });
    let mut found: Vec<usize> = found.collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn number(text: &str) -> Option<u64> {
    let end = text.find(|char: char| !char.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compiled(tools: &[&str]) -> Vec<Arc<CompiledTool>> {
        let tools = tools.iter().map(|id| {
            Arc::new(CompiledTool {
                id: ToolId::new(*id),
                name: (*id).into(),
                description: String::new(),
                schema: json!({"type": "object"}),
                entry: serde_json::value::to_raw_value(&()).unwrap(),
            })
        });
        tools.collect()
    }

    /// Which of these tools a refusal leaves out.
    #[track_caller]
    fn check(said: &str, expected: &[&str]) {
        let tools = compiled(&["search", "clock", "read", "write"]);
        let found = refused_tools(said, &tools);
        let found: Vec<&str> = found.iter().map(|tool| tool.id.as_str()).collect();
        assert_eq!(found, expected, "{said}");
    }

    #[test]
    fn a_refusal_is_understood_to_mean_the_tool_it_means() {
        check(
            "tools[1].function.parameters Invalid schema for function 'clock': array schema missing items.",
            &["clock"],
        );
        check("Invalid schema for function 'clock': …", &["clock"]);
        check(
            "tools.2.custom.input_schema: JSON schema is invalid",
            &["read"],
        );
        check(
            "* GenerateContentRequest.tools[0].function_declarations[3].parameters.properties: should be non-empty\n\
             * GenerateContentRequest.tools[0].function_declarations[1].parameters: missing field",
            &["clock", "write"],
        );
    }

    #[test]
    fn a_refusal_of_something_else_leaves_every_tool_in() {
        check(
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'. Please search the docs.",
            &[],
        );
        check("Invalid parameters. Please search the docs.", &[]);
        check("messages.3.content.0: tool 'search' unexpected", &[]);
        check("tools[77]: too many", &[]);
    }

    #[test]
    fn pictures_are_given_up_only_by_a_model_that_cannot_see() {
        let check = |said: &str, has_image: bool, (sees, shows): (bool, bool)| {
            let mut capabilities = Capabilities::default();
            capabilities.learn(said, &[], has_image);
            assert_eq!(
                (capabilities.sees_images, capabilities.shows_images()),
                (sees, shows),
                "{said}"
            );
        };
        check(
            "image input is not supported - hint: provide the mmproj",
            true,
            (false, false),
        );
        check(
            "No endpoints found that support image input",
            true,
            (false, false),
        );
        // One that cannot be read is left out of this request alone.
        check("Could not process image", true, (true, false));
        check(
            "Invalid temperature (see the image docs)",
            false,
            (true, true),
        );
    }

    #[test]
    fn a_mended_tool_is_offered_again() {
        let mut capabilities = Capabilities::default();
        let learned = capabilities.learn(
            "Invalid schema for function 'clock'",
            &compiled(&["clock"]),
            false,
        );
        assert_eq!(learned, CapabilityChange::ToolsExcluded);
        let clock = ToolId::new("clock");
        assert!(
            capabilities
                .refusal(&clock, &json!({"type": "object"}))
                .is_some()
        );
        let mended = json!({"type": "object", "properties": {}});
        assert!(capabilities.refusal(&clock, &mended).is_none());
    }
}
