//! Schemas that mean harm: nothing overflows, nothing takes long.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::schema::{Dialect, MAX_BYTES, compile};

const TOO_LARGE: &str = "its input schema is too large";
const TOO_DEEP: &str = "its input schema is nested too deep";

/// Runs on a small stack, and says so when it takes long.
#[track_caller]
fn check_hostile(schema: Value, expected: Result<(), &str>) {
    let begun = Instant::now();
    let compiling = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || {
            let compiled = compile(&schema, Dialect::OPENAI);
            // Dropping it is as deep as it is, and none of our business here.
            std::mem::forget(schema);
            compiled
                .map(|compiled| assert!(compiled.to_string().len() <= MAX_BYTES))
                .map_err(|error| error.to_string())
        });
    assert_eq!(
        compiling.unwrap().join().unwrap(),
        expected.map_err(String::from)
    );
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

/// Every definition says the next one twice, in the way given.
fn bomb(twice: impl Fn(Value) -> Value) -> Value {
    let definition = |i: usize| {
        (
            format!("d{i}"),
            twice(json!({"$ref": format!("#/$defs/d{}", i + 1)})),
        )
    };
    let mut definitions: Map<String, Value> = (0..40).map(definition).collect();
    definitions.insert("d40".into(), json!({"type": "string"}));
    json!({"properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
}

#[test]
fn bombs_do_not_go_off() {
    check_hostile(
        bomb(|next| json!({"properties": {"a": next, "b": next}})),
        Err(TOO_LARGE),
    );
    check_hostile(
        bomb(|next| json!({"anyOf": [next, {"items": next}]})),
        Err(TOO_LARGE),
    );
    check_hostile(bomb(|next| json!({"allOf": [next, next]})), Err(TOO_LARGE));
    check_hostile(bomb(|next| json!({"items": [next, next]})), Err(TOO_LARGE));
    check_hostile(
        bomb(|next| json!({"properties": {"a": next, "b": {"$ref": "#"}}})),
        Ok(()),
    );
    // Few references to much.
    let many = |target: Value| {
        let all: Map<String, Value> = (0..2000)
            .map(|i| (format!("p{i}"), json!({"$ref": "#/$defs/a"})))
            .collect();
        json!({"properties": all, "$defs": {"a": target}})
    };
    let megabyte = "x".repeat(1_000_000);
    let names: Vec<String> = (0..100_000).map(|i| format!("n{i}")).collect();
    check_hostile(many(json!({"description": megabyte})), Err(TOO_LARGE));
    check_hostile(
        many(json!({"description": "\0".repeat(1_000_000)})),
        Err(TOO_LARGE),
    );
    check_hostile(many(json!({"default": megabyte})), Err(TOO_LARGE));
    check_hostile(many(json!({"enum": names})), Err(TOO_LARGE));
    check_hostile(many(json!({"required": names})), Err(TOO_LARGE));
    check_hostile(
        many(json!({"type": names, "format": megabyte, "pattern": megabyte})),
        Ok(()),
    );
    check_hostile(many(json!({"properties": {megabyte: {}}})), Err(TOO_LARGE));
    check_hostile(json!({"description": "x".repeat(10_000_000)}), Ok(()));
    check_hostile(json!({"$ref": "#".repeat(10_000_000)}), Err(TOO_LARGE));
}

#[test]
fn depth_is_bounded() {
    let nested = |keyword: &str, depth: usize| {
        let wrap = |inner, _| Value::Object(Map::from_iter([(keyword.to_owned(), inner)]));
        (0..depth).fold(json!({}), wrap)
    };
    for keyword in ["items", "additionalProperties", "default", "$defs", "x"] {
        check_hostile(nested(keyword, 10_000), Err(TOO_DEEP));
        check_hostile(nested(keyword, 99), Ok(()));
        check_hostile(nested(keyword, 100), Err(TOO_DEEP));
    }
    let arrays = (0..10_000).fold(json!([]), |inner, _| Value::Array(vec![inner]));
    check_hostile(
        Value::Object(Map::from_iter([("default".into(), arrays)])),
        Err(TOO_DEEP),
    );
    // A long way without getting anywhere, and one that gets deep by references alone.
    let chain = |link: fn(String) -> Value| {
        let mut links: Map<String, Value> = (0..4000)
            .map(|i| (format!("d{i}"), link(format!("#/$defs/d{}", i + 1))))
            .collect();
        links.insert("d4000".into(), json!({}));
        json!({"$ref": "#/$defs/d0", "$defs": links})
    };
    check_hostile(chain(|next| json!({"$ref": next})), Err(TOO_DEEP));
    check_hostile(
        chain(|next| json!({"properties": {"a": {"$ref": next}}})),
        Err(TOO_DEEP),
    );
    check_hostile(
        chain(|next| json!({"allOf": [{"$ref": next}]})),
        Err(TOO_DEEP),
    );
}
