//! An input whose reader pays for all it looks at: `serde_json` values as the checker sees them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value};

use super::meter::{
    consume_fuel, consume_fuel_for_bytes, consume_fuel_for_error, consume_fuel_for_name,
};

/// The representation; its nodes are [`MeteredValue`].
#[derive(Debug)]
pub(super) enum MeteredJson {}

#[derive(Debug, Clone, Copy)]
pub(super) struct MeteredValue<'a>(pub(super) &'a Value);

#[derive(Debug)]
pub(super) struct MeteredObject<'a>(&'a Map<String, Value>);

#[derive(Debug)]
pub(super) struct MeteredArray<'a>(&'a [Value]);

#[derive(Debug)]
pub(super) struct Members<'a>(serde_json::map::Iter<'a>);

#[derive(Debug)]
pub(super) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl Json for MeteredJson {
    type Node<'a> = MeteredValue<'a>;
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
        check: impl FnOnce(MeteredValue<'_>) -> T,
    ) -> T {
        consume_fuel_for_name(string);
        if let Value::String(existing) = buffer {
            existing.clear();
            existing.push_str(string);
        } else {
            *buffer = Value::String(string.to_owned());
        }
        check(MeteredValue(buffer))
    }
}

impl<'a> Node<'a, MeteredJson> for MeteredValue<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<MeteredObject<'a>> {
        consume_fuel(1);
        self.0.as_object().map(MeteredObject)
    }

    fn as_array(&self) -> Option<MeteredArray<'a>> {
        consume_fuel(1);
        self.0.as_array().map(|items| MeteredArray(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let Value::String(string) = self.0 else {
            consume_fuel(1);
            return None;
        };
        consume_fuel_for_bytes(string.len());
        Some(Cow::Borrowed(string))
    }

    fn as_number(&self) -> Option<&'a Number> {
        consume_fuel(1);
        match self.0 {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        consume_fuel(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        consume_fuel(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        consume_fuel(1);
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
        consume_fuel_for_error();
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        consume_fuel(1);
        Some(NodeIdentity::new(std::ptr::from_ref(self.0).addr()))
    }
}

impl<'a> Object<'a, MeteredJson> for MeteredObject<'a> {
    type Node = MeteredValue<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<MeteredValue<'a>> {
        consume_fuel_for_bytes(key.len());
        self.0.get(key).map(MeteredValue)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.iter())
    }
}

impl<'a> Array<'a, MeteredJson> for MeteredArray<'a> {
    type Node = MeteredValue<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Elements<'a> {
        Elements(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.iter().all(|item| seen.insert(HashedValue(item)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, MeteredValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        consume_fuel_for_name(name);
        Some((name, MeteredValue(value)))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = MeteredValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        consume_fuel(1);
        self.0.next().map(MeteredValue)
    }
}

/// Equal as JSON Schema has it: 1 is 1.0.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            consume_fuel_for_bytes(left.len().min(right.len()));
            left == right
        }
        (Value::Array(left), Value::Array(right)) => {
            consume_fuel(1);
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            consume_fuel(1);
            let is_in_right = |(name, left): (&String, &Value)| {
                consume_fuel_for_bytes(name.len());
                right.get(name).is_some_and(|right| equal(left, right))
            };
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        (left, right) => {
            consume_fuel(1);
            cmp::equal(left, right)
        }
    }
}

/// A value among others, by its equality. That different values have the same hash can be arranged
/// (integers beyond 2^53), but comparing them is paid for.
struct HashedValue<'a>(&'a Value);

impl PartialEq for HashedValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        equal(self.0, other.0)
    }
}

impl Eq for HashedValue<'_> {}

impl Hash for HashedValue<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        consume_fuel(1);
        match self.0 {
            Value::Null => state.write_u8(0),
            Value::Bool(boolean) => state.write_u8(1 + u8::from(*boolean)),
            Value::Number(number) => {
                // Both zeros are one number.
                let number = number.as_f64().unwrap_or_default() + 0.0;
                state.write_u64(number.to_bits());
            }
            Value::String(string) => {
                consume_fuel_for_bytes(string.len());
                string.hash(state);
            }
            Value::Array(items) => {
                state.write_usize(items.len());
                items.iter().for_each(|item| HashedValue(item).hash(state));
            }
            // The order of members means nothing.
            Value::Object(members) => {
                let member = |(name, value): (&String, &Value)| {
                    consume_fuel_for_bytes(name.len());
                    let mut state = DefaultHasher::new();
                    name.hash(&mut state);
                    HashedValue(value).hash(&mut state);
                    state.finish()
                };
                state.write_usize(members.len());
                state.write_u64(members.iter().map(member).fold(0, u64::wrapping_add));
            }
        }
    }
}
