//! `tenon user`, as an admin uses it on the machine itself.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Served, run, stdout, tenon};
use crate::sources::fixtures;

pub fn user(data: &TempDir, arguments: &[&str], password: &str) -> Output {
    let mut command = tenon(data, &["user"]);
    command.args(arguments).env_remove("TENON_SINGLE_USER");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // One that does not read it may be gone already.
    let _ = child.stdin.take().unwrap().write_all(password.as_bytes());
    child.wait_with_output().unwrap()
}

fn refusal(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[tokio::test]
async fn whoever_runs_tenon_alone_has_keys_without_an_account() {
    let data = tempfile::tempdir().unwrap();
    let key = stdout(&run(
        &data,
        &["user", "key", "--name", "editor", "--access", "use"],
    ));
    let key = key.trim();
    let status = async |served: &Served, path: &str| {
        let url = format!("{}{path}", served.address);
        let program = reqwest::Client::new().get(url).bearer_auth(key);
        program.send().await.unwrap().status().as_u16()
    };
    let served = Served::start(&data);
    assert_eq!(status(&served, "/v1/models").await, 200);
    assert_eq!(status(&served, "/api/audit").await, 403);
    // It is listed, and ends, like any other.
    let keys = served.get("/api/keys").await;
    assert_eq!(keys[0]["name"], "editor", "{keys}");
    drop(served);
    // Where people log in nobody is let in by it.
    let served = Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
    assert_eq!(status(&served, "/v1/models").await, 401);
    // The first account is theirs, with all that was there.
    let ada = [
        "add",
        "--email",
        "ada@x.org",
        "--name",
        "Ada",
        "--password-stdin",
    ];
    stdout(&user(&data, &ada, "correct horse\n"));
    fixtures::until(|| async {
        match status(&served, "/v1/models").await {
            200 => Ok(()),
            status => Err(json!(status)),
        }
    })
    .await;
}

#[tokio::test]
async fn accounts_are_looked_after_from_a_shell() {
    let data = tempfile::tempdir().unwrap();
    stdout(&run(&data, &["run", "6*7"]));
    let ada = [
        "add",
        "--email",
        "Ada@x.org",
        "--name",
        "Ada",
        "--password-stdin",
    ];
    let added = stdout(&user(&data, &ada, "correct horse\n"));
    assert_eq!(
        added, "ada@x.org  Ada (admin)\n",
        "the first one is an admin's"
    );
    assert!(
        refusal(&user(&data, &ada, "correct horse")).contains("account with this address already")
    );
    let bob = [
        "add",
        "--email",
        "bob@x.org",
        "--name",
        "Bob",
        "--password-stdin",
    ];
    assert!(refusal(&user(&data, &bob, "short\n")).contains("at least 8 characters"));
    assert_eq!(
        stdout(&user(&data, &bob, "correct horse")),
        "bob@x.org  Bob (user)\n"
    );
    assert!(refusal(&user(&data, &bob[..5], "x")).contains("--password-stdin"));

    let key = [
        "key",
        "ada@x.org",
        "--name",
        "ci",
        "--access",
        "use",
        "--allow",
        "mcp_*",
    ];
    let key = stdout(&user(&data, &key, ""));
    let bobs = ["key", "bob@x.org", "--name", "ci", "--json"];
    let bobs: Value = serde_json::from_str(&stdout(&user(&data, &bobs, ""))).unwrap();
    let served = Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
    let get = async |key: &str, path: &str| {
        let url = format!("{}{path}", served.address);
        let request = served.client.get(url).bearer_auth(key.trim());
        let response = request.send().await.unwrap();
        (
            response.status().as_u16(),
            response.json::<Value>().await.unwrap(),
        )
    };
    let (status, chats) = get(&key, "/api/chats").await;
    assert_eq!(status, 200);
    assert_eq!(
        chats.as_array().unwrap().len(),
        1,
        "what was there before is hers now"
    );
    assert_eq!(get(&key, "/api/users").await.0, 403);
    let bobs = bobs["key"].as_str().unwrap();
    assert_eq!(get(bobs, "/api/chats").await, (200, json!([])));
    // Nobody is let in without.
    let bare = served.client.get(format!("{}/api/chats", served.address));
    assert_eq!(bare.send().await.unwrap().status(), 401);

    // The server learns what another process does within a second.
    let until = async |key: &str, expected: u16| {
        fixtures::until(|| async {
            match get(key, "/api/chats").await {
                (status, _) if status == expected => Ok(()),
                (status, _) => Err(json!(status)),
            }
        })
        .await
    };
    let disabled = stdout(&user(&data, &["disable", "BOB@x.org"], ""));
    assert_eq!(disabled, "bob@x.org  Bob (user, disabled)\n");
    until(bobs, 401).await;
    stdout(&user(&data, &["enable", "bob@x.org"], ""));
    until(bobs, 200).await;
    assert!(refusal(&user(&data, &["disable", "ada@x.org"], "")).contains("the only admin"));
    assert!(refusal(&user(&data, &["enable", "eve@x.org"], "")).contains("nobody has the address"));

    let passwd = ["passwd", "bob@x.org", "--password-stdin", "--keep-keys"];
    let changed = stdout(&user(&data, &passwd, "battery staple\n"));
    assert!(changed.contains("keys for programs stay"), "{changed}");
    assert_eq!(get(bobs, "/api/chats").await.0, 200);
    let changed = stdout(&user(&data, &passwd[..3], "battery staple\n"));
    assert!(changed.contains("1 key has ended"), "{changed}");
    until(bobs, 401).await;
    let log_in = async |password: &str| {
        let body = json!({"email": "bob@x.org", "password": password});
        let url = format!("{}/api/auth/login", served.address);
        let sent = served.client.post(url).json(&body).send().await;
        sent.unwrap().status().as_u16()
    };
    assert_eq!(log_in("correct horse").await, 401);
    assert_eq!(log_in("battery staple").await, 200);
    let list = stdout(&user(&data, &["list", "--json"], ""));
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(
        (&list[0]["email"], &list[1]["role"]),
        (&json!("ada@x.org"), &json!("user"))
    );
    assert!(!list.to_string().contains("argon2"), "{list}");
}

#[test]
fn a_server_without_accounts_says_how_to_make_one() {
    let data = tempfile::tempdir().unwrap();
    for (value, listens) in [("0", true), ("false", true), ("", true), ("1", false)] {
        let mut command = tenon(&data, &["serve", "--listen", "0.0.0.0:0"]);
        command.env("TENON_SINGLE_USER", value);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = crate::program::lines(child.stdout.take().unwrap(), 2);
        let _ = child.kill();
        child.wait().unwrap();
        if listens {
            assert!(
                lines[1].contains("There is no account yet.")
                    && lines[1].contains("http://127.0.0.1:")
                    && lines[1].contains("/#setup="),
                "{lines:?}"
            )
        } else {
            assert!(lines.is_empty(), "{lines:?}")
        }
    }
    let flag = ["serve", "--single-user", "--listen", "0.0.0.0:0"];
    let refused = tenon(&data, &flag)
        .env_remove("TENON_SINGLE_USER")
        .output()
        .unwrap();
    assert!(refusal(&refused).contains("it listens on 127.0.0.1 or [::1] only"));
}
