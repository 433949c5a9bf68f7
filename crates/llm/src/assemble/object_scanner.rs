//! Whether an object that is still being written is whole.

/// Counts brackets outside of strings. Each byte is looked at once, so that a
/// call can be asked after every fragment of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct JsonObjectScanner {
    state: ScanState,
    depth: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ScanState {
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

impl JsonObjectScanner {
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            self.state = match (self.state, byte) {
                (ScanState::Before | ScanState::Behind, b' ' | b'\t' | b'\r' | b'\n') => self.state,
                (ScanState::Before, b'{') | (ScanState::Inside, b'{' | b'[') => {
                    self.depth += 1;
                    ScanState::Inside
                }
                (ScanState::Inside, b'}' | b']') => {
                    self.depth -= 1;
                    match self.depth {
                        0 => ScanState::Behind,
                        _ => ScanState::Inside,
                    }
                }
                (ScanState::Inside, b'"') => ScanState::InString,
                (ScanState::Inside, _) => ScanState::Inside,
                (ScanState::InString, b'"') => ScanState::Inside,
                (ScanState::InString, b'\\') => ScanState::Escaped,
                (ScanState::InString | ScanState::Escaped, _) => ScanState::InString,
                (ScanState::Before | ScanState::Behind | ScanState::Elsewhere, _) => {
                    ScanState::Elsewhere
                }
            };
        }
    }

    pub(super) fn is_whole(self) -> bool {
        self.state == ScanState::Behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_once_it_is_closed() {
        let check = |text: &str, expected: bool| {
            for size in [1, 3, 1000] {
                let mut braces = JsonObjectScanner::default();
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
