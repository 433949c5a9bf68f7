//! OpenAPI servers: the connections of Open WebUI, documents and addresses.

use serde_json::json;

use super::*;

#[test]
fn open_webui() {
    check(
        r#"[{
          "url": "http://localhost:8000", "path": "openapi.json", "type": "openapi",
          "auth_type": "bearer", "key": "top-secret", "headers": null,
          "config": {"enable": true, "function_name_filter_list": "", "access_grants": [{"principal_type": "user", "principal_id": "*", "permission": "read"}]},
          "info": {"id": "time", "name": "Time Server", "description": "Tells the time"},
          "spec_type": "url", "spec": "", "something_new": 1
        }]"#,
        "time: api http://localhost:8000/openapi.json Authorization=Bearer top-secret → http://localhost:8000",
    );
    let list = r#"[
      {"url": "http://a.example", "type": "openapi", "info": {"id": "a", "name": "All of A"}},
      {"url": "http://b.example", "type": "openapi"}
    ]"#;
    let servers = read(list, None).unwrap().servers.into_iter();
    let titles: Vec<String> = servers.map(|server| server.title).collect();
    assert_eq!(titles, ["All of A", "b.example"]);

    let kept = |wrapped: &str| {
        let list = r#"[{"url": "http://a.example/x/"}]"#;
        check(
            &wrapped.replace('#', list),
            "a-example: api http://a.example/x/openapi.json → http://a.example/x",
        );
    };
    kept(r#"{"TOOL_SERVER_CONNECTIONS": #}"#);
    kept(r#"{"tool_servers": #}"#);
    kept(r#"{"connections": #}"#);
    kept(r#"{"version": 0, "tool_server": {"connections": #}}"#);
    check(
        r#"{"mcpServers": {"m": {"command": "x"}}, "connections": [{"host": "db"}]}"#,
        "m: x []",
    );
    check(
        r#"{"mcpServers": {"m": {"command": "x"}, "a": {"type": "openapi", "url": "https://a.example"}}}"#,
        "m: x []\na: api https://a.example/openapi.json → https://a.example",
    );
}

#[test]
fn connections_of_every_kind() {
    let check = |connection: &str, expected: &str| {
        check(
            &format!("[{{\"type\": \"openapi\", {connection}}}]"),
            expected,
        );
    };
    check(
        r#""url": "http://a.example/v1", "path": "/docs/api.yaml""#,
        "a-example: api http://a.example/v1/docs/api.yaml → http://a.example/v1",
    );
    check(
        r#""url": "http://a.example", "path": "https://b.example/a.json", "key": """#,
        "a-example: api https://b.example/a.json → http://a.example",
    );
    check(
        r#""url": "http://a.example", "auth_type": "none", "key": "left over""#,
        "a-example: api http://a.example/openapi.json → http://a.example",
    );
    check(
        r#""url": "http://a.example", "key": "k", "headers": {"authorization": "Basic x", "X-Me": "{{USER_ID}}"}"#,
        "a-example: api http://a.example/openapi.json X-Me={{USER_ID}} authorization=Basic x → http://a.example
  - Placeholders {{…}} in its headers are sent as they are: only Open WebUI replaces them.",
    );
    check(
        r#""url": "http://a.example", "headers": "{\"X-Me\": \"me\"}""#,
        "a-example: api http://a.example/openapi.json X-Me=me → http://a.example",
    );
    check(
        r#""url": "http://a.example", "headers": "X-Me: me""#,
        "a-example: Its `headers` is not an object whose values are text.",
    );
    check(
        r#""url": "http://a.example", "auth_type": "session", "config": {"enable": false, "function_name_filter_list": "a,b", "access_grants": []}"#,
        "a-example: api http://a.example/openapi.json → http://a.example (off)
  - Its auth_type “session” is not supported, so no credentials are sent. Enter a key if it requires one.
  - Its `function_name_filter_list` is not imported: switch off the tools that nobody should use.
  - The access control of Open WebUI is not imported.",
    );
    check(
        r#""url": "http://a.example", "info": {"id": "", "name": "Für Zeit"}"#,
        "F-r-Zeit: api http://a.example/openapi.json → http://a.example
  - “Für Zeit” is called `F-r-Zeit` here: a name has up to 40 letters, digits, `-` and `_`.",
    );
    check(
        r#""url": "${BASE}", "key": "${KEY}""#,
        "server: api ${BASE}/openapi.json Authorization=Bearer ${KEY} → ${BASE}",
    );
    check(r#""path": "x""#, "server: It has no `url`.");
    check(
        r#""url": "a.example""#,
        "server: Its `url` is not an address that begins with http:// or https://.",
    );
    check(
        r#""url": "http://a.example", "key": "a\nb""#,
        "a-example: The value of the header authorization contains characters that are not allowed in headers.",
    );
    super::check(
        r#"[{"url": "https://m.example/mcp", "type": "mcp", "auth_type": "oauth_2.1", "info": {"id": "m"}},
            {"url": "https://m.example/mcp", "type": "mcp", "auth_type": "bearer", "key": "k", "path": ""},
            {"url": "https://m.example", "auth_type": "none", "type": "graphql"},
            7]"#,
        "m: http https://m.example/mcp
  - Each person logs in to it for themselves.
m-example: http https://m.example/mcp Authorization=Bearer k
server: Its transport “graphql” is not one of stdio, http and sse.
server-2: It is not an object with a `command` or a `url`.
  - Another server is called `server` too; this one is `server-2`.",
    );
}

#[test]
fn connections_that_bring_their_document() {
    let document = json!({"openapi": "3.1.0", "info": {"title": "Small"}, "paths": {}});
    let hash = &document::hash(document.to_string().as_bytes())[..6];
    let connection = |more: serde_json::Value| {
        let mut connection = json!({"type": "openapi", "url": "http://a.example"});
        let fields = connection.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        json!([connection]).to_string()
    };
    let expected = format!("a-example: api #{hash} → http://a.example");
    for given in [
        connection(json!({"spec_type": "json", "spec": document.to_string()})),
        connection(json!({"spec_type": "json", "spec": document})),
        connection(json!({"openapi": document})),
    ] {
        check(&given, &expected);
        let found = &read(&given, None).unwrap().servers[0];
        assert_eq!(found.title, "Small");
        assert_eq!(
            found.document.as_deref(),
            Some(document.to_string().as_bytes())
        );
        assert_eq!(
            summary(found.config.as_ref().unwrap()),
            "a document, at http://a.example/"
        );
    }
    check(
        &connection(json!({"spec_type": "json"})),
        "a-example: It has no document in its `spec`.",
    );
    check(
        &connection(json!({"spec_type": "json", "spec": {"hello": 1}})),
        "a-example: Its `spec` is not an OpenAPI document.",
    );
    check(
        &connection(json!({"spec_type": "json", "spec": "{\"a\" 1}"})),
        "a-example: The document is not valid JSON: line 1, column 6: expected `:`.",
    );
    // Longer than any list of servers without documents.
    let long = json!({"openapi": "3.1.0", "info": {"description": "x".repeat(MAX_TEXT_BYTES)}, "paths": {}});
    let long = connection(json!({"spec_type": "json", "spec": long}));
    assert!(read(&long, None).unwrap().servers[0].document.is_some());
}

#[test]
fn a_text_that_is_a_document() {
    let check = |text: &str, file: Option<&str>, expected: &str| {
        let hash = &document::hash(text.as_bytes())[..6];
        let expected = expected.replace('#', &format!("#{hash}"));
        assert_eq!(told(text, file), expected, "{text}");
        let found = read(text, file).unwrap().servers.remove(0);
        assert_eq!(found.document.as_deref(), Some(text.as_bytes()));
    };
    let json = r#"{"openapi": "3.0.3", "info": {"title": "Pet Store", "version": "1"}, "servers": [{"url": "https://pets.example/v1"}], "paths": {}}"#;
    check(json, None, "Pet-Store: api #");
    check(json, Some("pets"), "pets: api #");
    check(json, Some("openapi"), "Pet-Store: api #");
    let nowhere = "\n  - The document does not say where its server is: enter the address of the server before its tools are called.";
    check(
        "# Of a friend\nopenapi: 3.1.0\ninfo: {title: Pet Store}\nservers:\n  - url: /v1\npaths: {}\n",
        None,
        &format!("Pet-Store: api #{nowhere}"),
    );
    check(
        "swagger: 2.0\nhost: pets.example\npaths: {}\n",
        None,
        "api: api #",
    );
    let long = format!(
        "openapi: 3.1.0\ninfo:\n  title: Long\n  description: {}\n",
        "x".repeat(MAX_TEXT_BYTES)
    );
    check(&long, None, &format!("Long: api #{nowhere}"));

    let broken = format!("openapi: 3.1.0\ninfo: [\n{}", " ".repeat(MAX_TEXT_BYTES));
    let why = told(&broken, None);
    assert!(
        why.starts_with("! The document is not valid YAML: line "),
        "{why}"
    );
    // Not everything that mentions it is one.
    super::check(
        r#"{"mcpServers": {"openapi": {"command": "swagger-mcp"}}}"#,
        "openapi: swagger-mcp []",
    );
}

#[test]
fn a_text_that_is_an_address() {
    let note =
        "\n  - It is treated as an OpenAPI server. An MCP server is written as {\"url\": \"…\"}.";
    let check = |text: &str, expected: &str| check(text, &format!("{expected}{note}"));
    check(
        "http://localhost:8000",
        "localhost-8000: api http://localhost:8000",
    );
    check(
        "  https://api.example.org/v1/openapi.yaml?key=x\n",
        "api-example-org: api https://api.example.org/v1/openapi.yaml?key=x",
    );
    let found = &read("https://api.example.org", None).unwrap().servers[0];
    assert_eq!(found.title, "api.example.org");
    for text in [
        "ftp://a.example",
        "a.example",
        "https://a.example and more",
        "http://",
    ] {
        let told = told(text, None);
        assert!(told.starts_with('!'), "{told}");
    }
}
