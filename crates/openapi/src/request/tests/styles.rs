//! Every style with every kind of value. The first three columns of the tables
//! are the examples of the OpenAPI specification (3.1.1, "Style Examples").

use super::*;

/// The values of a table, in the order of its columns.
fn values() -> [Value; 12] {
    [
        json!("blue"),
        json!(["blue", "black", "brown"]),
        json!({ "R": 100, "G": 200, "B": 150 }),
        json!(""),
        json!(18446744073709551615u64),
        json!(1.0),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!(["你", "a b", null, false]),
        json!({ "a/?#": "1,2&3=4" }),
    ]
}

/// `expected` are what stands behind "http://h", or "!" for an error.
#[track_caller]
fn check(location: ParameterLocation, style: ParameterStyle, explode: bool, expected: [&str; 12]) {
    let path = match location {
        ParameterLocation::Path => "/{color}",
        _ => "/",
    };
    let operation = operation(
        path,
        vec![parameter("color", location, style, explode)],
        None,
    );
    for (value, expected) in values().into_iter().zip(expected) {
        let found = match built(&operation, json!({ "color": value })) {
            Err(error) => {
                assert!(error.is_invalid_input());
                assert!(
                    error.to_string().contains("`color`") || error.to_string().contains("`..`")
                );
                "!".to_owned()
            }
            Ok(request) => match location {
                ParameterLocation::Path | ParameterLocation::Query => {
                    request.url.as_str()["http://h".len()..].to_owned()
                }
                ParameterLocation::Header => {
                    let value = request.headers.get("color").map(|value| value.as_bytes());
                    String::from_utf8(value.unwrap_or(b"-").to_vec()).unwrap()
                }
                ParameterLocation::Cookie => {
                    let value = request.headers.get("cookie").map(|value| value.to_str());
                    value.unwrap_or(Ok("-")).unwrap().to_owned()
                }
            },
        };
        assert_eq!(found, expected, "{style:?} {explode} {value}");
    }
}

#[test]
fn simple() {
    check(
        ParameterLocation::Path,
        ParameterStyle::Simple,
        false,
        [
            "/blue",
            "/blue,black,brown",
            "/R,100,G,200,B,150",
            "!",
            "/18446744073709551615",
            "/1.0",
            "/true",
            "!",
            "!",
            "!",
            "/%E4%BD%A0,a%20b,false",
            "/a%2F%3F%23,1%2C2%263%3D4",
        ],
    );
    check(
        ParameterLocation::Path,
        ParameterStyle::Simple,
        true,
        [
            "/blue",
            "/blue,black,brown",
            "/R=100,G=200,B=150",
            "!",
            "/18446744073709551615",
            "/1.0",
            "/true",
            "!",
            "!",
            "!",
            "/%E4%BD%A0,a%20b,false",
            "/a%2F%3F%23=1%2C2%263%3D4",
        ],
    );
    check(
        ParameterLocation::Header,
        ParameterStyle::Simple,
        false,
        [
            "blue",
            "blue,black,brown",
            "R,100,G,200,B,150",
            "",
            "18446744073709551615",
            "1.0",
            "true",
            "-",
            "-",
            "-",
            "你,a b,false",
            "a/?#,1,2&3=4",
        ],
    );
    check(
        ParameterLocation::Header,
        ParameterStyle::Simple,
        true,
        [
            "blue",
            "blue,black,brown",
            "R=100,G=200,B=150",
            "",
            "18446744073709551615",
            "1.0",
            "true",
            "-",
            "-",
            "-",
            "你,a b,false",
            "a/?#=1,2&3=4",
        ],
    );
}

#[test]
fn label() {
    check(
        ParameterLocation::Path,
        ParameterStyle::Label,
        false,
        [
            "/.blue",
            "/.blue,black,brown",
            "/.R,100,G,200,B,150",
            // ".", which would be no segment at all.
            "!",
            "/.18446744073709551615",
            "/.1.0",
            "/.true",
            "!",
            "!",
            "!",
            "/.%E4%BD%A0,a%20b,false",
            "/.a%2F%3F%23,1%2C2%263%3D4",
        ],
    );
    check(
        ParameterLocation::Path,
        ParameterStyle::Label,
        true,
        [
            "/.blue",
            "/.blue.black.brown",
            "/.R=100.G=200.B=150",
            "!",
            "/.18446744073709551615",
            "/.1.0",
            "/.true",
            "!",
            "!",
            "!",
            "/.%E4%BD%A0.a%20b.false",
            "/.a%2F%3F%23=1%2C2%263%3D4",
        ],
    );
}

#[test]
fn matrix() {
    check(
        ParameterLocation::Path,
        ParameterStyle::Matrix,
        false,
        [
            "/;color=blue",
            "/;color=blue,black,brown",
            "/;color=R,100,G,200,B,150",
            "/;color",
            "/;color=18446744073709551615",
            "/;color=1.0",
            "/;color=true",
            "!",
            "!",
            "!",
            "/;color=%E4%BD%A0,a%20b,false",
            "/;color=a%2F%3F%23,1%2C2%263%3D4",
        ],
    );
    check(
        ParameterLocation::Path,
        ParameterStyle::Matrix,
        true,
        [
            "/;color=blue",
            "/;color=blue;color=black;color=brown",
            "/;R=100;G=200;B=150",
            "/;color",
            "/;color=18446744073709551615",
            "/;color=1.0",
            "/;color=true",
            "!",
            "!",
            "!",
            "/;color=%E4%BD%A0;color=a%20b;color=false",
            "/;a%2F%3F%23=1%2C2%263%3D4",
        ],
    );
}

#[test]
fn form() {
    check(
        ParameterLocation::Query,
        ParameterStyle::Form,
        false,
        [
            "/?color=blue",
            "/?color=blue,black,brown",
            "/?color=R,100,G,200,B,150",
            "/?color=",
            "/?color=18446744073709551615",
            "/?color=1.0",
            "/?color=true",
            "/",
            "/",
            "/",
            "/?color=%E4%BD%A0,a%20b,false",
            "/?color=a%2F%3F%23,1%2C2%263%3D4",
        ],
    );
    let exploded = [
        "/?color=blue",
        "/?color=blue&color=black&color=brown",
        "/?R=100&G=200&B=150",
        "/?color=",
        "/?color=18446744073709551615",
        "/?color=1.0",
        "/?color=true",
        "/",
        "/",
        "/",
        "/?color=%E4%BD%A0&color=a%20b&color=false",
        "/?a%2F%3F%23=1%2C2%263%3D4",
    ];
    check(
        ParameterLocation::Query,
        ParameterStyle::Form,
        true,
        exploded,
    );
    // The specification says nothing about these; its older versions say this.
    check(
        ParameterLocation::Query,
        ParameterStyle::SpaceDelimited,
        true,
        exploded,
    );
    check(
        ParameterLocation::Query,
        ParameterStyle::PipeDelimited,
        true,
        exploded,
    );
    check(
        ParameterLocation::Query,
        ParameterStyle::TabDelimited,
        true,
        exploded,
    );
    check(
        ParameterLocation::Cookie,
        ParameterStyle::Form,
        false,
        [
            "color=blue",
            "color=blue,black,brown",
            "color=R,100,G,200,B,150",
            "color=",
            "color=18446744073709551615",
            "color=1.0",
            "color=true",
            "-",
            "-",
            "-",
            "color=%E4%BD%A0,a%20b,false",
            "color=a%2F%3F%23,1%2C2&3=4",
        ],
    );
    check(
        ParameterLocation::Cookie,
        ParameterStyle::Form,
        true,
        [
            "color=blue",
            "color=blue; color=black; color=brown",
            "R=100; G=200; B=150",
            "color=",
            "color=18446744073709551615",
            "color=1.0",
            "color=true",
            "-",
            "-",
            "-",
            "color=%E4%BD%A0; color=a%20b; color=false",
            "a%2F%3F%23=1%2C2&3=4",
        ],
    );
}

#[test]
fn delimited() {
    let with = |between: &str| {
        [
            "/?color=blue".to_owned(),
            format!("/?color={}", ["blue", "black", "brown"].join(between)),
            format!(
                "/?color={}",
                ["R", "100", "G", "200", "B", "150"].join(between)
            ),
            "/?color=".to_owned(),
            "/?color=18446744073709551615".to_owned(),
            "/?color=1.0".to_owned(),
            "/?color=true".to_owned(),
            "/".to_owned(),
            "/".to_owned(),
            "/".to_owned(),
            format!("/?color={}", ["%E4%BD%A0", "a%20b", "false"].join(between)),
            format!("/?color={}", ["a%2F%3F%23", "1%2C2%263%3D4"].join(between)),
        ]
    };
    for (style, between) in [
        (ParameterStyle::SpaceDelimited, "%20"),
        (ParameterStyle::PipeDelimited, "%7C"),
        (ParameterStyle::TabDelimited, "%09"),
    ] {
        let expected = with(between);
        check(
            ParameterLocation::Query,
            style,
            false,
            expected.each_ref().map(String::as_str),
        );
    }
}

#[test]
fn deep_objects() {
    let expected = [
        "/?color=blue",
        "/?color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown",
        "/?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
        "/?color=",
        "/?color=18446744073709551615",
        "/?color=1.0",
        "/?color=true",
        "/",
        "/",
        "/",
        "/?color%5B%5D=%E4%BD%A0&color%5B%5D=a%20b&color%5B%5D=false",
        "/?color%5Ba%2F%3F%23%5D=1%2C2%263%3D4",
    ];
    check(
        ParameterLocation::Query,
        ParameterStyle::DeepObject,
        true,
        expected,
    );
    check(
        ParameterLocation::Query,
        ParameterStyle::DeepObject,
        false,
        expected,
    );

    let nested = json!({ "f": { "a": { "b": { "c": 1 } }, "l": ["x", "y"], "o": [{ "k": 1 }, { "k": 2 }], "n": null, "e": {} } });
    let parameter = parameter(
        "f",
        ParameterLocation::Query,
        ParameterStyle::DeepObject,
        true,
    );
    let request = built(&operation("/", vec![parameter], None), nested).unwrap();
    assert_eq!(
        String::from_utf8(tenon_net::percent::decode(request.url.query().unwrap())).unwrap(),
        "f[a][b][c]=1&f[l][]=x&f[l][]=y&f[o][0][k]=1&f[o][1][k]=2"
    );
}
