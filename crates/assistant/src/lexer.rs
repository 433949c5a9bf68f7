//! A message as tokens: words, quotes, addresses, paths, numbers, times.
//!
//! Chinese has no spaces; its runs are cut by the longest word that [`vocabulary`] knows, and
//! what lies between known words stays whole, which is how names of places survive. Linear in
//! the length of the message; only the head of a long one is cut.

use std::collections::HashSet;

use tenon_domain::tokenizer::{is_unspaced, narrow};

use crate::vocabulary;

/// Requests are worded within this many bytes, quotes not counted. The rest is one token.
const MAX_HEAD_BYTES: usize = 32_768;

/// A longer word is none that is known here.
const MAX_WORD_BYTES: usize = 80;

const CHINESE_NUMERALS: &str = "零一二三四五六七八九十两兩半百";

/// Words with a slash or a dot in them that are no paths.
const NOT_PATHS: &str = "and/or he/she his/her km/h w/o n/a yes/no on/off true/false";
const TOP_LEVEL_DOMAINS: &str = "com org net io dev ai app cn edu gov info tw";

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
        let quoted = self.kind == TokenKind::Quoted;
        self.kind == TokenKind::Path
            || (quoted && path_or_domain(self.text) == Some(TokenKind::Path))
    }

    pub(crate) fn is_unspaced(&self) -> bool {
        self.kind == TokenKind::Word && self.text.starts_with(is_unspaced)
    }

    pub(crate) fn is_capitalised(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    pub(crate) fn number(&self) -> Option<f64> {
        const WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve";
        match self.kind {
            TokenKind::Word => WORDS
                .split(' ')
                .position(|word| word == self.lower)
                .map(|number| number as f64),
            TokenKind::Number => {
                let digits = self.text.chars().map(narrow).filter(|c| *c != ',');
                let number = digits.collect::<String>().parse().ok();
                let number = number.or_else(|| chinese_number(self.text));
                number.filter(|number: &f64| number.is_finite())
            }
            _ => None,
        }
    }
}

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
        if lexer.at - lexer.quoted_bytes >= MAX_HEAD_BYTES {
            lexer.push(TokenKind::Word, lexer.rest().len());
        } else if c.is_whitespace() {
            lexer.at += c.len_utf8();
        } else if lexer.quote(c) || lexer.url() || lexer.time() || lexer.path() {
        } else if is_unspaced(c) {
            lexer.unspaced();
        } else if narrow(c).is_ascii_digit() {
            lexer.number();
        } else if c.is_alphanumeric() || c == '_' {
            let belongs = |c: char| is_word_char(c) || "_-'’@.".contains(c);
            let word = head(lexer.rest(), belongs);
            let word = word.trim_end_matches(['-', '\'', '’', '@', '.']);
            lexer.push(TokenKind::Word, word.len().max(c.len_utf8()));
        } else {
            lexer.push(TokenKind::Mark, c.len_utf8());
        }
    }
    lexer.tokens
}

/// The number that Chinese numerals stand for: 三, 二十五, 一百二十, 半.
pub(crate) fn chinese_number(text: &str) -> Option<f64> {
    let (mut total, mut digit) = (0.0, None);
    for c in text.chars() {
        match c {
            '半' => return Some(total + digit.unwrap_or(0.0) + 0.5),
            '十' => total += digit.take().unwrap_or(1.0) * 10.0,
            '百' => total += digit.take().unwrap_or(1.0) * 100.0,
            '两' | '兩' => digit = Some(2.0),
            _ => digit = Some("零一二三四五六七八九".chars().position(|one| one == c)? as f64),
        }
    }
    Some(total + digit.unwrap_or(0.0))
}

pub(crate) fn is_chinese_numeral(c: char) -> bool {
    CHINESE_NUMERALS.contains(c)
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

    fn previous(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn push(&mut self, kind: TokenKind, bytes: usize) {
        let text = &self.rest()[..bytes];
        self.push_token(kind, text, bytes);
    }

    fn push_token(&mut self, kind: TokenKind, text: &'a str, bytes: usize) {
        let lower = match kind {
            TokenKind::Word if text.len() <= MAX_WORD_BYTES => {
                text.to_lowercase().replace('’', "'")
            }
            _ => String::new(),
        };
        let (start, end) = (self.at, self.at + bytes);
        self.tokens.push(MessageToken {
            kind,
            text,
            lower,
            start,
            end,
        });
        self.at = end;
    }

    /// What is inside of quotation marks or a fenced block is one token, whatever it says.
    fn quote(&mut self, open: char) -> bool {
        let is_fence = self.rest().starts_with("```");
        let close = match open {
            _ if is_fence => "```",
            '"' => "\"",
            '`' => "`",
            '\'' if !self.previous().is_some_and(char::is_alphanumeric) => "'",
            '“' | '„' => "”",
            '‘' => "’",
            '「' => "」",
            '『' => "』",
            '«' => "»",
            '《' => "》",
            _ => return false,
        };
        if self.unclosed.contains(close) {
            return false;
        }
        let open_bytes = if is_fence { 3 } else { open.len_utf8() };
        let inside = &self.rest()[open_bytes..];
        // An apostrophe inside a word closes nothing.
        let closes = |at: &usize| {
            !matches!(close, "'" | "’") || !inside[at + close.len()..].starts_with(is_word_char)
        };
        let ends = inside.match_indices(close).map(|(at, _)| at);
        let Some(length) = { ends }.find(closes) else {
            self.unclosed.insert(close);
            return false;
        };
        let mut quoted = &inside[..length];
        if is_fence {
            // The word after the opening fence names a language.
            let body = quoted.split_once('\n').map_or(quoted, |(_, body)| body);
            quoted = body.trim_end_matches('\n');
        }
        let bytes = open_bytes + length + close.len();
        self.push_token(TokenKind::Quoted, quoted, bytes);
        self.quoted_bytes += bytes;
        true
    }

    fn url(&mut self) -> bool {
        let rest = self.rest();
        let schemes = ["http://", "https://", "ftp://", "file://", "www."];
        let is_scheme = |scheme: &&str| {
            let begins = rest.get(..scheme.len());
            begins.is_some_and(|begins| begins.eq_ignore_ascii_case(scheme))
        };
        let Some(scheme) = schemes.iter().find(|scheme| is_scheme(scheme)) else {
            return false;
        };
        let url = head(rest, |c| !ends_address(c));
        let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
        if url.len() <= scheme.len() {
            return false;
        }
        self.push(TokenKind::Url, url.len());
        true
    }

    /// `2026-05-01`, `2026-05-01T12:00:00Z`, `14:30`, `3pm`.
    fn time(&mut self) -> bool {
        let rest = self.rest();
        if self.previous().is_some_and(|c| c.is_ascii_alphanumeric()) {
            return false;
        }
        let fits = |shape: &&str| {
            let is_digit = |(byte, shape): (u8, u8)| match shape {
                b'9' => byte.is_ascii_digit(),
                _ => byte == shape,
            };
            rest.len() >= shape.len() && rest.bytes().zip(shape.bytes()).all(is_digit)
        };
        let shapes = [
            "9999-99-99",
            "9999/99/99",
            "99:99",
            "9:99",
            "99pm",
            "9pm",
            "99am",
            "9am",
        ];
        let Some(shape) = shapes.iter().find(|shape| fits(shape)) else {
            return false;
        };
        let time = head(rest, |c| c.is_ascii_alphanumeric() || "-/:.+".contains(c));
        let time = time.trim_end_matches(['.', ':', '+', '-', '/']);
        let is_whole = shape.ends_with('m') == (time.len() == shape.len() && time.ends_with('m'));
        if time.len() > 40 || !is_whole {
            return false;
        }
        self.push(TokenKind::Time, time.len());
        true
    }

    /// A path or an address without a scheme, unless it is a part of markup such as `<a>.md`.
    fn path(&mut self) -> bool {
        let opens =
            |c: char| c.is_whitespace() || is_unspaced(c) || ",，:：;；、。([（=“‘「".contains(c);
        if !self.previous().is_none_or(opens) {
            return false;
        }
        let rest = self.rest();
        let drive = rest.get(1..3) == Some(":\\");
        let skipped = if drive { 2 } else { 0 };
        let path = head(&rest[skipped..], |c| {
            !ends_address(c) && !",;:!?()[]{}=*+|".contains(c)
        });
        let path = rest[..skipped + path.len()].trim_end_matches(['.', '-', '~', '\\']);
        let Some(kind) = path_or_domain(path) else {
            return false;
        };
        if rest[path.len()..].starts_with(['<', '>', '=']) {
            return false;
        }
        self.push(kind, path.len());
        true
    }

    /// `1,250.5`, `30s`; what is neither a number nor one with a unit is a word: `7zip`.
    fn number(&mut self) {
        let rest = self.rest();
        let digits = |text: &'a str| head(text, |c| narrow(c).is_ascii_digit()).len();
        let mut length = digits(rest);
        let is_grouped = length <= 3;
        while is_grouped
            && let Some(group) = rest[length..].strip_prefix([',', '，'])
            && digits(group) == 3
        {
            length = rest.len() - group.len() + 3;
        }
        if let Some(fraction) = rest[length..].strip_prefix('.')
            && digits(fraction) > 0
        {
            length += 1 + digits(fraction);
        }
        let suffix = head(&rest[length..], |c| is_word_char(c) || c == '_');
        let unit = &suffix[..suffix.floor_char_boundary(12)].to_lowercase();
        if suffix.is_empty() || unit == "x" || vocabulary::seconds_in(unit).is_some() {
            self.push(TokenKind::Number, length);
        } else {
            self.push(TokenKind::Word, length + suffix.len());
        }
    }

    fn unspaced(&mut self) {
        let rest = self.rest();
        let bound = (MAX_HEAD_BYTES + self.quoted_bytes).saturating_sub(self.at);
        let run = head(&rest[..rest.ceil_char_boundary(bound.max(4))], is_unspaced);
        let end = self.at + run.len();
        let mut unknown = self.at;
        while self.at < end {
            let run = &self.text[self.at..end];
            let numeral = numeral_before_unit(run);
            let Some(bytes) = numeral.or_else(|| vocabulary::longest_word(run)) else {
                self.at += run.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            self.push_unknown(unknown);
            let is_number = numeral.is_some();
            self.push(
                if is_number {
                    TokenKind::Number
                } else {
                    TokenKind::Word
                },
                bytes,
            );
            unknown = self.at;
        }
        self.push_unknown(unknown);
        self.extension();
    }

    /// What lies between two known words is one word.
    fn push_unknown(&mut self, from: usize) {
        let end = std::mem::replace(&mut self.at, from);
        if from < end {
            self.push(TokenKind::Word, end - from);
        }
    }

    /// `笔记.md`: the last word belongs to the name of a file.
    fn extension(&mut self) {
        let Some(after) = self.rest().strip_prefix('.') else {
            return;
        };
        let extension = head(after, |c| c.is_ascii_alphanumeric());
        let fits = (1..=5).contains(&extension.len()) && extension.starts_with(is_word_char);
        if let Some(last) = self.tokens.last_mut().filter(|_| fits) {
            self.at += 1 + extension.len();
            last.kind = TokenKind::Path;
            last.lower.clear();
            last.end = self.at;
            last.text = &self.text[last.start..last.end];
        }
    }
}

/// The beginning of a text that consists of such characters.
fn head(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !belongs(c)).unwrap_or(text.len())]
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || is_unspaced(c) || "<>\"'`“”‘’「」『』«»《》，。；：！？、（）".contains(c)
}

/// `三秒`: the length of a numeral with a unit behind it.
fn numeral_before_unit(run: &str) -> Option<usize> {
    let length = head(run, is_chinese_numeral).len();
    let unit = &run[length..];
    let unit = &unit[..vocabulary::longest_word(unit)?];
    (length > 0 && vocabulary::seconds_in(unit).is_some()).then_some(length)
}

fn path_or_domain(text: &str) -> Option<TokenKind> {
    if text.contains(char::is_whitespace) || text.contains('@') {
        return None;
    }
    let has_letter = |text: &str| text.contains(char::is_alphabetic);
    let has_word = |list: &str, word: &str| {
        let mut words = list.split(' ');
        words.any(|one| one.eq_ignore_ascii_case(word))
    };
    let site = text
        .split('/')
        .next()
        .and_then(|site| site.rsplit_once('.'));
    if site.is_some_and(|(name, domain)| has_letter(name) && has_word(TOP_LEVEL_DOMAINS, domain)) {
        return Some(TokenKind::Url);
    }
    if text.contains(['/', '\\']) {
        return (has_letter(text) && !has_word(NOT_PATHS, text)).then_some(TokenKind::Path);
    }
    let (name, extension) = text.rsplit_once('.')?;
    let is_extension = (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && has_letter(extension);
    // "e.g" and "2.5x" are no files.
    let is_name = name.len() + extension.len() > 2 && !name.bytes().all(|b| b.is_ascii_digit());
    (is_extension && is_name).then_some(TokenKind::Path)
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
        check(
            "e.g. this and/or that, 24/7",
            "e.g | . | this | and | / | or | that | , | n:24 | / | n:7",
        );
        check(
            "2026-05-01 at 14:30 or 3pm",
            "t:2026-05-01 | at | t:14:30 | or | t:3pm",
        );
        check(
            "30s, 1,000 items, 2.5 min",
            "n:30 | s | , | n:1,000 | items | , | n:2.5 | min",
        );
        check("等待三秒", "等待 | n:三 | 秒");
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

    #[test]
    fn chinese_numerals_count() {
        let check = |text: &str, expected| assert_eq!(chinese_number(text), Some(expected));
        check("三", 3.0);
        check("十", 10.0);
        check("二十五", 25.0);
        check("半", 0.5);
        check("一百二十", 120.0);
    }
}
