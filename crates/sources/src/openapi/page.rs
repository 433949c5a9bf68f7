//! An HTML page that its server wants displayed: people see the page, the model reads its text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tenon_domain::{Content, SHOWN_PAGE};

use crate::html::to_text;
use tenon_domain::text;

/// Pages embed pictures and libraries, but their text is in less. To lay out so much takes a
/// few milliseconds.
const MAX_READ_BYTES: usize = 256 * 1024;

/// About four screens, in characters: enough to talk about it. The whole can be paged through.
const MAX_TEXT_CHARS: usize = 6_000;

pub(super) fn content(html: &str, name: Option<String>) -> Vec<Content> {
    let start = &html[..html.floor_char_boundary(MAX_READ_BYTES)];
    let text = text::block(&to_text(start, None), MAX_TEXT_CHARS);
    let text = if text.is_empty() {
        "The tool answered with a page, which Tenon's chat shows to the user. There is no text on \
         it before its scripts have run."
            .to_owned()
    } else {
        format!(
            "The tool answered with a page, which Tenon's chat shows to the user. This is written \
             on it:\n\n{text}"
        )
    };
    vec![
        Content::Text { text },
        Content::File {
            media_type: SHOWN_PAGE.to_owned(),
            name,
            data: STANDARD.encode(html),
        },
    ]
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use tenon_domain::ToolResult;
    use tenon_openapi::response;

    use super::*;
    use crate::openapi::mapping::tool_result;

    fn answer(status: u16, pairs: &[(&str, &str)], body: impl AsRef<[u8]>) -> ToolResult {
        let header = |(name, value): &(&str, &str)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (name, HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        let headers: HeaderMap = pairs.iter().map(header).collect();
        let status = StatusCode::from_u16(status).unwrap();
        tool_result(response::read(status, &headers, body.as_ref()))
    }

    fn text(text: &str) -> Content {
        Content::Text { text: text.into() }
    }

    #[track_caller]
    fn check_page(pairs: &[(&str, &str)], html: impl AsRef<[u8]>, said: &str, kept: &str) {
        let output = answer(200, pairs, html).unwrap();
        let told =
            format!("The tool answered with a page, which Tenon's chat shows to the user. {said}");
        let expected = [
            text(&told),
            Content::File {
                media_type: SHOWN_PAGE.into(),
                name: None,
                data: STANDARD.encode(kept),
            },
        ];
        assert_eq!(output.content, expected, "{pairs:?}");
    }

    #[test]
    fn a_page_that_is_to_be_shown_is_shown_and_told() {
        let inline = ("content-disposition", "inline");
        let page =
            "<h1>Rain</h1><script>draw()</script><p>235 <b>mm</b>, see <a href=/more>more</a>";
        let said = "This is written on it:\n\n# Rain\n\n235 **mm**, see [more](/more)";
        for content_type in [
            "text/html",
            "Text/HTML; charset=utf-8",
            "application/xhtml+xml",
        ] {
            check_page(&[("content-type", content_type), inline], page, said, page);
        }
        let html = ("content-type", "text/html");
        let nothing = "There is no text on it before its scripts have run.";
        let script = "<script>draw()</script>";
        check_page(&[html, inline], script, nothing, script);
        // The page is stored as UTF-8, whatever charset it was sent in or declares.
        let gbk = ("content-type", "text/html; charset=gbk");
        check_page(
            &[gbk, inline],
            b"\xc4\xe3",
            "This is written on it:\n\n你",
            "你",
        );
        check_page(
            &[html, inline],
            b"<meta charset=gbk>\xc4\xe3",
            "This is written on it:\n\n你",
            "<meta charset=gbk>你",
        );
        check_page(
            &[html, inline],
            b"\xffa\0\xc3",
            "This is written on it:\n\n\u{fffd}a\u{fffd}",
            "\u{fffd}a\0\u{fffd}",
        );

        let pairs = [
            html,
            ("content-disposition", "inline; filename=\"../a b.html\""),
        ];
        let output = answer(200, &pairs, page).unwrap();
        let Content::File { name, .. } = &output.content[1] else {
            panic!("{output:?}");
        };
        assert_eq!(name.as_deref(), Some("a b.html"));
    }

    #[test]
    fn a_page_of_any_size_is_told_in_few_words() {
        let pairs = [
            ("content-type", "text/html"),
            ("content-disposition", "inline"),
        ];
        // Each of a megabyte or two; with `TORTURE_TEXTS` set, ten times as long.
        let is_torture = std::env::var_os("TORTURE_TEXTS").is_some();
        let long =
            |text: &str, times: usize| text.repeat(if is_torture { 10 * times } else { times });
        let begun = std::time::Instant::now();
        for html in [
            long("<div>", 300_000),
            long("word ", 300_000),
            long("<p>字\u{202e}", 100_000),
            long("<table><tr><td>", 100_000),
            format!("<table>{}", long("<tr><td colspan=9999>a", 70_000)),
            format!("<table><tr>{}", long("<td>a", 300_000)),
            format!("<p {}>", long("a=1 ", 300_000)),
            format!("<script>{}", long("<", 1_500_000)),
        ] {
            let output = answer(200, &pairs, &html).unwrap();
            let [Content::Text { text }, Content::File { data, .. }] = &output.content[..] else {
                panic!("{}", output.content.len());
            };
            assert!(text.chars().count() < 6_200, "{}", text.len());
            assert!(!text.contains('\u{202e}'));
            assert_eq!(data.len(), html.len().div_ceil(3) * 4, "it is kept whole");
        }
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
