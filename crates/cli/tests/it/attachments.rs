//! Files that people attach: what becomes of them, what models are told, who may read them.

use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{ChatId, FileId, Message, UserId};
use tenon_llm::scripted::{ScriptStep, Scripted};
use tenon_store::LOCAL;

use crate::peer::{installed, ours};
use crate::server::{Page, Server, answer};

/// The smallest PNG there is: one pixel.
pub(crate) const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0,
];

fn says(words: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(words), ScriptStep::stop()]
}

pub(crate) async fn upload(server: &Server, name: &str, data: &[u8]) -> (u16, Value) {
    let path = format!("/api/files?name={name}");
    let request = server
        .request("POST", &path)
        .header("content-type", "application/octet-stream")
        .body(data.to_vec());
    answer(request.send().await.unwrap()).await
}

/// Sends a message with files and waits for its end.
pub(crate) async fn send_message(server: &Server, chat: &str, message: Value) {
    let mut page = Page::open(server).await;
    page.subscribe(chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    let path = format!("/api/chats/{chat}/turns");
    let (status, started) = server.post(&path, message).await;
    assert_eq!(status, 202, "{started}");
    page.until_finished().await;
}

#[tokio::test]
async fn what_is_attached_reaches_the_model_and_the_folder_of_the_chat() {
    let model = Arc::new(Scripted::new(["one", "two", "three"].map(says)));
    let server = Server::with_model(model.clone()).await;
    let chat = server.new_chat().await;
    let (status, notes) = upload(&server, "notes.txt", "潮汐 at noon".as_bytes()).await;
    assert_eq!(
        (status, &notes["kind"], &notes["textChars"]),
        (201, &json!("text"), &json!(10)),
        "{notes}"
    );
    let (_, pixel) = upload(&server, "..%2Fpixel.png", PIXEL).await;
    assert_eq!(
        (&pixel["kind"], &pixel["name"]),
        (&json!("image"), &json!("pixel.png"))
    );
    let (_, archive) = upload(&server, "data.bin", &[0, 159, 146, 150]).await;
    assert_eq!(archive["kind"], "other");
    let ids = [&notes["id"], &pixel["id"], &archive["id"]];
    send_message(&server, &chat, json!({"text": "Sum up.", "fileIds": ids})).await;

    let requests = model.requests();
    let Some(Message::User {
        text,
        images,
        files,
    }) = requests[0].messages.first()
    else {
        panic!("{:?}", requests[0].messages)
    };
    assert_eq!(text, "Sum up.");
    assert_eq!(images[0].media_type, "image/png");
    assert_eq!(images[0].name.as_deref(), Some("pixel.png"));
    assert_eq!(files[0].text.as_deref(), Some("潮汐 at noon"));
    assert_eq!(
        (files[1].name.as_str(), &files[1].text),
        ("data.bin", &None)
    );
    let folder = server
        .app
        .agent
        .workspace(&tenon_domain::ChatId::new(&chat));
    for name in ["notes.txt", "pixel.png", "data.bin"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let parts = messages[0]["parts"].as_array().unwrap();
    let names: Vec<&Value> = parts.iter().map(|part| &part["file"]["name"]).collect();
    assert_eq!(
        names,
        [
            &Value::Null,
            &json!("notes.txt"),
            &json!("pixel.png"),
            &json!("data.bin")
        ]
    );

    // An estimate counts the picture, which it does not read, and the words of the text.
    let query = json!({"chatId": chat, "text": "More?"});
    let (_, context) = server.post("/api/context", query).await;
    let tokens = context["historyTokens"].as_u64().unwrap();
    assert!((1_500..1_700).contains(&tokens), "{context}");

    // The same again has the same files; another text says which it has.
    let turn = messages[0]["turnId"].clone();
    send_message(&server, &chat, json!({"replaces": turn})).await;
    send_message(
        &server,
        &chat,
        json!({"text": "No files.", "replaces": turn}),
    )
    .await;
    let requests = model.requests();
    let count = |number: usize| match requests[number].messages.first() {
        Some(Message::User { files, images, .. }) => files.len() + images.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!((count(1), count(2)), (3, 0));

    // A second file of the name stands beside the first.
    let (_, again) = upload(&server, "notes.txt", b"more").await;
    send_message(&server, &chat, json!({"fileIds": [again["id"]]})).await;
    assert_eq!(
        std::fs::read(folder.join("notes (2).txt")).unwrap(),
        b"more"
    );
}

#[tokio::test]
async fn documents_that_others_wrote_are_read_or_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut write = Command::new(installed("venv-documents/bin/python"));
    let write = write.arg(ours("documents/write.py")).arg(folder.path());
    assert!(write.status().unwrap().success());
    let server = Server::start().await;
    let user = UserId::new(LOCAL);
    let read = async |name: &str| {
        let data = std::fs::read(folder.path().join(name)).unwrap();
        let (status, file) = upload(&server, name, &data).await;
        if status != 201 {
            return Err(file["error"]["code"].as_str().unwrap().to_owned());
        }
        let id = tenon_domain::FileId::new(file["id"].as_str().unwrap());
        Ok(server
            .app
            .store
            .file(&user, &id)
            .await
            .unwrap()
            .text
            .unwrap())
    };
    for (name, expected) in [
        (
            "tides.docx",
            "高潮在早上六点。\nDay | Height | \nMonday | 1.4 m |",
        ),
        (
            "tides.xlsx",
            "[潮汐]\nday\theight\thigh\n2026-11-17\t1.4\tTRUE",
        ),
        ("tides.pptx", "[Slide 2]\n第二页\nAbout 第二页"),
        ("tides.odt", "An open text about 潮汐."),
        ("tides.pdf", "It is low at six."),
    ] {
        let text = read(name).await.unwrap();
        assert!(text.contains(expected), "{name}: {text}");
    }
    assert_eq!(read("secret.pdf").await, Err("file_encrypted".into()));
    assert_eq!(read("scanned.pdf").await, Err("file_without_text".into()));
    std::fs::copy(
        folder.path().join("tides.pdf"),
        folder.path().join("odd.docx"),
    )
    .unwrap();
    assert_eq!(read("odd.docx").await, Err("file_damaged".into()));
    std::fs::write(folder.path().join("bomb.docx"), bomb()).unwrap();
    assert_eq!(
        read("bomb.docx").await,
        Err("file_unpacks_too_large".into())
    );
}

/// 128 MiB of spaces, where the text of a document should be.
fn bomb() -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("word/document.xml", options).unwrap();
    let spaces = vec![b' '; 1024 * 1024];
    for _ in 0..128 {
        archive.write_all(&spaces).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn bad_uploads_are_refused_and_unsent_files_can_be_taken_back() {
    let server = Server::start().await;
    let (status, error) = upload(&server, "empty.txt", b"").await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (422, &json!("file_empty"))
    );
    // Nobody is told the marks of a format that is not read.
    let (_, rich) = upload(&server, "letter.rtf", br"{\rtf1\ansi Dear Ada}").await;
    assert_eq!(
        (&rich["kind"], &rich["textChars"]),
        (&json!("other"), &Value::Null)
    );
    let (status, error) = upload(&server, "large.bin", &vec![1; 21 * 1024 * 1024]).await;
    assert_eq!(status, 413, "{error}");
    let request = server
        .request("POST", "/api/files?name=a.txt")
        .header("content-type", "text/plain")
        .body("hello");
    let (status, error) = answer(request.send().await.unwrap()).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (400, &json!("not_bytes"))
    );

    let (_, file) = upload(&server, "a.txt", b"hello").await;
    let path = format!("/api/files/{}", file["id"].as_str().unwrap());
    assert_eq!(server.get(&path).await, (200, json!("hello")));
    let gone = server.request("DELETE", &path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(server.get(&path).await.0, 404);
    let chat = server.new_chat().await;
    let turns = format!("/api/chats/{chat}/turns");
    let (status, error) = server
        .post(&turns, json!({"text": "x", "fileIds": [file["id"]]}))
        .await;
    assert_eq!((status, &error["error"]["field"]), (404, &json!("fileIds")));
}

#[tokio::test]
async fn files_go_along_with_an_export_and_a_link_where_their_owner_says_so() {
    let model = Arc::new(Scripted::new(["one", "two"].map(says)));
    let server = Server::with_model(model.clone()).await;
    let chat = server.new_chat().await;
    let (_, file) = upload(&server, "plan.txt", b"the secret plan").await;
    let id = file["id"].as_str().unwrap().to_owned();
    send_message(&server, &chat, json!({"text": "Read it.", "fileIds": [id]})).await;

    let path = format!("/api/chats/{chat}");
    let (_, plain) = server.get(&format!("{path}/export")).await;
    assert!(!plain.to_string().contains("the secret plan"));
    let (_, whole) = server.get(&format!("{path}/export?files=true")).await;
    let (status, imported) = server.post("/api/chats/import", whole).await;
    assert_eq!(status, 201, "{imported}");
    let copy = imported["id"].as_str().unwrap();
    let (_, messages) = server.get(&format!("/api/chats/{copy}/messages")).await;
    let copied = messages[0]["parts"][1]["file"]["id"].as_str().unwrap();
    assert_ne!(copied, id);
    let (_, text) = server.get(&format!("/api/files/{copied}")).await;
    assert_eq!(text, "the secret plan");

    let share = format!("{path}/share");
    let (_, link) = server.post(&share, json!({})).await;
    let token = link["token"].as_str().unwrap();
    let (_, shared) = server.get(&format!("/api/shared/{token}")).await;
    assert!(!shared.to_string().contains("plan.txt"), "{shared}");
    let shared_file = format!("/api/shared/{token}/files/{id}");
    assert_eq!(server.get(&shared_file).await.0, 404);
    server.post(&share, json!({"files": true})).await;
    let (_, shared) = server.get(&format!("/api/shared/{token}")).await;
    assert!(shared.to_string().contains("plan.txt"), "{shared}");
    assert_eq!(
        server.get(&shared_file).await,
        (200, json!("the secret plan"))
    );
    // Of no other chat.
    let other = format!("/api/shared/{token}/files/{copied}");
    assert_eq!(server.get(&other).await.0, 404);
}

#[tokio::test]
async fn two_chats_that_take_a_file_at_once_have_it_both() {
    let server = Server::start().await;
    let user = UserId::new(LOCAL);
    for round in 0..10 {
        let (_, file) = upload(&server, "plan.txt", b"the plan").await;
        let id = FileId::new(file["id"].as_str().unwrap());
        let chats = [server.new_chat().await, server.new_chat().await].map(ChatId::new);
        let ids = [id];
        let [first, second] = chats
            .each_ref()
            .map(|chat| server.app.files.attach(&user, chat, &ids));
        let (first, second) = tokio::join!(first, second);
        for (chat, attached) in chats.iter().zip([first, second]) {
            let attached = attached.unwrap();
            let kept = server.app.store.file_of_chat(chat, &attached[0].id).await;
            assert_eq!(kept.unwrap().data, b"the plan", "round {round}");
        }
    }
}

#[tokio::test]
async fn pictures_of_the_web_are_fetched_within_the_address_policy() {
    let server = Server::start().await;
    let fetch = async |url: &str| {
        let (status, error) = server.get(&format!("/api/image?url={url}")).await;
        (status, error["error"]["code"].clone())
    };
    let refused = (400, json!("image_address"));
    assert_eq!(fetch("http://127.0.0.1:9/a.png").await, refused);
    assert_eq!(fetch("file:///etc/passwd").await, refused);
    assert_eq!(fetch("http://169.254.169.254/latest").await, refused);
}
