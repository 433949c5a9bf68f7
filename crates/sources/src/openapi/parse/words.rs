//! Words of a document, made fit to be shown.

/// One line of at most so many characters.
pub(super) fn line(text: &str, longest: usize) -> String {
    let text = text.trim();
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    cut(spaced.filter(|c| !c.is_control()), longest)
}

/// The same with its line breaks and tabs.
pub(super) fn block(text: &str, longest: usize) -> String {
    let text = text.trim();
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    // Nearly always.
    if text.len() <= longest && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let kept = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    cut(text.chars().filter(kept), longest)
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
