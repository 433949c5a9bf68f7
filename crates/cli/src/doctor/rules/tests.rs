use super::*;
use crate::doctor::address::{read, read_origin};

const ORIGIN: &str = "https://tenon.example";

fn headers(text: &str) -> HeaderMap {
    let lines = text.split('\n').filter_map(|line| line.split_once(": "));
    lines
        .map(|(name, value)| {
            let name: HeaderName = name.trim().parse().unwrap();
            (name, value.trim().parse().unwrap())
        })
        .collect()
}

#[test]
fn only_what_forms_could_send_goes_without_asking() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(unsafe_headers(&headers(text)), expected, "{text}");
    };
    check("accept: text/event-stream", &[]);
    check("accept-language: de, en;q=0.5", &[]);
    check("content-type: text/plain; charset=utf-8", &[]);
    check("content-type: application/json", &["content-type"]);
    check("content-type: multipart/form-data; boundary=x", &[]);
    check("accept: a(b)", &["accept"]);
    check(&format!("accept: {}", "a".repeat(129)), &["accept"]);
    check(
        "x-key: 1\nauthorization: Bearer x\ncontent-type: application/json",
        &["authorization", "content-type", "x-key"],
    );
    assert!(!needs_preflight(&Method::POST, &[]));
    assert!(needs_preflight(&Method::DELETE, &[]));
    assert!(needs_preflight(&Method::GET, &["x-key".into()]));
}

#[test]
fn an_answer_is_read_by_the_origin_it_names_alone() {
    let check = |text: &str, expected: Result<(), CorsRefusal>| {
        assert_eq!(readable(&headers(text), ORIGIN), expected, "{text}");
    };
    check("access-control-allow-origin: *", Ok(()));
    check("access-control-allow-origin: https://tenon.example", Ok(()));
    check("vary: origin", Err(CorsRefusal::NoOrigin));
    let other = |text: &str| Err(CorsRefusal::OtherOrigin(text.to_owned()));
    let line = |value: &str| format!("access-control-allow-origin: {value}");
    for value in [
        "https://tenon.example/",
        "https://TENON.example",
        "http://tenon.example",
        "https://tenon.example:8443",
        "null",
    ] {
        check(&line(value), other(value));
    }
    let many = |text: &str| Err(CorsRefusal::ManyOrigins(text.to_owned()));
    check(
        "access-control-allow-origin: *\naccess-control-allow-origin: *",
        many("*, *"),
    );
    check(
        "access-control-allow-origin: https://tenon.example, https://b.example",
        many("https://tenon.example, https://b.example"),
    );
}

#[track_caller]
fn check_preflight(
    status: u16,
    answer: &str,
    method: Method,
    names: &[&str],
    expected: Result<(), CorsRefusal>,
) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let decided = preflight(status, &headers(answer), ORIGIN, &method, &names);
    assert_eq!(decided, expected, "{answer}");
}

#[test]
fn a_preflight_allows_exactly_what_it_names() {
    let lacks = |names: &[&str]| {
        let names = names.iter().map(ToString::to_string).collect();
        Err(CorsRefusal::Headers(names))
    };
    let any = "access-control-allow-origin: *";
    check_preflight(204, any, Method::POST, &[], Ok(()));
    check_preflight(
        200,
        any,
        Method::POST,
        &["content-type"],
        lacks(&["content-type"]),
    );
    let typed = "access-control-allow-origin: *\naccess-control-allow-headers: Content-Type, X-Key";
    check_preflight(200, typed, Method::POST, &["content-type", "x-key"], Ok(()));
    check_preflight(
        200,
        typed,
        Method::POST,
        &["content-type", "mcp-method", "mcp-session-id"],
        lacks(&["mcp-method", "mcp-session-id"]),
    );
    let all = "access-control-allow-origin: *\naccess-control-allow-headers: *\naccess-control-allow-methods: *";
    check_preflight(200, all, Method::DELETE, &["content-type", "x-key"], Ok(()));
    check_preflight(
        200,
        all,
        Method::POST,
        &["authorization", "content-type"],
        lacks(&["authorization"]),
    );
    let both = "access-control-allow-origin: *\naccess-control-allow-headers: *\naccess-control-allow-headers: Authorization";
    check_preflight(200, both, Method::POST, &["authorization", "x-key"], Ok(()));
}

#[test]
fn a_preflight_allows_methods_letter_by_letter() {
    let lacks = |method: &str| Err(CorsRefusal::Method(method.to_owned()));
    let any = "access-control-allow-origin: *";
    check_preflight(200, any, Method::GET, &[], Ok(()));
    check_preflight(200, any, Method::PUT, &[], lacks("PUT"));
    let some = "access-control-allow-origin: *\naccess-control-allow-methods: GET, PUT";
    check_preflight(200, some, Method::PUT, &[], Ok(()));
    check_preflight(200, some, Method::PATCH, &[], lacks("PATCH"));
    let small = "access-control-allow-origin: *\naccess-control-allow-methods: put";
    check_preflight(200, small, Method::PUT, &[], lacks("PUT"));
}

#[test]
fn a_preflight_must_be_answered_well_and_in_place() {
    let any = "access-control-allow-origin: *\naccess-control-allow-headers: *";
    for status in [401, 404, 405, 500, 501] {
        check_preflight(
            status,
            any,
            Method::POST,
            &["content-type"],
            Err(CorsRefusal::Status(status)),
        );
    }
    check_preflight(
        400,
        "access-control-allow-origin: *\naccess-control-allow-headers: content-type",
        Method::POST,
        &["content-type", "mcp-method"],
        Err(CorsRefusal::Headers(vec!["mcp-method".into()])),
    );
    check_preflight(
        307,
        any,
        Method::POST,
        &["content-type"],
        Err(CorsRefusal::Redirect(307)),
    );
    check_preflight(
        200,
        "",
        Method::POST,
        &["content-type"],
        Err(CorsRefusal::NoOrigin),
    );
}

#[test]
fn a_page_sees_the_headers_that_are_exposed() {
    let check = |text: &str, expected: bool| {
        assert_eq!(
            exposes(&headers(text), "mcp-session-id"),
            expected,
            "{text}"
        );
    };
    check(
        "access-control-expose-headers: last-event-id, Mcp-Session-Id",
        true,
    );
    check("access-control-expose-headers: *", true);
    check("access-control-expose-headers: last-event-id", false);
    check("mcp-session-id: 7", false);
}

#[test]
fn an_origin_is_what_browsers_send() {
    let check = |text: &str, expected: &str| {
        assert_eq!(origin(&read_origin(text).unwrap()), expected);
    };
    check("https://tenon.example/", "https://tenon.example");
    check("https://Tenon.Example:443/chats", "https://tenon.example");
    check("http://127.0.0.1:8366", "http://127.0.0.1:8366");
}

#[test]
fn hosts_are_here_nearby_or_elsewhere() {
    let check = |text: &str, expected: HostScope| {
        assert_eq!(HostScope::of(&read(text).unwrap()), expected, "{text}");
    };
    check("localhost:1", HostScope::Here);
    check("tools.localhost", HostScope::Here);
    check("127.3.2.1", HostScope::Here);
    check("[::1]:8000", HostScope::Here);
    check("192.168.1.4", HostScope::Nearby);
    check("172.16.0.1", HostScope::Nearby);
    check("printer.local", HostScope::Nearby);
    check("[fd00::1]", HostScope::Nearby);
    check("172.32.0.1", HostScope::Elsewhere);
    check("https://tenon.example", HostScope::Elsewhere);
}

#[test]
fn some_addresses_are_refused_before_anything_is_sent() {
    let check = |url: &str, page: &str, expected: Option<ProblemKind>| {
        let refused = check_address(&read(url).unwrap(), &read_origin(page).unwrap());
        assert_eq!(refused.err().map(|problem| problem.kind), expected, "{url}");
    };
    check("localhost:6000", ORIGIN, Some(ProblemKind::BlockedPort));
    check("localhost:8000", ORIGIN, None);
    check("http://a.example", ORIGIN, Some(ProblemKind::MixedContent));
    check("https://a.example", ORIGIN, None);
    let plain = "http://tenon.example";
    check("http://a.example", plain, None);
    check("8000", plain, Some(ProblemKind::PermissionNeedsHttps));
    check("8000", "http://localhost:8366", None);
}
