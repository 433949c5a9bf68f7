//! What a process that died leaves in a chat does not block it: a server that
//! lives ties it up.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::{Served, tenon};
use crate::server::TEST_TIMEOUT;

#[tokio::test]
async fn a_shell_that_was_killed_does_not_block_its_chat() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let mut shell = tenon(&data, &["run", "wait 30 seconds"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let chat = loop {
        let chats = served.get("/api/chats").await;
        if let Some(chat) = chats[0]["id"].as_str() {
            break chat.to_owned();
        }
        assert!(started.elapsed() < TEST_TIMEOUT);
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let running = served.wait(&chat, |messages| {
        messages[1]["toolCalls"][0]["status"] == "running"
    });
    let turn = running.await[1]["turnId"].as_str().unwrap().to_owned();
    let path = format!("/api/chats/{chat}/turns");
    let hello = json!({"text": "hello"});
    // One at a time, whichever process answers.
    assert_eq!(served.status(&path, hello.clone()).await, 409);
    shell.kill().unwrap();
    shell.wait().unwrap();

    let stop = format!("/api/turns/{turn}/cancel");
    assert_eq!(served.status(&stop, json!({})).await, 202);
    let messages = served.wait(&chat, |messages| {
        messages[1]["toolCalls"][0]["status"] == "lost"
    });
    messages.await;
    assert_eq!(served.status(&path, hello).await, 202);
}
