//! `$ref`s inside one document, and into the files that were bundled with it.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};
use tenon_schema::reference;
use tenon_text::line;

use crate::bundle;
use crate::note::ReferenceError;

/// How far references to references are followed. Bounds circular ones.
const MAX_HOPS: usize = 16;

pub(super) struct ReferenceResolver<'d> {
    document: &'d Value,
    /// Large documents refer to the same component thousands of times.
    cache: RefCell<HashMap<&'d str, Option<&'d Value>>>,
}

impl<'d> ReferenceResolver<'d> {
    pub(super) fn new(document: &'d Value) -> Self {
        Self {
            document,
            cache: RefCell::default(),
        }
    }

    /// The value itself, or what its chain of references ends in.
    pub(super) fn follow(&self, value: &'d Value) -> Result<&'d Value, ReferenceError> {
        let mut value = value;
        for _ in 0..MAX_HOPS {
            match reference::reference(value) {
                None => return Ok(value),
                Some(reference) => value = self.resolve(reference)?,
            }
        }
        let reference = reference::reference(value).unwrap_or_default();
        Err(ReferenceError::Cycle(shortened(reference)))
    }

    /// The same as an object, if it is one.
    pub(super) fn object(&self, value: &'d Value) -> Option<&'d Map<String, Value>> {
        self.follow(value).ok()?.as_object()
    }

    /// Resolves one reference. Only JSON pointers are supported; anchors are not used in practice.
    pub(super) fn resolve(&self, reference: &'d str) -> Result<&'d Value, ReferenceError> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(ReferenceError::OtherDocument {
                reference: shortened(reference),
                why: None,
            });
        };
        let mut cache = self.cache.borrow_mut();
        let found = *cache
            .entry(reference)
            .or_insert_with(|| reference::resolve(self.document, fragment));
        found.ok_or_else(|| {
            let original = bundle::original(reference);
            let original = shortened(original.as_deref().unwrap_or(reference));
            match bundle::unread(self.document, reference) {
                None => ReferenceError::Missing(original),
                Some(why) => ReferenceError::OtherDocument {
                    reference: original,
                    why: Some(line(why, 200)),
                },
            }
        })
    }
}

/// A JSON pointer to a member, for an error: `#/paths/~1pets/get`.
pub(super) fn pointer(parts: &[&str]) -> String {
    shortened(&reference::pointer(parts))
}

fn shortened(reference: &str) -> String {
    line(reference, 160)
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
        let refs = ReferenceResolver::new(&document);
        let follow = |number: usize| {
            refs.follow(&document["refs"][number])
                .map(|found| &found["x"])
        };
        assert_eq!(follow(0), Ok(&json!(1)));
        assert_eq!(follow(1), Ok(&json!(2)));
        assert_eq!(follow(2), Ok(&json!(3)));
        assert_eq!(follow(3), Ok(&json!(1)));
        assert_eq!(
            follow(4),
            Err(ReferenceError::Missing("#/definitions/h".into()))
        );
        assert_eq!(
            follow(5),
            Err(ReferenceError::OtherDocument {
                reference: "other.yaml#/a".into(),
                why: None
            })
        );
        assert_eq!(follow(6), Err(ReferenceError::Cycle("#/refs/6".into())));
    }
}
