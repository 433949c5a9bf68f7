//! Whether an object that is still being written is whole.

/// Counts brackets outside of strings. Each byte is looked at once, so that a
/// call can be asked after every fragment of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Braces {
    place: Place,
    depth: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Before,
    Inside,
    InString,
    /// Behind a backslash in a string: what comes next ends nothing.
    Escaped,
    Behind,
    /// No object, or more than one.
    Elsewhere,
}

impl Braces {
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            self.place = match (self.place, byte) {
                (Place::Before | Place::Behind, b' ' | b'\t' | b'\r' | b'\n') => self.place,
                (Place::Before, b'{') | (Place::Inside, b'{' | b'[') => {
                    self.depth += 1;
                    Place::Inside
                }
                (Place::Inside, b'}' | b']') => {
                    self.depth -= 1;
                    match self.depth {
                        0 => Place::Behind,
                        _ => Place::Inside,
                    }
                }
                (Place::Inside, b'"') => Place::InString,
                (Place::Inside, _) => Place::Inside,
                (Place::InString, b'"') => Place::Inside,
                (Place::InString, b'\\') => Place::Escaped,
                (Place::InString | Place::Escaped, _) => Place::InString,
                (Place::Before | Place::Behind | Place::Elsewhere, _) => Place::Elsewhere,
            };
        }
    }

    pub(super) fn is_whole(self) -> bool {
        self.place == Place::Behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_once_it_is_closed() {
        let check = |text: &str, expected: bool| {
            for size in [1, 3, 1000] {
                let mut braces = Braces::default();
                let chars: Vec<char> = text.chars().collect();
                for piece in chars.chunks(size) {
                    braces.push(&piece.iter().collect::<String>());
                }
                assert_eq!(braces.is_whole(), expected, "{text} in pieces of {size}");
            }
        };
        check("{}", true);
        check(" {\"a\": [{\"b\": 1}, []]} \n", true);
        check(r#"{"a": "}", "b\"}": "\\"}"#, true);
        check("{\"你\": \"好\"}", true);
        check("", false);
        check("{", false);
        check("{\"a\": {}", false);
        check(r#"{"a": "\"}"#, false);
        check("{\"a\": \"}", false);
        check("{}{}", false);
        check("[1]", false);
        check("null", false);
    }
}
