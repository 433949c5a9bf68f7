//! Requests as the specification has them.

mod bodies;
mod harm;
mod styles;

use serde_json::{Value, json};
use tenon_domain::{Annotations, ErrorKind, ToolDefinition};

use super::*;
use crate::openapi::operation::{Body, Parameter, Style, Written};

fn operation(path: &str, parameters: Vec<Parameter>, body: Option<Body>) -> Operation {
    Operation {
        tool: ToolDefinition {
            name: "tool".into(),
            title: None,
            description: String::new(),
            input_schema: json!({ "type": "object" }).into(),
            annotations: Annotations::default(),
        },
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

fn parameter(name: &str, place: Place, style: Style, explode: bool) -> Parameter {
    Parameter {
        input: name.into(),
        name: name.into(),
        place,
        written: Written::As {
            style,
            explode,
            reserved: false,
        },
        required: place == Place::Path,
    }
}

fn base() -> Url {
    Url::parse("http://h/openapi.json").unwrap()
}

fn built(operation: &Operation, input: Value) -> Result<Request, ToolError> {
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
        let error = at(server, &base()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Failed);
        assert!(error.message.contains(expected), "{server}: {error}");
    };
    check(
        "localhost:8000",
        "`localhost:8000`, which is neither http nor https",
    );
    check("file:///etc/passwd", "neither http nor https");
    check(
        "https://{region}.a.example",
        "has a part that nothing is said about",
    );
    check("http://", "is no address: empty host");
}

#[test]
fn what_stands_in_the_path_of_a_document_is_filled_in() {
    let check = |path: &str, input: Value, expected: &str| {
        let simple = |name| parameter(name, Place::Path, Style::Simple, false);
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
    assert!(error.message.contains("what {c} in /{c} is"), "{error}");
}

#[test]
fn what_is_missing_is_named() {
    let mut query = parameter("q", Place::Query, Style::Form, true);
    query.required = true;
    query.input = "q_query".into();
    let operation = operation("/", vec![query], None);
    let error = built(&operation, json!({})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidInput);
    assert!(error.message.contains("`q_query` is missing"), "{error}");
    let request = built(&operation, json!({ "q_query": 1 })).unwrap();
    assert_eq!(request.url.as_str(), "http://h/?q=1");
    let request = built(&operation, json!({ "q_query": null })).unwrap();
    assert_eq!(request.url.as_str(), "http://h/");
    assert!(built(&operation, json!("q=1")).is_err());
}

#[test]
fn headers_stay_one_line_and_are_not_those_of_the_connection() {
    let header = |name: &str, value: Value| {
        let parameter = parameter(name, Place::Header, Style::Simple, false);
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
    assert_eq!(header("X-A", json!(1)).unwrap()["accept"], ACCEPTED);
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
        assert_eq!(error.kind, ErrorKind::InvalidInput);
        assert!(
            error.message.contains("`X-A` goes into a header"),
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
            error.message.contains(&format!("the header `{name}`")),
            "{error}"
        );
    }
}

#[test]
fn cookies_share_one_header() {
    let cookie = |name| parameter(name, Place::Cookie, Style::Form, true);
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
    let media = |place, media_type: &str| Parameter {
        written: Written::Media(media_type.into()),
        ..parameter("p", place, Style::Form, true)
    };
    let request = |path: &str, parameter: Parameter, value: Value| {
        built(
            &operation(path, vec![parameter], None),
            json!({ "p": value }),
        )
        .unwrap()
    };
    let json = "application/json";
    let query = request("/", media(Place::Query, json), json!({ "a": ["b", 1.0] }));
    assert_eq!(
        query.url.as_str(),
        "http://h/?p=%7B%22a%22%3A%5B%22b%22%2C1.0%5D%7D"
    );
    let query = request("/", media(Place::Query, json), json!("b"));
    assert_eq!(query.url.as_str(), "http://h/?p=%22b%22");
    let query = request("/", media(Place::Query, "text/plain"), json!("b"));
    assert_eq!(query.url.as_str(), "http://h/?p=b");
    let path = request("/{p}", media(Place::Path, json), json!([1]));
    assert_eq!(path.url.as_str(), "http://h/%5B1%5D");
    let header = request("/", media(Place::Header, json), json!({ "a": 1 }));
    assert_eq!(header.headers["p"], r#"{"a":1}"#);
    let cookie = request("/", media(Place::Cookie, json), json!({ "a": 1 }));
    assert_eq!(cookie.headers["cookie"], "p={%22a%22:1}");
}

#[test]
fn a_page_gets_what_fetch_takes() {
    let header = parameter("X-A", Place::Header, Style::Simple, false);
    let mut operation = operation("/a", vec![header], None);
    let request = built(&operation, json!({ "X-A": "é" })).unwrap();
    let written = json!({
        "method": "GET",
        "url": "http://h/a",
        "headers": [["accept", ACCEPTED], ["x-a", "Ã©"]],
    });
    assert_eq!(serde_json::to_value(&request).unwrap(), written);
    assert_eq!(serde_json::from_value::<Request>(written).unwrap(), request);

    operation.body = Some(bodies::whole(
        "application/json",
        crate::openapi::operation::BodyKind::Json,
    ));
    let request = built(&operation, json!({ "body": { "é": 1 } })).unwrap();
    let written = serde_json::to_value(&request).unwrap();
    assert_eq!(
        written["body"],
        json!({ "type": "text", "text": "{\"é\":1}" })
    );
    assert_eq!(serde_json::from_value::<Request>(written).unwrap(), request);

    operation.body = Some(bodies::whole(
        "a/b",
        crate::openapi::operation::BodyKind::Bytes,
    ));
    let request = built(&operation, json!({ "body": "/w==" })).unwrap();
    let written = serde_json::to_value(&request).unwrap();
    assert_eq!(written["body"], json!({ "type": "base64", "data": "/w==" }));
    assert_eq!(serde_json::from_value::<Request>(written).unwrap(), request);
}

#[test]
fn what_is_nested_where_it_cannot_be_is_json() {
    let check = |style, explode, value: Value, expected: &str| {
        let parameter = parameter("p", Place::Query, style, explode);
        let request = built(
            &operation("/", vec![parameter], None),
            json!({ "p": value }),
        )
        .unwrap();
        let query = tenon_net::percent::decode(request.url.query().unwrap());
        assert_eq!(String::from_utf8(query).unwrap(), expected);
    };
    check(
        Style::Form,
        true,
        json!([{ "a": 1 }, [2]]),
        r#"p={"a":1}&p=[2]"#,
    );
    check(Style::Form, false, json!([{ "a": 1 }]), r#"p={"a":1}"#);
    check(
        Style::Form,
        true,
        json!({ "a": { "b": 1 } }),
        r#"a={"b":1}"#,
    );
}

#[test]
fn reserved_characters_stay_where_the_document_allows_it() {
    let check = |place, path: &str, expected: &str| {
        let parameter = Parameter {
            written: Written::As {
                style: match place {
                    Place::Path => Style::Simple,
                    _ => Style::Form,
                },
                explode: true,
                reserved: true,
            },
            ..parameter("p", place, Style::Form, true)
        };
        let value = json!({ "p": ":/?#[]@!$&'()*+,;=%41%4 é" });
        let request = built(&operation(path, vec![parameter], None), value).unwrap();
        assert_eq!(request.url.as_str(), expected);
    };
    check(
        Place::Query,
        "/",
        "http://h/?p=:/?%23[]@!$%26%27()*%2B,;=%41%254%20%C3%A9",
    );
    check(
        Place::Path,
        "/{p}",
        "http://h/:%2F%3F%23%5B%5D@!$&'()*+,;=%41%254%20%C3%A9",
    );
}
