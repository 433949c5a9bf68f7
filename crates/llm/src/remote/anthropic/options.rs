//! The options of a request, in the words of Anthropic's messages.

use serde_json::{Map, Value, json};

use crate::remote::RequestPlan;
use crate::{GenerationOptions, ToolChoice};

/// Further options that have the same name here.
const SAMPLING: [&str; 1] = ["top_k"];

/// The option that this format has no word for.
pub(crate) fn unknown_option(options: &GenerationOptions) -> Option<&str> {
    if options.seed.is_some() {
        return Some("seed");
    }
    if options.response_format.is_some() {
        return Some("response_format");
    }
    let mut names = options.sampling.keys().map(String::as_str);
    names.find(|name| !SAMPLING.contains(name))
}

/// Added last: a request's option wins over the model's own parameters.
pub(super) fn add_options(plan: &RequestPlan, body: &mut Map<String, Value>) {
    let options = &plan.options;
    if let Some(asked) = options.max_tokens {
        let limit = plan.capabilities.max_tokens.unwrap_or(asked);
        body.insert("max_tokens".into(), json!(asked.min(limit)));
    }
    if let Some(temperature) = options.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(top_p) = options.top_p {
        body.insert("top_p".into(), json!(top_p));
    }
    if !options.stop.is_empty() {
        body.insert("stop_sequences".into(), json!(options.stop));
    }
    let sampling = options.sampling.iter();
    let known = sampling.filter(|(name, _)| SAMPLING.contains(&name.as_str()));
    body.extend(known.map(|(name, value)| (name.clone(), value.clone())));
    if !plan.tools.is_empty()
        && let Some(choice) = tool_choice(options)
    {
        body.insert("tool_choice".into(), choice);
    }
}

/// Whether calls may be parallel is a part of the choice here.
fn tool_choice(options: &GenerationOptions) -> Option<Value> {
    let mut choice = match &options.tool_choice {
        None if options.parallel_tool_calls.is_none() => return None,
        None | Some(ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::None) => return Some(json!({"type": "none"})),
        Some(ToolChoice::Required) => json!({"type": "any"}),
        Some(ToolChoice::Tool(id)) => json!({"type": "tool", "name": id}),
    };
    if let Some(is_parallel) = options.parallel_tool_calls {
        choice["disable_parallel_tool_use"] = json!(!is_parallel);
    }
    Some(choice)
}
