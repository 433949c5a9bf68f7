//! What is said about inputs, and what strange schemas and inputs cost.

use super::*;
use futures::StreamExt;
use serde_json::{Map, json};
use std::time::Instant;
use tenon_domain::{Annotations, ErrorKind, RunsOn, ToolId};

async fn schema(input_schema: Value) -> Schema {
    let spec = ToolSpec {
        id: ToolId::new("t"),
        name: "t".into(),
        title: "t".into(),
        display_name: "t".into(),
        description: String::new(),
        input_schema: input_schema.into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    };
    let (user, cancel) = (UserId::new("ada"), CancellationToken::new());
    let (user, cancel) = (&user, &cancel);
    let compiled = Schema::compile(&Arc::new(spec), ValidationContext { user, cancel }).await;
    compiled.unwrap()
}

fn said(schema_json: Value, input: &Value) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let checked = runtime.unwrap().block_on(async {
        let schema = schema(schema_json).await;
        let (user, cancel) = (&UserId::new("ada"), &CancellationToken::new());
        schema
            .check(input, ValidationContext { user, cancel })
            .await
    });
    match checked {
        Ok(()) => "fits".to_owned(),
        Err(error) => error.message,
    }
}

#[track_caller]
fn check(schema_json: Value, input: Value, expected: &str) {
    let said = said(schema_json, &input);
    assert_eq!(said, expected);
}

#[test]
fn a_wrong_input_is_told_what_would_be_right() {
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}},
                      "required": ["path"], "additionalProperties": false});
    check(path.clone(), json!({"path": "a"}), "fits");
    check(
        path.clone(),
        json!({}),
        "The input does not fit the tool's schema: `path` is missing.",
    );
    check(
        path.clone(),
        json!({"path": "a", "pth": 1}),
        "The input does not fit the tool's schema: `pth` is not known here.",
    );
    check(
        path.clone(),
        json!({"path": 5}),
        "The input does not fit the tool's schema: `path`: 5 is not of type \"string\".",
    );
    check(
        path.clone(),
        json!([1]),
        "The arguments must be one JSON object, not [1].",
    );
    check(
        path,
        json!("{\"path\": "),
        "The arguments are not a JSON object: EOF while parsing a value at line 1 column 9. \
         Send one JSON object that fits the tool's schema.",
    );
    check(
        json!({"properties": {"state": {"enum": ["on", "off"]}}}),
        json!({"state": "of"}),
        "The input does not fit the tool's schema: `state` must be one of [\"on\",\"off\"], not \"of\".",
    );
    check(
        json!({"properties": {"a": {"properties": {"b": {}}, "required": ["b"]}}}),
        json!({"a": {}}),
        "The input does not fit the tool's schema: `a.b` is missing.",
    );
}

#[test]
fn hostile_schemas_fetch_nothing_and_break_nothing() {
    check(
        json!({"$ref": "http://127.0.0.1:1/schema.json"}),
        json!({}),
        "fits",
    );
    check(json!({"$ref": "file:///etc/passwd"}), json!({}), "fits");
    check(json!({"type": 12}), json!({"a": 1}), "fits");
    check(json!(true), json!({"a": 1}), "fits");
    check(json!(null), json!({}), "fits");
    check(json!({"$ref": "#"}), json!({}), "fits");
    check(json!({"allOf": [{"$ref": "#"}]}), json!({}), "fits");
    check(
        json!({"not": {"$ref": "#"}}),
        json!({}),
        "The input does not fit the tool's schema: {\"$ref\":\"#\"} is not allowed for the input.",
    );
    check(
        json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
        json!({}),
        "fits",
    );
    check(
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
        json!({}),
        "fits",
    );
}

/// Long enough for a busy machine and a build without optimisations; what has no bound takes years.
const BOUND: Duration = Duration::from_secs(20);

#[track_caller]
fn check_in_time(schema: Value, input: Value, expected: &str) {
    let began = Instant::now();
    check(schema, input, expected);
    assert!(began.elapsed() < BOUND, "it took {:?}", began.elapsed());
}

const TOO_MUCH: &str = "This input is too complex to be checked against the tool's schema. Send a \
                        smaller or simpler one, or use another tool.";

/// Definitions that each apply the next one some times to the same value.
fn fan_out(keyword: &str, levels: usize, width: usize, last: Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), json!({ keyword: vec![next; width] }));
    }
    definitions.insert(format!("d{levels}"), last);
    json!({ "type": "object", "$defs": definitions, "$ref": "#/$defs/d0" })
}

#[test]
fn references_that_fan_out_are_given_up() {
    for (keyword, last) in [
        ("allOf", json!({})),
        ("oneOf", json!(true)),
        ("anyOf", json!(false)),
        ("anyOf", json!({ "type": "string" })),
    ] {
        check_in_time(fan_out(keyword, 30, 4, last), json!({}), TOO_MUCH);
    }
    // Wherever the definitions are.
    let hidden = fan_out("allOf", 30, 4, json!({})).to_string();
    let hide = |keyword: &str| {
        let hidden = hidden.replace("$defs", keyword);
        serde_json::from_str::<Value>(&hidden).unwrap()
    };
    for keyword in ["x-shapes", "properties"] {
        check_in_time(hide(keyword), json!({}), TOO_MUCH);
    }
    // Values are no schemas: what refers into them refers to nothing.
    let mut values = hide("const");
    values["properties"] = json!({ "a": { "type": "string" } });
    check_in_time(values, json!({ "a": 1 }), "fits");
}

#[test]
fn references_of_older_drafts_fan_out_no_further() {
    for draft in ["04", "07"] {
        let mut schema = fan_out("allOf", 30, 4, json!({}));
        schema["$schema"] = format!("http://json-schema.org/draft-{draft}/schema#").into();
        check_in_time(schema, json!({}), TOO_MUCH);
    }
    let mut schema = fan_out("allOf", 30, 4, json!({}));
    schema["$schema"] = "https://json-schema.org/draft/2019-09/schema".into();
    schema["unevaluatedProperties"] = false.into();
    check_in_time(schema, json!({}), TOO_MUCH);
}

#[test]
fn references_of_older_drafts_hide_what_stands_beside_them() {
    let mut definitions = Map::new();
    for number in 0..20 {
        let next = json!({ "$ref": format!("#/definitions/d{}", number + 1), "type": "integer" });
        definitions.insert(format!("d{number}"), next);
    }
    definitions.insert("d20".into(), json!({ "type": "string" }));
    let schema = |draft: &str| {
        json!({
            "$schema": draft,
            "definitions": definitions,
            "properties": { "a": { "$ref": "#/definitions/d0" } },
        })
    };
    let old = schema("http://json-schema.org/draft-07/schema#");
    check(old.clone(), json!({ "a": "text" }), "fits");
    check(
        old,
        json!({ "a": 5 }),
        "The input does not fit the tool's schema: `a`: 5 is not of type \"string\".",
    );
    let new = schema("https://json-schema.org/draft/2020-12/schema");
    let said = said(new, &json!({ "a": "text" }));
    assert!(
        said.contains("`a`: \"text\" is not of type \"integer\""),
        "{said}"
    );
}

#[test]
fn many_references_change_nothing_about_what_is_said() {
    let mut definitions = Map::new();
    let mut properties = Map::new();
    for number in 0..40 {
        let name = format!("d{number}");
        definitions.insert(name.clone(), json!({ "type": "string", "maxLength": 3 }));
        properties.insert(name.clone(), json!({ "$ref": format!("#/$defs/{name}") }));
    }
    properties.insert("not".into(), json!({ "not": { "$ref": "#/$defs/d0" } }));
    // Names that are keywords, too.
    properties.insert(
        "const".into(),
        json!({ "allOf": [{ "$ref": "#/$defs/d1" }] }),
    );
    properties.insert("enum".into(), json!({ "enum": [{ "type": 1 }, "a"] }));
    let schema = json!({
        "$defs": definitions, "properties": properties, "additionalProperties": false,
    });
    check(
        schema.clone(),
        json!({ "d7": "abc", "const": "a", "enum": "a" }),
        "fits",
    );
    check(
        schema,
        json!({ "d7": "abcd", "not": "a", "const": 1, "enum": "b", "more": 1 }),
        "The input does not fit the tool's schema: `d7`: \"abcd\" is longer than 3 characters; \
         `not`: {\"$ref\":\"#/$defs/d0\"} is not allowed for \"a\"; `const`: 1 is not of type \
         \"string\"; `enum` must be one of [{\"type\":1},\"a\"], not \"b\"; `more` is not known here.",
    );
}

#[test]
fn recursion_through_a_deep_input_is_given_up() {
    let nested = |name: &str| {
        let mut input = json!({ "wrong": 1 });
        for _ in 0..100 {
            input = json!({ name: input });
        }
        input
    };
    let again = json!({ "$ref": "#" });
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let schema = json!({
            "properties": { "a": { keyword: [again, again] }, "wrong": false },
        });
        let began = Instant::now();
        let said = said(schema, &nested("a"));
        assert_ne!(said, "fits", "{keyword}");
        assert!(began.elapsed() < BOUND, "{keyword}");
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "a": { "if": again, "then": again, "else": { "not": again } } },
        "unevaluatedProperties": { "anyOf": [again, { "not": again }] },
    });
    let began = Instant::now();
    said(schema, &nested("b"));
    assert!(began.elapsed() < BOUND);
}

#[test]
fn schemas_that_take_for_ever_to_compile_are_not_checked_with() {
    // Each way through them is compiled on its own.
    let mut resources = Map::new();
    for level in 0..30 {
        let [left, right] = ["a", "b"].map(|side| {
            let next = format!("http://localhost/{}{side}", level + 1);
            json!({ "$ref": next })
        });
        for side in ["a", "b"] {
            let id = format!("http://localhost/{level}{side}");
            resources.insert(id.clone(), json!({ "$id": id, "allOf": [left, right] }));
        }
    }
    for side in ["a", "b"] {
        let id = format!("http://localhost/30{side}");
        resources.insert(id.clone(), json!({ "$id": id, "type": "object" }));
    }
    let schema = json!({ "$defs": resources, "$ref": "http://localhost/0a", "required": ["x"] });
    check_in_time(schema, json!({}), "fits");

    let mut deep = json!({ "required": ["x"] });
    for _ in 0..400 {
        deep = json!({ "allOf": [deep] });
    }
    check_in_time(deep, json!({}), "fits");
    let wide: Vec<Value> = (0..200_000).map(Value::from).collect();
    check_in_time(json!({ "enum": wide }), json!({}), "fits");
}

#[test]
fn large_schemas_are_checked_with() {
    let mut definitions = Map::new();
    for number in 0..300 {
        let next = format!("#/$defs/d{}", number + 1);
        definitions.insert(format!("d{number}"), json!({ "$ref": next }));
    }
    definitions.insert("d300".into(), json!({ "required": ["x"] }));
    let schema = json!({ "$defs": definitions, "$ref": "#/$defs/d0" });
    check_in_time(
        schema,
        json!({ "a": 1 }),
        "The input does not fit the tool's schema: `x` is missing.",
    );
    // Eight definitions deep inside each other, each as deep as can be.
    let mut definitions = Map::new();
    for number in 0..12 {
        let mut definition = json!({ "$ref": format!("#/$defs/d{}", number + 1) });
        for _ in 0..48 {
            definition = json!({ "not": { "not": definition } });
        }
        definitions.insert(format!("d{number}"), definition);
    }
    definitions.insert("d12".into(), json!({ "required": ["x"] }));
    let schema = json!({ "$defs": definitions, "$ref": "#/$defs/d0" });
    check_in_time(schema, json!({ "x": 1 }), "fits");
    let options: Vec<String> = (0..50_000).map(|number| format!("v{number}")).collect();
    let schema = json!({ "properties": { "a": { "enum": options } } });
    check_in_time(schema, json!({ "a": "v49999" }), "fits");
}

#[test]
fn large_inputs_are_checked_and_the_largest_refused() {
    let schema = json!({ "properties": { "rows": { "items": { "type": "string" } } } });
    check_in_time(
        schema.clone(),
        json!({ "rows": vec!["a"; 100_000] }),
        "fits",
    );
    check_in_time(
        schema.clone(),
        json!({ "rows": vec![1; 3] }),
        "The input does not fit the tool's schema: `rows.0`: 1 is not of type \"string\"; \
         `rows.1`: 1 is not of type \"string\"; `rows.2`: 1 is not of type \"string\".",
    );
    // The first of all those mistakes.
    check_in_time(
        schema.clone(),
        json!({ "rows": vec![1; 200_000] }),
        "The input does not fit the tool's schema: `rows.0`: 1 is not of type \"string\".",
    );
    check_in_time(schema, json!({ "rows": vec!["a"; 1_000_001] }), TOO_MUCH);

    // The path to each of the mistakes is a megabyte.
    let long = "x".repeat(1_000_000);
    let schema = json!({ "additionalProperties": { "items": { "type": "string" } } });
    let said = said(schema, &json!({ long: vec![1; 50_000] }));
    assert!(
        said.starts_with("The input does not fit the tool's schema: "),
        "{said}"
    );
    assert!(said.len() < 1000, "{said}");

    let mut branches: Vec<Value> = (0..2000).map(|size| json!({ "maxLength": size })).collect();
    branches.push(json!({}));
    let schema = json!({ "properties": { "rows": { "items": { "anyOf": branches } } } });
    check_in_time(
        schema,
        json!({ "rows": vec!["a".repeat(9000); 2_000] }),
        TOO_MUCH,
    );
}

#[test]
fn unique_items_are_found_without_comparing_all_with_all() {
    let unique = json!({ "properties": { "a": { "uniqueItems": true } } });
    let rows: Vec<Value> = (0..50_000)
        .map(|id| json!({ "kind": "row", "id": id }))
        .collect();
    check_in_time(unique.clone(), json!({ "a": rows }), "fits");
    check(
        unique.clone(),
        json!({ "a": [1, 2, "1", [], [[]], {}, null, true, 0] }),
        "fits",
    );
    for twice in [
        json!([1, 1.0]),
        json!([0, -0.0]),
        json!([{ "a": 1, "b": 2 }, { "b": 2.0, "a": 1 }]),
        json!([[1], [2], [1]]),
    ] {
        let said = said(unique.clone(), &json!({ "a": twice }));
        assert!(said.contains("has non-unique elements"), "{said}");
    }
    // All of them have the same hash.
    let alike: Vec<u64> = (0..2000)
        .flat_map(|block| (0..2000).map(move |step| (1 << 63) + block * 2048 + step))
        .take(900_000)
        .collect();
    check_in_time(unique, json!({ "a": alike }), TOO_MUCH);
    let options: Vec<Value> = (0..20_000).map(|number| json!([number])).collect();
    let schema = json!({ "properties": { "a": { "items": { "enum": options } } } });
    check_in_time(schema, json!({ "a": vec![[19_999]; 20_000] }), TOO_MUCH);
}

#[test]
fn patterns_are_checked_in_linear_time_or_not_at_all() {
    let text = |pattern: &str| json!({ "properties": { "a": { "pattern": pattern } } });
    check(text("^[a-z]+$"), json!({ "a": "abc" }), "fits");
    check(
        text("^[a-z]+$"),
        json!({ "a": "ABC" }),
        "The input does not fit the tool's schema: `a`: \"ABC\" does not match \"^[a-z]+$\".",
    );
    // Only an engine that tries again and again understands these.
    for pattern in ["^(?=a)", r"^(a)\1$", "(?<!b)c$"] {
        check(text(pattern), json!({ "a": "x" }), "fits");
        assert!(tenon_schema::pattern::is_regex(pattern), "{pattern}");
    }
    assert!(!tenon_schema::pattern::is_regex("("));
    // One that is none costs only itself.
    let schema = json!({ "properties": { "a": { "pattern": "(" } }, "required": ["a"] });
    let missing = "The input does not fit the tool's schema: `a` is missing.";
    let said = said(schema, &json!({}));
    assert!(said == missing || said == "fits", "{said}");

    let hostile = r"^(?:(?:(a|a)(?=\1|a|$))*b|a*)$";
    let schema = json!({ "properties": { "a": { "items": { "pattern": hostile } } } });
    check_in_time(
        schema,
        json!({ "a": vec!["a".repeat(30) + "c"; 40_000] }),
        "fits",
    );
    let hostile = "^(a+)+$";
    let schema = json!({ "properties": { "a": { "items": { "pattern": hostile } } } });
    let said = said_in_time(schema, json!({ "a": vec!["a".repeat(5000) + "c"; 1000] }));
    assert!(said.starts_with("The input does not fit"), "{said}");
    // As many states as fit, for each letter.
    let hostile = "(?:a|b)*a(?:a|b){1500}c";
    said_in_time(text(hostile), json!({ "a": "ab".repeat(5_000_000) }));
    let schema = json!({ "properties": { "a": { "items": { "pattern": hostile } } } });
    said_in_time(schema, json!({ "a": vec!["ab".repeat(1000); 2000] }));
}

fn said_in_time(schema: Value, input: Value) -> String {
    let began = Instant::now();
    let said = said(schema, &input);
    assert!(began.elapsed() < BOUND, "it took {:?}", began.elapsed());
    said
}

#[test]
fn many_and_long_patterns_are_compiled_in_bounded_time() {
    let properties: Map<String, Value> = (0..2000)
        .map(|number| {
            let pattern = format!("^.{{1,{}}}$", 100 + number);
            (format!("p{number}"), json!({ "pattern": pattern }))
        })
        .collect();
    said_in_time(json!({ "properties": properties }), json!({ "p1": "a" }));
    for draft in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        let schema = json!({
            "$schema": draft,
            "properties": {
                "a": { "pattern": r"\cA".repeat(100_000) },
                "b": { "format": "regex" },
                "c": { "type": "string" },
            },
        });
        let input = json!({ "a": "x", "b": r"\cA".repeat(100_000), "c": 1 });
        let said = said_in_time(schema, input);
        assert_eq!(
            said,
            "The input does not fit the tool's schema: `c`: 1 is not of type \"string\"."
        );
    }
}

#[test]
fn patterns_for_names_are_checked_all_or_none() {
    let schema = |pattern: &str| {
        json!({
            "patternProperties": { pattern: { "type": "string" } },
            "additionalProperties": false,
        })
    };
    check(schema("^x-"), json!({ "x-a": "1" }), "fits");
    check(
        schema("^x-"),
        json!({ "x-a": 1, "y": 2 }),
        "The input does not fit the tool's schema: `x-a`: 1 is not of type \"string\"; `y` is not known here.",
    );
    check(schema("^(?=x)"), json!({ "x-a": 1, "y": 2 }), "fits");
    let patterns: Map<String, Value> = (0..60)
        .map(|number| {
            (
                format!("(?:a|b)*a(?:a|b){{{number}}}c"),
                json!({ "type": "string" }),
            )
        })
        .collect();
    let schema = json!({ "patternProperties": patterns });
    let input: Map<String, Value> = (0..200)
        .map(|number| (format!("{number}{}", "ab".repeat(50_000)), json!(1)))
        .collect();
    said_in_time(schema, Value::Object(input));
}

#[tokio::test]
async fn a_check_ends_when_nobody_wants_it_any_more() {
    let schema = schema(fan_out("allOf", 30, 4, json!({}))).await;
    let (user, cancel) = (&UserId::new("ada"), &CancellationToken::new());
    cancel.cancel();
    let checked = schema
        .check(&json!({}), ValidationContext { user, cancel })
        .await;
    let error = checked.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

#[tokio::test]
async fn other_work_goes_on_during_a_check() {
    let schema = schema(fan_out("allOf", 30, 4, json!({}))).await;
    let (user, cancel) = (&UserId::new("ada"), &CancellationToken::new());
    let (behalf, input) = (ValidationContext { user, cancel }, json!({}));
    let checks = futures::future::join_all((0..4).map(|_| schema.check(&input, behalf)));
    let mut longest = Duration::ZERO;
    let ticks = async {
        loop {
            let began = Instant::now();
            tokio::time::sleep(Duration::from_millis(5)).await;
            longest = longest.max(began.elapsed());
        }
    };
    let checked = tokio::select! {
        checked = checks => checked,
        () = ticks => unreachable!("it goes on for ever"),
    };
    assert!(checked.iter().all(Result::is_err));
    assert!(longest < Duration::from_secs(1), "{longest:?}");
}

#[tokio::test]
async fn whoever_has_many_checks_to_do_waits_for_their_own() {
    let schema = schema(fan_out("allOf", 30, 4, json!({}))).await;
    let (ada, bob) = (&UserId::new("ada"), &UserId::new("bob"));
    let (cancel, input) = (&CancellationToken::new(), json!({}));
    let checked = |user| schema.check(&input, ValidationContext { user, cancel });
    let hers = async {
        let mut hers: futures::stream::FuturesUnordered<_> = (0..6).map(|_| checked(ada)).collect();
        let mut done = 0;
        while hers.next().await.is_some() {
            done += 1;
            if done == 4 {
                break;
            }
        }
    };
    let his = async {
        tokio::task::yield_now().await;
        checked(bob).await
    };
    tokio::select! {
        () = hers => panic!("four of hers came before the only one of his"),
        his = his => assert!(his.is_err()),
    }
}
