//! Values that are of another type than they should be.
//!
//! An answer is not given up for a number in quotes: each is taken for what it
//! most likely means.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A string, or what stands where one should: null is empty, all else is its JSON.
#[derive(Debug, Default)]
pub(super) struct LenientString(pub(super) String);

impl LenientString {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn some(self) -> Option<String> {
        Some(self.0).filter(|text| !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for LenientString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringVisitor;

        impl<'de> Visitor<'de> for StringVisitor {
            type Value = LenientString;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<LenientString, E> {
                Ok(LenientString(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<LenientString, E> {
                Ok(LenientString(text))
            }

            fn visit_unit<E>(self) -> Result<LenientString, E> {
                Ok(LenientString::default())
            }

            fn visit_bool<E>(self, value: bool) -> Result<LenientString, E> {
                Ok(LenientString(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<LenientString, E> {
                Ok(LenientString(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<LenientString, E> {
                Ok(LenientString(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<LenientString, E> {
                Ok(LenientString(value.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<LenientString, A::Error> {
                let value = Value::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))?;
                Ok(LenientString(value.to_string()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LenientString, A::Error> {
                let value = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(LenientString(value.to_string()))
            }
        }

        deserializer.deserialize_any(StringVisitor)
    }
}

/// Text, or a list of parts that are text or thinking.
#[derive(Debug, Default)]
pub(super) struct LenientContent {
    pub(super) text: String,
    pub(super) thinking: String,
}

impl<'de> Deserialize<'de> for LenientContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = LenientContent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a list of parts")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<LenientContent, E> {
                self.visit_string(text.to_owned())
            }

            fn visit_string<E>(self, text: String) -> Result<LenientContent, E> {
                Ok(LenientContent {
                    text,
                    ..LenientContent::default()
                })
            }

            fn visit_unit<E>(self) -> Result<LenientContent, E> {
                Ok(LenientContent::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<LenientContent, A::Error> {
                let mut content = LenientContent::default();
                while let Some(part) = seq.next_element::<Value>()? {
                    match part["type"].as_str() {
                        Some("thinking") => content.thinking.push_str(&words(&part["thinking"])),
                        _ => content.text.push_str(&words(&part)),
                    }
                }
                Ok(content)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LenientContent, A::Error> {
                let part = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                self.visit_string(words(&part))
            }
        }

        deserializer.deserialize_any(ContentVisitor)
    }
}

/// The text in a part, or in a list of parts.
fn words(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(words).collect(),
        Value::Object(part) => part.get("text").map(words).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// How many; what is no number is none.
pub(super) fn count(value: &Value) -> Option<u64> {
    let count = match value {
        Value::Number(count) => count.as_f64()?,
        Value::String(count) => count.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(count.max(0.0) as u64)
}

/// Whether what stands under `error` is one: some servers always have it, and leave it empty.
pub(super) fn is_error(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::Number(code) => code.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(errors) => !errors.is_empty(),
        Value::Object(error) => !error.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_are_read_however_they_are_written() {
        let check = |value: Value, expected: Option<u64>| {
            assert_eq!(count(&value), expected, "{value}");
        };
        check(json!(279), Some(279));
        check(json!(279.0), Some(279));
        check(json!("279"), Some(279));
        check(json!(-1), Some(0));
        check(json!("NaN"), Some(0));
        check(json!("many"), None);
        check(json!(null), None);
        check(json!([279]), None);
    }

    #[test]
    fn an_empty_error_is_none() {
        for none in [
            json!(null),
            json!(false),
            json!(0),
            json!(""),
            json!({}),
            json!([]),
        ] {
            assert!(!is_error(&none), "{none}");
        }
        for some in [
            json!(true),
            json!(500),
            json!("no"),
            json!({"code": 1}),
            json!([{}]),
        ] {
            assert!(is_error(&some), "{some}");
        }
    }
}
