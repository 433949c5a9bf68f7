//! How a value becomes text: RFC 6570, and what OpenAPI adds to it.
//!
//! What these leave open is done as most servers read it: what is nested where
//! it cannot be is written as JSON; in a deep object a list of plain values is
//! `name[]=a&name[]=b`, and a list of objects is numbered, `name[0][key]=a`.

use std::borrow::Cow;

use serde_json::{Map, Value};
use tenon_net::percent::{PercentEncodeSet, encode};

use crate::operation::ParameterStyle;

/// How one value is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct StyleWriter {
    pub(super) style: ParameterStyle,
    pub(super) explode: bool,
    pub(super) keep: PercentEncodeSet,
}

/// A plain value as JSON writes it, a text without its quotes. Null is nothing.
pub(super) fn plain(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(Cow::Owned(value.to_string()))
        }
    }
}

impl StyleWriter {
    /// `reserved` is what may stand as it is, where a document allows that.
    pub(super) fn new(
        style: ParameterStyle,
        explode: bool,
        reserved: Option<PercentEncodeSet>,
    ) -> Self {
        Self {
            style,
            explode,
            keep: reserved.unwrap_or(PercentEncodeSet::Unreserved),
        }
    }

    /// Names and values, for a query, a form or cookies. Nothing for what is empty.
    pub(super) fn pairs(self, name: &str, value: &Value) -> Vec<(String, String)> {
        let encoded = encode(name, self.keep.for_names());
        if self.style == ParameterStyle::DeepObject {
            let mut pairs = Vec::new();
            self.deep(encoded, value, &mut pairs);
            return pairs;
        }
        match value {
            Value::Array(members) => {
                let members = self.members(members);
                match (members.is_empty(), self.explode) {
                    (true, _) => Vec::new(),
                    (false, true) => members
                        .into_iter()
                        .map(|member| (encoded.clone(), member))
                        .collect(),
                    (false, false) => vec![(encoded, members.join(self.separator()))],
                }
            }
            Value::Object(object) => {
                let entries = self.entries(object);
                match (entries.is_empty(), self.explode) {
                    (true, _) => Vec::new(),
                    (false, true) => entries,
                    (false, false) => vec![(encoded, flat(entries).join(self.separator()))],
                }
            }
            value => self
                .encoded(value)
                .map(|value| (encoded, value))
                .into_iter()
                .collect(),
        }
    }

    /// One text, for a path or a header. None for what is empty.
    pub(super) fn text(self, name: &str, value: &Value) -> Option<String> {
        // What stands before each value, between two, and between a name and its value.
        let (first, between) = match (self.style, self.explode) {
            (ParameterStyle::Label, true) => (".", "."),
            (ParameterStyle::Label, false) => (".", ","),
            (ParameterStyle::Matrix, true) => (";", ";"),
            _ => ("", ","),
        };
        let parts = match value {
            Value::Array(members) => {
                let members = self.members(members);
                match (self.style, self.explode) {
                    (ParameterStyle::Matrix, true) => {
                        let name = encode(name, self.keep.for_names());
                        let named = members.into_iter();
                        named.map(|member| named_value(&name, &member)).collect()
                    }
                    _ => members,
                }
            }
            Value::Object(object) if self.explode => {
                let entries = self.entries(object).into_iter();
                let matrix = self.style == ParameterStyle::Matrix;
                let written = entries.map(|(key, value)| {
                    if matrix {
                        named_value(&key, &value)
                    } else {
                        format!("{key}={value}")
                    }
                });
                written.collect()
            }
            Value::Object(object) => flat(self.entries(object)),
            value => {
                let value = self.encoded(value)?;
                return Some(match self.style {
                    ParameterStyle::Label => format!(".{value}"),
                    ParameterStyle::Matrix => {
                        let name = encode(name, self.keep.for_names());
                        format!(";{}", named_value(&name, &value))
                    }
                    _ => value,
                });
            }
        };
        if parts.is_empty() {
            return None;
        }
        let joined = parts.join(between);
        Some(match (self.style, self.explode) {
            (ParameterStyle::Matrix, false) => {
                let name = encode(name, self.keep.for_names());
                format!(";{}", named_value(&name, &joined))
            }
            _ => format!("{first}{joined}"),
        })
    }

    fn deep(self, name: String, value: &Value, pairs: &mut Vec<(String, String)>) {
        let (open, close) = match self.keep {
            PercentEncodeSet::Everything => ("[", "]"),
            _ => ("%5B", "%5D"),
        };
        match value {
            Value::Array(members) => {
                let members = members.iter().filter(|member| !member.is_null());
                let numbered = members
                    .clone()
                    .any(|member| member.is_array() || member.is_object());
                for (number, member) in members.enumerate() {
                    let name = if numbered {
                        format!("{name}{open}{number}{close}")
                    } else {
                        format!("{name}{open}{close}")
                    };
                    self.deep(name, member, pairs);
                }
            }
            Value::Object(object) => {
                for (key, value) in object {
                    let key = encode(key, self.keep.for_names());
                    self.deep(format!("{name}{open}{key}{close}"), value, pairs);
                }
            }
            value => pairs.extend(self.encoded(value).map(|value| (name, value))),
        }
    }

    fn encoded(self, value: &Value) -> Option<String> {
        plain(value).map(|text| encode(&text, self.keep))
    }

    fn members(self, members: &[Value]) -> Vec<String> {
        members
            .iter()
            .filter_map(|member| self.encoded(member))
            .collect()
    }

    fn entries(self, object: &Map<String, Value>) -> Vec<(String, String)> {
        let entry = |(key, value): (&String, &Value)| {
            Some((encode(key, self.keep.for_names()), self.encoded(value)?))
        };
        object.iter().filter_map(entry).collect()
    }

    fn separator(self) -> &'static str {
        match (self.style, self.keep) {
            (ParameterStyle::SpaceDelimited, PercentEncodeSet::Everything) => " ",
            (ParameterStyle::SpaceDelimited, _) => "%20",
            (ParameterStyle::PipeDelimited, PercentEncodeSet::Everything) => "|",
            (ParameterStyle::PipeDelimited, _) => "%7C",
            (ParameterStyle::TabDelimited, PercentEncodeSet::Everything) => "\t",
            (ParameterStyle::TabDelimited, _) => "%09",
            (
                ParameterStyle::Simple
                | ParameterStyle::Label
                | ParameterStyle::Matrix
                | ParameterStyle::Form
                | ParameterStyle::DeepObject,
                _,
            ) => ",",
        }
    }
}

/// Matrix leaves the `=` out where nothing follows.
fn named_value(name: &str, value: &str) -> String {
    match value {
        "" => name.to_owned(),
        value => format!("{name}={value}"),
    }
}

fn flat(entries: Vec<(String, String)>) -> Vec<String> {
    entries
        .into_iter()
        .flat_map(|(key, value)| [key, value])
        .collect()
}
