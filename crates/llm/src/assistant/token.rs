//! A message cut into tokens: words, quotes, addresses, paths, numbers, moments.
//!
//! Chinese has no spaces; its runs are cut by the longest word the
//! [`lexicon`] knows, and what lies between known words stays whole, which is
//! how names of places survive. Linear in the length of the message, and a long one is
//! only cut at its head.

mod numeral;
mod quote;
mod run;

use std::collections::HashSet;

use tenon_domain::search::is_ideogram;

use super::lexicon;
use numeral::chinese_numeral_before_unit;
use run::classify;

pub(super) use numeral::{chinese_number, chinese_numeral, number_length};

/// What is wanted is said within this many bytes, quotes not counted; all that
/// follows is one word, content at most.
const HEAD: usize = 32_768;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Quoted,
    Url,
    Path,
    Number,
    /// A date, a time of day, or both.
    Moment,
    /// One character of punctuation.
    Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// What it says; for a quote, what is inside.
    pub(super) text: &'a str,
    /// Where it stands in the message, quotation marks included.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token<'_> {
    pub(super) fn is_mark(&self, marks: &str) -> bool {
        self.kind == Kind::Mark && marks.contains(self.text)
    }

    /// The number this token stands for, whatever digits it is written in.
    pub(super) fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Number => {}
            Kind::Word => return lexicon::numeral(self.text),
            Kind::Quoted | Kind::Url | Kind::Path | Kind::Moment | Kind::Mark => return None,
        }
        let plain: String = self
            .text
            .chars()
            .map(narrow)
            .filter(|c| *c != ',')
            .collect();
        plain
            .parse()
            .ok()
            .or_else(|| chinese_number(self.text))
            .filter(|n: &f64| n.is_finite())
    }

    /// A path, quoted or not.
    pub(super) fn is_path(&self) -> bool {
        self.kind == Kind::Path || (self.kind == Kind::Quoted && classify(self.text) == Kind::Path)
    }

    pub(super) fn is_ideographic(&self) -> bool {
        self.kind == Kind::Word && self.text.starts_with(is_ideogram)
    }

    pub(super) fn is_capitalised(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }
}

/// Cuts a message.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        found: Vec::new(),
        unclosed: HashSet::new(),
        in_quotes: 0,
    };
    while let Some(c) = lexer.rest().chars().next() {
        if lexer.at - lexer.in_quotes >= HEAD {
            lexer.push(Kind::Word, lexer.rest().len());
        } else if c.is_whitespace() {
            lexer.at += c.len_utf8();
        } else if lexer.fence() || lexer.quoted(c) || lexer.url() || lexer.moment() {
        } else if is_ideogram(c) {
            lexer.ideograms();
        } else if !lexer.run(c) {
            lexer.push(Kind::Mark, c.len_utf8());
        }
    }
    lexer.found
}

/// Full-width digits, letters and signs as their plain selves.
pub(super) fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token<'a>>,
    /// Closing marks known not to come any more, so that a thousand lonely
    /// opening marks do not cost a thousand searches.
    unclosed: HashSet<char>,
    in_quotes: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn previous(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let (start, end) = (self.at, self.at + length);
        self.found.push(Token {
            kind,
            text: &self.text[start..end],
            start,
            end,
        });
        self.at = end;
    }

    fn url(&mut self) -> bool {
        const SCHEMES: [&str; 7] = [
            "http://", "https://", "ftp://", "ws://", "wss://", "file://", "www.",
        ];
        let rest = self.rest();
        let begins = |scheme: &&str| {
            rest.get(..scheme.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(scheme))
        };
        let Some(scheme) = SCHEMES.iter().find(|scheme| begins(scheme)) else {
            return false;
        };
        let ends = |c: char| {
            c.is_whitespace()
                || is_ideogram(c)
                || "<>\"'`“”‘’「」『』«»，。；！？、（）".contains(c)
        };
        let whole = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let length = whole
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}'])
            .len();
        if length <= scheme.len() {
            return false;
        }
        self.push(Kind::Url, length);
        true
    }

    /// `2026-05-01`, `2026-05-01T12:00:00Z`, `14:30`.
    fn moment(&mut self) -> bool {
        if self.previous().is_some_and(|c| c.is_ascii_alphanumeric()) {
            return false;
        }
        let rest = self.rest();
        let looks_like = |shape: &str| {
            rest.len() >= shape.len()
                && rest
                    .bytes()
                    .zip(shape.bytes())
                    .all(|(byte, expected)| match expected {
                        b'9' => byte.is_ascii_digit(),
                        _ => byte == expected,
                    })
        };
        let shapes = ["9999-99-99", "9999/99/99", "99:99:99", "99:99", "9:99"];
        let Some(shape) = shapes.iter().find(|shape| looks_like(shape)) else {
            return false;
        };
        let dated = shape.len() == 10;
        let goes_on = |c: char| c.is_ascii_digit() || (dated && "T:.Z+-".contains(c));
        let tail = &rest[shape.len()..];
        let length = shape.len() + tail.find(|c| !goes_on(c)).unwrap_or(tail.len());
        let length = rest[..length].trim_end_matches(['.', ':', '+', '-']).len();
        if length > 40 {
            return false;
        }
        self.push(Kind::Moment, length);
        true
    }

    /// A run without spaces in a script that has them. False: it does not start here.
    fn run(&mut self, first: char) -> bool {
        let rest = self.rest();
        let second = rest[first.len_utf8()..].chars().next();
        let starts = match first {
            '_' => true,
            '~' => second == Some('/'),
            '.' => second.is_some_and(|c| c == '/' || c == '.' || c.is_alphabetic()),
            // Between numbers and brackets it divides.
            '/' => {
                second.is_some_and(|c| c.is_alphabetic() || c == '.')
                    && !self
                        .previous()
                        .is_some_and(|c| c.is_alphanumeric() || c == ')')
            }
            _ => first.is_alphanumeric(),
        };
        if !starts {
            return false;
        }
        if first.is_ascii_digit() || narrow(first).is_ascii_digit() {
            return self.number();
        }
        let drive =
            second == Some(':') && rest.get(1..).is_some_and(|tail| tail.starts_with(":\\"));
        let belongs = |(at, c): (usize, char)| {
            (c.is_alphanumeric() && !is_ideogram(c))
                || "_-./\\~'’@".contains(c)
                || (drive && at == 1)
        };
        let length = rest
            .char_indices()
            .find(|pair| !belongs(*pair))
            .map_or(rest.len(), |(at, _)| at);
        let length = rest[..length]
            .trim_end_matches(['.', '-', '\'', '’', '@', '\\', '~'])
            .len();
        if length == 0 {
            return false;
        }
        let kind = match classify(&rest[..length]) {
            Kind::Path if !self.stands_free(length) => Kind::Word,
            kind => kind,
        };
        self.push(kind, length);
        true
    }

    /// Whether what stands here is whole, and not cut out of markup such as `<img src=x>.md`.
    fn stands_free(&self, length: usize) -> bool {
        let opens = |c: char| {
            c.is_whitespace()
                || is_ideogram(c)
                || "\"'`“”‘’「」『』«»《》([{（,，:：;；、。！？".contains(c)
        };
        self.previous().is_none_or(opens) && !self.rest()[length..].starts_with(['<', '>', '='])
    }

    /// A number, or whatever begins with a digit: `30s`, `3pm`, `7zip`, `1,000`.
    fn number(&mut self) -> bool {
        let rest = self.rest();
        let belongs = |c: char| {
            (c.is_alphanumeric() && !is_ideogram(c)) || "_.".contains(c) || c == '/' || c == '-'
        };
        let run = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
        let kind = match classify(run.trim_end_matches(['.', '-', '/'])) {
            kind @ (Kind::Path | Kind::Url) if self.stands_free(run.len()) => {
                self.push(kind, run.trim_end_matches(['.', '-']).len());
                return true;
            }
            Kind::Path | Kind::Url => Kind::Word,
            kind => kind,
        };
        let length = number_length(rest);
        let letters = rest[length..]
            .find(|c: char| !c.is_alphabetic() || is_ideogram(c))
            .map_or(&rest[length..], |end| &rest[length..length + end]);
        let suffix = if letters.len() <= 12 {
            letters.to_lowercase()
        } else {
            letters.into()
        };
        if matches!(suffix.as_str(), "am" | "pm") {
            self.push(Kind::Moment, length + letters.len());
        } else if suffix.is_empty() || lexicon::seconds_in(&suffix).is_some() || suffix == "x" {
            self.push(Kind::Number, length);
        } else {
            let whole = run.trim_end_matches(['.', '-', '/', '_']).len().max(length);
            self.push(
                if kind == Kind::Number {
                    Kind::Word
                } else {
                    kind
                },
                whole,
            );
        }
        true
    }

    fn ideograms(&mut self) {
        let rest = self.rest();
        let head = &rest[..rest.ceil_char_boundary(HEAD + self.in_quotes - self.at)];
        let end = self.at + head.find(|c| !is_ideogram(c)).unwrap_or(head.len());
        let mut unknown = self.at;
        while self.at < end {
            let run = &self.text[self.at..end];
            let number = chinese_numeral_before_unit(run);
            let known = number.or_else(|| lexicon::longest_known(run));
            let Some(length) = known else {
                self.at += run.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            self.flush(unknown);
            self.push(
                if number.is_some() {
                    Kind::Number
                } else {
                    Kind::Word
                },
                length,
            );
            unknown = self.at;
        }
        self.flush(unknown);
        self.extension();
    }

    /// What lies between two known words becomes one word.
    fn flush(&mut self, from: usize) {
        if from < self.at {
            let token = Token {
                kind: Kind::Word,
                text: &self.text[from..self.at],
                start: from,
                end: self.at,
            };
            self.found.push(token);
        }
    }

    /// `笔记.md`: the last word belongs to the name of a file.
    fn extension(&mut self) {
        let rest = self.rest();
        let Some(after) = rest.strip_prefix('.') else {
            return;
        };
        let length = after
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(after.len());
        if !(1..=5).contains(&length) || !after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return;
        }
        if let Some(last) = self.found.last_mut() {
            self.at += 1 + length;
            last.kind = Kind::Path;
            last.end = self.at;
            last.text = &self.text[last.start..last.end];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_where_its_words_end() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let shown: Vec<String> = tokens(text)
                .iter()
                .map(|token| {
                    let kind = match token.kind {
                        Kind::Word => "",
                        Kind::Quoted => "q:",
                        Kind::Url => "u:",
                        Kind::Path => "p:",
                        Kind::Number => "n:",
                        Kind::Moment => "m:",
                        Kind::Mark => "",
                    };
                    format!("{kind}{}", token.text)
                })
                .collect();
            assert_eq!(shown.join(" | "), expected, "{text}");
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
        check("读取笔记.md", "读取 | p:笔记.md");
        check(
            "see https://example.com/x?y=1.",
            "see | u:https://example.com/x?y=1 | .",
        );
        check(
            "打开https://example.com吧",
            "打开 | u:https://example.com | 吧",
        );
        check("example.com or notes.md", "u:example.com | or | p:notes.md");
        check(
            "e.g. this and/or that, 24/7",
            "e.g | . | this | and/or | that | , | n:24 | / | n:7",
        );
        check(
            "2026-05-01 at 14:30 or 3pm",
            "m:2026-05-01 | at | m:14:30 | or | m:3pm",
        );
        check(
            "30s, 1,000 items, 2.5 min",
            "n:30 | s | , | n:1,000 | items | , | n:2.5 | min",
        );
        check("1，250 or 12,34", "n:1，250 | or | n:12 | , | n:34");
        check("2024,100", "n:2024 | , | n:100");
        check("等待三秒", "等待 | n:三 | 秒");
        check("(17+4)*23/5", "( | n:17 | + | n:4 | ) | * | n:23 | / | n:5");
        check(
            "limit=5 path:/etc/hosts",
            "limit | = | n:5 | path | : | p:/etc/hosts",
        );
        check(
            "<img src=x onerror=owned=1>.md",
            "< | img | src | = | x | onerror | = | owned | = | n:1 | > | .md",
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
