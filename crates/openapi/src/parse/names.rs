//! Names of tools and of the fields of their inputs, each given once.

use std::collections::{HashMap, HashSet};

/// What every provider takes as the name of a tool's field.
const MAX_INPUT_NAME_BYTES: usize = 64;

/// The tool's own name; its id is made of it elsewhere.
const MAX_NAME_CHARS: usize = 200;

/// Names of tools, each given once.
#[derive(Default)]
pub(super) struct OperationNames {
    /// How often each was asked for.
    given: HashMap<String, usize>,
}

impl OperationNames {
    pub(super) fn give(&mut self, wish: &str) -> String {
        let wish: String = wish.chars().take(MAX_NAME_CHARS).collect();
        if !self.given.contains_key(&wish) {
            self.given.insert(wish.clone(), 1);
            return wish;
        }
        loop {
            let count = self.given.entry(wish.clone()).or_insert(1);
            *count += 1;
            let name = format!("{wish}_{count}");
            if !self.given.contains_key(&name) {
                self.given.insert(name.clone(), 1);
                return name;
            }
        }
    }
}

/// `get_pets_by_petId` for `GET /pets/{petId}`.
pub(super) fn operation_name(method: &str, path: &str) -> String {
    let mut name = method.to_ascii_lowercase();
    let mut push = |word: &str| {
        let plain = plain(word, false);
        if !plain.is_empty() {
            name.push('_');
            name.push_str(&plain);
        }
    };
    if path.trim_matches('/').is_empty() {
        push("root");
    }
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        push(before);
        let (inside, after) = after.split_once('}').unwrap_or((after, ""));
        push("by");
        push(inside);
        rest = after;
    }
    push(rest);
    name
}

/// Names of fields of one tool's input, each given once.
#[derive(Default)]
pub(super) struct FieldNames {
    taken: HashSet<String>,
    /// The last number that each name got.
    numbers: HashMap<String, usize>,
}

impl FieldNames {
    /// The name itself if it can be had, or one that says where the field belongs.
    pub(super) fn give(&mut self, name: &str, location: &str) -> String {
        let own = match plain(name, true) {
            plain if plain.is_empty() => location.to_owned(),
            plain => plain,
        };
        let qualified = format!("{location}_{own}");
        let mut wish = shortened(own);
        let mut first = true;
        while self.taken.contains(&wish) {
            wish = if std::mem::take(&mut first) {
                shortened(qualified.clone())
            } else {
                let number = self.numbers.entry(qualified.clone()).or_insert(1);
                *number += 1;
                shortened(format!("{qualified}_{number}"))
            };
        }
        self.taken.insert(wish.clone());
        wish
    }
}

/// A name within bounds, its end kept: that is where numbers stand.
fn shortened(name: String) -> String {
    if name.len() <= MAX_INPUT_NAME_BYTES {
        return name;
    }
    let (head, tail) = name.split_at(name.len().saturating_sub(20));
    let head = head.get(..MAX_INPUT_NAME_BYTES - 21).unwrap_or(head);
    format!("{head}_{tail}")
}

/// `[A-Za-z0-9_]` and perhaps `.-`; other characters become one `_` between words.
fn plain(word: &str, dots: bool) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut gap = false;
    for c in word.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || (dots && matches!(c, '.' | '-')) {
            if gap && !plain.is_empty() {
                plain.push('_');
            }
            gap = false;
            plain.push(c);
        } else {
            gap = true;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_without_an_id_are_named_by_what_they_do() {
        let check = |method, path, expected: &str| {
            assert_eq!(operation_name(method, path), expected);
        };
        check("GET", "/pets/{petId}", "get_pets_by_petId");
        check("GET", "/", "get_root");
        check("POST", "/a-b/c.d/", "post_a_b_c_d");
        check("GET", "/x/{a}:{b}/y", "get_x_by_a_by_b_y");
        check("GET", "/x/{broken", "get_x_by_broken");
        check("GET", "/宠物/{名}", "get_by");
    }

    #[test]
    fn names_are_given_once() {
        let mut names = OperationNames::default();
        let given: Vec<String> = ["a", "a", "a_2", "a", "b"]
            .map(|name| names.give(name))
            .into();
        assert_eq!(given, ["a", "a_2", "a_2_2", "a_3", "b"]);
    }

    #[test]
    fn fields_keep_their_names_where_they_can() {
        let mut fields = FieldNames::default();
        let mut check = |name: &str, location: &str, expected: &str| {
            assert_eq!(fields.give(name, location), expected);
        };
        check("id", "path", "id");
        check("id", "body", "body_id");
        check("id", "body", "body_id_2");
        check("filter[name]", "query", "filter_name");
        check("$top", "query", "top");
        check("名", "query", "query");
        check("x.y-z_", "header", "x.y-z_");
        let long = "x".repeat(100);
        let first = fields.give(&long, "query");
        let second = fields.give(&long, "query");
        assert!(first.len() <= 64 && second.len() <= 64 && first != second);
    }
}
