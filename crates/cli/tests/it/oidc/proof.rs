//! Those who have no password prove themselves at their issuer.

use reqwest::header;
use serde_json::{Value, json};
use tenon_domain::UserId;

use super::{Browser, config};
use crate::aged::age_log_ins;
use crate::oidc::issuer::Issuer;
use crate::people::Person;
use crate::server::{Server, answer};

impl Browser {
    async fn send(&self, server: &Server, method: &str, path: &str, body: Value) -> (u16, Value) {
        let pairs = self.cookies.iter();
        let pairs = pairs.map(|(name, value)| format!("{name}={value}"));
        let cookie = pairs.collect::<Vec<_>>().join("; ");
        let request = server.request(method, path).header(header::COOKIE, cookie);
        answer(request.json(&body).send().await.unwrap()).await
    }

    /// The status and, where it was refused, the code.
    async fn tries(&self, server: &Server, method: &str, path: &str, body: Value) -> String {
        let (status, answer) = self.send(server, method, path, body).await;
        match answer["error"]["code"].as_str() {
            Some(code) => format!("{status} {code}"),
            None => status.to_string(),
        }
    }
}

#[tokio::test]
async fn without_a_password_a_fresh_log_in_is_the_proof() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    Person::set_up(&server, "admin").await;
    let mut ada = Browser::new();
    ada.log_in(&server).await;
    let key = json!({"name": "ci"});
    let email = json!({"email": "ada@example.net"});
    let password = json!({"password": "correct horse battery"});
    let me = "/api/auth/me";
    assert_eq!(
        ada.tries(&server, "POST", "/api/keys", key.clone()).await,
        "201"
    );

    age_log_ins(&server).await;
    let refused = "403 login_needed";
    for (method, path, body) in [
        ("POST", "/api/keys", &key),
        ("PATCH", me, &password),
        ("PATCH", me, &email),
    ] {
        let tried = ada.tries(&server, method, path, body.clone()).await;
        assert_eq!(tried, refused, "{method} {path} {body}");
    }
    // What needs no proof goes on.
    let named = ada.tries(&server, "PATCH", me, json!({"name": "A"})).await;
    assert_eq!(named, "200");

    // Young, but nobody came from the issuer for it.
    let id = ada.account(&server).await["id"].clone();
    let id = UserId::new(id.as_str().unwrap());
    let made = server.app.store.create_session(&id, "", "").await;
    let mut other = Browser::new();
    other.cookies = vec![("tenon".into(), made.unwrap().0.0)];
    let tried = other.tries(&server, "PATCH", me, password.clone()).await;
    assert_eq!(tried, refused);

    ada.log_in(&server).await;
    assert_eq!(ada.tries(&server, "PATCH", me, password).await, "200");
    let log_in = json!({"email": "ada@example.com", "password": "correct horse battery"});
    assert_eq!(server.post("/api/auth/login", log_in).await.0, 200);
    // From now on it is asked for.
    age_log_ins(&server).await;
    let tried = ada.tries(&server, "POST", "/api/keys", key).await;
    assert_eq!(tried, "403 password_needed");
}

#[tokio::test]
async fn who_proves_themself_again_is_asked_there_and_comes_back_to_where_they_were() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    Person::set_up(&server, "admin").await;
    let start = format!("http://{}/api/auth/oidc/start", server.address);
    let check = async |query: &str, expected: &str| {
        let mut browser = Browser::new();
        let away = browser.follow(&format!("{start}{query}")).await;
        let asks = away.contains("prompt=login");
        let back = browser.follow(&away).await;
        assert_eq!(browser.follow(&back).await, expected, "{query}");
        asks
    };
    assert!(!check("", "/#/").await);
    assert!(check("?back=/settings/keys", "/#/settings/keys").await);
    for odd in [
        "?back=//evil.example/",
        "?back=https://evil.example/",
        "?back=/%5Cevil.example",
        "?back=/a%0D%0Ab",
        "?back=",
        "?back=/a?b",
    ] {
        assert!(check(odd, "/#/").await, "{odd}");
    }
    let long = format!("?back=/{}", "a".repeat(500));
    check(&long, "/#/").await;
}
