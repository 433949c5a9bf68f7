//! Quotes and fenced blocks: what is inside is one token, whatever it says.

use tenon_domain::search::is_ideogram;

use super::{Kind, Lexer, Token};

impl<'a> Lexer<'a> {
    /// A fenced block is one quote; the word after its opening names a language.
    pub(super) fn fence(&mut self) -> bool {
        let Some(inside) = self.rest().strip_prefix("```") else {
            return false;
        };
        let Some(length) = (!self.unclosed.contains(&'\0'))
            .then(|| inside.find("```"))
            .flatten()
        else {
            self.unclosed.insert('\0');
            return false;
        };
        let block = &inside[..length];
        let text = block
            .split_once('\n')
            .map_or(block, |(_, body)| body)
            .trim_end_matches('\n');
        let (start, end) = (self.at, self.at + length + 6);
        self.push_quote(text, start, end)
    }

    pub(super) fn quoted(&mut self, open: char) -> bool {
        let close = match open {
            '"' | '`' => open,
            '\'' if !self.previous().is_some_and(char::is_alphanumeric) => open,
            '“' | '„' => '”',
            '‘' => '’',
            '「' => '」',
            '『' => '』',
            '«' => '»',
            '《' => '》',
            _ => return false,
        };
        if self.unclosed.contains(&close) {
            return false;
        }
        let inside = &self.rest()[open.len_utf8()..];
        // An apostrophe inside a word closes nothing.
        let closes = |(at, _): &(usize, &str)| {
            !matches!(close, '\'' | '’')
                || !inside[at + close.len_utf8()..]
                    .starts_with(|c: char| c.is_alphanumeric() && !is_ideogram(c))
        };
        let Some((length, _)) = inside.match_indices(close).find(closes) else {
            self.unclosed.insert(close);
            return false;
        };
        let (start, end) = (
            self.at,
            self.at + open.len_utf8() + length + close.len_utf8(),
        );
        self.push_quote(&inside[..length], start, end)
    }

    fn push_quote(&mut self, text: &'a str, start: usize, end: usize) -> bool {
        self.found.push(Token {
            kind: Kind::Quoted,
            text,
            start,
            end,
        });
        self.in_quotes += end - start;
        self.at = end;
        true
    }
}
