use serde_json::{Value, json};
use tenon_domain::McpClient;

use super::*;
use crate::sources::check::tests::{draft, map};

#[test]
fn a_user_has_addresses_and_secrets_of_their_own_alone() {
    let check = |config: Result<McpConfig, String>, expected: Option<&str>| {
        let config = config.unwrap();
        let config = SourceConfig::Mcp(config);
        allowed(&config, Trust::Full).unwrap();
        let refused = allowed(&config, Trust::Own)
            .err()
            .map(|why| why.to_string());
        match (&refused, expected) {
            (None, None) => {}
            (Some(why), Some(expected)) => assert!(why.contains(expected), "{why}"),
            _ => panic!("{refused:?}, not {expected:?}"),
        }
    };
    let remote = |value: &str| {
        draft(|draft| {
            draft.url = Some("https://a.example".into());
            draft.headers = map("X-Key", value);
        })
    };
    check(remote("k"), None);
    check(remote("${user.KEY}"), None);
    check(remote("${KEY}"), Some("${user.KEY}"));
    check(remote("${env:HOME}"), Some("${HOME}"));
    let program = draft(|draft| draft.command = Some("sh".into()));
    check(program, Some("Only an admin"));
}

#[test]
fn what_is_everybodys_goes_nowhere_that_somebody_else_decides_on() {
    let check = |url: &str, header: &str, secret: Option<&str>, field: Option<&str>| {
        let config = draft(|draft| {
            draft.url = Some(url.into());
            draft.headers = map("X-Key", header);
            draft.client = Some(McpClient {
                id: "tenon".into(),
                secret: secret.map(str::to_owned),
            });
        });
        let refused = keeps_shared_secrets(&SourceConfig::Mcp(config.unwrap())).err();
        let found = refused.as_ref().and_then(|why| why.field.as_deref());
        assert_eq!(found, field, "{url} {header}");
    };
    let theirs = "https://${user.HOST}/mcp";
    check(theirs, "${KEY}", None, Some("headers"));
    check(theirs, "Bearer ${env:KEY}", None, Some("headers"));
    check(theirs, "sk-1", None, Some("headers"));
    check(theirs, "${user.KEY:-sk-1}", None, Some("headers"));
    check(
        "https://${user.SITE}.example/",
        "sk-1",
        None,
        Some("headers"),
    );
    check(
        "https://a.example:${user.PORT}/",
        "sk-1",
        None,
        Some("headers"),
    );
    check("https://${user.HOST}/?k=${KEY}", "", None, Some("url"));
    check("https://${KEY}@${user.HOST}/", "", None, Some("url"));
    check(theirs, "", Some("hidden"), Some("clientSecret"));
    check(theirs, "Bearer ${user.KEY}", Some("${user.SECRET}"), None);
    check("https://${user.SITE}.${DOMAIN}/", "", None, None);
    check(
        "https://a.example/${user.ID}",
        "${KEY}",
        Some("hidden"),
        None,
    );
    check("https://${user.NAME}@a.example/", "${KEY}", None, None);
    check("https://${HOST}/mcp", "${KEY}", Some("hidden"), None);
}

#[test]
fn neither_does_what_lets_everybody_in_at_an_api() {
    let check = |set: Value, field: Option<&str>| {
        let mut config = json!({"url": "https://a.example/openapi.json"});
        for (name, value) in set.as_object().unwrap() {
            config[name] = value.clone();
        }
        let config = SourceConfig::Openapi(serde_json::from_value(config).unwrap());
        let refused = keeps_shared_secrets(&config).err();
        let found = refused.as_ref().and_then(|why| why.field.as_deref());
        assert_eq!(found, field, "{set}");
    };
    let client = |id: &str, secret: &str, url: &str, scopes: &str| json!({"type": "client", "id": id, "secret": secret, "tokenUrl": url, "scopes": scopes});
    let one = |credential: Value| json!({"credentials": {"one": credential}});
    let at = |base: &str, credential: Value| json!({"baseUrl": base, "credentials": {"one": credential}});
    let theirs = "https://${user.HOST}/";
    let own = "${user.KEY}";
    check(one(client(own, "${KEY}", theirs, "")), Some("credentials"));
    check(one(client(own, "sk-1", theirs, "")), Some("credentials"));
    check(one(client("tenon", own, theirs, "")), Some("credentials"));
    check(one(client(own, own, theirs, "all")), Some("credentials"));
    check(one(client(own, own, theirs, own)), None);
    check(
        one(client(own, own, "https://${user.HOST}/?k=${KEY}", "")),
        Some("url"),
    );
    check(
        one(client(
            "tenon",
            "${KEY}",
            "https://b.example/${user.ID}",
            "all",
        )),
        None,
    );
    // On the safe side: nothing of everybody's goes along where any host is somebody's own.
    let mut sent = one(client(own, own, theirs, ""));
    sent["headers"] = json!({"X-Key": "sk-1"});
    check(sent, Some("headers"));
    let basic =
        |user: &str, password: &str| json!({"type": "basic", "user": user, "password": password});
    check(at(theirs, basic("ada", own)), Some("credentials"));
    check(at(theirs, basic(own, "sk-1")), Some("credentials"));
    check(at(theirs, basic(own, own)), None);
    check(
        at(theirs, json!({"type": "key", "value": "sk-1"})),
        Some("credentials"),
    );
    check(at("https://b.example", basic("ada", "sk-1")), None);
}
