//! No input leads a request elsewhere, whatever it holds.

use proptest::prelude::*;

use super::*;

#[test]
fn a_value_that_would_leave_its_segment_is_encoded_or_refused() {
    let styles = [
        ParameterStyle::Simple,
        ParameterStyle::Label,
        ParameterStyle::Matrix,
    ];
    let check = |path: &str, reserved: bool, value: Value, expected: Option<&str>| {
        let parameter = OpenapiParameter {
            serialization: Serialization::Styled {
                style: ParameterStyle::Simple,
                explode: false,
                reserved,
            },
            ..parameter("p", ParameterLocation::Path, ParameterStyle::Simple, false)
        };
        let request = built(
            &operation(path, vec![parameter], None),
            json!({ "p": value }),
        );
        match (request, expected) {
            (Ok(request), Some(expected)) => assert_eq!(request.url.as_str(), expected),
            (Err(error), None) => assert!(error.is_invalid_input()),
            (request, _) => panic!("{path} {value}: {request:?}"),
        }
    };
    check(
        "/a/{p}/b",
        false,
        json!("x/../y"),
        Some("http://h/a/x%2F..%2Fy/b"),
    );
    check(
        "/a/{p}/b",
        false,
        json!("x?y#z"),
        Some("http://h/a/x%3Fy%23z/b"),
    );
    check("/a/{p}/b", false, json!("x\\y"), Some("http://h/a/x%5Cy/b"));
    check(
        "/a/{p}/b",
        false,
        json!("\t\n"),
        Some("http://h/a/%09%0A/b"),
    );
    check(
        "/a/{p}/b",
        false,
        json!("%2e%2e"),
        Some("http://h/a/%252e%252e/b"),
    );
    check("/a/{p}/b", false, json!("..."), Some("http://h/a/.../b"));
    for dots in [".", ".."] {
        check("/a/{p}/b", false, json!(dots), None);
        check("/a/{p}/b", true, json!(dots), None);
        check("/a/{p}/b", false, json!([dots]), None);
    }
    check("/a/.{p}/b", false, json!("."), None);
    for dots in ["%2e%2e", "%2E.", "%2e"] {
        check("/a/{p}/b", true, json!(dots), None);
    }
    check(
        "/a/{p}/b",
        true,
        json!("x/../y"),
        Some("http://h/a/x%2F..%2Fy/b"),
    );
    check("/a/{p}/b", false, json!(""), None);
    check("/a/{p}/b", false, json!([""]), None);
    for style in styles {
        let label = parameter("p", ParameterLocation::Path, style, true);
        let request = built(
            &operation("/{p}", vec![label], None),
            json!({ "p": [".", "."] }),
        );
        // "/.,.", "/....", "/;p=.;p=."
        assert_eq!(request.unwrap().url.path_segments().unwrap().count(), 1);
    }
}

#[test]
fn an_address_without_end_is_refused() {
    let parameter = parameter("p", ParameterLocation::Query, ParameterStyle::Form, true);
    let input = json!({ "p": "a".repeat(MAX_URL_BYTES) });
    let error = built(&operation("/", vec![parameter], None), input).unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[/.%2eE?#@:;\\\\&=+ \r\n\t\0]{0,8}",
        Just("..".to_owned()),
        Just("//evil.example/".to_owned()),
        Just("http://evil.example/".to_owned()),
        Just("@evil.example:80".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn style() -> impl Strategy<Value = ParameterStyle> {
    prop::sample::select(vec![
        ParameterStyle::Simple,
        ParameterStyle::Label,
        ParameterStyle::Matrix,
        ParameterStyle::Form,
        ParameterStyle::SpaceDelimited,
        ParameterStyle::PipeDelimited,
        ParameterStyle::DeepObject,
        ParameterStyle::TabDelimited,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_goes_elsewhere(
        values in prop::collection::vec(value(), 4),
        style in style(),
        explode in any::<bool>(),
        reserved in any::<bool>(),
        media in any::<bool>(),
    ) {
        let places = [ParameterLocation::Path, ParameterLocation::Query, ParameterLocation::Header, ParameterLocation::Cookie];
        let names = ["p", "q", "X-H", "c"];
        let serialization = if media { Serialization::Media("application/json".into()) } else { Serialization::Styled { style, explode, reserved } };
        let parameters = places.iter().zip(names).map(|(location, name)| OpenapiParameter {
            serialization: serialization.clone(),
            ..parameter(name, *location, style, explode)
        });
        let mut operation = operation("/a/{p}/b", parameters.collect(), None);
        operation.servers = vec!["https://h.example:8443/base".into()];
        let input: serde_json::Map<String, Value> =
            names.iter().map(ToString::to_string).zip(values).collect();
        if let Ok(request) = built(&operation, Value::Object(input)) {
            // As whoever reads the address next sees it.
            let url = Url::parse(request.url.as_str()).unwrap();
            prop_assert_eq!(&url, &request.url);
            prop_assert_eq!(url.scheme(), "https");
            prop_assert_eq!(url.host_str(), Some("h.example"));
            prop_assert_eq!(url.port(), Some(8443));
            prop_assert_eq!(url.username(), "");
            prop_assert_eq!(url.fragment(), None);
            let segments: Vec<&str> = url.path_segments().unwrap().collect();
            prop_assert!(
                matches!(segments[..], ["base", "a", filled, "b"] if !filled.is_empty()),
                "{}", url
            );
            for (name, value) in &request.headers {
                let text = std::str::from_utf8(value.as_bytes()).unwrap();
                prop_assert!(!text.chars().any(char::is_control), "{} {:?}", name, text);
                prop_assert!(["accept", "x-h", "cookie"].contains(&name.as_str()));
            }
        }
    }
}
