//! Finds the parts of a request that are values, not words to search for: quotes and file names.

use std::ops::Range;

/// Opening and closing quotation marks. No apostrophe: it is a letter more often than a mark.
const MARKS: [(char, char); 6] = [
    ('"', '"'),
    ('“', '”'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];

/// Endings of files that people name.
const FILE_ENDINGS: [&str; 24] = [
    "csv", "doc", "docx", "gif", "html", "ini", "jpeg", "jpg", "js", "json", "log", "md", "mov",
    "mp3", "mp4", "pdf", "png", "py", "svg", "txt", "xlsx", "xml", "yaml", "zip",
];

/// Where a text is quoted, in bytes. A mark without its counterpart quotes nothing.
pub(super) fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut quotes = Vec::new();
    for (opening, closing) in MARKS {
        let mut at = 0;
        while let Some(found) = text[at..].find(opening) {
            let start = at + found + opening.len_utf8();
            let Some(length) = text[start..].find(closing) else {
                break;
            };
            quotes.push(start..start + length);
            at = start + length + closing.len_utf8();
        }
    }
    quotes
}

/// Where a text names files, in bytes, without their endings: these say what is wanted.
pub(super) fn file_names(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "._-/\\".contains(c);
    text.split(move |c| !is_of_name(c)).filter_map(|word| {
        let (name, ending) = word.trim_end_matches('.').rsplit_once('.')?;
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        FILE_ENDINGS
            .contains(&ending)
            .then_some(start..start + name.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_has_two_marks() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = quotes(text).into_iter().map(|at| &text[at]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(r#"make a list "Team lunch" and "x""#, &["Team lunch", "x"]);
        check("评价《三体》和“年度会员”", &["年度会员", "三体"]);
        check(r#"a 17" screen"#, &[]);
        check("don't, it's", &[]);
    }

    #[test]
    fn a_file_has_an_ending() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = file_names(text).map(|at| &text[at]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("rename a/draft.txt to final.txt.", &["a/draft", "final"]);
        check("读一下notes.md，谢谢", &["notes"]);
        check("dev.to, v1.2, .md", &[""]);
    }
}
