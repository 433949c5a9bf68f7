//! The schema of a tool's input, as text.
//!
//! Thousands of tools stay in memory for as long as Tenon runs, and few of their schemas are
//! ever looked into. Parsed, a schema takes five times what its text takes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A JSON Schema whose instances are objects. Comes from outside: trust nothing in it.
/// Cheap to clone: all clones share one text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Value")]
pub struct InputSchema(Arc<RawValue>);

impl InputSchema {
    /// Compact JSON.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Parsed, anew at each call. A schema that is nested too deeply for that is `null`, which
    /// nobody takes for a schema.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }
}

impl From<Value> for InputSchema {
    fn from(schema: Value) -> Self {
        let text = to_raw_value(&schema).expect("a JSON value can always be written");
        Self(text.into())
    }
}

/// Compact JSON already.
impl From<Arc<RawValue>> for InputSchema {
    fn from(text: Arc<RawValue>) -> Self {
        Self(text)
    }
}

/// As JSON: members in another order are the same schema.
impl PartialEq for InputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.value() == other.value()
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_written_and_read_as_the_json_it_is() {
        let written = json!({"type": "object", "properties": {"b": {"maximum": 0.1}, "a": true}});
        let schema = InputSchema::from(written.clone());
        assert_eq!(schema.value(), written);
        assert_eq!(serde_json::to_value(&schema).unwrap(), written);
        assert_eq!(serde_json::to_string(&schema).unwrap(), written.to_string());
        let read: InputSchema = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(read.as_str(), written.to_string());
        let read: InputSchema = serde_json::from_str(&format!("{written:#}")).unwrap();
        assert_eq!(read.as_str(), written.to_string());
    }

    #[test]
    fn members_in_another_order_are_the_same_schema() {
        let of = |text: &str| serde_json::from_str::<InputSchema>(text).unwrap();
        assert_eq!(of(r#"{"a": 1, "b": 2}"#), of(r#"{"b": 2, "a": 1}"#));
        assert_ne!(of(r#"{"a": 1}"#), of(r#"{"a": 2}"#));
    }

    #[test]
    fn what_is_nested_too_deeply_to_be_parsed_is_no_schema() {
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!([deep]);
        }
        assert_eq!(InputSchema::from(deep).value(), Value::Null);
    }
}
