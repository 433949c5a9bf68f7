//! The text of an HTML page and its encoding, without building a DOM.

pub mod tags;

use encoding_rs::Encoding;

/// A page names its encoding this near its beginning, says the HTML standard.
const CHARSET_CHECK: usize = 1024;

/// Elements whose content is not text.
const NOT_TEXT: [&str; 4] = ["script", "style", "svg", "template"];

/// The page without scripts, styles, drawings, templates and comments.
pub fn strip_non_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(tag) = tags::next(rest) {
        out.push_str(&rest[..tag.start]);
        let end = match tag.name.to_ascii_lowercase().as_str() {
            tags::COMMENT => tag.end,
            name if NOT_TEXT.contains(&name) && !tag.closes => {
                end_of(name, &rest[tag.end..]).map_or(rest.len(), |end| tag.end + end)
            }
            _ => {
                out.push_str(&rest[tag.start..tag.end]);
                tag.end
            }
        };
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Where the element ends whose start tag has just been read.
fn end_of(name: &str, text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find("</") {
        let at = from + found;
        let tail = &text.as_bytes()[at + 2..];
        if tail.len() >= name.len() && tail[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
            return text[at..].find('>').map(|close| at + close + 1);
        }
        from = at + 2;
    }
    None
}

/// All text between tags, one line per piece: plain, but never fails.
pub fn text_between_tags(html: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = html;
    let mut keep = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        if !words.is_empty() {
            lines.push(unescape(&words.join(" ")));
        }
    };
    while let Some(tag) = tags::next(rest) {
        keep(&rest[..tag.start]);
        rest = &rest[tag.end..];
    }
    keep(rest);
    lines.join("\n")
}

/// The encoding after `charset=`, in a header or in the head of a page.
pub fn charset(text: &[u8]) -> Option<&'static Encoding> {
    let text = text[..text.len().min(CHARSET_CHECK)].to_ascii_lowercase();
    let key = b"charset=";
    let at = text.windows(key.len()).position(|window| window == key)? + key.len();
    let label = text[at..].trim_ascii_start();
    let label = label
        .strip_prefix(b"\"")
        .or_else(|| label.strip_prefix(b"'"))
        .unwrap_or(label);
    let end = label
        .iter()
        .position(|byte| b"\"';> /".contains(byte))
        .unwrap_or(label.len());
    Encoding::for_label(&label[..end])
}

pub fn unescape(text: &str) -> String {
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
    ];
    let text = named.iter().fold(text.to_owned(), |text, (name, char)| {
        text.replace(name, char)
    });
    // Last, or "&amp;lt;" would be read twice.
    text.replace("&amp;", "&")
}
