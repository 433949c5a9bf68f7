//! Bodies as servers read them.

use super::*;
use crate::operation::{BodyInput, BodyKind, FormField};

pub(super) fn whole(media_type: &str, kind: BodyKind) -> RequestBody {
    RequestBody {
        media_type: media_type.into(),
        kind,
        required: false,
        input: BodyInput::Whole("body".into()),
    }
}

fn field(name: &str) -> FormField {
    FormField {
        name: name.into(),
        serialization: None,
        is_file: false,
        media_type: None,
    }
}

fn send(body: RequestBody, value: Value) -> (String, String) {
    let operation = operation("/", vec![], Some(body));
    let request = built(&operation, json!({ "body": value })).unwrap();
    let bytes = request.body.unwrap();
    (
        request.headers["content-type"].to_str().unwrap().to_owned(),
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

#[track_caller]
fn check(body: RequestBody, value: Value, media_type: &str, expected: &str) {
    assert_eq!(send(body, value), (media_type.into(), expected.into()));
}

#[test]
fn json_is_what_was_given() {
    let value = json!({ "b": 1.0, "a": [18446744073709551615u64, null, "é\n"], "c": {} });
    check(
        whole("application/merge-patch+json", BodyKind::Json),
        value,
        "application/merge-patch+json",
        "{\"b\":1.0,\"a\":[18446744073709551615,null,\"é\\n\"],\"c\":{}}",
    );
    check(
        whole("*/*", BodyKind::Json),
        json!([]),
        "application/json",
        "[]",
    );
    check(
        whole("a/b\r\nX: y", BodyKind::Json),
        json!(1),
        "application/json",
        "1",
    );
    let needed = RequestBody {
        required: true,
        ..whole("application/json", BodyKind::Json)
    };
    check(needed, json!(null), "application/json", "null");
}

#[test]
fn texts_and_bytes_are_sent_as_they_are() {
    let text = |media_type| whole(media_type, BodyKind::Text);
    check(
        text("text/plain"),
        json!("é\r\n"),
        "text/plain; charset=utf-8",
        "é\r\n",
    );
    check(
        text("application/xml"),
        json!("<a/>"),
        "application/xml",
        "<a/>",
    );
    check(
        text("text/csv; charset=utf-8"),
        json!(1.5),
        "text/csv; charset=utf-8",
        "1.5",
    );
    let bytes = |media_type| whole(media_type, BodyKind::Bytes);
    check(
        bytes("application/pdf"),
        json!("aGkh"),
        "application/pdf",
        "hi!",
    );
    check(bytes("*/*"), json!("aGk"), "application/octet-stream", "hi");
    check(
        bytes("*/*"),
        json!("data:text/x-a;base64,aGk="),
        "text/x-a",
        "hi",
    );
    check(bytes("image/*"), json!("R0lGODlh"), "image/gif", "GIF89a");
    check(bytes("a/b"), json!(" _-\n8= "), "a/b", "\u{fffd}\u{fffd}");
    let operation = operation("/", vec![], Some(bytes("a/b")));
    for wrong in [json!("not base64!"), json!(7), json!("data:text/plain,hi")] {
        let error = built(&operation, json!({ "body": wrong })).unwrap_err();
        assert!(error.to_string().contains("`body` is a file"), "{error}");
    }
}

#[test]
fn a_form_is_written_like_a_query() {
    let serialization = |style, explode| {
        Some(Serialization::Styled {
            style,
            explode,
            reserved: false,
        })
    };
    let fields = vec![
        FormField {
            serialization: serialization(ParameterStyle::Form, false),
            ..field("flat")
        },
        FormField {
            serialization: serialization(ParameterStyle::DeepObject, true),
            ..field("deep")
        },
        FormField {
            serialization: Some(Serialization::Media("application/json".into())),
            ..field("json")
        },
    ];
    let value = json!({
        "text": "a b&c", "list": [1, 2], "object": { "k": 1 }, "none": null, "empty": [],
        "flat": ["x", "y"], "deep": { "a": { "b": true } }, "json": [1],
    });
    check(
        whole("application/x-www-form-urlencoded", BodyKind::Form(fields)),
        value,
        "application/x-www-form-urlencoded",
        "text=a%20b%26c&list=1&list=2&object=%7B%22k%22%3A1%7D&flat=x,y&deep%5Ba%5D%5Bb%5D=true&json=%5B1%5D",
    );
}

#[test]
fn a_form_with_files_has_a_part_for_each_field() {
    let fields = vec![
        FormField {
            is_file: true,
            media_type: Some("image/*, text/csv".into()),
            ..field("file")
        },
        FormField {
            is_file: true,
            ..field("more")
        },
        FormField {
            media_type: Some("application/xml".into()),
            ..field("note")
        },
    ];
    let value = json!({
        "text": "é\r\n", "list": ["a", null, { "b": 1 }], "object": { "k": 1.0 }, "none": null,
        "note": "<a/>", "q\"\r\n": true,
        "file": "aGk=", "more": ["R0lGODlh", "data:text/plain;name=a%20%22b.txt;base64,aGk="],
    });
    let (media_type, body) = send(
        whole("multipart/form-data", BodyKind::Multipart(fields)),
        value,
    );
    let boundary = media_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let expected = [
        "Content-Disposition: form-data; name=\"text\"\r\n\r\né\r\n",
        "Content-Disposition: form-data; name=\"list\"\r\n\r\na",
        "Content-Disposition: form-data; name=\"list\"\r\nContent-Type: application/json\r\n\r\n{\"b\":1}",
        "Content-Disposition: form-data; name=\"object\"\r\nContent-Type: application/json\r\n\r\n{\"k\":1.0}",
        "Content-Disposition: form-data; name=\"note\"\r\nContent-Type: application/xml\r\n\r\n<a/>",
        "Content-Disposition: form-data; name=\"q%22%0D%0A\"\r\n\r\ntrue",
        "Content-Disposition: form-data; name=\"file\"; filename=\"file.csv\"\r\nContent-Type: text/csv\r\n\r\nhi",
        "Content-Disposition: form-data; name=\"more\"; filename=\"more.gif\"\r\nContent-Type: image/gif\r\n\r\nGIF89a",
        "Content-Disposition: form-data; name=\"more\"; filename=\"a %22b.txt\"\r\nContent-Type: text/plain\r\n\r\nhi",
    ];
    let parts = expected.map(|part| format!("--{boundary}\r\n{part}\r\n"));
    assert_eq!(body, format!("{}--{boundary}--\r\n", parts.join("")));
}

#[test]
fn no_part_holds_the_boundary() {
    let boundary = |text: &str| {
        let multipart = whole("multipart/form-data", BodyKind::Multipart(vec![]));
        let (media_type, body) = send(multipart, json!({ "a": text }));
        let boundary = media_type.rsplit('=').next().unwrap().to_owned();
        assert_eq!(body.matches(&boundary).count(), 2, "{body}");
        boundary
    };
    let once = boundary("x");
    assert_eq!(once, boundary("x"));
    assert_ne!(once, boundary(&once));
    assert!(once.len() <= 70, "{once}");
}

#[test]
fn a_body_takes_what_is_no_parameter() {
    let merged = |required| RequestBody {
        required,
        input: BodyInput::Merged(vec![
            ("id_body".into(), "id".into()),
            ("name".into(), "name".into()),
        ]),
        ..whole("application/json", BodyKind::Json)
    };
    let body = |required, input: Value| {
        let id = parameter("id", ParameterLocation::Query, ParameterStyle::Form, true);
        let operation = operation("/", vec![id], Some(merged(required)));
        let request = built(&operation, input).unwrap();
        let body = request.body.map(|body| String::from_utf8(body).unwrap());
        assert_eq!(body.is_some(), request.headers.contains_key("content-type"));
        (request.url.query().map(str::to_owned), body)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        body(
            true,
            json!({ "id": 1, "id_body": 2, "name": null, "extra": [3] })
        ),
        (some("id=1"), some(r#"{"id":2,"name":null,"extra":[3]}"#))
    );
    assert_eq!(body(true, json!({ "id": 1 })), (some("id=1"), some("{}")));
    assert_eq!(body(false, json!({ "id": 1 })), (some("id=1"), None));
}

#[test]
fn a_body_holds_no_field_twice() {
    let check = |media_type: &str, kind: BodyKind, expected: &str| {
        let body = RequestBody {
            input: BodyInput::Merged(vec![("user_id".into(), "user.id".into())]),
            ..whole(media_type, kind)
        };
        let operation = operation("/", vec![], Some(body));
        // Whichever comes first, what the document describes is sent.
        for input in [
            r#"{"user_id": 1, "user.id": 2, "b": 3}"#,
            r#"{"user.id": 2, "user_id": 1, "b": 3}"#,
        ] {
            let input = serde_json::from_str(input).unwrap();
            let body = built(&operation, input).unwrap().body.unwrap();
            assert_eq!(String::from_utf8(body).unwrap(), expected);
        }
        // Alone it is what it is called.
        let body = built(&operation, json!({ "user.id": 2 })).unwrap().body;
        assert!(
            String::from_utf8(body.unwrap())
                .unwrap()
                .contains("user.id")
        );
    };
    let form = "application/x-www-form-urlencoded";
    check("application/json", BodyKind::Json, r#"{"user.id":1,"b":3}"#);
    check(form, BodyKind::Form(vec![]), "user.id=1&b=3");
}

#[test]
fn numbers_and_yes_or_no_go_out_as_text_as_they_are_written() {
    let text = || whole("text/plain", BodyKind::Text);
    let plain = "text/plain; charset=utf-8";
    check(text(), json!(5), plain, "5");
    check(text(), json!(-1.5), plain, "-1.5");
    check(text(), json!(true), plain, "true");
}

#[test]
fn headers_that_the_document_demands_are_sent() {
    use http::header::{HeaderName, HeaderValue};
    let check =
        |body: Option<RequestBody>, demanded: (&'static str, &'static str), expected: &[&str]| {
            let mut operation = operation("/", vec![], body);
            let name = HeaderName::from_static(demanded.0);
            operation.headers = vec![(name, HeaderValue::from_static(demanded.1))];
            let request = built(&operation, json!({ "body": {} })).unwrap();
            let all = request.headers.get_all(demanded.0).iter();
            let all: Vec<&str> = all.map(|value| value.to_str().unwrap()).collect();
            assert_eq!(all, expected);
        };
    let json = || Some(whole("application/json", BodyKind::Json));
    let form = || Some(whole("multipart/form-data", BodyKind::Multipart(vec![])));
    check(None, ("accept", "a/b"), &["a/b"]);
    check(None, ("content-type", "a/b"), &["a/b"]);
    check(
        json(),
        ("content-type", "application/json;v=2"),
        &["application/json;v=2"],
    );
    // It would say something else than what is sent.
    check(json(), ("content-type", "text/csv"), &["application/json"]);
    let mut operation = operation("/", vec![], form());
    let name = HeaderName::from_static("content-type");
    operation.headers = vec![(name, HeaderValue::from_static("multipart/form-data"))];
    let request = built(&operation, json!({ "body": { "a": 1 } })).unwrap();
    let kind = request.headers["content-type"].to_str().unwrap();
    assert!(kind.contains("boundary="), "{kind}");
}

#[test]
fn a_body_that_is_not_given_is_not_sent() {
    let optional = operation("/", vec![], Some(whole("application/json", BodyKind::Json)));
    for input in [json!({}), json!({ "body": null }), json!({ "other": 1 })] {
        let request = built(&optional, input).unwrap();
        assert_eq!(request.body, None);
        assert!(!request.headers.contains_key("content-type"));
    }
    let mut needed = optional.clone();
    needed.body.as_mut().unwrap().required = true;
    let error = built(&needed, json!({})).unwrap_err();
    assert!(error.to_string().contains("`body` is missing"), "{error}");
    let form = operation("/", vec![], Some(whole("a/b", BodyKind::Form(vec![]))));
    let error = built(&form, json!({ "body": 1 })).unwrap_err();
    assert!(error.to_string().contains("`body` is a form"), "{error}");
}
