//! Who installs, changes and sees skills.

use serde_json::{Value, json};

use super::{Asks, SkillFiles, id_of, path_of};
use crate::people::Person;
use crate::server::Server;

fn instructions(name: &str) -> SkillFiles {
    SkillFiles::new(name).body("Steps to take.\n")
}

/// The code of a refusal.
fn code((status, answer): (u16, Value)) -> (u16, String) {
    let code = answer["error"]["code"].as_str();
    (status, code.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_runs_programs_or_is_for_everybody_takes_an_admin() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let olga = ada.add("Olga").await;
    let refused = async |body: Value, expected: &str| {
        let answer = olga.post("/api/skills", body).await;
        assert_eq!(code(answer), (403, expected.to_owned()));
    };
    let script = SkillFiles::word_count();
    refused(script.upload(), "skill_programs_for_admins").await;
    let along = instructions("a").file("scripts/x.sh", "echo");
    refused(along.upload(), "skill_programs_for_admins").await;
    let module = instructions("a")
        .tool("f", "module: m.py, parameters: {type: object}")
        .file("m.py", "def f(): pass");
    refused(module.upload(), "skill_programs_for_admins").await;
    let mut team = instructions("a").upload();
    team["visibility"] = json!("team");
    refused(team, "skill_team_for_admins").await;
    refused(json!({"path": "/etc"}), "skill_path_for_admins").await;
    let preview = olga
        .post("/api/skills/preview", json!({"path": "/etc"}))
        .await;
    assert_eq!(preview.0, 403);
    let code_of = json!({"code": "class Tools:\n    def f(self): pass\n", "tool": "f"});
    for path in ["/api/tools/describe", "/api/tools/try", "/api/tools/create"] {
        assert_eq!(olga.post(path, code_of.clone()).await.0, 403, "{path}");
    }
    // She sees what it would take.
    let (_, preview) = olga.post("/api/skills/preview", script.upload()).await;
    assert_eq!(preview["skills"][0]["needsAdmin"], true);

    let hers = olga.install(&instructions("hers")).await;
    assert_eq!(
        (&hers["visibility"], &hers["mine"], &hers["canChange"]),
        (&json!("private"), &json!(true), &json!(true))
    );
    let share = json!({"visibility": "team"});
    assert_eq!(olga.patch(&path_of(&hers), share.clone()).await.0, 403);
    let network = json!({"networkAllowed": true});
    assert_eq!(olga.patch(&path_of(&hers), network).await.0, 403);
    // Not even an admin, who does not see it.
    assert_eq!(ada.patch(&path_of(&hers), share).await.0, 404);
    // A script does not come in as a new version either.
    let update = SkillFiles::new("hers").python("run", "print(1)");
    refused(update.upload(), "skill_programs_for_admins").await;
}

#[tokio::test]
async fn a_skill_of_the_team_is_used_by_all_and_changed_by_admins() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let olga = ada.add("Olga").await;
    let skill = ada.install(&SkillFiles::word_count()).await;
    let (_, seen) = olga.get("/api/skills").await;
    assert_eq!(
        (&seen[0]["id"], &seen[0]["mine"], &seen[0]["canChange"]),
        (&skill["id"], &json!(false), &json!(false))
    );
    let count = id_of(&skill, "count");
    let text = json!({"text": "a b"});
    assert_eq!(olga.result(&count, text).await, json!({"words": 2}));
    let path = path_of(&skill);
    let version = format!("{path}/version");
    let hash = json!({"hash": skill["hash"]});
    for answer in [
        olga.patch(&path, json!({"enabled": false})).await,
        olga.patch(&path, json!({"variables": {}})).await,
        olga.patch(&path, json!({"settings": {}})).await,
        olga.post(&version, hash).await,
        olga.send("DELETE", &path, None).await,
        olga.post("/api/skills", json!({"skillId": skill["id"]}))
            .await,
    ] {
        assert_eq!(code(answer), (403, "skill_not_yours".to_owned()));
    }
    // Her own of the same name is another one.
    let hers = olga.install(&instructions("word-count")).await;
    assert_ne!(hers["id"], skill["id"]);
    assert_eq!(ada.get(&path).await.1["hash"], skill["hash"]);
    // Whoever is no admin any more has nothing to say about it.
    let bob = ada.add("Bob").await;
    let role = |role: &str| json!({"role": role});
    let bobs = format!("/api/users/{}", bob.id);
    assert_eq!(ada.patch(&bobs, role("admin")).await.0, 200);
    let mut theirs = SkillFiles::new("bobs")
        .python("run", "print('bob')")
        .upload();
    theirs["visibility"] = json!("team");
    let (_, theirs) = bob.post("/api/skills", theirs).await;
    assert_eq!(ada.patch(&bobs, role("user")).await.0, 200);
    let answer = bob
        .patch(&path_of(&theirs[0]), json!({"enabled": false}))
        .await;
    assert_eq!(code(answer), (403, "skill_not_yours".to_owned()));
    assert_eq!(ada.delete(&path_of(&theirs[0])).await, 204);
}

#[tokio::test]
async fn what_somebody_installed_for_themself_goes_with_them() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let olga = ada.add("Olga").await;
    let skill = olga.install(&instructions("hers")).await;
    let files = server
        .data()
        .join("skills")
        .join(skill["id"].as_str().unwrap());
    assert!(files.is_dir());
    assert_eq!(ada.delete(&format!("/api/users/{}", olga.id)).await, 204);
    assert_eq!(server.app.store.skills().await.unwrap(), []);
    crate::sources::fixtures::until(|| async {
        if files.exists() {
            Err(json!("there"))
        } else {
            Ok(())
        }
    })
    .await;
}

#[tokio::test]
async fn what_was_done_with_skills_is_in_the_audit_log() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let skill = ada.install(&SkillFiles::word_count()).await;
    ada.patch(&path_of(&skill), json!({"enabled": false})).await;
    ada.delete(&path_of(&skill)).await;
    let (_, entries) = ada.get("/api/audit?action=skill.").await;
    let entries = entries.as_array().unwrap().iter();
    let actions: Vec<_> = entries
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        ["skill.removed", "skill.changed", "skill.installed"]
    );
}
