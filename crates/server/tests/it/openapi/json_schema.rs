//! JSON Schema of types as `ts-rs` writes them in TypeScript.
//!
//! One derive gives the page its types and clients their schemas. Of TypeScript, this reads what
//! `ts-rs` writes: objects, unions, intersections, arrays, tuples, records, literals and names.

use serde_json::{Map, Value, json};

/// Where the schemas of named types stand.
pub(super) const SCHEMAS: &str = "#/components/schemas/";

/// The types of a file: names and schemas, in its order.
pub(super) fn declarations(file: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let declared = file.split("\nexport type ").skip(1);
    for declaration in declared {
        let (name, definition) = declaration.split_once(" = ").expect("a name, and a type");
        found.push((name.to_owned(), schema(definition)));
    }
    found
}

/// The schema of a type; what follows its end is not read.
pub(super) fn schema(typescript: &str) -> Value {
    Parser(typescript).union()
}

/// The rest of the text.
struct Parser<'a>(&'a str);

impl<'a> Parser<'a> {
    fn union(&mut self) -> Value {
        self.eat("|");
        let mut members = vec![self.intersection()];
        while self.eat("|") {
            members.push(self.intersection());
        }
        if members.len() == 1 {
            return members.remove(0);
        }
        let literals: Option<Vec<Value>> = members
            .iter()
            .map(|member| member.get("const").cloned())
            .collect();
        match literals {
            Some(literals) if literals.iter().all(Value::is_string) => {
                json!({"type": "string", "enum": literals})
            }
            _ => json!({ "anyOf": members }),
        }
    }

    fn intersection(&mut self) -> Value {
        let mut members = vec![self.postfix()];
        while self.eat("&") {
            members.push(self.postfix());
        }
        if members.len() == 1 {
            members.remove(0)
        } else {
            json!({ "allOf": members })
        }
    }

    fn postfix(&mut self) -> Value {
        let mut schema = self.primary();
        while self.eat("[]") {
            schema = json!({"type": "array", "items": schema});
        }
        schema
    }

    fn primary(&mut self) -> Value {
        if self.eat("(") {
            let inner = self.union();
            self.expect(")");
            return inner;
        }
        if self.eat("{") {
            return self.object();
        }
        if self.eat("[") {
            let members = self.list("]");
            let length = members.len();
            return json!({"type": "array", "prefixItems": members, "items": false, "minItems": length});
        }
        if self.0.starts_with('"') {
            return json!({"type": "string", "const": self.quoted()});
        }
        self.named()
    }

    /// After the opening brace.
    fn object(&mut self) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        loop {
            let docs = self.docs();
            if self.eat("}") {
                break;
            }
            if self.eat("[key in ") {
                return self.mapped();
            }
            let name = if self.0.starts_with('"') {
                self.quoted()
            } else {
                self.word().to_owned()
            };
            if !self.eat("?") {
                required.push(json!(name));
            }
            self.expect(":");
            let mut schema = self.union();
            if let Some(docs) = docs {
                schema = described(schema, docs);
            }
            properties.insert(name, schema);
            let _ = self.eat(",") || self.eat(";");
        }
        let mut object = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            object["required"] = Value::Array(required);
        }
        object
    }

    /// `string]: T }`
    fn mapped(&mut self) -> Value {
        self.union();
        self.expect("]");
        self.eat("?");
        self.expect(":");
        let values = self.union();
        let _ = self.eat(",") || self.eat(";");
        self.expect("}");
        json!({"type": "object", "additionalProperties": values})
    }

    fn named(&mut self) -> Value {
        let name = self.word();
        let arguments = if self.eat("<") {
            self.list(">")
        } else {
            Vec::new()
        };
        match (name, &arguments[..]) {
            ("string", []) => json!({"type": "string"}),
            ("number", []) => json!({"type": "number"}),
            ("bigint", []) => json!({"type": "integer"}),
            ("boolean", []) => json!({"type": "boolean"}),
            ("null", []) => json!({"type": "null"}),
            ("unknown" | "any" | "JsonValue", []) => json!({}),
            ("Array", [items]) => json!({"type": "array", "items": items}),
            ("Record", [_, values]) => json!({"type": "object", "additionalProperties": values}),
            ("" | "Array" | "Record", _) => panic!("no type: {:.60}", self.0),
            (name, []) => json!({"$ref": format!("{SCHEMAS}{name}")}),
            (name, _) => panic!("a generic type: {name}"),
        }
    }

    fn list(&mut self, end: &str) -> Vec<Value> {
        let mut members = Vec::new();
        while !self.eat(end) {
            members.push(self.union());
            self.eat(",");
        }
        members
    }

    fn docs(&mut self) -> Option<String> {
        if !self.eat("/**") {
            return None;
        }
        let (docs, rest) = self.0.split_once("*/").expect("a comment ends");
        self.0 = rest;
        let lines = docs
            .lines()
            .map(|line| line.trim().trim_start_matches('*').trim());
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        Some(lines.join(" "))
    }

    fn word(&mut self) -> &'a str {
        self.0 = self.0.trim_start();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = self.0.find(|c| !is_part(c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn quoted(&mut self) -> String {
        self.expect("\"");
        let (text, rest) = self.0.split_once('"').expect("a literal ends");
        self.0 = rest;
        text.to_owned()
    }

    fn eat(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "`{token}` is missing: {:.60}", self.0);
    }
}

fn described(mut schema: Value, docs: String) -> Value {
    schema["description"] = docs.into();
    schema
}

#[track_caller]
fn check(typescript: &str, expected: Value) {
    assert_eq!(schema(typescript), expected, "{typescript}");
}

#[test]
fn types_of_the_page_become_schemas() {
    check("string;", json!({"type": "string"}));
    check(
        "\"a\" | \"b\";",
        json!({"type": "string", "enum": ["a", "b"]}),
    );
    check(
        "Array<ChatId> | null;",
        json!({"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/ChatId"}}, {"type": "null"}]}),
    );
    check(
        "{ a: number, \n/**\n * Why.\n * So.\n */\nb?: unknown[], };",
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "number"},
                "b": {"type": "array", "items": {}, "description": "Why. So."},
            },
            "required": ["a"],
        }),
    );
    check(
        "{ \"kind\": \"x\" } & (A | B);",
        json!({"allOf": [
            {"type": "object", "properties": {"kind": {"type": "string", "const": "x"}}, "required": ["kind"]},
            {"anyOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]},
        ]}),
    );
    check(
        "Record<string, [string, bigint]>;",
        json!({"type": "object", "additionalProperties": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": false,
            "minItems": 2,
        }}),
    );
    check(
        "{ [key in string]: boolean };",
        json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
    );
}
