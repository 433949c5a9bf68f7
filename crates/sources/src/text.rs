//! Words from outside, made fit to be shown.

/// One line of at most so many characters, with one space between words and
/// without anything that is no writing.
pub fn line(text: &str, longest: usize) -> String {
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    let mut before = ' ';
    let written = spaced.filter(|c| !is_unwanted(*c)).filter(|c| {
        let is_wanted = (before, *c) != (' ', ' ');
        before = *c;
        is_wanted
    });
    cut(written, longest).trim().to_owned()
}

/// At most so many characters with their line breaks, spaces and tabs.
pub(crate) fn block(text: &str, longest: usize) -> String {
    let text = text.trim();
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    // Nearly always, and there may be thousands of them.
    if text.len() <= longest && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let kept = |c: &char| matches!(c, '\n' | '\t') || !is_unwanted(*c);
    cut(text.chars().filter(kept), longest).trim().to_owned()
}

/// The whole of what a model is told, without what would steer a terminal.
pub(crate) fn whole(text: &str) -> String {
    let kept = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    text.chars().filter(kept).collect()
}

/// Control characters, those that turn what follows around on a screen, and
/// those that nobody sees.
pub(crate) fn is_unwanted(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let unseen = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    c.is_control() || turns || unseen
}

fn cut(characters: impl Iterator<Item = char>, longest: usize) -> String {
    let mut kept = String::new();
    for (number, c) in characters.enumerate() {
        if number == longest {
            kept.push('…');
            break;
        }
        kept.push(c);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_writing_is_left_out() {
        assert_eq!(line("a\nb\t\u{1b}[31mc\u{0} ", 80), "a b [31mc");
        assert_eq!(block("a\nb\t\u{1b}[31mc\r\n", 80), "a\nb\t[31mc");
        assert_eq!(line("  a \t\u{200b} b  ", 80), "a b");
        assert_eq!(line("pay\u{202e}lap", 80), "paylap");
        assert_eq!(line("pa\u{200b}y\u{2060}\u{e0041}", 80), "pay");
        assert_eq!(whole("a\r\n\tb\u{1b}[31m"), "a\n\tb[31m");
        assert_eq!(line("你好吗", 2), "你好…");
        assert_eq!(line("你好", 2), "你好");
    }
}
