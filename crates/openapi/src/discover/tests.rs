use serde_json::json;

use super::*;

const MAIN: &str = "http://localhost:8000/openapi.json";

fn shown(subs: Vec<SubDocument>) -> Vec<String> {
    subs.iter()
        .map(|sub| format!("{} {}", sub.name, sub.url))
        .collect()
}

#[track_caller]
fn check_at(at: &str, description: &str, expected: &[&str]) {
    let at = Url::parse(at).unwrap();
    let main = json!({"openapi": "3.1.0", "info": {"description": description}, "paths": {}});
    assert_eq!(shown(sub_documents(&main, &at)), expected, "{description}");
}

#[track_caller]
fn check(description: &str, expected: &[&str]) {
    check_at(MAIN, description, expected);
}

const BOTH: &[&str] = &[
    "time http://localhost:8000/time/openapi.json",
    "memory http://localhost:8000/memory/openapi.json",
];

#[test]
fn what_mcpo_writes_is_found() {
    check(
        "Automatically generated API from MCP Tool Schemas\n\n- **available tools**：\n    - [time](/time/docs)\n    - [memory](/memory/docs)",
        BOTH,
    );
    check_at(
        "http://localhost:8000/openapi.json",
        "Automatically generated API from MCP Tool Schemas\n\n- **available tools**：\n    - [time](/api/tools/time/docs)\n    - [everything](/api/tools/everything/docs)\n    - [fsse](/api/tools/fsse/docs)",
        &[
            "time http://localhost:8000/api/tools/time/openapi.json",
            "everything http://localhost:8000/api/tools/everything/openapi.json",
            "fsse http://localhost:8000/api/tools/fsse/openapi.json",
        ],
    );
    // None of its servers came up.
    check("Automatically generated API from MCP Tool Schemas", &[]);
    // A server behind it that did not come up.
    check("time MCP Server\n\n- [back to tool list](/docs)", &[]);
    check_at(
        "http://localhost:8000/time/openapi.json",
        "time MCP Server\n\n- [back to tool list](/docs)",
        &[],
    );
}

#[test]
fn the_list_may_be_written_in_other_ways() {
    for description in [
        "* [time](/time/docs)\n* [memory](/memory/docs)",
        "+ [time](/time/docs)\r\n+ [memory](/memory/docs)\r\n",
        "• [time](/time/docs)\n• [memory](/memory/docs)",
        "1. [time](/time/docs)\n2. [memory](/memory/docs)",
        "**Available Tools**:\n\t- [time](/time/docs)\n\t- [memory](/memory/docs)",
        "## Servers\n[time](/time/docs), [memory](/memory/docs)",
        "[time](/time/docs)[memory](/memory/docs)",
        "- **[time](/time/docs)**\n- __[`memory`](/memory/docs)__",
        "- [time](/time/openapi.json)\n- [memory](/memory/openapi.json)",
        "- [time](/time)\n- [memory](/memory/)",
        "- [time](time/docs)\n- [memory](./memory/docs/)",
        "- [time](/time/docs#/)\n- [memory](/memory/docs?x=1)",
        "- [time](/time/redoc)\n- [memory](/memory/swagger-ui)",
        "- [time](</time/docs>)\n- [memory]( </memory/docs> )",
        "- [time](/time/docs \"The time\")\n- [memory](/memory/docs 'Notes')",
        "- [time](http://localhost:8000/time/docs)\n- [memory](//localhost:8000/memory/docs)",
        "- [time](/time/docs) [docs](/time/openapi.json)\n- [memory](/memory/docs)\n- [again](/memory)",
        "- [](/time/docs)\n- [memory](/memory/docs)",
        "- </time/docs>\n- <http://localhost:8000/memory/docs>",
        "available: /time/docs, /memory/docs.",
        "- [time](/time/docs)\n- [memory](/memory/docs)\n\n![logo](/logo) [home](/) [licence](/licence.html) [top](#top)",
    ] {
        check(description, BOTH);
    }
}

#[test]
fn a_name_may_be_anything_but_is_given_once() {
    check(
        "- [World clock (时间)](/time/docs)\n- [docs](/a/docs)\n- [docs](/b/docs)\n- [b](/c/docs)\n- [x](/y/b/docs)\n- [x](/z/b/docs)",
        &[
            "World clock (时间) http://localhost:8000/time/openapi.json",
            "docs http://localhost:8000/a/openapi.json",
            "b http://localhost:8000/b/openapi.json",
            "c http://localhost:8000/c/openapi.json",
            "x http://localhost:8000/y/b/openapi.json",
            "b-2 http://localhost:8000/z/b/openapi.json",
        ],
    );
    check(
        "[a b](</my time/docs>) [c](/my(1)/docs) [pets](/specs/pets.yaml) [mcp.v2](/mcp.v2)",
        &[
            "a b http://localhost:8000/my%20time/openapi.json",
            "c http://localhost:8000/my(1)/openapi.json",
            "pets http://localhost:8000/specs/pets.yaml",
            "mcp.v2 http://localhost:8000/mcp.v2/openapi.json",
        ],
    );
}

#[test]
fn a_description_leads_to_no_other_site() {
    check(
        "- [a](http://evil.example/time/docs)\n- [b](https://localhost:8000/b/docs)\n- [c](http://localhost:9000/c/docs)\n- [d](//evil.example/d/docs)\n- [e](javascript:alert(1))\n- [f](file:///etc/docs)\n- [g](\\\\evil.example/g/docs)\n- [time](/time/docs)",
        &["time http://localhost:8000/time/openapi.json"],
    );
}

#[test]
fn a_document_with_operations_is_its_own_server() {
    let at = Url::parse(MAIN).unwrap();
    let info = json!({"description": "- [time](/time/docs)"});
    let found = |paths: Value| {
        let main = json!({"openapi": "3.1.0", "info": info, "paths": paths});
        sub_documents(&main, &at).len()
    };
    assert_eq!(found(json!({"/a": {}})), 0);
    assert_eq!(found(json!([1])), 0);
    assert_eq!(found(json!({})), 1);
    assert_eq!(found(Value::Null), 1);
    assert_eq!(sub_documents(&json!({"info": info}), &at).len(), 1);
    for odd in [
        json!(null),
        json!([]),
        json!("x"),
        json!({"info": {"description": 1}}),
    ] {
        assert_eq!(sub_documents(&odd, &at), []);
    }
}

#[test]
fn a_list_for_machines_is_read_too() {
    let at = Url::parse("http://localhost:8000/mcpo/openapi.json").unwrap();
    let check = |list: Value, expected: &[&str]| {
        assert_eq!(shown(listed(&list, &at)), expected, "{list}");
    };
    let time = "time http://localhost:8000/mcpo/time/openapi.json";
    assert_eq!(
        index_address(&at).unwrap().as_str(),
        "http://localhost:8000/mcpo/mcpo-tools-list"
    );
    check(json!({"tools": [{"name": "time"}]}), &[time]);
    check(json!([{"name": "time"}]), &[time]);
    check(json!(["time"]), &[time]);
    check(json!({"tools": ["time"]}), &[time]);
    check(
        json!([{"name": "\u{202e}ti\u{200b}me", "path": "/mcpo/time"}]),
        &[time],
    );
    check(json!([{"name": "time", "path": "/mcpo/time"}]), &[time]);
    check(
        json!([{"name": "time", "url": "http://localhost:8000/mcpo/time/docs"}]),
        &[time],
    );
    check(
        json!([{"openapi": "time/openapi.json", "url": "http://elsewhere.example/"}]),
        &[time],
    );
    check(
        json!(["a b", "/mcpo/time", "..", {"name": 1}, 2, null, {"name": "x", "url": "http://evil.example/x"}]),
        &["a b http://localhost:8000/mcpo/a%20b/openapi.json", time],
    );
    check(json!({"tools": {}}), &[]);
    check(json!("time"), &[]);
}

#[test]
fn more_servers_than_anybody_has_are_cut_and_nonsense_takes_no_time() {
    let at = Url::parse(MAIN).unwrap();
    let many: Vec<String> = (0..2000).map(|n| format!("s{n}")).collect();
    assert_eq!(listed(&json!(many), &at).len(), MAX_SUB_DOCUMENTS);
    for piece in ["[", "](", "[](", "[a](/b ", "<", "/docs ", "é](é"] {
        let description = piece.repeat(300_000 / piece.len());
        let main = json!({"info": {"description": description}});
        let begun = std::time::Instant::now();
        sub_documents(&main, &at);
        let took = begun.elapsed();
        assert!(took.as_secs() < 3, "{piece}: {took:?}");
    }
}
