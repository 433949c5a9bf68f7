mod anything;
mod hostile;

use serde_json::{Map, Value, json};

use super::{Dialect, compile, describe};

/// The dialects agree on all that is neither long nor strange.
#[track_caller]
fn check(schema: Value, expected: Value) {
    assert_eq!(compile(&schema, Dialect::OPENAI), Ok(expected.clone()));
    assert_eq!(compile(&schema, Dialect::ANTHROPIC), Ok(expected.clone()));
    assert_eq!(compile(&expected, Dialect::OPENAI), Ok(expected), "again");
}

/// The schema as that of a property, with these definitions beside it.
#[track_caller]
fn check_inside(schema: Value, definitions: Value, expected: Value) {
    check(
        json!({"properties": {"p": schema}, "$defs": definitions}),
        json!({"type": "object", "properties": {"p": expected}}),
    );
}

#[track_caller]
fn check_property(schema: Value, expected: Value) {
    check_inside(schema, json!({}), expected);
}

#[track_caller]
fn check_fault(schema: Value, expected: &str) {
    let error = compile(&schema, Dialect::OPENAI).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

const ENDLESS: &str = "its input schema refers to itself endlessly";
const NO_OBJECT: &str = "its input is not an object";

#[test]
fn the_root_is_an_object_with_properties() {
    let empty = json!({"type": "object", "properties": {}});
    check(json!({}), empty.clone());
    check(json!(true), empty.clone());
    check(json!(null), empty.clone());
    check(json!({"type": "object"}), empty.clone());
    check(json!({"type": "any"}), empty.clone());
    check(json!({"type": ["object", "null"]}), empty.clone());
    check(json!({"type": "object", "nullable": true}), empty.clone());
    check(
        json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
        empty.clone(),
    );
    check(json!({"enum": [{"a": 1}]}), empty.clone());
    check(
        json!({"const": {}, "not": {"required": ["a"]}, "default": {}}),
        empty.clone(),
    );
    check(
        json!({"properties": 5, "required": "x", "description": {}}),
        empty,
    );
    check(
        json!({"properties": {"a": {}}, "title": "T", "description": "D", "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {}}, "title": "T", "description": "D", "additionalProperties": false}),
    );
}

#[test]
fn what_can_be_no_object_is_no_input() {
    check_fault(json!(false), NO_OBJECT);
    check_fault(json!({"type": "string"}), NO_OBJECT);
    check_fault(json!({"type": ["array", "null"]}), NO_OBJECT);
    check_fault(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        NO_OBJECT,
    );
    check_fault(json!({"anyOf": [false]}), NO_OBJECT);
    check_fault(json!({"allOf": [{}, false]}), NO_OBJECT);
    check_fault(
        json!({"$ref": "#/$defs/no", "$defs": {"no": false}}),
        NO_OBJECT,
    );
    check_fault(json!([]), "its input schema is not a JSON Schema");
    check_fault(json!("object"), "its input schema is not a JSON Schema");
}

#[test]
fn alternatives_at_the_root_become_one_object() {
    // The same property in two forms, and one that only one has.
    check(
        json!({"oneOf": [
            {"properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind", "x"]},
            {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        ]}),
        json!({"type": "object", "properties": {"kind": {"anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, "x": {}},
               "required": ["kind"]}),
    );
    // The same form twice is one form.
    check(
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "str"}}}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
    );
    // What the root says itself stands.
    check(
        json!({"properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["c"],
               "anyOf": [{"required": ["a", "b"]}, {"required": ["a"]}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["c", "a"]}),
    );
    // A branch that is no object is none.
    check(
        json!({"anyOf": [{"type": "null"}, {"properties": {"a": {}}, "required": ["a"], "description": "D"}]}),
        json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "description": "D"}),
    );
    // Branches of branches.
    check(
        json!({"anyOf": [{"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"properties": {"c": {}}}]}),
        json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}),
    );
    check(
        json!({"anyOf": [{"properties": {"a": {}}, "additionalProperties": false},
                         {"properties": {"b": {}}, "additionalProperties": false}]}),
        json!({"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": false}),
    );
    check(
        json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]},
                         {"properties": {"a": {"minLength": 1}, "b": {}}, "required": ["b", "a"]}],
               "properties": {"c": {}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "b": {}, "c": {}},
               "required": ["a", "b"]}),
    );
}

#[test]
fn references_are_written_out() {
    let defs = json!({"a": {"type": "string", "description": "A"}, "b": {"$ref": "#/$defs/a"},
                      "a/b~c d": {"type": "integer"}});
    let inside = |schema: Value, expected: Value| check_inside(schema, defs.clone(), expected);
    inside(
        json!({"$ref": "#/$defs/a"}),
        json!({"type": "string", "description": "A"}),
    );
    inside(
        json!({"$ref": "#/$defs/b"}),
        json!({"type": "string", "description": "A"}),
    );
    inside(
        json!({"$ref": "#/$defs/a", "description": "mine", "default": "x"}),
        json!({"type": "string", "description": "mine", "default": "x"}),
    );
    inside(
        json!({"$ref": "#/$defs/a~1b~0c%20d"}),
        json!({"type": "integer"}),
    );
    inside(
        json!({"$ref": "#/$defs/a~1b~0c d"}),
        json!({"type": "integer"}),
    );
}

#[test]
fn references_find_anchors_and_addresses() {
    check(
        json!({"$id": "http://me/", "properties": {
            "a": {"$ref": "#here"}, "b": {"$ref": "#there"}, "c": {"$ref": "http://x/y"},
            "d": {"$ref": "http://me/#/definitions/e"}},
            "definitions": {"n": {"$anchor": "here", "type": "number"}, "o": {"$id": "#there", "type": "array"},
                            "y": {"$id": "http://x/y", "type": "boolean"}, "e": {"type": "integer"},
                            "v": {"default": {"$anchor": "here"}}}}),
        json!({"type": "object", "properties": {
            "a": {"type": "number"}, "b": {"type": "array", "items": {}}, "c": {"type": "boolean"},
            "d": {"type": "integer"}}}),
    );
}

#[test]
fn references_that_lead_nowhere_or_away_are_faults() {
    let error = |reference: &str, expected: &str| {
        check_fault(
            json!({"properties": {"a": {"items": {"$ref": reference}}}, "title": "T"}),
            expected,
        );
    };
    error(
        "#/$defs/x",
        "its input schema refers to `#/$defs/x`, which does not exist",
    );
    error(
        "#/title",
        "its input schema refers to `#/title`, which does not exist",
    );
    error(
        "#anchor",
        "its input schema refers to `#anchor`, which does not exist",
    );
    error(
        "#/%FF",
        "its input schema refers to `#/%FF`, which does not exist",
    );
    error(
        "http://x/y#/z",
        "its input schema refers to `http://x/y#/z`, which is not part of it",
    );
    error(
        "file:///etc/passwd",
        "its input schema refers to `file:///etc/passwd`, which is not part of it",
    );
    error(
        "other.json",
        "its input schema refers to `other.json`, which is not part of it",
    );
    // What is never used may lead anywhere.
    check(
        json!({"$defs": {"a": {"$ref": "#/nowhere"}}, "not": {"$ref": "http://x"}}),
        json!({"type": "object", "properties": {}}),
    );
}

#[test]
fn what_contains_itself_is_repeated_a_little() {
    check(
        json!({"description": "A node", "properties": {"next": {"$ref": "#", "description": "The next"}}, "required": ["next"]}),
        json!({"type": "object", "description": "A node", "required": ["next"], "properties": {
            "next": {"type": "object", "description": "The next", "required": ["next"], "properties": {
                "next": {"type": "object", "description": "The next", "properties": {}}}}}}),
    );
    // Mutual.
    check(
        json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {
            "a": {"type": "array", "items": {"$ref": "#/$defs/b"}, "description": "A"},
            "b": {"additionalProperties": {"$ref": "#/$defs/a"}, "description": "B"}}}),
        json!({"type": "object", "properties": {"a": {
            "type": "array", "description": "A", "items": {
                "description": "B", "additionalProperties": {
                    "type": "array", "description": "A", "items": {
                        "description": "B", "additionalProperties": {
                            "type": "array", "description": "A", "items": {}}}}}}}}),
    );
    check_fault(json!({"$ref": "#"}), ENDLESS);
    check_fault(json!({"allOf": [{"$ref": "#"}]}), ENDLESS);
    check_fault(json!({"anyOf": [{"$ref": "#"}, {}]}), ENDLESS);
    check_fault(
        json!({"properties": {"p": {"$ref": "#/$defs/a"}},
               "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"oneOf": [{"$ref": "#/$defs/a"}]}}}),
        ENDLESS,
    );
}

#[test]
fn too_much_repeating_is_tried_with_less() {
    // Eighty ways to go on from every node: twice is too much, once is not.
    let ways: Map<String, Value> = (0..80)
        .map(|i| (format!("way{i}"), json!({"$ref": "#"})))
        .collect();
    let compiled = compile(&json!({"properties": ways}), Dialect::OPENAI).unwrap();
    assert_eq!(
        compiled["properties"]["way0"],
        json!({"type": "object", "properties": {}})
    );
}

#[test]
fn objects_and_arrays_are_completed() {
    check_property(
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
    );
    check_property(
        json!({"properties": {}}),
        json!({"type": "object", "properties": {}}),
    );
    check_property(
        json!({"type": "array"}),
        json!({"type": "array", "items": {}}),
    );
    check_property(json!({"items": {}}), json!({"type": "array", "items": {}}));
    check_property(
        json!({"type": "array", "items": false}),
        json!({"type": "array", "items": {}}),
    );
    check_property(
        json!({"type": "array", "items": 5}),
        json!({"type": "array", "items": {}}),
    );
    check_property(
        json!({"type": ["object", "array", "null"]}),
        json!({"type": ["object", "array", "null"], "properties": {}, "items": {}}),
    );
}

#[test]
fn tuples_become_lists() {
    let either =
        json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}});
    check_property(
        json!({"items": [{"type": "string"}, {"type": "integer"}]}),
        either.clone(),
    );
    check_property(
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        either.clone(),
    );
    check_property(
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
        either.clone(),
    );
    check_property(
        json!({"items": [{"type": "string"}, false], "additionalItems": {"type": "integer"}}),
        either,
    );
    check_property(
        json!({"prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2}),
        json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
    );
    check_property(
        json!({"type": "array", "items": []}),
        json!({"type": "array", "items": {}}),
    );
}

#[test]
fn booleans_are_schemas() {
    check(
        json!({"properties": {"a": true, "b": false, "c": 5, "d": null}, "required": ["a", "b", "a", "z", 1]}),
        json!({"type": "object", "properties": {"a": {}, "c": {}, "d": {}}, "required": ["a"]}),
    );
    check_property(
        json!({"anyOf": [true, {"type": "null"}]}),
        json!({"anyOf": [{}, {"type": "null"}]}),
    );
    check_property(
        json!({"anyOf": [false, {"type": "null"}]}),
        json!({"type": "null"}),
    );
    for never in [json!({"anyOf": [false]}), json!({"allOf": [false]})] {
        check(
            json!({"properties": {"p": never}, "required": ["p"]}),
            json!({"type": "object", "properties": {}}),
        );
    }
}

#[test]
fn types_have_seven_names() {
    let says = |name: &str, expected: &str| {
        check_property(json!({"type": name}), json!({"type": expected}))
    };
    says("int", "integer");
    says("Integer", "integer");
    says("float", "number");
    says("bool", "boolean");
    says("str", "string");
    says("STRING", "string");
    says("None", "null");
    check_property(
        json!({"type": "dict"}),
        json!({"type": "object", "properties": {}}),
    );
    check_property(
        json!({"type": "list"}),
        json!({"type": "array", "items": {}}),
    );
    check_property(json!({"type": "any"}), json!({}));
    check_property(json!({"type": "file"}), json!({}));
    check_property(json!({"type": 12}), json!({}));
    check_property(json!({"type": []}), json!({}));
    check_property(
        json!({"type": ["str", "string", {}, "x"]}),
        json!({"type": "string"}),
    );
    check_property(
        json!({"type": ["string", "null"]}),
        json!({"type": ["string", "null"]}),
    );
}

#[test]
fn nullable_is_said_with_types() {
    check_property(
        json!({"type": "string", "nullable": true}),
        json!({"type": ["string", "null"]}),
    );
    check_property(
        json!({"type": "string", "nullable": false}),
        json!({"type": "string"}),
    );
    check_property(
        json!({"type": ["string", "null"], "nullable": true}),
        json!({"type": ["string", "null"]}),
    );
    check_property(
        json!({"type": "null", "nullable": true}),
        json!({"type": "null"}),
    );
    check_property(json!({"nullable": true}), json!({}));
    check_property(
        json!({"properties": {}, "nullable": true}),
        json!({"type": ["object", "null"], "properties": {}}),
    );
    check_property(
        json!({"type": "string", "enum": ["a"], "nullable": true}),
        json!({"type": ["string", "null"], "enum": ["a", null]}),
    );
    check_property(
        json!({"oneOf": [{"type": "string"}, {"type": "integer"}], "nullable": true}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
    );
    check_inside(
        json!({"$ref": "#/$defs/a", "nullable": true}),
        json!({"a": {"type": "integer"}}),
        json!({"type": ["integer", "null"]}),
    );
    check_inside(
        json!({"allOf": [{"$ref": "#/$defs/a"}], "nullable": true}),
        json!({"a": {"type": "integer"}}),
        json!({"type": ["integer", "null"]}),
    );
}

#[test]
fn parts_and_alternatives_are_made_simple() {
    let types = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    check_property(
        json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
        types.clone(),
    );
    check_property(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "str"}, 5]}),
        types,
    );
    check_property(
        json!({"anyOf": [], "oneOf": [], "allOf": [], "enum": [], "required": []}),
        json!({}),
    );
    check_property(
        json!({"anyOf": {}, "oneOf": 1, "allOf": "x", "enum": 7}),
        json!({}),
    );
    check_property(
        json!({"anyOf": [{"type": "string"}], "description": "D"}),
        json!({"type": "string", "description": "D"}),
    );
    check_property(
        json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": "object", "properties": {}}),
    );
    check_property(
        json!({"allOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}, {"if": {}}]}),
        json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}),
    );
    check_property(json!({"const": 1, "enum": [1, 2]}), json!({"enum": [1]}));
    check_property(json!({"const": null}), json!({"enum": [null]}));
    check_property(
        json!({"enum": ["a", "b", "a"]}),
        json!({"enum": ["a", "b"]}),
    );
}

#[test]
fn numbers_are_kept_where_they_mean_something() {
    check_property(
        json!({"minimum": 1, "exclusiveMinimum": true}),
        json!({"exclusiveMinimum": 1}),
    );
    check_property(
        json!({"maximum": 1.5, "exclusiveMaximum": false}),
        json!({"maximum": 1.5}),
    );
    check_property(json!({"exclusiveMaximum": true}), json!({}));
    check_property(
        json!({"minimum": 0, "exclusiveMinimum": 1}),
        json!({"minimum": 0, "exclusiveMinimum": 1}),
    );
    check_property(json!({"minimum": "0", "maximum": null}), json!({}));
    check_property(json!({"multipleOf": 0.5}), json!({"multipleOf": 0.5}));
    check_property(json!({"multipleOf": 0}), json!({}));
    check_property(
        json!({"minLength": 1, "maxLength": 2, "minItems": 3, "maxItems": 4, "uniqueItems": true}),
        json!({"minLength": 1, "maxLength": 2, "minItems": 3, "maxItems": 4, "uniqueItems": true}),
    );
    check_property(
        json!({"minLength": -1, "maxLength": 1.5, "minItems": "1", "uniqueItems": 1}),
        json!({}),
    );
}

#[test]
fn only_known_words_survive() {
    check_property(
        json!({"$comment": "c", "x-internal": 1, "examples": ["a"], "example": "a", "readOnly": true, "deprecated": true,
               "if": {}, "then": {}, "contains": {}, "propertyNames": {}, "contentEncoding": "base64", "$id": "i"}),
        json!({}),
    );
    check_property(
        json!({"format": "date-time"}),
        json!({"format": "date-time"}),
    );
    check_property(json!({"format": "int32"}), json!({}));
    check_property(json!({"pattern": "^a+$"}), json!({"pattern": "^a+$"}));
    check_property(json!({"pattern": "^(?!a)"}), json!({}));
    check_property(json!({"pattern": 5, "format": []}), json!({}));
    check_property(
        json!({"additionalProperties": true}),
        json!({"additionalProperties": true}),
    );
    check_property(json!({"additionalProperties": 5}), json!({}));
    check_property(
        json!({"type": "object", "additionalProperties": {"type": "str", "x": 1}}),
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
    );
    check_property(
        json!({"type": "object", "patternProperties": {"^x": {"type": "int"}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}),
    );
    check_property(
        json!({"type": "object", "patternProperties": {"^x": {}, "^y": {}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {}}),
    );
}

#[test]
fn names_are_no_keywords() {
    let names = json!({"$ref": {"type": "string"}, "$id": {}, "type": {"type": "string"}, "required": {"type": "boolean"},
                       "properties": {"type": "object", "properties": {"$ref": {}}}, "anyOf": {}, "enum": {}, "nullable": {}});
    let schema = json!({"type": "object", "properties": names, "required": ["$ref", "type"]});
    assert_eq!(compile(&schema, Dialect::OPENAI), Ok(schema));
}

#[test]
fn values_are_left_alone() {
    let value = json!({"$ref": "#/nowhere", "type": "int", "oneOf": []});
    let output = json!({"enum": [value], "default": value});
    // The provider that minds names minds those of properties only.
    check_property(output.clone(), output);
}

#[test]
fn descriptions_are_short_and_readable() {
    let cut = |max: usize| format!("{}…", "ä".repeat(max - 1));
    let long = json!({"description": "ä".repeat(5000), "properties": {"p": {"description": "ä".repeat(5000)}}});
    for (dialect, max) in [(Dialect::OPENAI, 1024), (Dialect::ANTHROPIC, 4096)] {
        let expected = json!({"type": "object", "description": cut(max), "properties": {"p": {"description": cut(max)}}});
        assert_eq!(compile(&long, dialect), Ok(expected));
    }
    check_property(
        json!({"description": "a\0b\r\n\tc\u{1b}\u{7f}"}),
        json!({"description": "ab\n\tc"}),
    );
    check_property(json!({"description": "\0", "title": 5}), json!({}));
    let three = Dialect {
        max_description: 3,
        ..Dialect::OPENAI
    };
    assert_eq!(describe("ab\0c", three), "abc");
}

#[test]
fn a_small_model_is_told_the_first_sentence() {
    for (text, expected) in [
        ("Adds numbers. Call it often.", "Adds numbers."),
        ("Adds numbers.\nCall it often.", "Adds numbers."),
        (" Adds numbers\nExample: 1", "Adds numbers"),
        ("A city, e.g. Paris. Or a country.", "A city, e.g. Paris."),
        ("By J. Doe. Old.", "By J. Doe."),
        ("At version 2.5 or later", "At version 2.5 or later"),
        ("Knows + ! and mod. Exact.", "Knows + ! and mod."),
        ("Really? Yes.", "Really?"),
        ("读取文件。可以分页。", "读取文件。"),
        ("", ""),
    ] {
        assert_eq!(describe(text, Dialect::OPENAI.compact()), expected);
    }
    let long = "ä".repeat(5_000);
    let described = describe(&long, Dialect::OPENAI.compact());
    assert_eq!(described.chars().count(), 100);
    // A long sentence ends with its last clause that fits.
    let clauses = "Writes a text file, making folders as needed; what was in it is replaced unless `append` says otherwise.";
    let written = "Writes a text file, making folders as needed";
    assert_eq!(describe(clauses, Dialect::OPENAI.compact()), written);
    let chinese = format!("读取文件，{}。", "可以分页".repeat(40));
    assert_eq!(describe(&chinese, Dialect::OPENAI.compact()), "读取文件");
}

#[test]
fn a_small_model_is_told_what_it_needs_to_fill_in() {
    let schema = json!({"type": "object", "title": "Args", "properties": {
        "path": {"type": "string", "title": "Path", "description": "The file. Relative.", "examples": ["a"], "default": ""},
        "zone": {"type": "string", "description": "Where the time is known: a city or country in any language, or an offset."},
        "depth": {"type": "integer", "minimum": 1, "default": 3},
        "tags": {"type": "array", "items": {"type": "string", "title": "Tag"}, "default": []},
        "kind": {"enum": ["a", "b"], "default": null},
    }, "required": ["path"], "additionalProperties": false});
    assert_eq!(
        compile(&schema, Dialect::OPENAI.compact()),
        Ok(json!({"type": "object", "properties": {
            "path": {"type": "string", "description": "The file."},
            "zone": {"type": "string", "description": "Where the time is known: a city or country in any language"},
            "depth": {"type": "integer", "minimum": 1, "default": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["a", "b"]},
        }, "required": ["path"]})),
    );
}

#[test]
fn what_makes_no_grammar_is_not_sent_where_grammars_are_made() {
    let schema = json!({"type": "object", "properties": {
        "id": {"type": "string", "pattern": "^\\d+$", "maxLength": 2000, "minLength": 1},
        "ids": {"type": "array", "items": {}, "maxItems": 500}}});
    assert_eq!(compile(&schema, Dialect::ANTHROPIC), Ok(schema.clone()));
    assert_eq!(
        compile(&schema, Dialect::OPENAI),
        Ok(json!({"type": "object", "properties": {
            "id": {"type": "string", "minLength": 1},
            "ids": {"type": "array", "items": {}, "maxItems": 500}}})),
    );
}

#[test]
fn a_name_that_a_provider_refuses_costs_only_its_tool() {
    let refused = |name: &str| {
        let nested = json!({"properties": {"a": {"items": {"anyOf": [{}, {"additionalProperties": {"properties": {name: {}}}}]}}}});
        assert!(compile(&nested, Dialect::OPENAI).is_ok());
        compile(&nested, Dialect::ANTHROPIC)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("größe"),
        "the model's provider refuses the name of its property `größe`: \
         only A-Z, a-z, 0-9, `_`, `.` and `-` are allowed, at most 64 of them"
    );
    assert!(refused("").contains("``"));
    assert!(refused("a b").contains("`a b`"));
    assert!(refused("$filter").contains("`$filter`"));
    assert!(refused(&"a".repeat(65)).contains("aaa"));
    let fine = json!({"properties": {"a-Z_0.9": {}, "a".repeat(64): {}}});
    assert!(compile(&fine, Dialect::ANTHROPIC).is_ok());
    // A property that nobody will see may have any name.
    check(
        json!({"properties": {"größe": false}}),
        json!({"type": "object", "properties": {}}),
    );
}

#[test]
fn a_pydantic_server_stays_meaningful() {
    // FastMCP, as `def search(query: str, filter: Filter | None = None, sort: Sort = "new", …)`.
    check(
        json!({
            "$defs": {
                "Filter": {
                    "properties": {
                        "field": {"title": "Field", "type": "string"},
                        "op": {"allOf": [{"$ref": "#/$defs/Op"}], "default": "eq", "description": "How to compare"},
                        "value": {"anyOf": [{"type": "string"}, {"type": "number"}], "title": "Value"}
                    },
                    "required": ["field", "value"], "title": "Filter", "type": "object"
                },
                "Op": {"enum": ["eq", "ne"], "title": "Op", "type": "string"},
                "Tag": {"additionalProperties": false, "properties": {"name": {"type": "string", "maxLength": 20}},
                        "required": ["name"], "type": "object"}
            },
            "properties": {
                "query": {"description": "What to look for", "minLength": 1, "title": "Query", "type": "string"},
                "filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}], "default": null},
                "tags": {"default": [], "items": {"$ref": "#/$defs/Tag"}, "title": "Tags", "type": "array"}
            },
            "required": ["query"], "title": "searchArguments", "type": "object"
        }),
        json!({
            "properties": {
                "query": {"description": "What to look for", "minLength": 1, "title": "Query", "type": "string"},
                "filter": {"anyOf": [
                    {
                        "properties": {
                            "field": {"title": "Field", "type": "string"},
                            "op": {"enum": ["eq", "ne"], "title": "Op", "type": "string",
                                   "default": "eq", "description": "How to compare"},
                            "value": {"anyOf": [{"type": "string"}, {"type": "number"}], "title": "Value"}
                        },
                        "required": ["field", "value"], "title": "Filter", "type": "object"
                    },
                    {"type": "null"}
                ], "default": null},
                "tags": {"default": [], "items": {
                    "additionalProperties": false, "properties": {"name": {"type": "string", "maxLength": 20}},
                    "required": ["name"], "type": "object"
                }, "title": "Tags", "type": "array"}
            },
            "required": ["query"], "title": "searchArguments", "type": "object"
        }),
    );
}

#[test]
fn an_openapi_body_stays_meaningful() {
    check(
        json!({
            "type": "object",
            "properties": {
                "petId": {"type": "integer", "format": "int64", "minimum": 0, "exclusiveMinimum": true, "example": 10},
                "body": {"allOf": [
                    {"$ref": "#/components/schemas/Animal"},
                    {"type": "object", "required": ["tag"], "properties": {
                        "tag": {"type": "string", "nullable": true},
                        "owner": {"$ref": "#/components/schemas/Animal/properties/name"}}}
                ], "discriminator": {"propertyName": "kind"}}
            },
            "required": ["petId"],
            "components": {"schemas": {"Animal": {
                "type": "object", "required": ["name"], "xml": {"name": "animal"},
                "properties": {"name": {"type": "string", "example": "Rex"},
                               "born": {"type": "string", "format": "date", "readOnly": true}}}}}
        }),
        json!({
            "type": "object",
            "properties": {
                "petId": {"type": "integer", "exclusiveMinimum": 0},
                "body": {
                    "type": "object", "required": ["name", "tag"],
                    "properties": {
                        "name": {"type": "string"}, "born": {"type": "string", "format": "date"},
                        "tag": {"type": ["string", "null"]}, "owner": {"type": "string"}}
                }
            },
            "required": ["petId"]
        }),
    );
}

#[test]
fn a_zod_server_stays_meaningful() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
        "properties": {
            "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "mode": {"type": "string", "enum": ["r", "w"], "default": "r"},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "at": {"type": "array", "minItems": 2, "maxItems": 2, "items": [{"type": "number"}, {"type": "number"}]}
        },
        "required": ["paths"]
    });
    check(
        schema,
        json!({
            "type": "object", "additionalProperties": false,
            "properties": {
                "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "mode": {"type": "string", "enum": ["r", "w"], "default": "r"},
                "env": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
                "at": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}
            },
            "required": ["paths"]
        }),
    );
}
