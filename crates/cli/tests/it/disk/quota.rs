//! What tools leave behind is bounded, and nothing new begins on a disk that is nearly full.

use futures::future::join_all;
use serde_json::{Value, json};
use tenon_app::config::Config;

use crate::server::{Page, Server};

const MEGABYTE: usize = 1024 * 1024;

async fn write(server: &Server, name: &str, bytes: usize) -> Value {
    let arguments = json!({"path": name, "content": "x".repeat(bytes)});
    let path = "/api/tools/builtin_write_file/call";
    let (status, answer) = server.post(path, json!({"arguments": arguments})).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

async fn read(server: &Server, name: &str) -> Value {
    let arguments = json!({"path": name});
    let path = "/api/tools/builtin_read_file/call";
    let (_, answer) = server.post(path, json!({"arguments": arguments})).await;
    answer
}

/// What lies in the folders of the chats.
fn on_disk(server: &Server) -> u64 {
    let mut found = 0;
    let mut open = vec![server.data().join("work")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path())
            } else {
                found += entry.metadata().unwrap().len()
            }
        }
    }
    found
}

#[tokio::test]
async fn the_files_of_a_chat_are_bounded_however_many_write_at_once() {
    let server = Server::with_config(Config {
        chat_quota_mb: Some(2),
        ..Config::default()
    })
    .await;
    let names: Vec<String> = (0..40).map(|number| format!("{number}.txt")).collect();
    let writes = names.iter().map(|name| write(&server, name, 200 * 1024));
    let answers = join_all(writes).await;
    let done = answers.iter().filter(|answer| answer["ok"] == true);
    // Ten times 200 KiB with a block for each name fit into two megabytes, and not one more.
    assert_eq!(done.count(), 10, "{answers:?}");
    assert!(on_disk(&server) <= 2 * MEGABYTE as u64);
    let refused = answers.iter().find(|answer| answer["ok"] == false).unwrap();
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(
        said.starts_with("The files of this chat would take more than 2 MB"),
        "{said}"
    );

    // What is removed makes room at once.
    for file in std::fs::read_dir(server.data().join("work")).unwrap() {
        std::fs::remove_dir_all(file.unwrap().path()).unwrap();
    }
    assert_eq!(write(&server, "again.txt", MEGABYTE).await["ok"], true);
}

#[tokio::test]
async fn outputs_that_are_kept_count_for_their_user() {
    let server = Server::with_config(Config {
        user_quota_mb: Some(3),
        ..Config::default()
    })
    .await;
    assert_eq!(write(&server, "big.txt", MEGABYTE).await["ok"], true);
    let first = read(&server, "big.txt").await;
    assert_eq!(first["ok"], true, "{first}");
    let mut answer = first;
    for _ in 0..4 {
        answer = read(&server, "big.txt").await;
    }
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.contains("would take more than 3 MB"), "{said}");
}

#[tokio::test]
async fn on_a_disk_that_is_nearly_full_nothing_new_begins_and_all_can_be_read() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::in_folder(data.path(), Config::default()).await;
    let chat = server.new_chat().await;
    server.ask(&chat, "6 * 7").await;
    let low = Server::in_folder(
        data.path(),
        Config {
            // More than any disk has.
            free_space_mb: Some(u64::MAX / MEGABYTE as u64),
            ..Config::default()
        },
    )
    .await;
    let turns = format!("/api/chats/{chat}/turns");
    let (status, refused) = low.post(&turns, json!({"text": "7 * 7"})).await;
    assert_eq!(
        (status, refused["error"]["code"].as_str()),
        (507, Some("disk_low"))
    );
    let written = write(&low, "some.txt", 10).await;
    let said = written["error"]["message"].as_str().unwrap();
    assert!(
        said.starts_with("Nothing can be written. Less than "),
        "{said}"
    );
    let asked = json!({"messages": [{"role": "user", "content": "6 * 7"}]});
    let (status, _) = low.post("/v1/chat/completions", asked).await;
    assert_eq!(status, 507);

    let (status, messages) = low.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(
        (status, messages.as_array().unwrap().len() > 1),
        (200, true)
    );
    let (status, ready) = low.get("/ready").await;
    assert_eq!((status, ready["storage"].as_str()), (200, Some("low")));
    let mut page = Page::open(&low).await;
    page.until(|frame| frame["type"] == "storage" && frame["state"] == "low")
        .await;
}
