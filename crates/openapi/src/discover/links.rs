//! Links in a text that is written in Markdown, or nearly.

/// Bounds the scan; descriptions with links in them are far shorter. The rest is ignored.
const MAX_TEXT_BYTES: usize = 128 * 1024;

/// How far the ends of a link are looked for. Without a bound a text of nothing
/// but brackets would take for ever.
const MAX_TITLE_BYTES: usize = 200;
const MAX_TARGET_BYTES: usize = 1000;

/// How many are looked at, whatever they turn out to be.
const MAX_LINKS: usize = 2000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownLink<'a> {
    /// Empty, if it has none.
    pub(super) title: &'a str,
    pub(super) target: String,
}

/// In the order they stand there. Addresses without any writing around them
/// count only where there are no links, and only if they name a document or its page.
pub(super) fn links(text: &str) -> Vec<MarkdownLink<'_>> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let written = written(text);
    if written.is_empty() {
        bare(text)
    } else {
        written
    }
}

/// `[title](target)`
fn written(text: &str) -> Vec<MarkdownLink<'_>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](").take(MAX_LINKS) {
        let from = text.ceil_char_boundary(at.saturating_sub(MAX_TITLE_BYTES));
        let before = &text[from..at];
        let Some(open) = before.rfind('[') else {
            continue;
        };
        // A picture.
        if before[..open].ends_with('!') {
            continue;
        }
        let after = &text[at + 2..];
        let after = &after[..after.floor_char_boundary(MAX_TARGET_BYTES)];
        if let Some(target) = target(after) {
            let title = before[open + 1..].trim();
            found.push(MarkdownLink { title, target });
        }
    }
    found
}

/// What stands before the closing bracket, without a second title behind it.
fn target(after: &str) -> Option<String> {
    let after = after.trim_start();
    if let Some(inside) = after.strip_prefix('<') {
        let (target, _) = inside.split_once('>')?;
        return Some(target.trim().to_owned());
    }
    let mut depth = 0;
    let end = after.find(|c: char| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        ')' => true,
        c => c.is_whitespace(),
    })?;
    let (target, rest) = after.split_at(end);
    // After a space there may only be a title before it closes.
    rest.contains(')').then(|| target.to_owned())
}

/// Addresses that stand there as they are, or in angle brackets.
fn bare(text: &str) -> Vec<MarkdownLink<'_>> {
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '"' | '`'));
    let words = words.map(|word| word.trim_end_matches([',', '.', ';', ':', '、', '，', '。']));
    let is_target = |word: &&str| {
        let is_address = ["/", "./", "http://", "https://"]
            .iter()
            .any(|start| word.starts_with(start));
        let end = word.trim_end_matches('/');
        let names_document = ["/docs", "/redoc", "/openapi.json", "/openapi.yaml"]
            .iter()
            .any(|last| end.ends_with(last));
        is_address && names_document && word.len() <= MAX_TARGET_BYTES
    };
    let found = words.filter(is_target).map(|word| MarkdownLink {
        title: "",
        target: word.to_owned(),
    });
    found.collect()
}
