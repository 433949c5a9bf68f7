//! Does an input fit a tool's schema, and if not, what would be right?
//!
//! The one place that knows the `jsonschema` crate. It is built without its
//! retrievers: a schema comes from outside, and a `$ref` in it must never make
//! Tenon fetch anything.
//!
//! Schemas and inputs are made by strangers, and small ones can be made to take years. So all work
//! is [metered](meter): a little of it is done where the call is, which is all that an ordinary
//! call takes; more of it is done [elsewhere](background), by few at a time; and what is too
//! much is given up.

mod background;
mod explain;
mod guard;
mod meter;
mod metered;
mod pattern;

use std::sync::Arc;
use std::time::Duration;

use jsonschema::Validator;
use serde_json::Value;
use tenon_domain::{ToolError, ToolSpec, UserId};
use tokio_util::sync::CancellationToken;

use crate::call_error::CallError;

use background::JobError;
use explain::{explain, not_json, quote, shorten, unexplained};
use guard::{STEP, SchemaStats, StepKeyword};
use meter::{OutOfFuel, WorkLimits};
use metered::{MeteredJson, MeteredValue};
use pattern::{LinearPatterns, MAX_NAME_PATTERN_BYTES, is_pattern_within_limits};

/// What a call does itself. Other calls wait for the same thread.
const INLINE_LIMITS: WorkLimits = WorkLimits {
    fuel: 20_000,
    time: Duration::from_millis(2),
    stack_bytes: 256 * 1024,
};

/// What is done for a call elsewhere: an input of millions of values, or of megabytes of text.
const BACKGROUND_LIMITS: WorkLimits = WorkLimits {
    fuel: 10_000_000,
    time: Duration::from_secs(2),
    stack_bytes: background::STACK_BYTES / 4 * 3,
};

/// Finding out what is wrong takes memory for each thing that is.
const EXPLAIN_LIMITS: WorkLimits = WorkLimits {
    fuel: 2_000_000,
    time: Duration::from_millis(500),
    ..BACKGROUND_LIMITS
};

/// Compiling is done once for a tool. The fuel is for what is compiled more than once.
const COMPILE_LIMITS: WorkLimits = WorkLimits {
    fuel: 20_000_000,
    time: Duration::from_secs(10),
    ..BACKGROUND_LIMITS
};

/// More would be copied for nothing: no tool takes them.
const MAX_INPUT_VALUES: usize = 1_000_000;

/// The call that something is checked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValidationContext<'a> {
    pub(crate) user: &'a UserId,
    pub(crate) cancel: &'a CancellationToken,
}

/// A compiled input schema.
#[derive(Debug)]
pub(crate) enum Schema {
    CompiledSchema(Arc<CompiledSchema>),
    /// The schema itself is broken, or too much. Its tool may still work: the source decides.
    Unusable,
}

/// Why a schema cannot be used, for the log.
#[derive(Debug, thiserror::Error)]
enum SchemaCompileError {
    #[error("it is too large")]
    TooLarge,
    #[error("it takes too long to compile")]
    TooSlow,
    #[error("{0}")]
    Invalid(String),
}

#[derive(Debug)]
pub(crate) struct CompiledSchema {
    validator: Validator<MeteredJson>,
    name_cost: u64,
    /// A check of a small input stays small on the stack as well.
    is_shallow: bool,
}

impl Schema {
    pub(crate) async fn compile(
        tool: &ToolSpec,
        behalf: ValidationContext<'_>,
    ) -> Result<Self, ToolError> {
        let schema = tool.input_schema.value();
        let compiled = match SchemaStats::of(&schema) {
            None => Err(SchemaCompileError::TooLarge),
            Some(survey) if is_small(&survey) => {
                match meter::run(INLINE_LIMITS, None, || build(&schema, &survey)) {
                    Ok(compiled) => compiled,
                    Err(OutOfFuel) => build_in_background(schema, survey, behalf).await?,
                }
            }
            Some(survey) => build_in_background(schema, survey, behalf).await?,
        };
        match compiled {
            Ok(compiled) => Ok(Self::CompiledSchema(Arc::new(compiled))),
            Err(error) => {
                tracing::warn!(
                    tool = tool.display_name,
                    id = %tool.id,
                    error = shorten(&error.to_string()),
                    "the tool's input schema cannot be used: calls go to it unchecked"
                );
                Ok(Self::Unusable)
            }
        }
    }

    pub(crate) async fn check(
        &self,
        input: &Value,
        behalf: ValidationContext<'_>,
    ) -> Result<(), ToolError> {
        match input {
            Value::Object(_) => {}
            Value::String(raw) => return Err(not_json(raw)),
            other => {
                let value = quote(other).into();
                return Err(CallError::ArgumentsNotObject { value }.into());
            }
        }
        let Self::CompiledSchema(compiled) = self else {
            return Ok(());
        };
        if compiled.is_shallow
            && let Ok(checked) = compiled.check(input, None, INLINE_LIMITS, INLINE_LIMITS)
        {
            return checked;
        }
        let mut left = MAX_INPUT_VALUES;
        if !has_at_most(&mut left, input) {
            return Err(CallError::InputTooComplex.into());
        }
        let (compiled, input) = (compiled.clone(), input.clone());
        let check = move |cancel: &CancellationToken| match compiled.check(
            &input,
            Some(cancel),
            BACKGROUND_LIMITS,
            EXPLAIN_LIMITS,
        ) {
            Ok(checked) => checked,
            Err(Inconclusive::Fits) => Err(CallError::InputTooComplex.into()),
            Err(Inconclusive::Problems) => Err(unexplained()),
        };
        // Boxed: few inputs come here, and the future of every call would carry it.
        Box::pin(background::run(behalf, check)).await?
    }
}

/// Why a check has no result.
#[derive(Debug)]
enum Inconclusive {
    Fits,
    /// The input is invalid, but the reasons could not be determined within the limits.
    Problems,
}

impl CompiledSchema {
    fn check(
        &self,
        input: &Value,
        cancel: Option<&CancellationToken>,
        checking: WorkLimits,
        explaining: WorkLimits,
    ) -> Result<Result<(), ToolError>, Inconclusive> {
        let is_valid = || {
            meter::set_name_cost(self.name_cost);
            self.validator.is_valid(MeteredValue(input))
        };
        match meter::run(checking, cancel, is_valid) {
            Ok(true) => Ok(Ok(())),
            Ok(false) => explain(&self.validator, self.name_cost, input, cancel, explaining)
                .map(Err)
                .map_err(|OutOfFuel| Inconclusive::Problems),
            Err(OutOfFuel) => Err(Inconclusive::Fits),
        }
    }
}

/// Whether compiling it is nothing to wait for.
fn is_small(survey: &SchemaStats) -> bool {
    survey.values <= 500 && survey.depth <= 16 && survey.references <= 16 && survey.patterns <= 4
}

async fn build_in_background(
    schema: Value,
    survey: SchemaStats,
    behalf: ValidationContext<'_>,
) -> Result<Result<CompiledSchema, SchemaCompileError>, JobError> {
    background::run(behalf, move |cancel| {
        let build = || build(&schema, &survey);
        meter::run(COMPILE_LIMITS, Some(cancel), build)
            .unwrap_or_else(|OutOfFuel| Err(SchemaCompileError::TooSlow))
    })
    .await
}

fn build(schema: &Value, survey: &SchemaStats) -> Result<CompiledSchema, SchemaCompileError> {
    let guarded = survey.guarded(schema);
    let patterns = LinearPatterns::default();
    let options = jsonschema::options_for::<MeteredJson>()
        .with_pattern_options(pattern::options(MAX_NAME_PATTERN_BYTES))
        .with_format("regex", is_pattern_within_limits)
        .with_keyword("pattern", move |_, value, _| {
            Ok(Box::new(patterns.keyword(value)))
        })
        .with_keyword(STEP, |_, _, _| Ok(Box::new(StepKeyword::compile())));
    let validator = options
        .build(guarded.as_ref().unwrap_or(schema))
        .map_err(|error| SchemaCompileError::Invalid(shorten(&error.to_string())))?;
    Ok(CompiledSchema {
        validator,
        name_cost: survey.name_cost(),
        is_shallow: survey.depth <= 32,
    })
}

fn has_at_most(left: &mut usize, value: &Value) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter().all(|item| has_at_most(left, item)),
        Value::Object(members) => members.values().all(|value| has_at_most(left, value)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
