//! Explains why an input is invalid, in words that help a model to correct it.

use std::io;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use tenon_domain::{ErrorDetail, ToolError, text};
use tokio_util::sync::CancellationToken;

use super::guard;
use super::meter::{self, OutOfFuel, WorkLimits};
use super::metered::{MeteredJson, MeteredValue};
use crate::call_error::{CallError, InputProblem};

/// A model can mend a handful of mistakes at a time; a list of hundreds helps nobody.
const MAX_PROBLEMS: usize = 5;

/// A value quoted back at the model is cut to this, so that a mistake in a
/// megabyte of input does not cost another megabyte.
const MAX_QUOTE_CHARS: usize = 80;

/// Making an error, without the path in it.
const ERROR_STEPS: u64 = 64;

/// For an input that is known not to fit. All that is wrong where that can be found out within
/// these limits, or else the first thing.
pub(super) fn explain(
    validator: &Validator<MeteredJson>,
    name_cost: u64,
    input: &Value,
    cancel: Option<&CancellationToken>,
    limits: WorkLimits,
) -> Result<ToolError, OutOfFuel> {
    let begin = || {
        meter::set_name_cost(name_cost);
        meter::set_error_cost(ERROR_STEPS + longest_path(input));
    };
    let all = || {
        begin();
        let mut errors = validator.iter_errors(MeteredValue(input));
        let mut problems: Vec<InputProblem> = errors
            .by_ref()
            .take(MAX_PROBLEMS)
            .map(|error| problem(&error))
            .collect();
        if errors.next().is_some() {
            problems.push(InputProblem::More);
        }
        problems
    };
    let first = || {
        begin();
        let checked = validator.validate(MeteredValue(input));
        vec![checked.map_or_else(|error| problem(&error), |()| InputProblem::Unspecified)]
    };
    let problems =
        meter::run(limits, cancel, all).or_else(|OutOfFuel| meter::run(limits, cancel, first))?;
    Ok(invalid_input(problems))
}

/// For an input that does not fit, where why takes too long to tell.
pub(super) fn unexplained() -> ToolError {
    invalid_input(vec![InputProblem::Unexplained])
}

fn invalid_input(problems: Vec<InputProblem>) -> ToolError {
    let problems: Vec<ErrorDetail> = problems.into_iter().map(Into::into).collect();
    let problems = problems.into();
    CallError::InvalidInput { problems }.into()
}

pub(super) fn not_json(raw: &str) -> ToolError {
    let why = match serde_json::from_str::<Value>(raw) {
        Err(error) => error.to_string(),
        Ok(_) => "they are a JSON string".into(),
    };
    let why = why.into();
    CallError::ArgumentsNotJson { why }.into()
}

/// How long the path of an error may be: each has one of its own.
fn longest_path(value: &Value) -> u64 {
    meter::consume_fuel(1);
    match value {
        Value::Array(items) => items.iter().map(longest_path).max().unwrap_or(0) + 4,
        Value::Object(members) => {
            let below = members
                .iter()
                .map(|(name, value)| name.len() as u64 + longest_path(value));
            below.max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn problem(error: &ValidationError<'_>) -> InputProblem {
    let path = field(error.instance_path().as_str());
    // Errors about the whole object name the field themselves.
    let at = |field: &str| match path.as_str() {
        "" => format!("`{field}`"),
        parent => format!("`{parent}.{field}`"),
    };
    let value = || match path.as_str() {
        "" => "the input".to_owned(),
        _ => quote(error.instance()),
    };
    let other = |said: String| InputProblem::Other {
        field: path.as_str().into(),
        said: shorten(&said).into(),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let field = at(property.as_str().unwrap_or_default()).into();
            InputProblem::Missing { field }
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names: Vec<String> = unexpected
                .iter()
                .take(MAX_PROBLEMS)
                .map(|n| at(&shorten(n)))
                .collect();
            let fields = names.join(", ").into();
            InputProblem::Unknown { fields }
        }
        ValidationErrorKind::Enum { options } => {
            let (choices, value) = (quote(options).into(), quote(error.instance()).into());
            let field = path.into();
            InputProblem::NotAChoice {
                field,
                choices,
                value,
            }
        }
        ValidationErrorKind::Not { schema } => {
            let schema = guard::unguarded(schema);
            let said = format!("{schema} is not allowed for {}", value());
            other(said)
        }
        _ => other(error.masked_with(value()).to_string()),
    }
}

/// "/items/0/name" as people write it: `items.0.name`.
fn field(pointer: &str) -> String {
    let field = pointer.trim_start_matches('/').replace('/', ".");
    shorten(&field.replace("~1", "/").replace("~0", "~"))
}

pub(super) fn quote(value: &Value) -> String {
    let mut quote = Quote(Vec::new());
    // It ends with an error where it is long enough.
    let _ = serde_json::to_writer(&mut quote, value);
    shorten(&String::from_utf8_lossy(&quote.0))
}

pub(super) fn shorten(text: &str) -> String {
    text::shorten(text, MAX_QUOTE_CHARS).into_owned()
}

/// The beginning of a value that may be of any length.
struct Quote(Vec<u8>);

impl io::Write for Quote {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Some more than is shown, so that no character at its end is cut in two.
        if self.0.len() > 8 * MAX_QUOTE_CHARS {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let taken = bytes.len().min(8 * MAX_QUOTE_CHARS);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
