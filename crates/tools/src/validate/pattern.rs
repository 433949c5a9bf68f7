//! Regular expressions that inputs are checked against.
//!
//! Only such as take time in proportion to the text. What needs an engine that tries and tries
//! again (look-around, references back) is told to the model with the schema and left to the tool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};
use tenon_schema::pattern::is_regex;

use super::meter;
use super::metered::{MeteredJson, MeteredValue};

/// Longer ones are programs.
const MAX_PATTERN_BYTES: usize = 4096;

/// How large a pattern may become, and about how many states that is. The number of states times
/// the length of a text bounds the time of a match.
const SIZES: [(usize, u64); 3] = [
    (MAX_NAME_PATTERN_BYTES, 256),
    (64 * 1024, 2048),
    (256 * 1024, 8192),
];

/// Patterns for names of properties are all tried on each name, so they have to be small.
pub(super) const MAX_NAME_PATTERN_BYTES: usize = 8 * 1024;

/// Per state and byte, where nothing is in the favour of the engine.
const STATE_NANOSECONDS: u64 = 4;

/// A text for which a match could take longer is not checked.
const MAX_MATCH_TIME: Duration = Duration::from_secs(1);

/// Compiling one takes some microseconds at least, and some milliseconds at most.
const COMPILATION_STEPS: u64 = 10_000;

/// A schema with more of them is not checked for the others.
const MAX_PATTERNS: usize = 500;

/// The text of a pattern that may be looked at. Each `\c` makes the translation begin anew.
pub(super) fn is_readable(pattern: &str) -> bool {
    pattern.len() <= MAX_PATTERN_BYTES && !pattern.contains(r"\c")
}

/// For the format `regex` of an input.
pub(super) fn is_pattern_within_limits(text: &str) -> bool {
    meter::consume_fuel(COMPILATION_STEPS);
    !is_readable(text) || is_regex(text)
}

/// A pattern in linear time.
#[derive(Debug)]
pub(super) struct LinearPattern {
    validator: Validator,
    states: u64,
}

impl LinearPattern {
    /// None: there is none, or none that is small enough.
    pub(super) fn compile(pattern: &str, max_size: usize) -> Option<Self> {
        if !is_readable(pattern) {
            return None;
        }
        let schema = json!({ "pattern": pattern });
        let sizes = SIZES.iter().filter(|(size, _)| *size <= max_size);
        sizes.copied().find_map(|(size, states)| {
            let options = jsonschema::options().with_pattern_options(options(size));
            let validator = options.build(&schema).ok()?;
            Some(Self { validator, states })
        })
    }

    /// Whether a match takes less than [`MAX_MATCH_TIME`]; if so, its fuel is consumed.
    fn is_within_limits(&self, text: &str) -> bool {
        let nanoseconds = (text.len() as u64).saturating_mul(self.states * STATE_NANOSECONDS);
        if Duration::from_nanos(nanoseconds) > MAX_MATCH_TIME {
            return false;
        }
        // Where there is not the time for it, there is none for the rest either.
        let has_time = Duration::from_nanos(nanoseconds) < meter::time_left();
        meter::consume_fuel(if has_time {
            1 + nanoseconds / 256
        } else {
            u64::MAX
        });
        true
    }
}

pub(super) fn options(size: usize) -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex()
        .size_limit(size)
        .dfa_size_limit(256 * 1024)
}

/// The keyword `pattern`, in place of the one that the crate has.
#[derive(Debug)]
pub(super) struct PatternKeyword(Option<Arc<LinearPattern>>);

impl<'i> Keyword<'i, MeteredJson> for PatternKeyword {
    fn validate(&self, instance: MeteredValue<'i>) -> Result<(), ValidationError<'i>> {
        match (&self.0, instance.0) {
            (Some(pattern), Value::String(text)) if pattern.is_within_limits(text) => {
                pattern.validator.validate(instance.0)
            }
            _ => Ok(()),
        }
    }

    fn is_valid(&self, instance: MeteredValue<'i>) -> bool {
        match (&self.0, instance.0) {
            (Some(pattern), Value::String(text)) if pattern.is_within_limits(text) => {
                pattern.validator.is_valid(instance.0)
            }
            _ => true,
        }
    }
}

/// The patterns of one schema, each compiled once.
#[derive(Debug, Default)]
pub(super) struct LinearPatterns(Mutex<HashMap<String, Option<Arc<LinearPattern>>>>);

impl LinearPatterns {
    pub(super) fn keyword(&self, pattern: &Value) -> PatternKeyword {
        let Some(pattern) = pattern.as_str() else {
            return PatternKeyword(None);
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = known.get(pattern) {
            return PatternKeyword(pattern.clone());
        }
        if known.len() >= MAX_PATTERNS {
            return PatternKeyword(None);
        }
        meter::consume_fuel(COMPILATION_STEPS);
        let largest = SIZES[SIZES.len() - 1].0;
        let compiled = LinearPattern::compile(pattern, largest).map(Arc::new);
        known.insert(pattern.to_owned(), compiled.clone());
        PatternKeyword(compiled)
    }
}
