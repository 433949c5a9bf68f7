//! Answers as they come, and what is made of them.

use http::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

const GIF: &[u8] = b"GIF89a\x01\x00\x01\x00";

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let header = |(name, value): &(&str, &str)| {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        (name, HeaderValue::from_bytes(value.as_bytes()).unwrap())
    };
    pairs.iter().map(header).collect()
}

fn answer(
    status: u16,
    pairs: &[(&str, &str)],
    body: impl AsRef<[u8]>,
) -> Result<Vec<ResponseContent>, ResponseError> {
    let status = StatusCode::from_u16(status).unwrap();
    read(status, &headers(pairs), body.as_ref())
}

#[track_caller]
fn check(content_type: &str, body: impl AsRef<[u8]>, expected: &[ResponseContent]) {
    let found = answer(200, &[("content-type", content_type)], body).unwrap();
    assert_eq!(found, expected, "{content_type}");
}

fn text(text: &str) -> ResponseContent {
    ResponseContent::Text(text.into())
}

fn value(value: Value) -> ResponseContent {
    ResponseContent::Json(value)
}

fn gif() -> ResponseContent {
    ResponseContent::Image {
        media_type: "image/gif",
        data: STANDARD.encode(GIF),
    }
}

fn file(media_type: &str, bytes: &[u8]) -> ResponseContent {
    ResponseContent::File {
        media_type: media_type.into(),
        name: None,
        data: STANDARD.encode(bytes),
    }
}

#[test]
fn an_answer_is_what_it_says_it_is() {
    check(
        "application/json",
        r#"{"a":1}"#,
        &[value(json!({ "a": 1 }))],
    );
    check(
        "application/hal+json; charset=utf-8",
        "[1]",
        &[value(json!([1]))],
    );
    check("Application/JSON", "\u{feff}null", &[value(json!(null))]);
    check("application/json", r#""a\nb""#, &[text("a\nb")]);
    check("application/json", "{broken", &[text("{broken")]);
    check("text/plain", "{}", &[text("{}")]);
    check("text/html", "<p>a</p>", &[text("<p>a</p>")]);
    check("application/yaml", "a: 1", &[text("a: 1")]);
    check("application/atom+xml", "<a/>", &[text("<a/>")]);
    check("image/svg+xml", "<svg/>", &[text("<svg/>")]);
    check("text/plain; charset=ISO-8859-1", b"\xe9", &[text("é")]);
    check("text/plain; charset=\"gbk\"", b"\xc4\xe3", &[text("你")]);
    check("text/plain", b"\xff\xfea\0", &[text("a")]);
    check("text/plain", b"a\xff", &[text("a\u{fffd}")]);
    check(
        "application/json; charset=latin1",
        b"[\"\xe9\"]",
        &[value(json!(["é"]))],
    );
    check("image/gif", GIF, &[gif()]);
    check("image/png", GIF, &[gif()]);
    check("image/png", "no", &[file("image/png", b"no")]);
    check("image/tiff", "II*", &[file("image/tiff", b"II*")]);
    check("audio/wav", "RIFF", &[file("audio/wav", b"RIFF")]);
    check(
        "application/pdf",
        "%PDF",
        &[file("application/pdf", b"%PDF")],
    );
}

#[test]
fn an_answer_that_does_not_say_what_it_is_is_looked_at() {
    for unknown in ["", "application/octet-stream"] {
        check(unknown, r#" {"a":1}"#, &[value(json!({ "a": 1 }))]);
        check(unknown, "hello\n", &[text("hello\n")]);
        check(unknown, "12", &[text("12")]);
        check(unknown, GIF, &[gif()]);
        check(
            unknown,
            b"a\0b",
            &[file("application/octet-stream", b"a\0b")],
        );
    }
}

#[test]
fn what_mcpo_wraps_is_unwrapped() {
    let picture = format!("data:image/gif;base64,{}", STANDARD.encode(GIF));
    let json = "application/json";
    check(json, json!(picture).to_string(), &[gif()]);
    check(
        json,
        json!(["a", picture, { "b": 1 }]).to_string(),
        &[text("a"), gif(), value(json!({ "b": 1 }))],
    );
    check(
        json,
        json!(["a", "b"]).to_string(),
        &[value(json!(["a", "b"]))],
    );
    check(
        json,
        r#""data:audio/wav;base64,UklGRg==""#,
        &[file("audio/wav", b"RIFF")],
    );
    for none in [
        "data:image/png;base64,%%%",
        "data:,hi",
        "data:image/png;base64,",
    ] {
        check(json, json!(none).to_string(), &[text(none)]);
    }
}

#[test]
fn nothing_is_said_to_be_nothing() {
    let check = |status, pairs: &[(&str, &str)], expected: &str| {
        assert_eq!(answer(status, pairs, "").unwrap(), [text(expected)]);
    };
    check(204, &[], "HTTP 204, no content.");
    check(
        200,
        &[("content-type", "application/json")],
        "HTTP 200 OK, no content.",
    );
    check(
        201,
        &[("location", "/pets/7"), ("etag", "\"a\"")],
        "HTTP 201 Created, no content. location: /pets/7 etag: \"a\"",
    );
}

#[test]
fn a_file_has_the_name_its_server_gives_it() {
    let check = |disposition: &str, expected: Option<&str>| {
        let pairs = [
            ("content-type", "application/zip"),
            ("content-disposition", disposition),
        ];
        let output = answer(200, &pairs, "x").unwrap();
        let [ResponseContent::File { name, .. }] = &output[..] else {
            panic!("{output:?}");
        };
        assert_eq!(name.as_deref(), expected, "{disposition}");
    };
    check("attachment; filename=a.zip", Some("a.zip"));
    check(
        "attachment; filename=\"a b;c.zip\"; size=1",
        Some("a b;c.zip"),
    );
    check(
        "attachment; FileName=\"a \\\"b\\\".zip\"",
        Some("a \"b\".zip"),
    );
    check("attachment; filename=\"名.zip\"", Some("名.zip"));
    check(
        "attachment; filename=a.zip; filename*=UTF-8''%E5%90%8D.zip",
        Some("名.zip"),
    );
    check(
        "attachment; filename*=iso-8859-1'en'%E9.zip; filename=a",
        Some("é.zip"),
    );
    check(
        "attachment; filename*=none''x; filename=a.zip",
        Some("a.zip"),
    );
    check("attachment; filename=\"../../etc/passwd\"", Some("passwd"));
    check("attachment; filename=\"C:\\dir\\a.zip\"", Some("a.zip"));
    check(
        "attachment; filename*=UTF-8''..%2F..%5Cx%00%0A.zip",
        Some("x.zip"),
    );
    check("attachment; filename=\"..\"", None);
    check("attachment; filename=\"a/\"", None);
    check("attachment; filename=", None);
    check("attachment", None);
    check("attachment; filename=\"unclosed", Some("unclosed"));
    check(
        &format!("attachment; filename={}", "a".repeat(300)),
        Some(&"a".repeat(120)),
    );
    check("inline; filename*=UTF-8''txt%E2%80%AEexe", Some("txtexe"));
    check(
        "inline; filename*=UTF-8''a%E2%80%8B%20%F3%A0%81%81b.zip",
        Some("a b.zip"),
    );
}

#[test]
fn an_inline_page_is_decoded_and_has_a_name() {
    let inline = ("content-disposition", "inline; filename=\"../a b.html\"");
    let check = |content_type: &str, body: &[u8], expected: &str| {
        let found = answer(200, &[("content-type", content_type), inline], body);
        let page = ResponseContent::InlinePage {
            html: expected.into(),
            name: Some("a b.html".into()),
        };
        assert_eq!(found, Ok(vec![page]), "{content_type}");
    };
    check("text/html", b"<p>a</p>", "<p>a</p>");
    check("Application/XHTML+xml", b"<p>a</p>", "<p>a</p>");
    check("text/html; charset=gbk", b"\xc4\xe3", "你");
    check(
        "text/html",
        b"<meta charset=gbk>\xc4\xe3",
        "<meta charset=gbk>你",
    );
    check("text/html", b"\xffa\0\xc3", "\u{fffd}a\0\u{fffd}");
}

#[test]
fn only_a_server_that_says_so_has_its_page_shown() {
    let is_shown = |pairs: &[(&str, &str)]| {
        let output = answer(200, pairs, "<p>a</p>").unwrap();
        output != [text("<p>a</p>")]
    };
    let html = ("content-type", "text/html");
    let check = |disposition: &str, expected: bool| {
        let pairs = [html, ("content-disposition", disposition)];
        assert_eq!(is_shown(&pairs), expected, "{disposition}");
    };
    check("inline", true);
    check("INLINE", true);
    check(" \tInline ; filename=attachment", true);
    check("inline;", true);
    check("inline; x=\"attachment; y\"", true);
    check("", false);
    check(";inline", false);
    check("attachment", false);
    check("attachment; inline", false);
    check("attachment; filename=inline", false);
    check("filename=inline", false);
    check("attachment; filename=\"; inline\"", false);
    check("\"inline\"", false);
    check("inline=1", false);
    check("inlined", false);
    check("in line", false);
    // As a browser puts two headers of one name together, and as they come.
    check("inline, attachment", false);
    let inline = ("content-disposition", "inline");
    assert!(!is_shown(&[
        html,
        inline,
        ("content-disposition", "attachment")
    ]));
    assert!(!is_shown(&[html, inline, inline]));
    assert!(!is_shown(&[html]));
    assert!(!is_shown(&[("content-type", "text/plain"), inline]));
    assert!(!is_shown(&[("content-type", "application/xml"), inline]));
    assert!(!is_shown(&[inline]));
    let failed = answer(500, &[html, inline], "<title>Oh</title>").unwrap_err();
    assert_eq!(failed.to_string(), "HTTP 500 Internal Server Error: Oh");
    let nothing = answer(200, &[html, inline], "").unwrap();
    assert_eq!(nothing, [text("HTTP 200 OK, no content.")]);
}

#[track_caller]
fn check_failed(status: u16, pairs: &[(&str, &str)], body: &str, expected: &str) {
    let error = answer(status, pairs, body).unwrap_err();
    assert_eq!(error.status.as_u16(), status);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_failure_says_what_the_server_said() {
    let json = ("content-type", "application/json");
    let html = ("content-type", "text/html; charset=utf-8");
    check_failed(404, &[], "", "HTTP 404 Not Found.");
    check_failed(
        400,
        &[json],
        "{ \"error\": {\n \"code\": 7 } }",
        r#"HTTP 400 Bad Request: {"error":{"code":7}}"#,
    );
    check_failed(
        418,
        &[("content-type", "text/plain")],
        "short\u{1b}[31m and stout",
        "HTTP 418 I'm a teapot: short[31m and stout",
    );
    // What turns the rest around or is not seen is not for a model or a page.
    check_failed(
        418,
        &[("content-type", "text/plain")],
        "pay\u{202e}lap\u{200b}\u{e0041}\n\u{2066}now",
        "HTTP 418 I'm a teapot: paylap\nnow",
    );
    check_failed(
        500,
        &[html],
        "<title>\u{202e}Oh\u{200b} no</title>",
        "HTTP 500 Internal Server Error: Oh no",
    );
    check_failed(599, &[], "x", "HTTP 599: x");
    check_failed(
        502,
        &[html],
        "<html><head><TITLE>\n502 Bad &amp; Gateway</title></head><body>long",
        "HTTP 502 Bad Gateway: 502 Bad & Gateway",
    );
    check_failed(
        500,
        &[html],
        "<h1>Oh</h1><p>no",
        "HTTP 500 Internal Server Error: Oh no",
    );
    check_failed(
        500,
        &[],
        "<!DOCTYPE html><title>Oh</title>",
        "HTTP 500 Internal Server Error: Oh",
    );
    check_failed(
        500,
        &[],
        "a\0",
        "HTTP 500 Internal Server Error: [2 bytes that are no text]",
    );
    check_failed(
        429,
        &[("retry-after", "30")],
        "slow down",
        "HTTP 429 Too Many Requests: slow down. Try again in 30 seconds.",
    );
    check_failed(
        503,
        &[("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT")],
        "",
        "HTTP 503 Service Unavailable. Try again after Fri, 31 Dec 1999 23:59:59 GMT.",
    );
    check_failed(
        302,
        &[("location", "https://a.example/login")],
        "",
        "HTTP 302 Found. It points to https://a.example/login, which was not followed.",
    );
    check_failed(304, &[], "", "HTTP 304 Not Modified.");
    let long = answer(500, &[], "é".repeat(10_000))
        .unwrap_err()
        .to_string();
    assert!(long.len() < 4200 && long.ends_with('…'), "{}", long.len());
}

#[test]
fn mcpo_and_fastapi_are_told_as_sentences() {
    let json = ("content-type", "application/json");
    let wrong = "The key for this server is missing or wrong";
    check_failed(
        401,
        &[json],
        r#"{"detail":"Missing or invalid Authorization header"}"#,
        &format!(
            "HTTP 401 Unauthorized: Missing or invalid Authorization header. {wrong}; asking again will not help."
        ),
    );
    check_failed(
        403,
        &[json],
        r#"{"detail":"Invalid API key"}"#,
        &format!(
            "HTTP 403 Forbidden: Invalid API key. {wrong}, or does not allow this; asking again will not help."
        ),
    );
    check_failed(
        422,
        &[json],
        r#"{"detail":[{"type":"missing","loc":["body","timezone"],"msg":"Field required","input":{}},{"loc":["body",1],"msg":"JSON decode error"}]}"#,
        "HTTP 422 Unprocessable Entity: the input does not fit. body.timezone: Field required; body.1: JSON decode error",
    );
    let detail = |detail: Value, expected: &str| {
        let body = json!({ "detail": detail }).to_string();
        let expected = format!("HTTP 500 Internal Server Error: {expected}");
        check_failed(500, &[json], &body, &expected);
    };
    detail(json!({ "message": "No such zone" }), "No such zone");
    detail(
        json!({ "message": "No", "data": { "a": 1 } }),
        r#"No ({"a":1})"#,
    );
    detail(
        json!({ "message": "Unexpected error", "error": "500: {'message': \"It's\\nall \\\\ \\\"over\\\"\"}" }),
        "It's\nall \\ \"over\"",
    );
    detail(
        json!({ "message": "Unexpected error", "error": "Connection closed" }),
        "Unexpected error: Connection closed",
    );
    detail(json!([]), r#"{"detail":[]}"#);
    detail(json!({ "code": 1 }), r#"{"detail":{"code":1}}"#);
}
