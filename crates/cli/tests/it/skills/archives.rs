//! Archives of skills, good and bad, as people upload them.

use std::io::{Cursor, Write};

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{SkillFiles, WORD_COUNT, WORD_COUNT_CODE, uploaded};
use crate::server::Server;

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in entries {
        archive
            .start_file(*path, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub fn word_count() -> Vec<u8> {
    let (manifest, code) = (WORD_COUNT.as_bytes(), WORD_COUNT_CODE.as_bytes());
    zip(&[
        ("word-count/SKILL.md", manifest),
        ("word-count/main.py", code),
    ])
}

/// Each with what is said about it.
pub fn bad() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let manifest = WORD_COUNT.as_bytes();
    let zeros = vec![0; 30 * 1024 * 1024];
    let mut linked = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    linked
        .add_symlink("main.py", "/etc/passwd", options)
        .unwrap();
    let linked = linked.finish().unwrap().into_inner();
    vec![
        (
            "outside.zip",
            zip(&[("SKILL.md", manifest), ("../main.py", b"x")]),
            "../main.py: The path is absolute or leads out of the folder",
        ),
        (
            "absolute.zip",
            zip(&[("SKILL.md", manifest), ("/etc/cron.d/x", b"x")]),
            "/etc/cron.d/x: The path is absolute or leads out of the folder",
        ),
        ("linked.zip", linked, "main.py: It is a link"),
        (
            "bomb.zip",
            zip(&[("SKILL.md", manifest), ("zeros", &zeros)]),
            "zeros: It unpacks to more than 200 times its size",
        ),
        (
            "empty.zip",
            zip(&[("README.md", b"")]),
            "There is no SKILL.md in it",
        ),
        (
            "broken.zip",
            b"PK\x03\x04nothing".to_vec(),
            "The archive cannot be read",
        ),
    ]
}

#[tokio::test]
async fn an_upload_that_leads_outside_is_refused_by_the_name_in_it() {
    let server = Server::start().await;
    for (name, bytes, expected) in bad() {
        for path in ["/api/skills/preview", "/api/skills"] {
            let (status, refused) = server.post(path, uploaded(name, &bytes)).await;
            let why = refused["error"]["message"].as_str().unwrap();
            assert_eq!(status, 400, "{name}: {refused}");
            assert!(why.contains(expected), "{why}\nnot: {expected}");
        }
    }
    let (status, refused) = server
        .post(
            "/api/skills",
            json!({"fileName": "x.zip", "content": "%%%"}),
        )
        .await;
    assert_eq!(
        (status, &refused["error"]["field"]),
        (400, &json!("content"))
    );
    assert_eq!(server.post("/api/skills", json!({})).await.0, 400);
    assert_eq!(server.get("/api/skills").await.1, json!([]));
}

#[tokio::test]
async fn of_several_skills_in_an_archive_the_bad_one_is_shown_and_the_others_installed() {
    let server = Server::start().await;
    let (manifest, code) = (WORD_COUNT.as_bytes(), WORD_COUNT_CODE.as_bytes());
    let archive = zip(&[
        ("repo-main/README.md", b"# Skills"),
        ("repo-main/skills/good/SKILL.md", manifest),
        ("repo-main/skills/good/main.py", code),
        (
            "repo-main/skills/bad/SKILL.md",
            b"---\nname: bad\ntools: 7\n---\n",
        ),
    ]);
    let upload = uploaded("repo.zip", &archive);
    let (_, preview) = server.post("/api/skills/preview", upload.clone()).await;
    let found: Vec<_> = preview["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| &skill["folder"])
        .collect();
    assert_eq!(found, ["skills/good"]);
    let refused = &preview["refused"][0];
    assert_eq!(
        (&refused["folder"], &refused["file"]),
        (&json!("skills/bad"), &json!("SKILL.md")),
        "{refused}"
    );
    assert!(refused["line"].is_u64(), "{refused}");
    let (status, installed) = server.post("/api/skills", upload).await;
    assert_eq!((status, installed.as_array().unwrap().len()), (201, 1));
    // From an upload nothing can be read again.
    let id = &installed[0]["id"];
    let (status, refused) = server.post("/api/skills", json!({"skillId": id})).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (400, &json!("skill_no_origin"))
    );
}

#[tokio::test]
async fn a_skill_of_a_folder_is_read_again_from_there() {
    let server = Server::start().await;
    let folder = SkillFiles::word_count().folder();
    let path = folder.path().to_str().unwrap();
    let (status, installed) = server.post("/api/skills", json!({"path": path})).await;
    assert_eq!(
        (status, &installed[0]["origin"]),
        (201, &json!(path)),
        "{installed}"
    );
    std::fs::write(folder.path().join("main.py"), "print(7)").unwrap();
    let again = json!({"skillId": installed[0]["id"]});
    let (status, updated) = server.post("/api/skills", again).await;
    assert_eq!(status, 201, "{updated}");
    assert_ne!(updated[0]["hash"], installed[0]["hash"]);
    assert_eq!(updated[0]["id"], installed[0]["id"]);
}
