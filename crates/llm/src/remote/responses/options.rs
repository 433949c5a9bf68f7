//! The options of a request, in the words of Responses.

use serde_json::{Map, Value, json};

use crate::remote::RequestPlan;
use crate::{GenerationOptions, OutputFormat};

/// Options of chat completions whose value stands elsewhere here: the option, and where.
const MOVED: [(&str, &str, &str); 2] = [
    ("reasoning_effort", "reasoning", "effort"),
    ("verbosity", "text", "verbosity"),
];

/// What the same limit is called in chat completions.
const MAX_TOKENS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// OpenAI refuses less.
const MIN_TOKENS: u64 = 16;

/// The option that this format has no word for.
pub(crate) fn unknown_option(options: &GenerationOptions) -> Option<&str> {
    if options.seed.is_some() {
        return Some("seed");
    }
    if !options.stop.is_empty() {
        return Some("stop");
    }
    let is_known = |name: &str| MOVED.iter().any(|(option, ..)| *option == name);
    let mut names = options.sampling.keys().map(String::as_str);
    names.find(|name| !is_known(name))
}

/// Added last: a request's option wins over the model's own parameters. Those may be written as for
/// chat completions.
pub(super) fn add_options(plan: &RequestPlan, body: &mut Map<String, Value>) {
    let options = &plan.options;
    for name in MAX_TOKENS {
        if let Some(limit) = body.remove(name) {
            body.entry("max_output_tokens").or_insert(limit);
        }
    }
    for (option, group, name) in MOVED {
        let own = body.remove(option);
        if let Some(value) = options.sampling.get(option).cloned().or(own) {
            insert(body, group, name, value);
        }
    }
    let max_tokens = options.max_tokens.map(|most| most.max(MIN_TOKENS));
    let fields = [
        ("max_output_tokens", max_tokens.map(Value::from)),
        ("temperature", options.temperature.map(Value::from)),
        ("top_p", options.top_p.map(Value::from)),
    ];
    let fields = fields.into_iter();
    body.extend(fields.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    if let Some(format) = &options.response_format {
        insert(body, "text", "format", output_format(format));
    }
    if !plan.tools.is_empty() {
        if let Some(choice) = &options.tool_choice {
            body.insert("tool_choice".into(), json!(choice.as_word()));
        }
        if let Some(is_parallel) = options.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(is_parallel));
        }
    }
}

/// Into a member of the body, which stays as it is but for that.
fn insert(body: &mut Map<String, Value>, group: &str, name: &str, value: Value) {
    let group = body.entry(group).or_insert_with(|| json!({}));
    if let Value::Object(group) = group {
        group.insert(name.to_owned(), value);
    }
}

fn output_format(format: &OutputFormat) -> Value {
    match format {
        OutputFormat::JsonObject => json!({"type": "json_object"}),
        OutputFormat::JsonSchema(schema) => {
            let mut format = schema.clone();
            if let Value::Object(format) = &mut format {
                format.insert("type".into(), json!("json_schema"));
            }
            format
        }
    }
}
