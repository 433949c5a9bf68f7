//! Bytes as a document: JSON or YAML, with the place of what is wrong in it.

use serde_json::Value;
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{DuplicateKeyPolicy, Options};
use sha2::{Digest, Sha256};
use tenon_net::json_weight::parsed_bytes;

use crate::syntax::Flaw;

/// More than the largest description anybody publishes to be called.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// As deep as JSON may be; far from where a stack ends.
const MAX_DEPTH: usize = 127;

/// More than any real YAML document has. Bounds what aliases can make of a small one.
const MAX_NODES: usize = 1_000_000;

/// How much memory a document may take once it is read: small values take up to a hundred
/// times their text.
const MAX_PARSED_BYTES: usize = 256 * 1024 * 1024;

/// Why a document cannot be used: a sentence with the place in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(String);

impl Wrong {
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    fn syntax(format: &str, flaw: &Flaw) -> Self {
        let Flaw { line, column, why } = flaw;
        Self(format!(
            "The document is not valid {format}: line {line}, column {column}: {why}."
        ))
    }
}

/// A whole document as one value.
pub fn read(bytes: &[u8]) -> Result<Value, Wrong> {
    if bytes.len() > MAX_BYTES {
        return Err(Wrong(format!(
            "The document is too big: {} MB, and at most {} are read.",
            bytes.len().div_ceil(1024 * 1024),
            MAX_BYTES / 1024 / 1024
        )));
    }
    if parsed_bytes(bytes) > MAX_PARSED_BYTES {
        return Err(Wrong::new(
            "The document has more values in it than Tenon takes in. Leave out some of it.",
        ));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (line, column) = place(bytes, error.valid_up_to());
        let why = "a byte that is not UTF-8".to_owned();
        Wrong::syntax("text", &Flaw { line, column, why })
    })?;
    match text.trim_start().chars().next() {
        None => Err(Wrong::new("The document is empty.")),
        // YAML can begin so as well, with a flow mapping.
        Some('{' | '[') => json(text).or_else(|wrong| yaml(text).map_err(|_| wrong)),
        Some('<') => Err(Wrong::new(
            "The document is a web page or XML, not JSON or YAML.",
        )),
        Some(_) => yaml(text),
    }
}

/// Whether a value says that it describes an API.
pub fn is_document(value: &Value) -> bool {
    let says = |key: &str| {
        let version = value.get(key);
        version.is_some_and(|version| version.is_string() || version.is_number())
    };
    says("openapi") || says("swagger")
}

/// Whether what stands where a document should be may be meant as one: whoever parses it
/// says what it lacks.
pub(super) fn may_be_document(value: &Value) -> bool {
    let says = |key: &str| value.get(key).is_some();
    value.is_object() && (says("openapi") || says("swagger") || says("paths"))
}

/// What a document that somebody gives is called by.
pub fn hash(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn json(text: &str) -> Result<Value, Wrong> {
    serde_json::from_str(text).map_err(|error| Wrong::syntax("JSON", &error.into()))
}

fn yaml(text: &str) -> Result<Value, Wrong> {
    let read = serde_saphyr::from_str_with_options(text, options());
    read.map_err(|error: serde_saphyr::Error| Wrong::syntax("YAML", &error.into()))
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
            max_documents: 1,
            max_aliases: 50_000,
            max_anchors: 50_000,
            // Components that are used a thousand times are what anchors are for.
            enforce_alias_anchor_ratio: false,
            max_total_scalar_bytes: 2 * MAX_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 500_000,
            max_replay_stack_depth: 32,
        },
        // As JSON does it, and as the tools that wrote the document did.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // Of an enumeration of countries, Norway is one.
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}

/// Line and column, from one, of a byte.
fn place(bytes: &[u8], at: usize) -> (u64, u64) {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line = before.iter().filter(|byte| **byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n');
    (line as u64 + 1, column.count() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<Value, &str>) {
        let read = read(bytes).map_err(|wrong| wrong.to_string());
        assert_eq!(read, expected.map_err(str::to_owned));
    }

    #[test]
    fn json_and_yaml_are_the_same_value() {
        let value = json!({ "paths": { "/a": { "get": { "responses": { "200": {} } } } } });
        check(value.to_string().as_bytes(), Ok(value.clone()));
        check(format!("\u{feff}{value}").as_bytes(), Ok(value.clone()));
        check(
            b"paths:\n  /a:\n    get:\n      responses:\n        200: {}\n",
            Ok(value.clone()),
        );
        check(b"{paths: {/a: {get: {responses: {'200': {}}}}}}", Ok(value));
        check(
            b"# a comment\nenum: [no, on, yes, true, 2020-01-01, 1.10]",
            Ok(json!({ "enum": ["no", "on", "yes", true, "2020-01-01", 1.1] })),
        );
        check(
            b"a: &x {b: 1}\nc: *x\n",
            Ok(json!({ "a": { "b": 1 }, "c": { "b": 1 } })),
        );
    }

    #[test]
    fn what_is_broken_is_told_with_its_place() {
        check(b"", Err("The document is empty."));
        check(
            b"{\n  \"a\": 1,\n  \"b\" 2\n}",
            Err("The document is not valid JSON: line 3, column 7: expected `:`."),
        );
        check(
            b"<!doctype html>",
            Err("The document is a web page or XML, not JSON or YAML."),
        );
        check(
            b"a: 1\nb: \xff",
            Err("The document is not valid text: line 2, column 4: a byte that is not UTF-8."),
        );
        let broken = read(b"paths:\n  /a: [1, 2\n").unwrap_err().to_string();
        assert!(
            broken.starts_with("The document is not valid YAML: line "),
            "{broken}"
        );
        let big = vec![b' '; MAX_BYTES + 1];
        check(
            &big,
            Err("The document is too big: 33 MB, and at most 32 are read."),
        );
    }

    #[test]
    fn a_small_text_cannot_become_a_huge_value() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let again = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{again}]\n"));
        }
        assert!(read(bomb.as_bytes()).is_err());
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
        assert!(read("{\"a\":".repeat(100_000).as_bytes()).is_err());
        let small_values = format!("[[0]{}]", ",[0]".repeat(1_000_000));
        check(
            small_values.as_bytes(),
            Err("The document has more values in it than Tenon takes in. Leave out some of it."),
        );
    }
}
