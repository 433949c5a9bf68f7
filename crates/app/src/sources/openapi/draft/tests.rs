use serde_json::json;
use tenon_sources::openapi::document::hash;

use super::*;

fn check(old: Value, change: Value, expected: Result<Value, &str>) {
    let config: OpenapiConfig = serde_json::from_value(old).unwrap();
    let mut parsed: SourceChange = serde_json::from_value(change.clone()).unwrap();
    assert!(merge::changes_connection(&parsed));
    let document = parsed.document.take();
    let document = document.map(|document| hash(document.to_string().as_bytes()));
    let changed = OpenapiDraft::changed(&config, parsed, document).and_then(OpenapiDraft::config);
    match (changed, expected) {
        (Ok(changed), Ok(expected)) => {
            assert_eq!(serde_json::to_value(changed).unwrap(), expected, "{change}");
        }
        (Err(why), Err(expected)) => assert!(why.to_string().contains(expected), "{why}"),
        (Ok(_), Err(expected)) => panic!("{change} is taken, not {expected}"),
        (Err(why), Ok(_)) => panic!("{change}: {why}"),
    }
}

/// With these fields, besides what is kept in `headers` and `credentials`.
fn with(mut fields: Value) -> Value {
    fields["headers"] = json!({"X-Key": "sk-1"});
    fields["credentials"] = json!({"key": {"type": "key", "value": "sk-2"}});
    fields
}

#[test]
fn what_was_kept_for_one_address_is_not_sent_to_another() {
    let a = "https://a.example/openapi.json";
    let b = "https://b.example/openapi.json";
    let stays = |old: Value, change: Value, new: Value| check(with(old), change, Ok(with(new)));
    let moves = |old: Value, change: Value| {
        check(with(old.clone()), change.clone(), Err("another address"));
        // Either alone is one that would go there.
        let mut one = change.clone();
        one["headers"] = json!({});
        check(with(old.clone()), one.clone(), Err("another address"));
        one["headers"] = json!({"X-Key": null});
        one["credentials"] = json!({});
        check(with(old.clone()), one.clone(), Err("another address"));
        one["headers"] = json!({});
        one["credentials"] = json!({"key": null});
        check(with(old), one, Err("another address"));
    };
    let only = |url: &str| json!({"url": url});
    let both = |url: &str, base: &str| json!({"url": url, "baseUrl": base});
    let base = |base: Value| json!({"baseUrl": base});
    let given = |base: &str| json!({"documentHash": "1", "baseUrl": base});

    moves(only(a), only(b));
    moves(only(a), base(json!("https://b.example")));
    moves(both(a, "https://a.example"), only(b));
    moves(both(a, "https://b.example/v1"), only("https://c.example/"));
    moves(
        both(a, "https://b.example"),
        base(json!("https://c.example")),
    );
    moves(
        both(a, "https://b.example"),
        base(json!("https://a.example")),
    );
    // Where the document leads is not what was said.
    moves(both(a, "https://b.example"), base(json!(null)));
    moves(given("https://b.example"), base(json!(null)));
    moves(given("https://b.example"), only(a));
    moves(json!({"documentHash": "1"}), only(a));
    moves(
        json!({"documentHash": "1"}),
        base(json!("https://a.example")),
    );
    moves(
        json!({"documentHash": "1"}),
        json!({"document": "openapi: 3.1.0"}),
    );
    moves(only(a), json!({"document": {"openapi": "3.1.0"}}));

    let newer = "https://a.example/v2/openapi.json";
    stays(only(a), only(newer), only(newer));
    stays(
        only(a),
        base(json!("https://a.example/v2")),
        both(a, "https://a.example/v2"),
    );
    stays(
        both(a, "https://b.example"),
        only(b),
        both(b, "https://b.example"),
    );
    stays(
        both(a, "https://b.example"),
        only(newer),
        both(newer, "https://b.example"),
    );
    stays(both(a, "https://a.example"), base(json!(null)), only(a));
    stays(
        given("https://b.example"),
        base(json!("https://b.example/v2")),
        given("https://b.example/v2"),
    );
    stays(
        given("https://b.example"),
        only(b),
        both(b, "https://b.example"),
    );

    // All of it is said anew.
    check(
        with(both(a, "https://a.example")),
        json!({"url": b, "headers": {"X-Key": "sk-3"}, "credentials": {}}),
        Ok(json!({"url": b, "baseUrl": "https://a.example", "headers": {"X-Key": "sk-3"}})),
    );
}

#[test]
fn who_replaces_the_secret_of_a_client_keeps_where_it_gets_its_tokens() {
    let client = |id: &str, secret: &str, rest: Value| {
        let mut client = json!({"type": "client", "id": id, "secret": secret});
        for (name, value) in rest.as_object().unwrap() {
            client[name] = value.clone();
        }
        client
    };
    let server =
        |url: &str, one: Value| json!({"url": url, "headers": {}, "credentials": {"one": one}});
    let a = "https://a.example/";
    let all = || json!({"tokenUrl": "https://t.example/token", "scopes": "read"});
    let old = || server(a, client("tenon", "old", all()));
    let say = |one: Value| json!({"credentials": {"one": one}});
    check(
        old(),
        say(client("tenon", "new", json!({}))),
        Ok(server(a, client("tenon", "new", all()))),
    );
    let other = json!({"tokenUrl": "https://u.example/", "scopes": "write"});
    check(
        old(),
        say(client("tenon", "new", other.clone())),
        Ok(server(a, client("tenon", "new", other))),
    );
    let key = json!({"type": "key", "value": "new"});
    check(old(), say(key.clone()), Ok(server(a, key)));
    check(old(), say(json!(null)), Ok(old()));
    // What is for another server is not taken to where the old one had it taken to.
    let b = "https://b.example/";
    let anew = client("tenon", "new", json!({}));
    check(
        old(),
        json!({"url": b, "credentials": {"one": anew.clone()}}),
        Ok(server(b, anew)),
    );
    check(old(), json!({"credentials": {"two": null}}), Err("`two`"));
}

#[test]
fn what_is_for_mcp_servers_is_refused_by_name() {
    let refused = |change: Value| {
        let field = change.as_object().unwrap().keys().next().unwrap();
        let words = format!("`{field}` is for MCP servers");
        check(
            json!({"url": "https://a.example/"}),
            change.clone(),
            Err(&words),
        );
    };
    refused(json!({"transport": "http"}));
    refused(json!({"command": "npx"}));
    refused(json!({"args": []}));
    refused(json!({"env": {}}));
    refused(json!({"cwd": null}));
    refused(json!({"sleepAfterMs": 5000}));
    refused(json!({"clientId": "tenon"}));
    refused(json!({"clientSecret": null}));
}

#[test]
fn an_address_that_is_none_is_shown_one_of_its_own_kind() {
    let old = || json!({"url": "https://a.example/", "headers": {}});
    check(
        old(),
        json!({"url": "a"}),
        Err("https://example.com/openapi.json"),
    );
    check(
        old(),
        json!({"baseUrl": "a"}),
        Err("https://example.com/api"),
    );
    let client = json!({"type": "client", "id": "a", "secret": "b", "tokenUrl": "c"});
    let client = json!({"credentials": {"one": client}});
    check(old(), client, Err("https://example.com/token"));
}
