//! New versions, while calls are planned and run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenon_domain::UserId;
use tenon_store::LOCAL;
use tokio::sync::Notify;

use super::limits::until_freed;
use super::{Asks, ObedientModel, SkillFiles, id_of, path_of, until_there};
use crate::server::Server;

fn version(number: u32, tools: &[&str]) -> SkillFiles {
    let skill = SkillFiles::new("moves").with(&format!("version: {number}.0.0"));
    let code = format!("print('{number}')");
    let add = |skill: SkillFiles, tool: &&str| skill.python(tool, &code);
    tools.iter().fold(skill, add)
}

/// Says that it began, and waits until the test lets it go on.
const WAITS: &str = "import os, time
open('began', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.01)
print(open(os.environ['SKILL_DIR'] + '/said.txt').read())
";

fn waiting(said: &str) -> SkillFiles {
    SkillFiles::new("waits")
        .file("said.txt", said)
        .python("wait", WAITS)
}

/// Where programs that a person calls write to.
fn work_folder(server: &Server) -> PathBuf {
    server.app.tools.workspace(&UserId::new(LOCAL))
}

#[tokio::test]
async fn what_an_update_changes_is_shown_first() {
    let server = Server::start().await;
    let first = SkillFiles::new("changes")
        .with("version: 1.0.0")
        .python("stays", "print(1)")
        .python("goes", "print(1)");
    let (status, preview) = server.post("/api/skills/preview", first.upload()).await;
    assert_eq!(status, 200, "{preview}");
    let shown = &preview["skills"][0];
    assert_eq!(
        (&shown["needsAdmin"], shown.get("installed")),
        (&json!(true), None),
        "{shown}"
    );
    assert_eq!(server.get("/api/skills").await.1, json!([]));
    let skill = server.install(&first).await;

    let second = SkillFiles::new("changes")
        .with("version: 2.0.0")
        .with("network: true")
        .with("secrets: [API_KEY]")
        .with("requirements: [idna==3.10]")
        .python("stays", "print(2)")
        .python("comes", "print(2)");
    let (_, preview) = server.post("/api/skills/preview", second.upload()).await;
    let shown = &preview["skills"][0];
    assert_eq!(shown["installed"], skill["id"]);
    let diff = &shown["diff"];
    assert_eq!(
        (&diff["oldVersion"], &diff["oldHash"]),
        (&json!("1.0.0"), &skill["hash"])
    );
    let of = |list: &str, fields: &[&str]| -> Vec<String> {
        let list = diff[list].as_array().unwrap().iter();
        let texts = list.map(|item| {
            let texts = fields.iter().map(|field| item[field].as_str().unwrap());
            texts.collect::<Vec<_>>().join(" ")
        });
        texts.collect()
    };
    assert_eq!(
        of("tools", &["change", "name", "target"]),
        [
            "added comes python3 comes.py",
            "removed goes python3 goes.py"
        ]
    );
    assert_eq!(
        of("files", &["change", "path"]),
        [
            "changed SKILL.md",
            "added comes.py",
            "removed goes.py",
            "changed stays.py"
        ]
    );
    let mut permissions = of("permissions", &["change", "kind"]);
    permissions.sort();
    permissions.dedup();
    assert_eq!(
        permissions,
        [
            "added command",
            "added network",
            "added package",
            "added script",
            "added secret",
            "changed script",
            "removed command",
            "removed script"
        ]
    );
    // Whoever agreed to something else has not agreed to this.
    let mut install = second.upload();
    install["hashes"] = json!([skill["hash"]]);
    let (status, refused) = server.post("/api/skills", install).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (400, &json!("skill_nothing_chosen"))
    );
}

#[tokio::test]
async fn an_update_keeps_ids_and_going_back_is_one_request() {
    let server = Server::start().await;
    let first = server.install(&version(1, &["stays", "goes"])).await;
    let second = server.install(&version(2, &["stays", "comes"])).await;
    let (stays, goes) = (id_of(&first, "stays"), id_of(&first, "goes"));
    assert_eq!(first["id"], second["id"]);
    assert_eq!(id_of(&second, "stays"), stays);
    assert_eq!(server.result(&stays, json!({})).await, json!(2));
    let gone = format!("/api/tools/{goes}/call");
    assert_eq!(server.post(&gone, json!({"arguments": {}})).await.0, 404);

    let (_, detail) = server.get(&path_of(&second)).await;
    let versions = detail["versions"].as_array().unwrap().iter();
    let versions: Vec<_> = versions
        .map(|version| (version["version"].as_str().unwrap(), &version["current"]))
        .collect();
    assert_eq!(
        versions,
        [("2.0.0", &json!(true)), ("1.0.0", &json!(false))]
    );
    let back = format!("{}/version", path_of(&second));
    let (status, detail) = server.post(&back, json!({"hash": first["hash"]})).await;
    assert_eq!(
        (status, &detail["version"]),
        (200, &json!("1.0.0")),
        "{detail}"
    );
    assert_eq!(id_of(&detail, "goes"), goes);
    assert_eq!(server.result(&goes, json!({})).await, json!(1));
    let (status, refused) = server.post(&back, json!({"hash": "nothing"})).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (404, &json!("skill_no_such_version")),
        "{refused}"
    );
}

#[tokio::test]
async fn a_call_planned_before_an_update_runs_the_new_version_or_learns_that_its_tool_is_gone() {
    let go_on = Arc::new(Notify::new());
    let model = Arc::new(ObedientModel {
        waits_for: Some(go_on.clone()),
        ..ObedientModel::default()
    });
    let server = Server::with_model(model.clone()).await;
    let skill = server.install(&version(1, &["stays", "goes"])).await;
    let (stays, goes) = (id_of(&skill, "stays"), id_of(&skill, "goes"));
    let chat = server.new_chat().await;
    let text = format!("{stays}\n{goes}");
    let asked = async { server.ask(&chat, &text).await };
    let updated = async {
        while model.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let tools = model.requests()[0].tools.clone();
        assert!(tools.iter().any(|tool| tool.id.as_str() == goes));
        server.install(&version(2, &["stays"])).await;
        go_on.notify_one();
        // It is told of both, and says that it is done.
        while model.requests().len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        go_on.notify_one();
    };
    tokio::join!(asked, updated);
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let calls = &messages[1]["toolCalls"];
    let data = &calls[0]["output"]["content"][0]["value"]["data"];
    assert_eq!(
        (&calls[0]["status"], data),
        (&json!("done"), &json!(2)),
        "{calls:#}"
    );
    assert_eq!(calls[1]["status"], "failed", "{calls:#}");
    let why = calls[1]["error"]["message"].as_str().unwrap();
    assert!(why.contains("no longer has this tool"), "{why}");
}

#[tokio::test]
async fn a_call_that_runs_while_its_skill_is_updated_ends_as_it_began() {
    let server = Server::start().await;
    let skill = server.install(&waiting("old")).await;
    let wait = id_of(&skill, "wait");
    let work = work_folder(&server);
    let called = server.result(&wait, json!({}));
    let updated = async {
        until_there(&work.join("began")).await;
        server.install(&waiting("new")).await;
        std::fs::write(work.join("go"), "").unwrap();
    };
    let (before, ()) = tokio::join!(called, updated);
    assert_eq!(before, "old");
    assert_eq!(server.result(&wait, json!({})).await, "new");
}

#[tokio::test]
async fn a_skill_that_is_removed_or_switched_off_ends_its_calls_and_says_so() {
    let server = Server::start().await;
    let ends = async |change: &str| {
        let skill = server.install(&waiting("")).await;
        let wait = id_of(&skill, "wait");
        let began = work_folder(&server).join("began");
        let called = server.call(&wait, json!({}));
        let removed = async {
            until_there(&began).await;
            std::fs::remove_file(&began).unwrap();
            let path = path_of(&skill);
            if change == "remove" {
                server.ask_for("DELETE", &path, Value::Null).await.0
            } else {
                server.patch(&path, json!({"enabled": false})).await.0
            }
        };
        let (answer, status) = tokio::join!(called, removed);
        assert!(status < 300, "{status}");
        assert_eq!(answer["error"]["code"], "skill_removed", "{answer}");
        let said = "The skill waits was removed or switched off. Do without it.";
        assert_eq!(answer["error"]["message"], said);
        let reply = json!({"success": false, "error": said});
        assert_eq!(answer["error"]["reply"], reply, "{answer}");
        let path = format!("/api/tools/{wait}/call");
        assert_eq!(server.post(&path, json!({"arguments": {}})).await.0, 404);
        skill
    };
    let off = ends("switch off").await;
    let (_, on) = server.patch(&path_of(&off), json!({"enabled": true})).await;
    assert_eq!(on["state"], "ready", "{on}");
    let removed = ends("remove").await;
    assert_eq!(removed["id"], off["id"]);
    assert_eq!(server.get(&path_of(&removed)).await.0, 404);
    let id = removed["id"].as_str().unwrap();
    assert!(!server.data().join("skills").join(id).exists());
}

/// A worker that stays, and one call of it that does not end.
const WAITS_IN_WORKER: &str = "import fcntl, time


class Tools:
    def well(self):
        \"\"\"Does nothing.\"\"\"
        return 'well'

    def wait(self):
        \"\"\"Waits.\"\"\"
        self.held = open('held', 'w')
        fcntl.flock(self.held, fcntl.LOCK_EX)
        open('began', 'w').close()
        time.sleep(1000)
";

#[tokio::test]
async fn a_skill_that_goes_ends_the_call_of_a_warm_worker_and_says_so() {
    let server = Server::start().await;
    let work = work_folder(&server);
    for change in ["switch off", "remove"] {
        let code = json!({"code": WAITS_IN_WORKER, "name": "Waits in a worker"});
        let (status, skill) = server.post("/api/tools/create", code).await;
        assert_eq!(status, 201, "{skill}");
        let well = server.result(&id_of(&skill, "well"), json!({})).await;
        assert_eq!(well, "well");
        let wait = id_of(&skill, "wait");
        let called = server.call(&wait, json!({}));
        let gone = async {
            until_there(&work.join("began")).await;
            std::fs::remove_file(work.join("began")).unwrap();
            let path = path_of(&skill);
            if change == "remove" {
                server.ask_for("DELETE", &path, Value::Null).await.0
            } else {
                server.patch(&path, json!({"enabled": false})).await.0
            }
        };
        let (answer, status) = tokio::join!(called, gone);
        assert!(status < 300, "{status}");
        assert_eq!(answer["error"]["code"], "skill_removed", "{answer}");
        until_freed(&server).await;
        server
            .ask_for("DELETE", &path_of(&skill), Value::Null)
            .await;
    }
}
