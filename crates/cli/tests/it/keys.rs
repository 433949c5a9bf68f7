//! Keys: what programs may do for somebody.

use serde_json::{Value, json};

use crate::people::{PASSWORD, Person};
use crate::server::Server;

#[tokio::test]
async fn a_key_does_what_its_scope_says() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let full = ada.key("full").await;
    let uses = ada.key("use").await;
    let reads = ada.key("read").await;
    let call = "/api/tools/builtin_calculate/call";
    let sum = json!({"arguments": {"expression": "6*7"}});
    let check = async |method: &str, path: &str, body: Option<Value>, expected: [u16; 3]| {
        for (person, expected) in [&full, &uses, &reads].into_iter().zip(expected) {
            let (status, answer) = person.send(method, path, body.clone()).await;
            assert_eq!(
                status, expected,
                "{method} {path} {:?}: {answer}",
                person.shows
            );
        }
    };
    check("GET", "/api/chats", None, [200, 200, 200]).await;
    check("POST", "/api/chats", Some(json!({})), [201, 201, 403]).await;
    check("POST", call, Some(sum), [200, 200, 403]).await;
    // What uses tools does not decide about them.
    let allowed = json!({"layer": "user", "tools": [{"toolId": "x", "policy": "allow"}]});
    check("PATCH", "/api/tools", Some(allowed), [204, 403, 403]).await;
    let verdict = Some(json!({"verdict": "always"}));
    check("POST", "/api/calls/none/answer", verdict, [404, 403, 403]).await;
    check("GET", "/api/users", None, [200, 403, 403]).await;
    check("GET", "/api/keys", None, [200, 403, 403]).await;
    check("GET", "/api/auth/me", None, [200, 200, 200]).await;
    check(
        "POST",
        "/api/keys",
        Some(json!({"name": "x"})),
        [403, 403, 403],
    )
    .await;
    let name = json!({"name": "Ada L."});
    check("PATCH", "/api/auth/me", Some(name), [200, 403, 403]).await;
    let password = json!({"password": "another one", "currentPassword": PASSWORD});
    check(
        "PATCH",
        "/api/auth/me",
        Some(password.clone()),
        [403, 403, 403],
    )
    .await;
    let path = format!("/api/users/{}", ada.id);
    let theirs = json!({"password": "another one"});
    check("PATCH", &path, Some(theirs), [403, 403, 403]).await;
    // Nor does a key make admins, or unmake them.
    let bob = json!({"name": "B", "email": "b@x.org", "password": PASSWORD});
    let mut admin = bob.clone();
    admin["role"] = "admin".into();
    check("POST", "/api/users", Some(admin), [403, 403, 403]).await;
    check("POST", "/api/users", Some(bob), [201, 403, 403]).await;
    let invite = json!({"role": "admin"});
    check("POST", "/api/invites", Some(invite), [403, 403, 403]).await;
    check("POST", "/api/invites", Some(json!({})), [201, 403, 403]).await;
    let role = json!({"role": "user"});
    check("PATCH", &path, Some(role), [403, 403, 403]).await;
    check("POST", "/api/auth/logout-everywhere", None, [403, 403, 403]).await;
    check("POST", "/api/auth/logout", None, [403, 403, 403]).await;

    // A wrong key is wrong, whatever else is shown.
    let cookie = ada.shows.clone().unwrap().1;
    for wrong in ["Bearer tn_wrong", "Bearer", "bearer  ", "Bearer \u{e9}"] {
        let request = server
            .request("GET", "/api/auth/me")
            .header("cookie", &cookie);
        let status = request
            .header("authorization", wrong)
            .send()
            .await
            .unwrap()
            .status();
        assert_eq!(status, 401, "{wrong}");
    }
    let (_, keys) = ada.get("/api/keys").await;
    assert!(
        keys[0]["hint"].as_str().unwrap().starts_with("tn_"),
        "{keys}"
    );
    assert!(keys[0]["lastUsedAt"].is_number(), "{keys}");
    let (_, entries) = ada.get("/api/audit?action=tool.").await;
    assert!(
        entries[0]["door"].as_str().unwrap().starts_with("key:"),
        "{entries}"
    );
}

#[tokio::test]
async fn a_key_that_makes_no_sense_is_not_made() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let check = async |body: Value, expected: u16| {
        let (status, answer) = ada.post("/api/keys", body.clone()).await;
        assert_eq!(status, expected, "{body}: {answer}");
    };
    check(json!({"name": " "}), 400).await;
    check(json!({"name": "x", "scope": {"access": "all"}}), 400).await;
    check(json!({"name": "x", "scope": {"allow": [""]}}), 400).await;
    check(
        json!({"name": "x", "scope": {"allow": vec!["a"; 101]}}),
        400,
    )
    .await;
    check(
        json!({"name": "x", "scope": {"allow": ["a".repeat(201)]}}),
        400,
    )
    .await;
    for odd in ["mcp echo", "mcp_{a,b}", "工具"] {
        check(json!({"name": "x", "scope": {"allow": [odd]}}), 400).await;
    }
    check(json!({"name": "x", "scope": {"allow": ["mcp_*"]}}), 201).await;
    check(json!({"name": "x", "allow": ["mcp echo"]}), 400).await;
    let short = json!({"name": "short", "allow": ["mcp_echo_*"]});
    let (status, made) = ada.post("/api/keys", short).await;
    assert_eq!(
        (status, &made["scope"]["allow"]),
        (201, &json!(["mcp_echo_*"]))
    );
}
