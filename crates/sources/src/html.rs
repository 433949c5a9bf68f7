//! HTML as text a person would read, with links kept as `[text](url)`.
//!
//! The page may be hostile: so deep that laying it out would take hours, or made
//! to make what lays it out panic. Such a page is read in a plainer way, as the
//! text between its tags.

use html2text::config;
use html2text::render::{PlainDecorator, TextDecorator};
use url::Url;

use tenon_net::html::{strip_non_text, tags, text_between_tags};

/// Wide enough that paragraphs of most pages are not broken into short lines.
const WIDTH: usize = 200;

/// Browsers stop nesting at 512; pages that people write stay below 50.
const MAX_DEPTH: usize = 256;

/// The parser is quadratic in the attributes of an element.
const MAX_ATTRIBUTES: usize = 1000;

/// Links lead on from `base`; without one they stand as they were written.
pub(crate) fn to_text(html: &str, base: Option<&Url>) -> String {
    let html = strip_non_text(html);
    let shape = tags::measure(&html, MAX_DEPTH);
    if shape.depth > MAX_DEPTH || shape.attributes > MAX_ATTRIBUTES {
        return text_between_tags(&html);
    }
    let lay_out = || {
        config::with_decorator(Links::new(base))
            .do_decorate()
            .link_footnotes(false)
            .no_link_wrapping()
            .no_table_borders()
            .allow_width_overflow()
            .string_from_read(html.as_bytes(), WIDTH)
    };
    match std::panic::catch_unwind(lay_out) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) | Err(_) => text_between_tags(&html),
    }
}

/// Writes links as Markdown does, and as addresses that can be fetched.
#[derive(Debug, Clone)]
struct Links {
    plain: PlainDecorator,
    base: Option<Url>,
    open: Vec<String>,
}

impl Links {
    fn new(base: Option<&Url>) -> Self {
        Self {
            plain: PlainDecorator::new(),
            base: base.cloned(),
            open: Vec::new(),
        }
    }
}

impl TextDecorator for Links {
    type Annotation = ();

    fn decorate_link_start(&mut self, url: &str) -> (String, ()) {
        let target = self.base.as_ref().and_then(|base| base.join(url).ok());
        let target = target.map_or_else(|| url.to_owned(), String::from);
        self.open.push(target);
        ("[".into(), ())
    }

    fn decorate_link_end(&mut self) -> String {
        self.open
            .pop()
            .map_or_else(|| "]".into(), |target| format!("]({target})"))
    }

    fn decorate_image(&mut self, src: &str, title: &str) -> (String, ()) {
        self.plain.decorate_image(src, title)
    }

    fn make_subblock_decorator(&self) -> Self {
        Self {
            open: Vec::new(),
            ..self.clone()
        }
    }

    fn decorate_em_start(&self) -> (String, ()) {
        self.plain.decorate_em_start()
    }

    fn decorate_em_end(&self) -> String {
        self.plain.decorate_em_end()
    }

    fn decorate_strong_start(&self) -> (String, ()) {
        self.plain.decorate_strong_start()
    }

    fn decorate_strong_end(&self) -> String {
        self.plain.decorate_strong_end()
    }

    fn decorate_strikeout_start(&self) -> (String, ()) {
        self.plain.decorate_strikeout_start()
    }

    fn decorate_strikeout_end(&self) -> String {
        self.plain.decorate_strikeout_end()
    }

    fn decorate_code_start(&self) -> (String, ()) {
        self.plain.decorate_code_start()
    }

    fn decorate_code_end(&self) -> String {
        self.plain.decorate_code_end()
    }

    fn decorate_preformat_first(&self) {}

    fn decorate_preformat_cont(&self) {}

    fn header_prefix(&self, level: usize) -> String {
        self.plain.header_prefix(level)
    }

    fn quote_prefix(&self) -> String {
        self.plain.quote_prefix()
    }

    fn unordered_item_prefix(&self) -> String {
        self.plain.unordered_item_prefix()
    }

    fn ordered_item_prefix(&self, number: i64) -> String {
        self.plain.ordered_item_prefix(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let base = Url::parse("https://example.com/docs/").unwrap();
        assert_eq!(to_text(html, Some(&base)), expected);
    }

    #[test]
    fn a_page_reads_like_a_text() {
        check(
            "<h1>Title</h1><p>One <b>bold</b> word.</p>",
            "# Title\n\nOne **bold** word.\n",
        );
        check("<ul><li>a<li>b</ul>", "* a\n* b\n");
        check("<ol><li>a<li>b</ol>", "1. a\n2. b\n");
        check("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a b\nc d\n");
        check("<pre>a\n  b</pre>", "a\n  b\n");
        check("<p>&lt;b&gt; &amp; 你好</p>", "<b> & 你好\n");
        check("just text", "just text\n");
    }

    #[test]
    fn links_can_be_followed() {
        check(
            "<a href=intro>Intro</a>",
            "[Intro](https://example.com/docs/intro)\n",
        );
        check("<a href=/top>Top</a>", "[Top](https://example.com/top)\n");
        check(
            "<a href=https://other.org/x>Other</a>",
            "[Other](https://other.org/x)\n",
        );
        check("<img src=a.png alt='A cat'>", "[A cat]\n");
        assert_eq!(to_text("<a href=/top>Top</a>", None), "[Top](/top)\n");
    }

    #[test]
    fn what_is_not_text_is_dropped() {
        check(
            "<p>a</p><script>if (a < b) alert('<p>x</p>')</script><STYLE>p{}</STYLE ><p>b</p>",
            "a\n\nb\n",
        );
        check("<svg><path d=x/><path/><text>no</text></svg>yes", "yes\n");
        check("a<script>never closed", "a\n");
        check("a<!-- <b>no</b> -->b", "ab\n");
        check("a<!-- <script> -->b<!-- never closed", "ab\n");
    }

    #[test]
    fn a_page_made_to_be_slow_or_to_crash_is_read_plainly() {
        check(&format!("{}deep", "<div>".repeat(100_000)), "deep");
        check(&format!("{}deep", "<div/>".repeat(100_000)), "deep");
        check(
            &format!("{}one &amp;<i> two", "<b>".repeat(300)),
            "one &\ntwo",
        );
        check("<ol start=9223372036854775807><li>a<li>b</ol>", "a\nb");
    }
}
