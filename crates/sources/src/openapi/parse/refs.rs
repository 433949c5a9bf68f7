//! Following `$ref`s inside one document, and into the files that were bundled with it.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::openapi::bundle;
use crate::text::line;
use tenon_net::percent::decode;

/// A reference that refers to a reference, and so on: nobody writes more.
const MAX_HOPS: usize = 16;

pub(super) struct Refs<'d> {
    document: &'d Value,
    /// Large documents refer to the same component thousands of times.
    known: RefCell<HashMap<&'d str, Option<&'d Value>>>,
}

/// Why something that is elsewhere cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    Elsewhere {
        place: String,
        /// Why it could not be read, if that was tried.
        why: Option<String>,
    },
    Missing(String),
    Circle(String),
}

impl Lost {
    /// A sentence about `what`: "its parameter".
    pub(super) fn why(&self, what: &str) -> String {
        match self {
            Self::Elsewhere { place, why } => match why {
                None => format!("{what} is in another document (`{place}`), which is not read."),
                Some(why) => format!(
                    "{what} is in another document (`{place}`), which could not be read: {why}."
                ),
            },
            Self::Missing(place) => format!("{what} is not where it is said to be: `{place}`."),
            Self::Circle(place) => format!("{what} refers to itself: `{place}`."),
        }
    }
}

impl<'d> Refs<'d> {
    pub(super) fn new(document: &'d Value) -> Self {
        Self {
            document,
            known: RefCell::default(),
        }
    }

    /// What a value is, itself or where it refers to.
    pub(super) fn follow(&self, value: &'d Value) -> Result<&'d Value, Lost> {
        let mut value = value;
        for _ in 0..MAX_HOPS {
            match reference(value) {
                None => return Ok(value),
                Some(place) => value = self.find(place)?,
            }
        }
        Err(Lost::Circle(shown(reference(value).unwrap_or_default())))
    }

    /// The same as an object, if it is one.
    pub(super) fn object(&self, value: &'d Value) -> Option<&'d Map<String, Value>> {
        self.follow(value).ok()?.as_object()
    }

    /// What stands at a place of this document.
    pub(super) fn find(&self, place: &'d str) -> Result<&'d Value, Lost> {
        let Some(pointer) = place.strip_prefix('#') else {
            return Err(Lost::Elsewhere {
                place: shown(place),
                why: None,
            });
        };
        let mut known = self.known.borrow_mut();
        let found = *known
            .entry(place)
            .or_insert_with(|| self.at(&String::from_utf8_lossy(&decode(pointer))));
        found.ok_or_else(|| {
            let original = bundle::original(place);
            let original = shown(original.as_deref().unwrap_or(place));
            match bundle::unread(self.document, place) {
                None => Lost::Missing(original),
                Some(why) => Lost::Elsewhere {
                    place: original,
                    why: Some(line(why, 200)),
                },
            }
        })
    }

    fn at(&self, pointer: &str) -> Option<&'d Value> {
        match pointer.is_empty() || pointer.starts_with('/') {
            true => self.document.pointer(pointer),
            // An anchor: nobody was seen to use one.
            false => None,
        }
    }
}

pub(super) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

/// A JSON pointer to a member, as people write it: `#/paths/~1pets/get`.
pub(super) fn pointer(parts: &[&str]) -> String {
    let mut pointer = String::from("#");
    for part in parts {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    shown(&pointer)
}

fn shown(place: &str) -> String {
    line(place, 160)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_followed_inside_the_document() {
        let document = json!({
            "definitions": { "a/b": { "x": 1 }, "c~d": { "x": 2 }, "e f": { "x": 3 }, "g": { "$ref": "#/definitions/a~1b" } },
            "refs": [
                { "$ref": "#/definitions/a~1b" }, { "$ref": "#/definitions/c~0d" }, { "$ref": "#/definitions/e%20f" },
                { "$ref": "#/definitions/g" }, { "$ref": "#/definitions/h" }, { "$ref": "other.yaml#/a" }, { "$ref": "#/refs/6" },
            ],
        });
        let refs = Refs::new(&document);
        let follow = |number: usize| {
            refs.follow(&document["refs"][number])
                .map(|found| &found["x"])
        };
        assert_eq!(follow(0), Ok(&json!(1)));
        assert_eq!(follow(1), Ok(&json!(2)));
        assert_eq!(follow(2), Ok(&json!(3)));
        assert_eq!(follow(3), Ok(&json!(1)));
        assert_eq!(follow(4), Err(Lost::Missing("#/definitions/h".into())));
        assert_eq!(
            follow(5),
            Err(Lost::Elsewhere {
                place: "other.yaml#/a".into(),
                why: None
            })
        );
        assert_eq!(follow(6), Err(Lost::Circle("#/refs/6".into())));
    }
}
