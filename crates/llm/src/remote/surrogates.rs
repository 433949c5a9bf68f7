//! Signs that were cut in two.
//!
//! A server that counts in UTF-16 may end a piece of text between the two
//! surrogates of an emoji and write each half as an escape of its own: `"\ud83d"`
//! in one event, `"\ude00"` in the next. Neither alone is JSON.

use std::borrow::Cow;

/// Holds a high half until the second one comes.
#[derive(Debug, Default)]
pub(super) struct SurrogateJoiner {
    high: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}

/// `\ud83d`
const ESCAPE_BYTES: usize = 6;

impl SurrogateJoiner {
    /// The same JSON with whole signs only.
    pub(super) fn join<'a>(&mut self, json: &'a str) -> Cow<'a, str> {
        if !json.contains("\\ud") && !json.contains("\\uD") {
            return Cow::Borrowed(json);
        }
        let mut out = String::with_capacity(json.len() + ESCAPE_BYTES);
        let mut rest = json;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let used = match leading_surrogate(rest) {
                Some(Surrogate::High)
                    if leading_surrogate(&rest[ESCAPE_BYTES..]) == Some(Surrogate::Low) =>
                {
                    out.push_str(&rest[..2 * ESCAPE_BYTES]);
                    2 * ESCAPE_BYTES
                }
                Some(Surrogate::High) if rest[ESCAPE_BYTES..].starts_with('"') => {
                    self.high = Some(rest[..ESCAPE_BYTES].to_owned());
                    ESCAPE_BYTES
                }
                Some(Surrogate::High) => {
                    out.push_str("\\ufffd");
                    ESCAPE_BYTES
                }
                Some(Surrogate::Low) => {
                    match self.high.take() {
                        Some(high) => out.extend([high.as_str(), &rest[..ESCAPE_BYTES]]),
                        None => out.push_str("\\ufffd"),
                    }
                    ESCAPE_BYTES
                }
                None => {
                    let used = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                    out.push_str(&rest[..used]);
                    used
                }
            };
            rest = &rest[used..];
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// Which half of a sign the text begins with.
fn leading_surrogate(text: &str) -> Option<Surrogate> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..0xDC00 => Some(Surrogate::High),
        0xDC00..0xE000 => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_find_each_other() {
        let check = |events: &[&str], expected: &str| {
            let mut surrogates = SurrogateJoiner::default();
            let texts = events
                .iter()
                .map(|event| serde_json::from_str::<String>(&surrogates.join(event)).unwrap());
            assert_eq!(texts.collect::<String>(), expected, "{events:?}");
        };
        check(&[r#""a\ud83d""#, r#""\ude00b""#], "a😀b");
        check(&[r#""\uD83D\uDE00""#], "😀");
        check(&[r#""\ud83d""#, r#""x""#, r#""\ude00""#], "x😀");
        check(&[r#""\ud83d x""#], "\u{FFFD} x");
        check(&[r#""\ude00""#], "\u{FFFD}");
        check(&[r#""\\ud83d""#, r#""\\ude00""#], "\\ud83d\\ude00");
        check(&[r#""\u00e9 \n \ud83d你""#], "é \n \u{FFFD}你");
    }
}
