//! YAML, and JSON as a part of it, as values that know their line.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Location, Spanned};
use tenon_openapi::{SyntaxError, strict_yaml};

/// A value and the line it begins in; 0 where that is not known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YamlNode {
    pub(crate) line: u64,
    pub(crate) value: YamlValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum YamlValue {
    Null,
    Bool(bool),
    /// With its text: a version `1.10` is not the number 1.1.
    Number(Number, String),
    Text(String),
    List(Vec<YamlNode>),
    Map(Vec<YamlEntry>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YamlEntry {
    pub(crate) key: String,
    pub(crate) line: u64,
    pub(crate) node: YamlNode,
}

pub(crate) fn parse(text: &str) -> Result<YamlNode, SyntaxError> {
    let parsed: Result<ParsedNode, _> = serde_saphyr::from_str_with_options(text, strict_yaml(1));
    Ok(parsed?.into_node(text))
}

impl YamlNode {
    pub(crate) fn to_json(&self) -> Value {
        match &self.value {
            YamlValue::Null => Value::Null,
            YamlValue::Bool(flag) => (*flag).into(),
            YamlValue::Number(number, _) => Value::Number(number.clone()),
            YamlValue::Text(text) => text.as_str().into(),
            YamlValue::List(items) => items.iter().map(Self::to_json).collect(),
            YamlValue::Map(entries) => {
                let members = entries.iter();
                let members = members.map(|entry| (entry.key.clone(), entry.node.to_json()));
                Value::Object(Map::from_iter(members))
            }
        }
    }

    /// The line of the innermost part that a JSON pointer leads to.
    pub(crate) fn line_at(&self, pointer: &str) -> u64 {
        let mut node = self;
        let mut line = self.line;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.value {
                YamlValue::Map(entries) => entries
                    .iter()
                    .find(|entry| entry.key == step)
                    .map(|entry| (entry.line, &entry.node)),
                YamlValue::List(items) => step
                    .parse::<usize>()
                    .ok()
                    .and_then(|at| items.get(at))
                    .map(|item| (item.line, item)),
                _ => None,
            };
            let Some((at, inner)) = next else { break };
            (line, node) = (at, inner);
        }
        line
    }
}

/// What has no text, such as the description that a server sent.
impl From<&Value> for YamlNode {
    fn from(value: &Value) -> Self {
        let value = match value {
            Value::Null => YamlValue::Null,
            Value::Bool(flag) => YamlValue::Bool(*flag),
            Value::Number(number) => YamlValue::Number(number.clone(), number.to_string()),
            Value::String(text) => YamlValue::Text(text.clone()),
            Value::Array(items) => YamlValue::List(items.iter().map(Self::from).collect()),
            Value::Object(members) => YamlValue::Map(
                members
                    .iter()
                    .map(|(key, value)| YamlEntry {
                        key: key.clone(),
                        line: 0,
                        node: Self::from(value),
                    })
                    .collect(),
            ),
        };
        Self { line: 0, value }
    }
}

/// As the deserializer gives it: numbers without their text.
struct ParsedNode(Spanned<ParsedValue>);

enum ParsedValue {
    Leaf(Value),
    List(Vec<ParsedNode>),
    Map(Vec<(Spanned<String>, ParsedNode)>),
}

impl ParsedNode {
    fn into_node(self, source: &str) -> YamlNode {
        let Spanned {
            value,
            referenced,
            defined,
            ..
        } = self.0;
        let value = match value {
            ParsedValue::Leaf(Value::Null) => YamlValue::Null,
            ParsedValue::Leaf(Value::Bool(flag)) => YamlValue::Bool(flag),
            ParsedValue::Leaf(Value::Number(number)) => {
                let text = text_at(source, defined).unwrap_or_else(|| number.to_string());
                YamlValue::Number(number, text)
            }
            ParsedValue::Leaf(Value::String(text)) => YamlValue::Text(text),
            ParsedValue::Leaf(other) => YamlNode::from(&other).value,
            ParsedValue::List(items) => YamlValue::List(
                items
                    .into_iter()
                    .map(|item| item.into_node(source))
                    .collect(),
            ),
            ParsedValue::Map(entries) => YamlValue::Map(
                entries
                    .into_iter()
                    .map(|(key, node)| YamlEntry {
                        line: key.referenced.line(),
                        key: key.value,
                        node: node.into_node(source),
                    })
                    .collect(),
            ),
        };
        YamlNode {
            line: referenced.line(),
            value,
        }
    }
}

fn text_at(source: &str, location: Location) -> Option<String> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    let text = source.get(start..start.checked_add(length)?)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

impl<'de> Deserialize<'de> for ParsedNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for ParsedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = ParsedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<ParsedValue, E> {
        Ok(ParsedValue::Leaf(Value::Null))
    }

    fn visit_none<E>(self) -> Result<ParsedValue, E> {
        Ok(ParsedValue::Leaf(Value::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<ParsedValue, E> {
        Ok(ParsedValue::Leaf(flag.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<ParsedValue, E> {
        Ok(ParsedValue::Leaf(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<ParsedValue, E> {
        Ok(ParsedValue::Leaf(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<ParsedValue, E> {
        let number = Number::from_f64(number);
        let number = number.ok_or_else(|| E::custom("a number that is not finite"))?;
        Ok(ParsedValue::Leaf(number.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<ParsedValue, E> {
        Ok(ParsedValue::Leaf(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ParsedValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(ParsedValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<ParsedValue, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = members.next_entry::<Spanned<String>, ParsedNode>()? {
            if key.value.len() > 1024 {
                return Err(A::Error::custom("a key of more than 1024 bytes"));
            }
            map.push((key, value));
        }
        Ok(ParsedValue::Map(map))
    }
}
