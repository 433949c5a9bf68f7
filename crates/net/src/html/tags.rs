//! The tags of a page, without building the page: enough to see what a parser
//! would choke on before one is started.
//!
//! Parsers of HTML take time that grows with the square of how deep elements
//! are nested and of how many attributes one of them has. Both are measured
//! here as a parser would see them, and rather too high than too low: a page
//! can be written to look shallow to whoever only counts brackets.

/// What [`next`] calls a comment, as no element can be called.
pub const COMMENT: &str = "!--";

/// Elements that end by themselves or when the next one begins, so that many
/// of them do not mean depth.
const IMPLIED_END_ELEMENTS: [&str; 29] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "p", "li", "dt", "dd", "option", "tr", "td", "th", "tbody", "thead", "tfoot",
    "colgroup", "html", "head", "body",
];

/// Elements whose end tag ends all that is open in them.
const BLOCKS: [&str; 33] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "button",
    "center",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "main",
    "menu",
    "nav",
    "ol",
    "pre",
    "section",
    "summary",
    "table",
    "ul",
];

/// Elements whose end tag ends them alone, and leaves open what is in them.
const FORMATS: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// An end tag in one of these cannot end what was begun outside of it.
const SCOPE_ELEMENTS: [&str; 8] = [
    "table", "caption", "marquee", "object", "applet", "template", "button", "select",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HtmlTag<'a> {
    pub start: usize,
    pub end: usize,
    /// As it is written, in any case.
    pub name: &'a str,
    pub closes: bool,
    attributes: usize,
}

/// How much work a page would be.
#[derive(Debug, PartialEq)]
pub struct HtmlShape {
    /// How deep elements are nested, at most.
    pub depth: usize,
    /// How many attributes one element has, at most.
    pub attributes: usize,
}

/// Measures a page, up to `depth`: a deeper one is not looked at to its end.
pub fn measure(html: &str, depth: usize) -> HtmlShape {
    let mut shape = HtmlShape {
        depth: 0,
        attributes: 0,
    };
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(tag) = next(rest) {
        rest = &rest[tag.end..];
        shape.attributes = shape.attributes.max(tag.attributes);
        let name = tag.name.to_ascii_lowercase();
        if name == COMMENT || IMPLIED_END_ELEMENTS.contains(&name.as_str()) {
            continue;
        }
        if tag.closes {
            close(&mut open, &name);
            continue;
        }
        open.push(name);
        shape.depth = shape.depth.max(open.len());
        if shape.depth > depth {
            break;
        }
    }
    shape
}

fn close(open: &mut Vec<String>, name: &str) {
    let is_wall = |element: &String| element != name && SCOPE_ELEMENTS.contains(&element.as_str());
    let reachable = open
        .iter()
        .rev()
        .take_while(|element| !is_wall(element))
        .count();
    let from = open.len() - reachable;
    let Some(place) = open[from..]
        .iter()
        .rposition(|element| element == name)
        .map(|at| from + at)
    else {
        return;
    };
    if BLOCKS.contains(&name) {
        open.truncate(place);
    } else if FORMATS.contains(&name) || place + 1 == open.len() {
        open.remove(place);
    }
}

/// The first tag or comment in a text.
pub fn next(text: &str) -> Option<HtmlTag<'_>> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find('<')?;
        let after = &text[start + 1..];
        if let Some(comment) = after.strip_prefix(COMMENT) {
            let begin = text.len() - comment.len();
            let end = comment
                .find("-->")
                .map_or(text.len(), |close| begin + close + 3);
            return Some(HtmlTag {
                start,
                end,
                name: COMMENT,
                closes: false,
                attributes: 0,
            });
        }
        let closes = after.starts_with('/');
        let name = &after[usize::from(closes)..];
        // A `<` that begins no name is text.
        if name.starts_with(|char: char| char.is_ascii_alphabetic()) {
            let ends_name = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
            let length = name
                .bytes()
                .position(|byte| ends_name(&byte))
                .unwrap_or(name.len());
            let name = &name[..length];
            let (end, attributes) = attributes(text, start + 1 + usize::from(closes) + length);
            return Some(HtmlTag {
                start,
                end,
                name,
                closes,
                attributes,
            });
        }
        from = start + 1;
    }
}

/// Where a tag ends whose attributes begin at `from`, and how many there are.
/// A `>` in quotes ends nothing; a quote that is not after `=` quotes nothing.
fn attributes(text: &str, from: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let skip = |from: usize, these: fn(u8) -> bool| {
        bytes[from..]
            .iter()
            .position(|byte| !these(*byte))
            .map_or(bytes.len(), |past| from + past)
    };
    let mut at = from;
    let mut count = 0;
    loop {
        at = skip(at, |byte| byte.is_ascii_whitespace() || byte == b'/');
        match bytes.get(at) {
            None => return (bytes.len(), count),
            Some(b'>') => return (at + 1, count),
            Some(_) => count += 1,
        }
        // The first character of a name may be anything, even `=`.
        at = skip(at + 1, |byte| {
            !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>' | b'=')
        });
        let value = skip(at, |byte| byte.is_ascii_whitespace());
        if bytes.get(value) != Some(&b'=') {
            continue;
        }
        at = skip(value + 1, |byte| byte.is_ascii_whitespace());
        at = match bytes.get(at) {
            Some(b'"') => skip(at + 1, |byte| byte != b'"') + 1,
            Some(b'\'') => skip(at + 1, |byte| byte != b'\'') + 1,
            _ => skip(at, |byte| !byte.is_ascii_whitespace() && byte != b'>'),
        };
        at = at.min(bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, depth: usize, attributes: usize) {
        let shown: String = html.chars().take(80).collect();
        assert_eq!(
            measure(html, 1000),
            HtmlShape { depth, attributes },
            "{shown}"
        );
    }

    #[test]
    fn many_elements_beside_each_other_are_not_deep() {
        check("", 0, 0);
        check("1 < 2 <3 <>", 0, 0);
        check(&"<p>x<br><li>y".repeat(10_000), 0, 0);
        check(&"<div><span>x</span></div>".repeat(10_000), 2, 0);
        check(&"<div><span><i>x</div>".repeat(10_000), 3, 0);
        check(&"<!-- <div> --><DIV></div>".repeat(10_000), 1, 0);
    }

    #[test]
    fn a_page_cannot_look_shallower_than_it_is() {
        check(&"<div>".repeat(100), 100, 0);
        check(&"<div/>".repeat(100), 100, 0);
        check(&"<div></x>".repeat(100), 100, 0);
        check(&"<div><table></div></table>".repeat(100), 101, 0);
        check(&"<b><div></b>".repeat(100), 101, 0);
        check(&"<span><div></span>".repeat(100), 200, 0);
        check(&"<rt>".repeat(100), 100, 0);
        check(&"<div a='</div>'>".repeat(100), 100, 1);
        check(&"<div '><x></div>'>".repeat(100), 2, 1);
        check(&"<div>".repeat(1_000_000), 1001, 0);
    }

    #[test]
    fn attributes_are_counted_as_a_parser_does() {
        check("<a href=x>", 1, 1);
        check("<a href = \"a>b\" title='c>d' x y/z>", 1, 5);
        check("<a =x>", 1, 1);
        check("<a x=>", 1, 1);
        check("<a x=\"never closed", 1, 1);
        check("<a b='", 1, 1);
        check("<a", 1, 0);
        check("<img a b c>", 0, 3);
        check(&format!("<a b=\">\" {}>", "x ".repeat(500)), 1, 501);
    }
}
