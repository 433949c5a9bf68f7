//! Arithmetic, done by a machine that does not guess.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tenon_domain::{ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_tools::CallContext;

use super::blocking::blocking;
use super::{AnyTool, BuiltinTool, READS_ONLY};

mod expression;

/// Keeps evaluation below a noticeable time.
const MAX_CHARS: usize = 1000;

pub(super) fn tools() -> Vec<Box<dyn AnyTool>> {
    vec![Box::new(Calculate)]
}

struct Calculate;

#[derive(Deserialize)]
struct CalculateInput {
    expression: String,
}

#[async_trait]
impl BuiltinTool for Calculate {
    type Input = CalculateInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "calculate".into(),
            title: Some("Calculate".into()),
            description: "Works out an arithmetic expression, exactly where that is possible: \
                          + - * / ^ ! mod, brackets, percent, pi, e, sqrt, sin, ln, log10, abs, \
                          round, min, max, sum, avg, and units."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "expression": {
                        "type": "string",
                        "description": "What to work out. Angles are in radians; decimals are \
                                        written with a point.",
                        "examples": ["(17 + 4) * 23", "12.5% of 80", "max(3, 7, 5)", "5 km to miles"],
                    },
                },
                "required": ["expression"],
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "计算, 計算, 算一下, 等于多少, 加减乘除"
    }

    async fn run(&self, input: CalculateInput, context: &CallContext) -> ToolResult {
        let length = input.expression.chars().count();
        if length > MAX_CHARS {
            return Err(ToolError::invalid_input(format!(
                "The expression is {length} characters long; {MAX_CHARS} is the most. Work it out in parts."
            )));
        }
        blocking(context, move |stop| {
            let result = expression::evaluate(&input.expression, stop);
            result
                .map(ToolOutput::text)
                .map_err(|error| ToolError::invalid_input(error.to_string()))
        })
        .await
    }
}
