//! A message as tokens: words, quotes, addresses, paths, numbers, times.
//!
//! Chinese has no spaces; its runs are cut by the longest word that [`vocabulary`] knows, and
//! what lies between known words stays whole, which is how names of places survive. Linear in
//! the length of the message; only the head of a long one is cut.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use tenon_domain::tokenizer::{is_unspaced, narrow};

use crate::vocabulary;

/// Requests are worded within this many bytes, quotes not counted. The rest is one token.
const MAX_HEAD_BYTES: usize = 32_768;
/// A longer token is cut.
const MAX_TOKEN_BYTES: usize = 4_096;
/// Nothing but a rule begins with so many marks.
const MAX_MARKS: usize = 64;
/// A longer word is none that is known here.
const MAX_WORD_BYTES: usize = 80;

/// Opening and closing quotation marks, in halves of equal length.
const QUOTES: &str = "`````` \"\" `` '' “” „” ‘’ 「」 『』 «» 《》";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Quoted,
    Url,
    Path,
    Number,
    /// A date, a time of day, or both.
    Time,
    /// One character of punctuation.
    Mark,
}

#[derive(Debug, Clone)]
pub(crate) struct MessageToken<'a> {
    pub(crate) kind: TokenKind,
    /// What it says; for a quote, what is inside.
    pub(crate) text: &'a str,
    /// A word in lower case; empty for anything else.
    pub(crate) lower: String,
    /// Where it stands in the message, quotation marks included.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl MessageToken<'_> {
    pub(crate) fn is_mark(&self, marks: &str) -> bool {
        self.kind == TokenKind::Mark && marks.contains(self.text)
    }

    /// A path, quoted or not.
    pub(crate) fn is_path(&self) -> bool {
        let is_quoted = self.kind == TokenKind::Quoted && self.text.len() <= MAX_TOKEN_BYTES;
        let has_form =
            || self.text.contains(['.', '/']) && !self.text.contains(char::is_whitespace);
        self.kind == TokenKind::Path || (is_quoted && has_form())
    }

    pub(crate) fn is_unspaced(&self) -> bool {
        self.kind == TokenKind::Word && self.text.starts_with(is_unspaced)
    }

    pub(crate) fn is_capitalised(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    pub(crate) fn number(&self) -> Option<f64> {
        let digits = self.text.chars().map(narrow).filter(|c| *c != ',');
        let digits = vocabulary::with_digits(&digits.collect::<String>());
        let number = digits.parse().ok();
        number.filter(|number: &f64| self.kind == TokenKind::Number && number.is_finite())
    }
}

/// The forms of tokens; what follows a group ends it. "e.g" is no path: that has a slash and a
/// letter, or an extension. A number may be followed by a unit; anything else makes it a word:
/// `7zip`.
const SHAPES: [(TokenKind, &str); 6] = [
    (
        TokenKind::Url,
        r"((?: (?:https?|ftp|file):// | www\. ) ADDRESS+)",
    ),
    (
        TokenKind::Url,
        r"((?:LETTER[-.]?)+ \.(?:com|org|net|io|dev|ai|app|cn) (?:/ADDRESS*)?) END",
    ),
    (
        TokenKind::Time,
        r"(\d{4}[-/]\d\d[-/]\d\d[\w:.+-]* | \d\d?:\d\d[\w:.+-]* | \d\d?[ap]m) END",
    ),
    (
        TokenKind::Path,
        r"((?:[A-Za-z]:)? SEGMENT*
            (?: [A-Za-z] SEGMENT* [/\\] | [/\\] SEGMENT* [A-Za-z] ) (?:SEGMENT|[/\\])*
            | (?:LETTER|-) SEGMENT+ \.[A-Za-z] LETTER{0,4} | LETTER \.[A-Za-z] LETTER{1,4}) END",
    ),
    (
        TokenKind::Number,
        r"(-?\d{1,3}(?:[,，]\d{3})+(?:\.\d+)? | -?\d+(?:\.\d+)?)
            (?:ms|secs?|s|mins?|m|hrs?|h|d|x)? END",
    ),
    (TokenKind::Word, r"(LETTER (?:LETTER|['’@.-])*)"),
];

/// All [`SHAPES`], with a group for each.
static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
    const UNSPACED: &str = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}";
    let letter = &format!(r"[\w--[{UNSPACED}]]");
    let address = &format!(r#"[^\s{UNSPACED}<>"'`“”‘’「」『』«»《》，。；：！？、（）]"#);
    let shapes = SHAPES.map(|(_, shape)| shape).join("|");
    let shapes = shapes.replace("ADDRESS", address);
    let shapes = shapes.replace("SEGMENT", "(?:LETTER|[.~-])");
    let shapes = shapes.replace("END", &format!(r"(?:[^\w]|[{UNSPACED}]|$)"));
    let shapes = shapes.replace("LETTER", letter);
    Regex::new(&format!("(?xi)^(?:{shapes})")).expect("every pattern is a constant of this file")
});

/// Cuts a message.
pub(crate) fn tokens(text: &str) -> Vec<MessageToken<'_>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::new(),
        unclosed: HashSet::new(),
        quoted_bytes: 0,
    };
    while let Some(c) = lexer.rest().chars().next() {
        if c.is_whitespace() {
            lexer.at += c.len_utf8();
        } else if lexer.at - lexer.quoted_bytes >= MAX_HEAD_BYTES {
            lexer.push(TokenKind::Word, lexer.rest().len());
        } else if is_unspaced(c) {
            lexer.unspaced();
        } else if !lexer.quote() && !lexer.shape() {
            lexer.push(TokenKind::Mark, c.len_utf8());
        }
    }
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<MessageToken<'a>>,
    /// Closing marks that do not come any more, so that a thousand lonely opening marks do
    /// not cost a thousand searches.
    unclosed: HashSet<&'static str>,
    quoted_bytes: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: TokenKind, bytes: usize) {
        self.push_as(kind, &self.rest()[..bytes], bytes);
    }

    fn push_as(&mut self, kind: TokenKind, text: &'a str, bytes: usize) {
        let is_known = kind == TokenKind::Word && text.len() <= MAX_WORD_BYTES;
        let lower = is_known.then(|| text.to_lowercase().replace('’', "'"));
        self.tokens.push(MessageToken {
            kind,
            text,
            lower: lower.unwrap_or_default(),
            start: self.at,
            end: self.at + bytes,
        });
        self.at += bytes;
    }

    /// What is inside of quotation marks or a fenced block is one token, whatever it says.
    fn quote(&mut self) -> bool {
        let rest = self.rest();
        let mut pairs = QUOTES.split(' ').map(|pair| pair.split_at(pair.len() / 2));
        let pair = pairs.find(|(open, _)| rest.starts_with(open));
        let Some((open, close)) = pair.filter(|(_, close)| !self.unclosed.contains(close)) else {
            return false;
        };
        let inside = &rest[open.len()..];
        // An apostrophe inside a word closes nothing.
        let closes = |at: &usize| {
            let is_apostrophe = matches!(close, "'" | "’");
            !is_apostrophe || !inside[at + close.len()..].starts_with(is_letter)
        };
        let mut ends = inside.match_indices(close).map(|(at, _)| at);
        let Some(end) = ends.find(closes) else {
            self.unclosed.insert(close);
            return false;
        };
        let quoted = match inside[..end].split_once('\n') {
            // The word after an opening fence names a language.
            Some((_, body)) if open == "```" => body.trim_end_matches('\n'),
            _ => &inside[..end],
        };
        let bytes = open.len() + end + close.len();
        self.push_as(TokenKind::Quoted, quoted, bytes);
        self.quoted_bytes += bytes;
        true
    }

    /// A token of one of the [`SHAPES`].
    fn shape(&mut self) -> bool {
        let rest = self.rest();
        let rest = &rest[..rest.floor_char_boundary(MAX_TOKEN_BYTES)];
        // A rule of dashes or dots: looking far ahead from each of them would be quadratic.
        if !rest.chars().take(MAX_MARKS).any(char::is_alphanumeric) {
            return false;
        }
        let Some(captures) = SHAPE.captures(rest) else {
            return false;
        };
        let mut groups = SHAPES.iter().zip(captures.iter().skip(1));
        let found = groups.find_map(|((kind, _), group)| Some((*kind, group?.as_str())));
        let (kind, text) = found.unwrap_or((TokenKind::Mark, ""));
        let text = text.trim_end_matches(|c| ".,;:!?)]}-'’@+".contains(c));
        // "km/h" behind a number is no path, and "555-1234" has no negative number.
        let is_outside = kind == TokenKind::Path || text.starts_with('-');
        if text.is_empty() || (is_outside && self.text[..self.at].ends_with(is_letter)) {
            return false;
        }
        self.push(kind, text.len());
        true
    }

    /// The longest known word of a run without spaces, or all up to the next one. An extension
    /// makes the last word the name of a file: `笔记.md`.
    fn unspaced(&mut self) {
        static EXTENSION: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^\.[A-Za-z0-9]{1,5}").expect("the pattern is a constant")
        });
        let rest = self.rest();
        let run = &rest[..rest.floor_char_boundary(MAX_TOKEN_BYTES)];
        let run = &run[..run.find(|c| !is_unspaced(c)).unwrap_or(run.len())];
        let unknown = || {
            let mut starts = run.char_indices().map(|(at, _)| at);
            let next = starts.find(|at| vocabulary::longest_word(&run[*at..]).is_some());
            next.unwrap_or(run.len())
        };
        let bytes = vocabulary::longest_word(run).unwrap_or_else(unknown);
        let extension = EXTENSION
            .find(&rest[bytes..])
            .map_or(0, |found| found.len());
        let kind = if extension > 0 {
            TokenKind::Path
        } else if run[..bytes].chars().all(vocabulary::is_numeral) {
            TokenKind::Number
        } else {
            TokenKind::Word
        };
        self.push(kind, bytes + extension);
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_where_its_words_end() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let shown = tokens(text).into_iter().map(|token| {
                let kind = match token.kind {
                    TokenKind::Word | TokenKind::Mark => "",
                    TokenKind::Quoted => "q:",
                    TokenKind::Url => "u:",
                    TokenKind::Path => "p:",
                    TokenKind::Number => "n:",
                    TokenKind::Time => "t:",
                };
                format!("{kind}{}", token.text)
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" | "), expected, "{text}");
        }
        check("what's up?", "what's | up | ?");
        check(
            "write 'hello world' to a/b.txt.",
            "write | q:hello world | to | p:a/b.txt | .",
        );
        check("don't 'can't stop' it", "don't | q:can't stop | it");
        check("“你好”「再见」«oui»`x`", "q:你好 | q:再见 | q:oui | q:x");
        check("东京现在几点？", "东京 | 现在 | 几点 | ？");
        check("現在東京幾點", "現在 | 東京 | 幾點");
        check("读取笔记一.md", "读取 | 笔记 | p:一.md");
        check(
            "see https://example.com/x?y=1.",
            "see | u:https://example.com/x?y=1 | .",
        );
        check(
            "打开https://example.com吧",
            "打开 | u:https://example.com | 吧",
        );
        check("example.com or notes.md", "u:example.com | or | p:notes.md");
        check("e.g. this, 24/7", "e.g | . | this | , | n:24 | / | n:7");
        check(
            "2026-05-01 at 14:30 or 3pm",
            "t:2026-05-01 | at | t:14:30 | or | t:3pm",
        );
        check(
            "30s, 1,000 items, 2.5 min",
            "n:30 | s | , | n:1,000 | items | , | n:2.5 | min",
        );
        check(
            "-3 + 5, 555-1234",
            "n:-3 | + | n:5 | , | n:555 | - | n:1234",
        );
        check("等三十秒", "等 | n:三十 | 秒");
        check("(17+4)*23/5", "( | n:17 | + | n:4 | ) | * | n:23 | / | n:5");
        check(
            "limit=5 path:/etc/hosts",
            "limit | = | n:5 | path | : | p:/etc/hosts",
        );
        check(
            "read <img src=x>.md",
            "read | < | img | src | = | x | > | . | md",
        );
        check("读a.txt，b.txt", "读 | p:a.txt | ， | p:b.txt");
        check("```rust\nlet x;\n```", "q:let x;");
        check(
            "builtin_current_time C:\\a\\b.txt",
            "builtin_current_time | p:C:\\a\\b.txt",
        );
        check("🙂", "🙂");
    }
}
