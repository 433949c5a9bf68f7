//! Changing the key to the stored secrets while a server uses them.

use serde_json::json;

use crate::program::{Served, run, stdout, tenon};

#[tokio::test]
async fn a_key_is_rotated_under_a_running_server() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let add = async |name: &str| {
        let body = json!({"name": name, "provider": "openai", "baseUrl": "http://127.0.0.1:9/v1",
            "model": "m", "key": "sk-secret"});
        let model = served.post("/api/models", body).await;
        assert_eq!(model["hasKey"], true, "{model}");
    };
    add("one").await;
    let before = stdout(&run(&data, &["secrets", "status"]));
    assert_eq!(before.lines().count(), 1, "{before}");
    assert!(
        before.contains("seals new secrets; 1 secret is sealed with it"),
        "{before}"
    );

    let rotated = stdout(&run(&data, &["secrets", "rotate"]));
    assert!(
        rotated.starts_with("1 secret is now sealed with the key "),
        "{rotated}"
    );
    // The server seals with the new key, and opens what was sealed before.
    add("two").await;
    let after = stdout(&run(&data, &["secrets", "status"]));
    let lines: Vec<&str> = after.lines().collect();
    assert!(lines[0].contains("2 secrets are sealed"), "{after}");
    assert!(
        lines[1].contains("opens old secrets; 0 secrets are sealed"),
        "{after}"
    );
    assert_eq!(lines.len(), 2);
    assert_eq!(&lines[1][..8], &before[..8]);
    for model in served.get("/api/models").await.as_array().unwrap() {
        if model["name"] == "one" {
            let path = format!("/api/models/{}", model["id"].as_str().unwrap());
            assert_eq!(served.get(&path).await["hasKey"], true);
        }
    }
}

#[tokio::test]
async fn with_a_given_key_the_operator_hears_what_may_go() {
    let data = tempfile::tempdir().unwrap();
    let (old, new) = ("07".repeat(32), "08".repeat(32));
    let rotate = |keys: &str| {
        tenon(&data, &["secrets", "rotate"])
            .env("TENON_SECRET_KEY", keys)
            .output()
            .unwrap()
    };
    let alone = rotate(&old);
    assert!(stdout(&alone).starts_with("0 secrets are now sealed"));
    let said = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(said.contains("put it before the others"), "{said}");
    let both = rotate(&format!("{new},{old}"));
    stdout(&both);
    let said = String::from_utf8_lossy(&both.stderr).into_owned();
    assert!(said.contains("No secret needs 4bb06f8e any more"), "{said}");
    assert!(!data.path().join("secret.key").exists());
}
