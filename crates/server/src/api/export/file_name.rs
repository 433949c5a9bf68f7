//! A safe file name for `Content-Disposition`, from a title that may contain anything.

use std::fmt::Write;

/// Long enough to know it by, short enough for every file system.
const MAX_CHARS: usize = 60;

/// The header that makes a browser save an answer under a name.
pub(super) fn attachment(title: &str, extension: &str) -> String {
    let name = format!("{}.{extension}", stem(title));
    let ascii: String = name
        .chars()
        .map(|c| if c.is_ascii() { c } else { '_' })
        .collect();
    format!(
        "attachment; filename=\"{ascii}\"; filename*=UTF-8''{}",
        encoded(&name)
    )
}

fn stem(title: &str) -> String {
    // What some file system or shell takes for something else.
    let odd = |c: char| {
        c.is_control() || c.is_whitespace() || "/\\:*?\"<>|%;'`$&".contains(c) || is_unseen(c)
    };
    let words: Vec<&str> = title.split(odd).filter(|word| !word.is_empty()).collect();
    let joined = words.join(" ");
    let cut: String = joined
        .trim_matches(['.', ' ', '-', '~'])
        .chars()
        .take(MAX_CHARS)
        .collect();
    match cut.trim_end_matches(['.', ' ']) {
        "" => "chat".into(),
        stem => stem.into(),
    }
}

/// Marks that turn the direction of text could make `exe.md` of `dm.exe`.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_a_name_that_every_system_takes() {
        let check = |title: &str, ascii: &str, encoded: &str| {
            let expected = format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{encoded}");
            assert_eq!(attachment(title, "md"), expected, "{title:?}");
        };
        check("Notes", "Notes.md", "Notes.md");
        check("two words", "two words.md", "two%20words.md");
        check("东京", "__.md", "%E4%B8%9C%E4%BA%AC.md");
        check("", "chat.md", "chat.md");
        check("../../etc/passwd", "etc passwd.md", "etc%20passwd.md");
        check("a\"\r\nX: y", "a X y.md", "a%20X%20y.md");
        check("...", "chat.md", "chat.md");
        check("\u{202E}dm.exe", "dm.exe.md", "dm.exe.md");
        let long = "x".repeat(MAX_CHARS);
        check(
            &"x".repeat(500),
            &format!("{long}.md"),
            &format!("{long}.md"),
        );
    }
}
