//! Addresses in a text, as people, pages and programs write them.
//!
//! Where an address ends is often a matter of taste: a bracket, a comma or a
//! letter of another script may belong to it or not. Then all readings are
//! given: each begins where the address does, so none says more than was there.
//! The work is linear in the length of the text, whatever is in it.

use serde_json::Value;
use url::Url;

/// More than `fetch_url` takes; what is longer is no address that anybody wrote.
const MAX_ADDRESS_BYTES: usize = 8 * 1024;

/// How many addresses are looked for inside another one, as in `…/web/2020/https://…`.
const MAX_INSIDE: usize = 4;

/// How many signs at the end are taken for punctuation, one after the other.
const MAX_PUNCTUATION: usize = 4;

/// Calls `found` with every address in a text, and in the JSON that the text is.
pub(super) fn addresses_in(text: &str, found: &mut dyn FnMut(Url)) {
    with_scheme(text, found);
    without_scheme(text, found);
    // Programs answer with JSON as often as with words, and in it addresses are escaped.
    if text.trim_start().starts_with(['{', '['])
        && text.contains('\\')
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        strings(&value, &mut |text| {
            with_scheme(text, found);
            without_scheme(text, found);
        });
    }
}

/// The same, for every string of a value.
pub(super) fn addresses_in_json(value: &Value, found: &mut dyn FnMut(Url)) {
    strings(value, &mut |text| addresses_in(text, found));
}

fn strings(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, each)),
        Value::Object(fields) => {
            for (name, value) in fields {
                each(name);
                strings(value, each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `https://example.com/x`.
fn with_scheme(text: &str, found: &mut dyn FnMut(Url)) {
    let (mut end, mut inside) = (0, 0);
    for (colon, _) in text.match_indices("://") {
        let Some(start) = scheme_start(text, colon) else {
            continue;
        };
        if start < end {
            inside += 1;
        } else {
            end = text[start..]
                .find(ends_address)
                .map_or(text.len(), |at| start + at);
            inside = 0;
        }
        if inside <= MAX_INSIDE {
            let whole = &text[start..end];
            let within = whole.floor_char_boundary(MAX_ADDRESS_BYTES);
            readings(&whole[..within], whole.len() > within, found);
        }
    }
}

fn scheme_start(text: &str, colon: usize) -> Option<usize> {
    ["https", "http"].into_iter().find_map(|scheme| {
        let start = colon.checked_sub(scheme.len())?;
        text.get(start..colon)
            .is_some_and(|found| found.eq_ignore_ascii_case(scheme))
            .then_some(start)
    })
}

/// All URLs that a stretch of text without blanks may mean. If it was `cut`, its literal reading is
/// skipped.
fn readings(address: &str, cut: bool, found: &mut dyn FnMut(Url)) {
    let mut read = |address: &str| {
        if let Ok(url) = Url::parse(address) {
            found(url);
        }
        // In the source of a page, or in what somebody copied of it.
        if address.contains("&amp;")
            && let Ok(url) = Url::parse(&address.replace("&amp;", "&"))
        {
            found(url);
        }
    };
    if !cut {
        read(address);
        trimmed(address, &mut read);
    }
    let may_end: [fn(char) -> bool; 6] = [
        |char| !char.is_ascii(),
        |char| char == ')',
        |char| char == ']',
        |char| char == '\'',
        |char| char == ',',
        |char| char == ';',
    ];
    for may_end in may_end {
        if let Some(end) = address.find(may_end) {
            read(&address[..end]);
            trimmed(&address[..end], &mut read);
        }
    }
}

/// What is left without the punctuation that follows an address in a sentence.
fn trimmed(mut address: &str, read: &mut dyn FnMut(&str)) {
    const PUNCTUATION: [char; 11] = ['.', ',', ';', ':', '!', '?', '\'', '*', '_', ')', ']'];
    for _ in 0..MAX_PUNCTUATION {
        let Some(shorter) = address.strip_suffix(PUNCTUATION) else {
            break;
        };
        address = shorter;
        read(address);
    }
}

/// `example.com/x`, as people write it: where a browser tries both, both are meant,
/// and known over http is known over https.
fn without_scheme(text: &str, found: &mut dyn FnMut(Url)) {
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_of_host(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_of_host(bytes[at]) {
            at += 1;
        }
        let before = text[..start].chars().next_back();
        let may_begin = before.is_none_or(|char| ends_bare(char) || char == ':');
        let host = text[start..at].trim_end_matches(['.', '-']);
        if !may_begin || !is_host(host) {
            continue;
        }
        let rest = &text[at..];
        let goes_on = match rest.as_bytes() {
            [b'/' | b'?' | b'#', ..] => true,
            [b':', digit, ..] => digit.is_ascii_digit(),
            _ => false,
        };
        let end = if goes_on {
            at + rest.find(ends_bare).unwrap_or(rest.len())
        } else {
            start + host.len()
        };
        if end - start <= MAX_ADDRESS_BYTES {
            let mut read = |address: &str| {
                if let Ok(url) = Url::parse(&format!("http://{address}")) {
                    found(url);
                }
            };
            read(&text[start..end]);
            trimmed(&text[start..end], &mut read);
        }
        at = at.max(end);
    }
}

/// A name with a dot and letters at its end, the numbers of a machine, or this one.
fn is_host(host: &str) -> bool {
    let mut labels = host.split('.');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && !label.starts_with('-');
    if host == "localhost" || host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    let Some(last) = labels.next_back() else {
        return false;
    };
    let is_top = last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut others = labels.peekable();
    (is_top || last.starts_with("xn--")) && others.peek().is_some() && others.all(is_label)
}

/// Whether a character ends an address in any reading: blanks, quotes, unescaped brackets, and
/// Chinese or Japanese punctuation.
fn ends_address(char: char) -> bool {
    char.is_whitespace()
        || char.is_control()
        || matches!(char, '<' | '>' | '"' | '`' | '\\' | '^' | '{' | '}' | '|')
        || matches!(char, '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{303F}' | '\u{FE10}'..='\u{FE6F}')
        || matches!(char, '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF65}')
}

/// Without a scheme an address is guessed at, so it ends at the first sign of an end.
fn ends_bare(char: char) -> bool {
    !char.is_ascii()
        || ends_address(char)
        || matches!(char, ',' | ';' | '\'' | '(' | ')' | '[' | ']' | '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        addresses_in(text, &mut |url| {
            let url = url.to_string();
            if !all.contains(&url) {
                all.push(url);
            }
        });
        all
    }

    /// The readings of a text, blank between them.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(found(text).join(" "), expected, "{text:?}");
    }

    #[test]
    fn an_address_is_read_as_every_client_would_read_it() {
        check("https://example.com", "https://example.com/");
        check("HTTPS://Example.COM:443/A?b=C", "https://example.com/A?b=C");
        check("http://example.com:80/a/../b", "http://example.com/b");
        check("http://example.com:8080/", "http://example.com:8080/");
        check("https://例え.jp/路", "https://xn--r8jz45g.jp/%E8%B7%AF");
        check("https://[::1]:8000/x", "https://[::1]:8000/x");
        check("ftp://example.com/x", "");
        check("", "");
        check("://", "");
        check("http://", "");
    }

    #[test]
    fn what_stands_around_an_address_is_not_part_of_it() {
        for text in [
            "see https://a.org/x for more",
            "<https://a.org/x>",
            "\"https://a.org/x\"",
            "`https://a.org/x`",
            "{\"url\":\"https://a.org/x\"}",
            "| https://a.org/x|",
            "打开https://a.org/x，谢谢",
            "「https://a.org/x」",
            "（https://a.org/x）。",
            "https://a.org/x；",
            "https://a.org/x…",
            "\u{201C}https://a.org/x\u{201D}",
            "https://a.org/x\u{7}",
        ] {
            check(text, "https://a.org/x");
        }
        // Where it cannot be known, every reading counts.
        for text in [
            "Go to https://a.org/x.",
            "https://a.org/x, and",
            "https://a.org/x!?",
            "(https://a.org/x)",
            "[that](https://a.org/x)",
            "[that](https://a.org/x).",
            "[https://a.org/x](https://a.org/x)",
            "'https://a.org/x'",
            "**https://a.org/x**",
            "_https://a.org/x_",
            "https://a.org/x,https://b.org/y",
            "打开https://a.org/x看看",
            "https://a.org/x;y",
        ] {
            let all = found(text);
            assert!(all.contains(&"https://a.org/x".into()), "{text:?}: {all:?}");
        }
        let wiki = found("(https://a.org/Rust_(language))");
        assert!(
            wiki.contains(&"https://a.org/Rust_(language)".into()),
            "{wiki:?}"
        );
        let saved = found("https://a.org/2020/https://b.org/y");
        assert!(
            saved.contains(&"https://a.org/2020/https://b.org/y".into()),
            "{saved:?}"
        );
    }

    #[test]
    fn no_reading_says_more_than_was_there_or_less_of_the_query() {
        check("https://a.org/x?q=1&r=2#top", "https://a.org/x?q=1&r=2#top");
        check("https://a.org/x/y", "https://a.org/x/y");
        check("https://a.org/x?", "https://a.org/x? https://a.org/x");
    }

    #[test]
    fn people_leave_the_scheme_out() {
        check("look at example.com", "http://example.com/");
        check("look at example.com.", "http://example.com/");
        check("example.com/x?y=1", "http://example.com/x?y=1");
        check("example.com:8080/x", "http://example.com:8080/x");
        check("example.com: a site", "http://example.com/");
        check("打开example.com/x看看", "http://example.com/x");
        check("网址:www.example.com.cn/，", "http://www.example.com.cn/");
        check("(example.com/x)", "http://example.com/x");
        check("localhost:8000/docs", "http://localhost:8000/docs");
        check("127.0.0.1:8000", "http://127.0.0.1:8000/");
        for none in [
            "ada@example.com",
            "/etc/hosts.conf",
            "1.2.3",
            "e.g.",
            "a..b",
            "-.com",
            "x=example.com",
            "no",
            "...",
            "a.b-",
            "::",
            "1.5",
        ] {
            check(none, "");
        }
    }

    #[test]
    fn what_programs_escape_is_read_too() {
        check(
            r#"{"u":"https:\/\/a.org\/x?a=1\u0026b=2"}"#,
            "https://a.org/x?a=1&b=2",
        );
        check(
            "<a href=\"https://a.org/?a=1&amp;b=2\">",
            "https://a.org/?a=1&amp;b=2 https://a.org/?a=1&b=2 https://a.org/?a=1&amp",
        );
    }

    #[test]
    fn a_text_made_to_be_slow_is_not() {
        let mib = 1024 * 1024;
        for piece in [
            "http://",
            "http://a.org/",
            "https://a.org/x,",
            "a.bc:1.de",
            "a.bc,",
            "a.",
            "://",
            "(",
            "http://a.org/'",
            "http://a.org/字",
            "字",
            "/a.bc",
            "http://a)",
            "&amp;",
            "{\"\\",
        ] {
            let started = std::time::Instant::now();
            addresses_in(&piece.repeat(mib / piece.len()), &mut |_| {});
            // Of what is quadratic this would take hours.
            assert!(started.elapsed().as_secs() < 30, "{piece:?}");
        }
        let mut long = 0;
        let text = format!("http://a.org/{}", "x".repeat(mib));
        addresses_in(&text, &mut |_| long += 1);
        assert_eq!(long, 0, "it is no address that anybody wrote");
    }
}
