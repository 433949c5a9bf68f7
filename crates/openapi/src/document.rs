//! Bytes as a document: JSON or YAML; errors name line and column.

use serde_json::Value;
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{DuplicateKeyPolicy, Options};
use sha2::{Digest, Sha256};
use tenon_net::json_weight::parsed_bytes;
use tenon_text::hex;

mod syntax;

pub use syntax::{SyntaxError, strict_yaml};

/// More than the largest description anybody publishes to be called.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// As deep as JSON may be; far from where a stack ends.
const MAX_DEPTH: usize = 127;

/// Bounds the expansion of YAML aliases ("billion laughs"); large public APIs stay below it.
const MAX_NODES: usize = 1_000_000;

/// How much memory a document may take once it is read: small values take up to a hundred
/// times their text.
const MAX_PARSED_BYTES: usize = 256 * 1024 * 1024;

/// Why a document cannot be used; as text it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("The document is too big: {megabytes} MB, and at most {} are read.", MAX_BYTES / 1024 / 1024)]
    TooLarge { megabytes: usize },
    #[error("The document contains more values than can be processed. Leave out some of it.")]
    TooManyValues,
    #[error("The document is empty.")]
    Empty,
    #[error("The document is a web page or XML, not JSON or YAML.")]
    Markup,
    #[error("The document is not valid {format}: {error}.")]
    Syntax {
        /// "JSON", "YAML" or "text".
        format: &'static str,
        error: SyntaxError,
    },
    #[error("The document is not an OpenAPI description: `#` is not an object.")]
    NotAnObject,
    #[error("The document is not an OpenAPI description: `#/paths` is not an object.")]
    PathsNotAnObject,
    #[error(
        "The document is not an OpenAPI description: `#` has neither `openapi` nor `swagger` nor `paths`."
    )]
    NotOpenapi,
    #[error("The document is Swagger {version}: only 2.0 and OpenAPI 3 are read.")]
    UnsupportedVersion { version: String },
}

impl DocumentError {
    fn syntax(format: &'static str, error: impl Into<SyntaxError>) -> Self {
        let error = error.into();
        Self::Syntax { format, error }
    }
}

/// A whole document as one value.
pub fn read(bytes: &[u8]) -> Result<Value, DocumentError> {
    if bytes.len() > MAX_BYTES {
        let megabytes = bytes.len().div_ceil(1024 * 1024);
        return Err(DocumentError::TooLarge { megabytes });
    }
    if parsed_bytes(bytes) > MAX_PARSED_BYTES {
        return Err(DocumentError::TooManyValues);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (line, column) = position(bytes, error.valid_up_to());
        let reason = "a byte that is not UTF-8".to_owned();
        DocumentError::syntax(
            "text",
            SyntaxError {
                line,
                column,
                reason,
            },
        )
    })?;
    match text.trim_start().chars().next() {
        None => Err(DocumentError::Empty),
        // YAML can begin so as well, with a flow mapping.
        Some('{' | '[') => json(text).or_else(|error| yaml(text).map_err(|_| error)),
        Some('<') => Err(DocumentError::Markup),
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

/// Whether a value found where a document should be is worth parsing as one: the parser says what
/// it lacks.
pub fn may_be_document(value: &Value) -> bool {
    let says = |key: &str| value.get(key).is_some();
    value.is_object() && (says("openapi") || says("swagger") || says("paths"))
}

/// The SHA-256 of a document, in hexadecimal.
pub fn hash(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}

fn json(text: &str) -> Result<Value, DocumentError> {
    serde_json::from_str(text).map_err(|error| DocumentError::syntax("JSON", error))
}

fn yaml(text: &str) -> Result<Value, DocumentError> {
    let read = serde_saphyr::from_str_with_options(text, options());
    read.map_err(|error: serde_saphyr::Error| DocumentError::syntax("YAML", error))
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
        // So that `NO` (Norway) in a list of countries is not read as false.
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}

/// Line and column, from one, of a byte.
fn position(bytes: &[u8], at: usize) -> (u64, u64) {
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
        let read = read(bytes).map_err(|error| error.to_string());
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
            Err("The document contains more values than can be processed. Leave out some of it."),
        );
    }
}
