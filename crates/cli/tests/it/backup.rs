//! Everything in one file and back, while a server runs.

use std::fs;

use serde_json::json;

use crate::program::{Served, run, stdout, tenon};
use crate::sources::fixtures;

#[tokio::test]
async fn a_running_server_is_backed_up_and_restored() {
    let data = tempfile::tempdir().unwrap();
    let mut served = Served::start(&data);
    let chat = served.post("/api/chats", json!({})).await;
    let chat = chat["id"].as_str().unwrap().to_owned();
    let say = async |served: &Served, text: &str| {
        let path = format!("/api/chats/{chat}/turns");
        served.post(&path, json!({"text": text})).await;
    };
    let messages = format!("/api/chats/{chat}/messages");
    say(&served, "write \"hello\" to the file note.txt").await;
    served
        .wait(&chat, |messages| {
            messages[1]["toolCalls"][0]["status"] == "done" && messages[2]["text"] != ""
        })
        .await;
    let note = data.path().join("work").join(&chat).join("note.txt");
    assert_eq!(fs::read_to_string(&note).unwrap().trim(), "hello");
    // One more that is still going on.
    let sleeping = served.ask_and_wait_for_call("sleep for 200 seconds").await;

    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("all.tenon");
    let file = file.to_str().unwrap();
    let made = run(&data, &["backup", file]);
    stdout(&made);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(said.contains("secret.key apart from the backup"), "{said}");
    let again = run(&data, &["backup", file]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
    stdout(&run(&data, &["backup", file, "--force"]));
    let piped = run(&data, &["backup", "-"]);
    assert!(piped.status.success());
    assert_eq!(piped.stdout[..2], [0x1F, 0x8B]);

    let noted = served.get("/api/audit?action=backup.made").await;
    let noted = noted.as_array().unwrap().iter();
    let subjects: Vec<_> = noted.map(|entry| entry["subject"].clone()).collect();
    assert_eq!(subjects, [json!("-"), json!(file), json!(file)]);

    let before = served.get(&messages).await;
    say(&served, "6*7").await;
    served
        .wait(&chat, |messages| messages.as_array().unwrap().len() > 4)
        .await;
    fs::write(&note, "changed").unwrap();
    fs::write(data.path().join("work").join(&chat).join("late"), "x").unwrap();

    let unasked = run(&data, &["restore", file]);
    assert!(!unasked.status.success());
    assert!(String::from_utf8_lossy(&unasked.stderr).contains("--yes"));
    let restored = stdout(&run(&data, &["restore", file, "--yes"]));
    assert!(restored.contains("before-restore-"), "{restored}");
    // Log-ins are no part of a backup. The server notices what another process did a moment later.
    fixtures::until(|| async {
        match served.status("/api/chats", json!({})).await {
            401 => Ok(()),
            other => Err(json!(other)),
        }
    })
    .await;
    served.enter(&data);
    assert_eq!(served.get(&messages).await, before);
    assert_eq!(fs::read_to_string(&note).unwrap().trim(), "hello");
    assert!(!note.with_file_name("late").exists());
    // What ran when the backup was made is over, and the chats go on.
    let ended = served.get(&format!("/api/chats/{sleeping}/messages")).await;
    assert_eq!(ended[1]["toolCalls"][0]["status"], "lost", "{ended:#}");
    say(&served, "6*7").await;
    served
        .wait(&chat, |messages| {
            let last = messages.as_array().unwrap().last().unwrap();
            last["text"].as_str().unwrap().contains("42")
        })
        .await;

    // And back again: the safety backup is one like any other.
    let safe = fs::read_dir(data.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "tenon"))
        .unwrap();
    stdout(&run(&data, &["restore", safe.to_str().unwrap(), "--yes"]));
    served.enter(&data);
    let now = served.get(&messages).await;
    assert!(now.as_array().unwrap().len() > before.as_array().unwrap().len());
    assert_eq!(fs::read_to_string(&note).unwrap(), "changed");
}

#[tokio::test]
async fn a_backup_moves_to_another_folder_with_its_key() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let body = json!({"name": "one", "provider": "openai", "baseUrl": "http://127.0.0.1:9/v1",
        "model": "m", "key": "sk-secret"});
    served.post("/api/models", body).await;
    let other = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], missing: bool| {
        let name = format!("{}.tenon", arguments.len());
        let file = other.path().join(name);
        let file = file.to_str().unwrap();
        stdout(&run(&data, &[&["backup", file], arguments].concat()));
        let moved = run(&other, &["restore", file, "--yes"]);
        stdout(&moved);
        let said = String::from_utf8_lossy(&moved.stderr).into_owned();
        assert_eq!(said.contains("which is not here"), missing, "{said}");
        let keys = stdout(&run(&other, &["secrets", "status"]));
        assert_eq!(keys.contains("is missing"), missing, "{keys}");
    };
    check(&[], true);
    check(&["--with-key"], false);
}

#[test]
fn what_is_no_backup_changes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("x");
    for content in [&b""[..], b"hello", &[0x1F, 0x8B, 8, 0]] {
        fs::write(&file, content).unwrap();
        let refused = run(&data, &["restore", file.to_str().unwrap(), "--yes"]);
        assert!(!refused.status.success());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("is not a backup of Tenon"), "{said}");
    }
    let gone = run(&data, &["restore", "/nothing.tenon", "--yes"]);
    assert!(String::from_utf8_lossy(&gone.stderr).contains("cannot be read"));
    assert!(!data.path().join("tenon.db").exists());
    let full = tenon(&data, &["backup", "/nowhere/x.tenon"]).output();
    assert!(String::from_utf8_lossy(&full.unwrap().stderr).contains("no backup can be written"));
}
