//! Whatever comes in: no panic, and what comes out keeps the rules.

use proptest::prelude::{Just, Strategy, any, prop};
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use crate::schema::{Dialect, MAX_NODES, compile, inspect};

/// Words that make schemas happen, and some that do not.
const WORDS: &str = "\
    type properties required items prefixItems additionalItems anyOf oneOf allOf not enum \
    const default description title format pattern minimum maximum exclusiveMinimum \
    exclusiveMaximum multipleOf minLength maxItems uniqueItems additionalProperties \
    patternProperties nullable $ref $defs definitions $anchor $id id object array string null \
    int a b # #/$defs/a #/properties/a #a http://x größe date";

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.split(' ').collect::<Vec<_>>()).prop_map(String::from);
    let text = prop_oneof![9 => word, 1 => any::<String>()];
    let leaf = prop_oneof![
        4 => text.clone().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(json!({})),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(8, 96, 6, move |inner| {
        let object = prop::collection::btree_map(text.clone(), inner.clone(), 0..6);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..5).prop_map(Value::from),
            3 => object.prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Well-formed more often than not, so that more of it is compiled to the end.
fn any_schema() -> impl Strategy<Value = Value> {
    let reference = prop::sample::select(["#", "#/$defs/a", "#/$defs/b", "#a"].as_slice());
    let kind = prop::sample::select(["object", "array", "string", "null", "int", "any"].as_slice());
    let leaf = prop_oneof![
        2 => reference.prop_map(|to| json!({"$ref": to})),
        3 => kind.prop_map(|kind| json!({"type": kind})),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({"properties": {"a": {}}, "enum": [1, {"$ref": 1}]})),
    ];
    let schema = leaf.prop_recursive(5, 48, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::btree_map(
            prop::sample::select(["a", "b", "$ref"].as_slice()),
            inner.clone(),
            0..3,
        );
        let names = prop::collection::vec(prop::sample::select(["a", "b", "c"].as_slice()), 0..3);
        let lists =
            prop::sample::select(["anyOf", "oneOf", "allOf", "prefixItems", "items"].as_slice());
        let singles = prop::sample::select(
            ["items", "additionalProperties", "additionalItems", "not"].as_slice(),
        );
        let keyword = prop_oneof![
            (lists, list).prop_map(|(keyword, list)| json!({keyword: list})),
            (singles, inner.clone()).prop_map(|(keyword, schema)| json!({keyword: schema})),
            (named, names)
                .prop_map(|(named, names)| json!({"properties": named, "required": names})),
            any::<bool>().prop_map(|nullable| json!({"nullable": nullable})),
            inner,
        ];
        prop::collection::vec(keyword, 1..4).prop_map(|parts| {
            let entries = parts
                .into_iter()
                .filter_map(|part| part.as_object().cloned());
            Value::Object(entries.flatten().collect())
        })
    });
    (schema.clone(), schema.clone(), schema).prop_map(|(root, mut a, b)| {
        if let Value::Object(a) = &mut a {
            a.insert("$anchor".into(), json!("a"));
        }
        let mut root = root.as_object().cloned().unwrap_or_default();
        root.insert("$defs".into(), json!({"a": a, "b": b}));
        Value::Object(root)
    })
}

const ALLOWED: &str = "\
    type title description properties required items enum anyOf default format pattern minimum \
    maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems \
    uniqueItems additionalProperties";

/// Panics at the first thing that no provider should see.
fn check_words(schema: &Value) {
    let Value::Object(keywords) = schema else {
        panic!("{schema} is no schema");
    };
    for (keyword, value) in keywords {
        assert!(ALLOWED.split(' ').any(|word| word == keyword), "{keyword}");
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values().for_each(check_words),
            ("anyOf", Value::Array(branches)) => {
                assert!(branches.len() > 1, "{schema}");
                branches.iter().for_each(check_words);
            }
            ("required", Value::Array(names)) => {
                let properties = keywords.get("properties").unwrap();
                assert!(
                    names
                        .iter()
                        .all(|name| properties.get(name.as_str().unwrap()).is_some()),
                    "{schema}"
                );
            }
            ("enum", Value::Array(values)) => assert!(!values.is_empty()),
            ("items" | "additionalProperties", Value::Object(_)) => check_words(value),
            ("additionalProperties", Value::Bool(_)) => {}
            (
                "properties" | "anyOf" | "required" | "enum" | "items" | "additionalProperties",
                _,
            ) => {
                panic!("{keyword} in {schema}");
            }
            _ => {}
        }
    }
    let says = |kind: &str| {
        keywords.get("type").is_some_and(|output| {
            output == kind
                || output
                    .as_array()
                    .is_some_and(|names| names.iter().any(|name| name == kind))
        })
    };
    assert!(
        !says("object") || keywords.contains_key("properties"),
        "{schema}"
    );
    assert!(!says("array") || keywords.contains_key("items"), "{schema}");
}

fn check_anything(
    schema: &Value,
    dialect: Dialect,
) -> Result<(), proptest::test_runner::TestCaseError> {
    let Ok(compiled) = compile(schema, dialect) else {
        return Ok(());
    };
    prop_assert_eq!(&compiled["type"], "object");
    prop_assert!(compiled["properties"].is_object());
    check_words(&compiled);
    let mut nodes = 0;
    prop_assert_eq!(inspect(&compiled, dialect, &mut nodes), Ok(()));
    prop_assert!(nodes <= MAX_NODES);
    prop_assert_eq!(compile(&compiled, dialect), Ok(compiled));
    Ok(())
}

proptest! {
    #[test]
    fn anything_is_a_fault_or_a_schema_that_stays_the_same(value in any_json()) {
        let inside = json!({"properties": {"a": &value, "b": {"items": &value}}, "$defs": {"a": &value}});
        for schema in [value, inside] {
            check_anything(&schema, Dialect::OPENAI)?;
            check_anything(&schema, Dialect::ANTHROPIC)?;
        }
    }

    #[test]
    fn any_schema_is_a_fault_or_one_that_stays_the_same(schema in any_schema()) {
        check_anything(&schema, Dialect::OPENAI)?;
        check_anything(&schema, Dialect::ANTHROPIC)?;
    }
}
