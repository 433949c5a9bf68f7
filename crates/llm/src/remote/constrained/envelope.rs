//! A reply inside JSON, read while it is being written.

use serde_json::{Map, Value};

/// Decodes the JSON form of a reply. Takes `{"tool": "reply", "arguments": {"text": "…"}}` piece by
/// piece and emits its text as it arrives. Text that is not JSON comes from a server that ignores
/// the form, and counts as the answer.
#[derive(Debug)]
pub(super) struct ReplyEnvelope {
    /// What speaking is called.
    name: String,
    /// The tokens that stand before the words, with any white space in between.
    opening: Vec<String>,
    is_plain: bool,
    whole: String,
    /// How many bytes of the opening were read, and how many of its tokens found in them.
    read: usize,
    found: usize,
    /// Where the words begin, once they have.
    begin: Option<usize>,
    /// How many bytes of words were given.
    given: usize,
}

/// What the JSON was, once it is whole.
#[derive(Debug, PartialEq)]
pub(super) enum EnvelopeContent {
    /// What of the reply has not been given yet.
    Words(String),
    Call {
        tool: String,
        arguments: Value,
    },
}

impl ReplyEnvelope {
    pub(super) fn new(name: &str) -> Self {
        let name_token = format!("\"{name}\"");
        let opening = [
            "{",
            "\"tool\"",
            ":",
            &name_token,
            ",",
            "\"arguments\"",
            ":",
            "{",
            "\"text\"",
            ":",
            "\"",
        ];
        Self {
            name: name.to_owned(),
            opening: opening.map(str::to_owned).into(),
            is_plain: false,
            whole: String::new(),
            read: 0,
            found: 0,
            begin: None,
            given: 0,
        }
    }

    /// Takes in a piece; gives the words it adds to the reply.
    pub(super) fn push(&mut self, text: &str) -> String {
        if self.is_plain {
            return text.to_owned();
        }
        self.whole.push_str(text);
        if self.found == 0 {
            let begun = rest(&self.whole, &mut self.read);
            if !begun.is_empty() && !begun.starts_with(['{', '`']) {
                self.is_plain = true;
                return std::mem::take(&mut self.whole);
            }
        }
        let Some(begin) = self.begin.or_else(|| self.words_begin()) else {
            return String::new();
        };
        self.begin = Some(begin);
        // Only new bytes are decoded: `decode` continues where it stopped.
        let (words, used) = decode(&self.whole[begin + self.given..]);
        self.given += used;
        words
    }

    pub(super) fn finish(&mut self) -> EnvelopeContent {
        let whole = std::mem::take(&mut self.whole);
        if self.begin.is_some() {
            // The text was already emitted as it arrived.
            return EnvelopeContent::Words(String::new());
        }
        let Ok(Value::Object(mut answer)) = serde_json::from_str(unfenced(whole.trim())) else {
            return EnvelopeContent::Words(whole);
        };
        let Some(Value::String(tool)) = answer.remove("tool") else {
            return EnvelopeContent::Words(whole);
        };
        let arguments = match answer.remove("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments) => arguments,
        };
        if tool != self.name {
            return EnvelopeContent::Call { tool, arguments };
        }
        let text = arguments.get("text").and_then(Value::as_str);
        EnvelopeContent::Words(text.unwrap_or_default().to_owned())
    }

    /// Where the words begin, once the whole opening is there. Goes on where it
    /// stopped: white space without end is read once.
    fn words_begin(&mut self) -> Option<usize> {
        while let Some(token) = self.opening.get(self.found) {
            if !rest(&self.whole, &mut self.read).starts_with(&**token) {
                return None;
            }
            self.read += token.len();
            self.found += 1;
        }
        Some(self.read)
    }
}

/// What follows what was read, behind the white space, which is read with this.
fn rest<'a>(whole: &'a str, read: &mut usize) -> &'a str {
    let rest = whole[*read..].trim_start();
    *read = whole.len() - rest.len();
    rest
}

/// JSON without the fence that models like to put around it.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"));
    inside.map_or(text, |text| text.trim_start_matches("json").trim())
}

/// The words of a JSON string up to its end or its cut, and how many bytes
/// they took. An escape that is not whole yet waits.
fn decode(text: &str) -> (String, usize) {
    let mut words = String::new();
    let mut rest = text;
    loop {
        let end = rest.find(['"', '\\']).unwrap_or(rest.len());
        words.push_str(&rest[..end]);
        rest = &rest[end..];
        if !rest.starts_with('\\') {
            break;
        }
        let Some((char, used)) = escape(rest) else {
            break;
        };
        words.push(char);
        rest = &rest[used..];
    }
    (words, text.len() - rest.len())
}

fn escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let hex = text.get(at..at + 4)?;
        u16::from_str_radix(hex, 16).ok()
    };
    let simple = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => {
            let first = text.get(2..6).and_then(|_| unit(2));
            let Some(first) = first else {
                // Too short to tell, or no number: four signs decide.
                return (text.len() >= 6).then_some(('\u{FFFD}', 2));
            };
            if !(0xD800..0xDC00).contains(&first) {
                return Some((char::from_u32(first.into()).unwrap_or('\u{FFFD}'), 6));
            }
            // The first half of a pair waits for the second.
            if text.len() < 12
                && text
                    .get(6..)
                    .is_some_and(|rest| "\\u".starts_with(rest.get(..2).unwrap_or(rest)))
            {
                return None;
            }
            let second = text
                .get(6..8)
                .filter(|sign| *sign == "\\u")
                .and_then(|_| unit(8));
            let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
            return Some(match pair {
                Some(char) => (char, 12),
                None => ('\u{FFFD}', 6),
            });
        }
        // A quote, a slash, or a mistake: the sign itself.
        _ => {
            let sign = text[1..].chars().next()?;
            return Some((sign, 1 + sign.len_utf8()));
        }
    };
    Some((simple, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, words: &str, end: &EnvelopeContent) {
        let chars: Vec<char> = text.chars().collect();
        for size in [1, 2, 5, 1000] {
            let (mut reply, mut given) = (ReplyEnvelope::new("reply"), String::new());
            for piece in chars.chunks(size) {
                given.push_str(&reply.push(&piece.iter().collect::<String>()));
            }
            assert_eq!(given, words, "in pieces of {size}");
            assert_eq!(reply.finish(), *end, "in pieces of {size}");
        }
    }

    #[test]
    fn words_come_as_they_are_written() {
        let over = EnvelopeContent::Words(String::new());
        check(r#"{"tool":"reply","arguments":{"text":"Hi"}}"#, "Hi", &over);
        check(
            r#" { "tool" : "reply" , "arguments" : { "text" : "a\n\"b\" \\ \u00e9 \ud83d\ude00 你" } } "#,
            "a\n\"b\" \\ é 😀 你",
            &over,
        );
        check(
            r#"{"tool":"reply","arguments":{"text":"cut of"#,
            "cut of",
            &over,
        );
        check(
            r#"{"tool":"reply","arguments":{"text":"\ud83d!"}}"#,
            "\u{FFFD}!",
            &over,
        );
    }

    #[test]
    fn calls_and_stray_text_are_told_at_the_end() {
        let call = EnvelopeContent::Call {
            tool: "t".into(),
            arguments: json!({"x": 1}),
        };
        check(r#"{"tool":"t","arguments":{"x":1}}"#, "", &call);
        check(
            r#"{"arguments":{"text":"late"},"tool":"reply"}"#,
            "",
            &EnvelopeContent::Words("late".into()),
        );
        check(
            "```json\n{\"tool\":\"t\",\"arguments\":{\"x\":1}}\n```",
            "",
            &call,
        );
        check(
            "```\n{\"tool\":\"reply\",\"arguments\":{\"text\":\"Hi\"}}\n```",
            "",
            &EnvelopeContent::Words("Hi".into()),
        );
        check(
            "`ls` lists.",
            "",
            &EnvelopeContent::Words("`ls` lists.".into()),
        );
        check(
            r#"{"tool":"replies","arguments":{"text":"Hi"}}"#,
            "",
            &EnvelopeContent::Call {
                tool: "replies".into(),
                arguments: json!({"text": "Hi"}),
            },
        );
        check(
            r#"{"tool":"reply"}"#,
            "",
            &EnvelopeContent::Words(String::new()),
        );
        check("", "", &EnvelopeContent::Words(String::new()));
    }

    #[test]
    fn text_without_a_form_comes_as_it_is_written() {
        let over = EnvelopeContent::Words(String::new());
        check("Just text.", "Just text.", &over);
        check(" Not {\"reply\":\"x\"}", " Not {\"reply\":\"x\"}", &over);
    }

    #[test]
    fn white_space_without_end_is_read_once() {
        let over = EnvelopeContent::Words(String::new());
        for opening in [
            "",
            "{",
            "{\"tool\":",
            "{\"tool\":\"reply\"",
            "{\"tool\":\"reply\",\"arguments\":{",
        ] {
            let begun = std::time::Instant::now();
            let mut envelope = ReplyEnvelope::new("reply");
            envelope.push(opening);
            for _ in 0..100_000 {
                assert_eq!(envelope.push("\n"), "");
            }
            let rest =
                r#"{"tool":"reply","arguments":{"text":"Hi"}}"#.strip_prefix(opening).unwrap();
            assert_eq!(envelope.push(rest), "Hi");
            assert_eq!(envelope.finish(), over);
            // Linear takes a part of a second; quadratic would take a minute.
            assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
        }
    }
}
