//! Requests as the specification has them.

mod bodies;
mod harm;
mod styles;

use serde_json::{Value, json};

use super::*;
use crate::operation::{OpenapiParameter, ParameterStyle, RequestBody, Serialization};

fn operation(
    path: &str,
    parameters: Vec<OpenapiParameter>,
    body: Option<RequestBody>,
) -> Operation {
    Operation {
        name: "tool".into(),
        title: None,
        description: String::new(),
        input_schema: json!({ "type": "object" }).into(),
        deprecated: false,
        method: match body {
            Some(_) => Method::POST,
            None => Method::GET,
        },
        path: path.into(),
        servers: vec!["/".into()],
        parameters,
        headers: Vec::new(),
        body,
        security: Vec::new(),
    }
}

fn parameter(
    name: &str,
    location: ParameterLocation,
    style: ParameterStyle,
    explode: bool,
) -> OpenapiParameter {
    OpenapiParameter {
        input: name.into(),
        name: name.into(),
        location,
        serialization: Serialization::Styled {
            style,
            explode,
            reserved: false,
        },
        required: location == ParameterLocation::Path,
    }
}

fn base() -> Url {
    Url::parse("http://h/openapi.json").unwrap()
}

fn built(operation: &Operation, input: Value) -> Result<OpenapiRequest, BuildError> {
    build(operation, &base(), &input)
}

#[test]
fn servers_are_where_the_document_says() {
    let check = |server: &str, path: &str, expected: &str| {
        let base = Url::parse("https://docs.example/api/v1/openapi.json?key=1").unwrap();
        let mut operation = operation(path, vec![], None);
        operation.servers = vec![server.into(), "https://second.example".into()];
        let request = build(&operation, &base, &json!({})).unwrap();
        assert_eq!(request.url.as_str(), expected, "{server} {path}");
    };
    check("https://a.example/v2", "/pets", "https://a.example/v2/pets");
    check(
        "https://a.example/v2/",
        "/pets",
        "https://a.example/v2/pets",
    );
    check("https://a.example", "/pets", "https://a.example/pets");
    check("https://a.example", "pets", "https://a.example/pets");
    check(
        "http://a.example:8080/v2//",
        "/p",
        "http://a.example:8080/v2/p",
    );
    check("//a.example/v2", "/pets", "https://a.example/v2/pets");
    check("/", "/pets", "https://docs.example/pets");
    check("", "/pets", "https://docs.example/pets");
    check("/v3", "/pets", "https://docs.example/v3/pets");
    check("v3", "/pets", "https://docs.example/api/v1/v3/pets");
    check(".", "/pets", "https://docs.example/api/v1/pets");
    check("../v2", "/pets", "https://docs.example/api/v2/pets");
    check("/v3", "/", "https://docs.example/v3/");
    check("/v3", "", "https://docs.example/v3");
    check("/v3", "/pets/", "https://docs.example/v3/pets/");
    check("/v3#top", "/pets", "https://docs.example/v3/pets");
    check(
        "/v3?a=1",
        "/pets?acl",
        "https://docs.example/v3/pets?a=1&acl",
    );
    check("/", "/#Action=List", "https://docs.example/");
    check("/", "/名/a b", "https://docs.example/%E5%90%8D/a%20b");
}

#[test]
fn a_server_that_is_no_web_address_is_named() {
    let check = |server: &str, expected: &str| {
        let error = BuildError::from(server_url(server, &base()).unwrap_err());
        assert!(!error.is_invalid_input());
        assert!(error.to_string().contains(expected), "{server}: {error}");
    };
    check(
        "localhost:8000",
        "`localhost:8000`, which is neither http nor https",
    );
    check("file:///etc/passwd", "neither http nor https");
    check(
        "https://{region}.a.example",
        "contains an undefined variable",
    );
    check("http://", "is not a valid address: empty host");
}

#[test]
fn what_stands_in_the_path_of_a_document_is_filled_in() {
    let check = |path: &str, input: Value, expected: &str| {
        let simple = |name| parameter(name, ParameterLocation::Path, ParameterStyle::Simple, false);
        let operation = operation(path, vec![simple("a"), simple("b")], None);
        let request = built(&operation, input).unwrap();
        assert_eq!(request.url.as_str(), expected, "{path}");
    };
    check("/{a}/{b}", json!({ "a": 1, "b": "x" }), "http://h/1/x");
    check(
        "/{a}-{b}.json",
        json!({ "a": 1, "b": 2 }),
        "http://h/1-2.json",
    );
    check("/{a}:cancel", json!({ "a": 1 }), "http://h/1:cancel");
    check("/x?y={a}", json!({ "a": "&" }), "http://h/x?y=%26");
    check("/{a}{", json!({ "a": 1 }), "http://h/1%7B");

    let unknown = operation("/{c}", vec![], None);
    let error = built(&unknown, json!({ "c": 1 })).unwrap_err();
    assert!(error.to_string().contains("define {c} in /{c}."), "{error}");
}

#[test]
fn what_is_missing_is_named() {
    let mut query = parameter("q", ParameterLocation::Query, ParameterStyle::Form, true);
    query.required = true;
    query.input = "q_query".into();
    let operation = operation("/", vec![query], None);
    let error = built(&operation, json!({})).unwrap_err();
    assert!(error.is_invalid_input());
    assert!(
        error.to_string().contains("`q_query` is missing"),
        "{error}"
    );
    let request = built(&operation, json!({ "q_query": 1 })).unwrap();
    assert_eq!(request.url.as_str(), "http://h/?q=1");
    let request = built(&operation, json!({ "q_query": null })).unwrap();
    assert_eq!(request.url.as_str(), "http://h/");
    assert!(built(&operation, json!("q=1")).is_err());
}

#[test]
fn headers_stay_one_line_and_are_not_those_of_the_connection() {
    let header = |name: &str, value: Value| {
        let parameter = parameter(
            name,
            ParameterLocation::Header,
            ParameterStyle::Simple,
            false,
        );
        let request = built(
            &operation("/", vec![parameter], None),
            json!({ name: value }),
        );
        request.map(|request| request.headers)
    };
    assert_eq!(
        header("X-A", json!("é, b")).unwrap()["x-a"].as_bytes(),
        "é, b".as_bytes()
    );
    assert_eq!(
        header("Accept", json!("text/csv")).unwrap()["accept"],
        "text/csv"
    );
    assert_eq!(header("X-A", json!(1)).unwrap()["accept"], DEFAULT_ACCEPT);
    assert!(!header("X-A", json!(null)).unwrap().contains_key("x-a"));
    assert!(
        !header("Content-Type", json!("a/b"))
            .unwrap()
            .contains_key("content-type")
    );
    for harm in [
        "a\r\nX: y",
        "a\nb",
        "a\0",
        "a\tb",
        "\u{7f}",
        "\u{85}",
        &"a".repeat(40_000),
    ] {
        let error = header("X-A", json!(harm)).unwrap_err();
        assert!(error.is_invalid_input());
        assert!(
            error.to_string().contains("`X-A` goes into a header"),
            "{error}"
        );
    }
    for name in [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "connection",
        "TE",
        "a b",
        "",
    ] {
        let error = header(name, json!("x")).unwrap_err();
        assert!(
            error.to_string().contains(&format!("the header `{name}`")),
            "{error}"
        );
    }
}

#[test]
fn cookies_share_one_header() {
    let cookie = |name| parameter(name, ParameterLocation::Cookie, ParameterStyle::Form, true);
    let operation = operation("/", vec![cookie("a"), cookie("b"), cookie("c")], None);
    let request = built(
        &operation,
        json!({ "a": "x y;", "b": [1, 2], "c": { "d": "to/ken==" } }),
    );
    assert_eq!(
        request.unwrap().headers["cookie"],
        "a=x%20y%3B; b=1; b=2; d=to/ken=="
    );
}

#[test]
fn a_parameter_with_content_is_json() {
    let media = |location, media_type: &str| OpenapiParameter {
        serialization: Serialization::Media(media_type.into()),
        ..parameter("p", location, ParameterStyle::Form, true)
    };
    let request = |path: &str, parameter: OpenapiParameter, value: Value| {
        built(
            &operation(path, vec![parameter], None),
            json!({ "p": value }),
        )
        .unwrap()
    };
    let json = "application/json";
    let query = request(
        "/",
        media(ParameterLocation::Query, json),
        json!({ "a": ["b", 1.0] }),
    );
    assert_eq!(
        query.url.as_str(),
        "http://h/?p=%7B%22a%22%3A%5B%22b%22%2C1.0%5D%7D"
    );
    let query = request("/", media(ParameterLocation::Query, json), json!("b"));
    assert_eq!(query.url.as_str(), "http://h/?p=%22b%22");
    let query = request(
        "/",
        media(ParameterLocation::Query, "text/plain"),
        json!("b"),
    );
    assert_eq!(query.url.as_str(), "http://h/?p=b");
    let path = request("/{p}", media(ParameterLocation::Path, json), json!([1]));
    assert_eq!(path.url.as_str(), "http://h/%5B1%5D");
    let header = request(
        "/",
        media(ParameterLocation::Header, json),
        json!({ "a": 1 }),
    );
    assert_eq!(header.headers["p"], r#"{"a":1}"#);
    let cookie = request(
        "/",
        media(ParameterLocation::Cookie, json),
        json!({ "a": 1 }),
    );
    assert_eq!(cookie.headers["cookie"], "p={%22a%22:1}");
}

#[test]
fn what_is_nested_where_it_cannot_be_is_json() {
    let check = |style, explode, value: Value, expected: &str| {
        let parameter = parameter("p", ParameterLocation::Query, style, explode);
        let request = built(
            &operation("/", vec![parameter], None),
            json!({ "p": value }),
        )
        .unwrap();
        let query = tenon_net::percent::decode(request.url.query().unwrap());
        assert_eq!(String::from_utf8(query).unwrap(), expected);
    };
    check(
        ParameterStyle::Form,
        true,
        json!([{ "a": 1 }, [2]]),
        r#"p={"a":1}&p=[2]"#,
    );
    check(
        ParameterStyle::Form,
        false,
        json!([{ "a": 1 }]),
        r#"p={"a":1}"#,
    );
    check(
        ParameterStyle::Form,
        true,
        json!({ "a": { "b": 1 } }),
        r#"a={"b":1}"#,
    );
}

#[test]
fn reserved_characters_stay_where_the_document_allows_it() {
    let check = |location, path: &str, expected: &str| {
        let parameter = OpenapiParameter {
            serialization: Serialization::Styled {
                style: match location {
                    ParameterLocation::Path => ParameterStyle::Simple,
                    _ => ParameterStyle::Form,
                },
                explode: true,
                reserved: true,
            },
            ..parameter("p", location, ParameterStyle::Form, true)
        };
        let value = json!({ "p": ":/?#[]@!$&'()*+,;=%41%4 é" });
        let request = built(&operation(path, vec![parameter], None), value).unwrap();
        assert_eq!(request.url.as_str(), expected);
    };
    check(
        ParameterLocation::Query,
        "/",
        "http://h/?p=:/?%23[]@!$%26%27()*%2B,;=%41%254%20%C3%A9",
    );
    check(
        ParameterLocation::Path,
        "/{p}",
        "http://h/:%2F%3F%23%5B%5D@!$&'()*+,;=%41%254%20%C3%A9",
    );
}
