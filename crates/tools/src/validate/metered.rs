//! An input whose reader pays for all it looks at: `serde_json` values as the checker sees them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value};

use super::meter::{burn, burn_bytes, burn_error, burn_name};

/// The representation; its nodes are [`Metered`].
#[derive(Debug)]
pub(super) enum MeteredJson {}

#[derive(Debug, Clone, Copy)]
pub(super) struct Metered<'a>(pub(super) &'a Value);

#[derive(Debug)]
pub(super) struct MeteredObject<'a>(&'a Map<String, Value>);

#[derive(Debug)]
pub(super) struct MeteredArray<'a>(&'a [Value]);

#[derive(Debug)]
pub(super) struct Members<'a>(serde_json::map::Iter<'a>);

#[derive(Debug)]
pub(super) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl Json for MeteredJson {
    type Node<'a> = Metered<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    // As the crate has it for `serde_json`.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        check: impl FnOnce(Metered<'_>) -> T,
    ) -> T {
        burn_name(string);
        if let Value::String(existing) = buffer {
            existing.clear();
            existing.push_str(string);
        } else {
            *buffer = Value::String(string.to_owned());
        }
        check(Metered(buffer))
    }
}

impl<'a> Node<'a, MeteredJson> for Metered<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<MeteredObject<'a>> {
        burn(1);
        self.0.as_object().map(MeteredObject)
    }

    fn as_array(&self) -> Option<MeteredArray<'a>> {
        burn(1);
        self.0.as_array().map(|items| MeteredArray(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let Value::String(string) = self.0 else {
            burn(1);
            return None;
        };
        burn_bytes(string.len());
        Some(Cow::Borrowed(string))
    }

    fn as_number(&self) -> Option<&'a Number> {
        burn(1);
        match self.0 {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        burn(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        burn(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        burn(1);
        match self.0 {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equal(self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        // Every error asks for its value, and for little else.
        burn_error();
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        burn(1);
        Some(NodeIdentity::new(std::ptr::from_ref(self.0).addr()))
    }
}

impl<'a> Object<'a, MeteredJson> for MeteredObject<'a> {
    type Node = Metered<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Metered<'a>> {
        burn_bytes(key.len());
        self.0.get(key).map(Metered)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.iter())
    }
}

impl<'a> Array<'a, MeteredJson> for MeteredArray<'a> {
    type Node = Metered<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Elements<'a> {
        Elements(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.iter().all(|item| seen.insert(Distinct(item)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Metered<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        burn_name(name);
        Some((name, Metered(value)))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Metered<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        burn(1);
        self.0.next().map(Metered)
    }
}

/// Equal as JSON Schema has it: 1 is 1.0.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            burn_bytes(left.len().min(right.len()));
            left == right
        }
        (Value::Array(left), Value::Array(right)) => {
            burn(1);
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            burn(1);
            let is_in_right = |(name, left): (&String, &Value)| {
                burn_bytes(name.len());
                right.get(name).is_some_and(|right| equal(left, right))
            };
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        (left, right) => {
            burn(1);
            cmp::equal(left, right)
        }
    }
}

/// A value among others, by its equality. That different values have the same hash can be arranged
/// (integers beyond 2^53), but comparing them is paid for.
struct Distinct<'a>(&'a Value);

impl PartialEq for Distinct<'_> {
    fn eq(&self, other: &Self) -> bool {
        equal(self.0, other.0)
    }
}

impl Eq for Distinct<'_> {}

impl Hash for Distinct<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn(1);
        match self.0 {
            Value::Null => state.write_u8(0),
            Value::Bool(boolean) => state.write_u8(1 + u8::from(*boolean)),
            Value::Number(number) => {
                // Both zeros are one number.
                let number = number.as_f64().unwrap_or_default() + 0.0;
                state.write_u64(number.to_bits());
            }
            Value::String(string) => {
                burn_bytes(string.len());
                string.hash(state);
            }
            Value::Array(items) => {
                state.write_usize(items.len());
                items.iter().for_each(|item| Distinct(item).hash(state));
            }
            // The order of members means nothing.
            Value::Object(members) => {
                let member = |(name, value): (&String, &Value)| {
                    burn_bytes(name.len());
                    let mut state = DefaultHasher::new();
                    name.hash(&mut state);
                    Distinct(value).hash(&mut state);
                    state.finish()
                };
                state.write_usize(members.len());
                state.write_u64(members.iter().map(member).fold(0, u64::wrapping_add));
            }
        }
    }
}
