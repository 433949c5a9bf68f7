//! Where models are is for admins to know.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::KEY;
use super::fake::Fake;
use crate::program::{Served, stdout, tenon};

/// An account with a key, made in a shell.
fn person(data: &TempDir, name: &str, access: &str) -> String {
    let email = format!("{name}@x.org");
    let user = |arguments: &[&str], input: &str| {
        let mut command = tenon(data, &["user"]);
        command.args(arguments).env_remove("TENON_SINGLE_USER");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // One that does not read it may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    };
    let add = ["add", "--email", &email, "--name", name, "--password-stdin"];
    // It may be there already, for another key.
    user(&add, "correct horse battery");
    let key = ["key", &email, "--name", "test", "--access", access];
    stdout(&user(&key, "")).trim().to_owned()
}

#[tokio::test]
async fn only_an_admin_is_told_where_a_model_is() {
    let fake = Fake::default();
    let (named, added) = (fake.start().await, fake.start().await);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let data = tempfile::tempdir().unwrap();
    let ada = person(&data, "ada", "full");
    let program = person(&data, "ada", "use");
    let bob = person(&data, "bob", "full");
    let served = Served::start_with(&data, |serve| {
        let serve = serve.env_remove("TENON_SINGLE_USER");
        let serve = serve.env("OPENAI_BASE_URL", &named);
        let serve = serve.env("OPENAI_API_KEY", KEY);
        let serve = serve.env("ANTHROPIC_BASE_URL", &dead);
        serve.env("ANTHROPIC_API_KEY", KEY)
    });
    let get = async |key: &str, path: &str| {
        let url = format!("{}{path}", served.address);
        let response = served
            .client
            .get(url)
            .bearer_auth(key)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json::<Value>().await.unwrap()
    };
    let new = json!({"provider": "openai", "baseUrl": added, "model": "mine", "key": KEY});
    let url = format!("{}/api/models", served.address);
    let made = served.client.post(url).bearer_auth(&ada).json(&new);
    let made: Value = made.send().await.unwrap().json().await.unwrap();
    let one = format!("/api/models/{}", made["id"].as_str().unwrap());

    let host = |url: &str| {
        let url = url.trim_start_matches("http://");
        url.trim_end_matches("/v1").to_owned()
    };
    let hosts = [host(&named), host(&added), host(&dead)];
    for path in [
        "/api/models",
        "/api/endpoints",
        &one,
        "/api/info",
        "/v1/models",
    ] {
        for key in [&bob, &program] {
            let seen = get(key, path).await;
            for host in &hosts {
                assert!(!seen.to_string().contains(host), "{path}: {seen:#}");
            }
        }
    }
    let models = get(&bob, "/api/models").await;
    assert!(models.to_string().contains("\"mine\""), "{models:#}");
    let endpoints = get(&bob, "/api/endpoints").await;
    assert_eq!(endpoints.as_array().unwrap().len(), 2, "{endpoints:#}");
    assert!(endpoints.to_string().contains("error"), "{endpoints:#}");

    // Nor does one that cannot be reached tell it when it is asked.
    let lost = json!({"provider": "openai", "baseUrl": format!("{added}/lost"), "model": "lost"});
    let url = format!("{}/api/models", served.address);
    let made = served.client.post(url).bearer_auth(&ada).json(&lost);
    let made: Value = made.send().await.unwrap().json().await.unwrap();
    let ask = async |key: &str| {
        let body = json!({"model": made["id"], "messages": [{"role": "user", "content": "hi"}]});
        let url = format!("{}/v1/chat/completions", served.address);
        let asked = served.client.post(url).bearer_auth(key).json(&body);
        asked.send().await.unwrap().text().await.unwrap()
    };
    let told = ask(&bob).await;
    assert!(told.contains("There is no model server at lost"), "{told}");
    assert!(ask(&ada).await.contains(&hosts[1]));

    for path in ["/api/models", &one] {
        let seen = get(&ada, path).await;
        assert!(seen.to_string().contains(&added), "{path}: {seen:#}");
    }
    let seen = get(&ada, "/api/endpoints").await;
    assert!(seen.to_string().contains(&dead), "{seen:#}");
}
