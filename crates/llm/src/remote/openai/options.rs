//! The options of a request, in the words of chat completions.

use serde_json::{Map, Value, json};
use tenon_domain::ToolUse;

use crate::OutputFormat;
use crate::remote::RequestPlan;

/// Added last: a request's option wins over the model's own parameters.
pub(super) fn add_options(plan: &RequestPlan, body: &mut Map<String, Value>) {
    let options = &plan.options;
    if let Some(max_tokens) = options.max_tokens {
        body.remove("max_tokens");
        let is_renamed = body.remove("max_completion_tokens").is_some();
        let name = if is_renamed || !plan.capabilities.takes_max_tokens {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body.insert(name.into(), json!(max_tokens));
    }
    // A call that is written as text must not be cut where its text happens to hold a sequence.
    let is_plain_text = plan.tools.is_empty() || plan.tool_use == ToolUse::Native;
    let fields = [
        ("temperature", options.temperature.map(Value::from)),
        ("top_p", options.top_p.map(Value::from)),
        ("seed", options.seed.map(Value::from)),
        (
            "stop",
            (!options.stop.is_empty() && plan.capabilities.takes_stop && is_plain_text)
                .then(|| json!(options.stop)),
        ),
        (
            "response_format",
            options
                .response_format
                .as_ref()
                .filter(|_| is_plain_text)
                .map(response_format),
        ),
    ];
    let fields = fields.into_iter();
    body.extend(fields.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    body.extend(options.sampling.clone());
    // Without tools these are refused.
    if !plan.tools.is_empty() && plan.tool_use == ToolUse::Native {
        if let Some(choice) = &options.tool_choice {
            body.insert("tool_choice".into(), json!(choice.as_word()));
        }
        if let Some(is_parallel) = options.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(is_parallel));
        }
    }
}

fn response_format(format: &OutputFormat) -> Value {
    match format {
        OutputFormat::JsonObject => json!({"type": "json_object"}),
        OutputFormat::JsonSchema(schema) => json!({"type": "json_schema", "json_schema": schema}),
    }
}
