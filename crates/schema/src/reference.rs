//! Local references: `$ref`s with a JSON pointer (RFC 6901) as the fragment of a URI.

use std::borrow::Cow;

use serde_json::Value;

/// The `$ref` of a schema, or of whatever else may have one.
pub fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

/// The value at a JSON pointer that is written as a URI fragment, without its `#`. Some
/// generators percent-encode what they write there, some do not: the text as it is comes first.
pub fn resolve<'d>(root: &'d Value, fragment: &str) -> Option<&'d Value> {
    if !(fragment.is_empty() || fragment.starts_with('/')) {
        return None;
    }
    let encoded = || root.pointer(&percent_decode(fragment)?);
    root.pointer(fragment).or_else(encoded)
}

/// A JSON pointer as a fragment, as people write it: `#/paths/~1pets/get`.
pub fn pointer(parts: &[&str]) -> String {
    let mut pointer = String::from("#");
    for part in parts {
        pointer.push('/');
        pointer.push_str(&escape(part));
    }
    pointer
}

/// One member of a pointer: `a/b` → `a~1b`.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// `%7E` → `~`. None: there is nothing to decode, or it makes no text.
fn percent_decode(text: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    decoded
        .ok()
        .filter(|decoded| decoded != text)
        .map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fragments_are_pointers_encoded_or_not() {
        let root = json!({ "a/b": 1, "c~d": 2, "e f": 3, "g%20h": 4, "ü": 5 });
        let check = |fragment: &str, expected: Option<i64>| {
            let found = resolve(&root, fragment).and_then(Value::as_i64);
            assert_eq!(found, expected, "{fragment}");
        };
        check("/a~1b", Some(1));
        check("/c~0d", Some(2));
        check("/c%7E0d", Some(2));
        check("/e f", Some(3));
        check("/e%20f", Some(3));
        check("/g%20h", Some(4));
        check("/%C3%BC", Some(5));
        check("/%FF", None);
        check("/%", None);
        check("a", None);
        assert_eq!(resolve(&root, ""), Some(&root));
        assert_eq!(pointer(&["paths", "/a~"]), "#/paths/~1a~0");
    }
}
