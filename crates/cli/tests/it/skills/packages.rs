//! Packages that skills need, from PyPI and npm.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use super::{Asks, SkillFiles, events, id_of};
use crate::program::{Served, run, stdout, tenon};
use crate::server::Server;

/// For an environment and a question to the registry, on a busy machine.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(120);

fn path(folder: &TempDir) -> &str {
    folder.path().to_str().unwrap()
}

#[tokio::test]
async fn packages_are_installed_once_and_are_there_for_the_scripts() {
    let data = tempfile::tempdir().unwrap();
    let skill = SkillFiles::new("needs")
        .with("requirements: [six==1.17.0]")
        .file(
            "package.json",
            r#"{"dependencies": {"is-number": "7.0.0"}}"#,
        )
        .python("python", "import six\nprint(six.__version__)")
        .node(
            "node",
            "import { createRequire } from 'node:module';\n\
             const isNumber = createRequire(process.env.NODE_PATH + '/')('is-number');\n\
             console.log(JSON.stringify([isNumber(5), isNumber('five')]));",
        );
    let folder = skill.folder();
    let installed = run(
        &data,
        &["skill", "install", path(&folder), "--yes", "--json"],
    );
    let said = String::from_utf8_lossy(&installed.stderr).into_owned();
    for expected in [
        "+ installs the package six==1.17.0",
        "+ installs the package is-number@7.0.0",
        "  pip install six==1.17.0",
        "  npm install is-number@7.0.0",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let installed: Value = serde_json::from_str(&stdout(&installed)).unwrap();
    let skill = &installed[0];
    let ready = data
        .path()
        .join("skills")
        .join(skill["id"].as_str().unwrap())
        .join(skill["hash"].as_str().unwrap())
        .join(".ready");
    let made = |path: &std::path::Path| -> SystemTime {
        std::fs::metadata(path).unwrap().modified().unwrap()
    };
    let before = made(&ready);

    let served = Served::start(&data);
    assert_eq!(served.get("/api/skills").await[0]["state"], "ready");
    assert_eq!(
        served.result(&id_of(skill, "python"), json!({})).await,
        "1.17.0"
    );
    assert_eq!(
        served.result(&id_of(skill, "node"), json!({})).await,
        json!([true, false])
    );
    assert_eq!(made(&ready), before);
}

#[tokio::test]
async fn a_package_that_does_not_exist_is_said_so_and_the_skill_has_failed() {
    let server = Server::start().await;
    let skill = SkillFiles::new("lost")
        .with("requirements: [tenon-no-such-package==1.0]")
        .python("run", "print(1)");
    let skill = server.install(&skill).await;
    assert_eq!(skill["state"], "starting", "{skill}");
    let tool = id_of(&skill, "run");
    let settled = async {
        loop {
            let (_, mut skills) = server.get("/api/skills").await;
            if skills[0]["state"] != "starting" {
                return skills[0].take();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let skill = timeout(INSTALL_TIMEOUT, settled).await.unwrap();
    assert_eq!(
        (&skill["state"], &skill["why"]["code"]),
        (&json!("failed"), &json!("setup_failed")),
        "{skill}"
    );
    let why = skill["why"]["message"].as_str().unwrap();
    assert!(why.contains("tenon-no-such-package"), "{why}");
    let answer = server.call(&tool, json!({})).await;
    assert_eq!(answer["error"]["code"], "skill_not_set_up", "{answer}");
}

#[test]
fn where_no_index_is_reached_that_is_what_is_said() {
    let data = tempfile::tempdir().unwrap();
    let check = |requirement: SkillFiles, program: &str| {
        let folder = requirement.folder();
        let install = ["skill", "install", path(&folder), "--yes"];
        let mut command = tenon(&data, &install);
        command.env("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
        command.env("PIP_RETRIES", "1");
        command.env("UV_INDEX_URL", "http://127.0.0.1:9/simple");
        command.env("npm_config_registry", "http://127.0.0.1:9/");
        command.env("npm_config_fetch_retries", "0");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        let expected = "could not reach its package index. Check the network of this server";
        assert!(said.contains(expected), "{program}: {said}");
    };
    let python = SkillFiles::new("python").with("requirements: [six==1.17.0]");
    check(python.python("run", "print(1)"), "pip");
    let node = SkillFiles::new("node").file(
        "package.json",
        r#"{"dependencies": {"is-number": "7.0.0"}}"#,
    );
    check(node.node("run", "console.log(1)"), "npm");
}

/// As a tool of Open WebUI, which has it installed.
const DOCX: &str = "import docx2txt


class Tools:
    def module(self) -> str:
        \"\"\"What it is called.\"\"\"
        return docx2txt.__name__
";

#[tokio::test]
async fn code_gets_the_packages_that_it_names_or_that_open_webui_has() {
    let server = Server::start().await;
    let (_, described) = server
        .post("/api/tools/describe", json!({"code": DOCX}))
        .await;
    assert_eq!(
        described["requirements"],
        json!(["docx2txt"]),
        "{described}"
    );
    assert_eq!(described["error"]["kind"], "missing_module", "{described}");
    let tried = events(&server, json!({"code": DOCX, "tool": "module"})).await;
    let install = json!({"type": "line", "line": "pip install docx2txt"});
    assert!(tried.contains(&install), "{tried:?}");
    let result = json!({"type": "result", "result": "docx2txt"});
    assert_eq!(tried.last(), Some(&result), "{tried:?}");
    // They are there from now on.
    let (_, described) = server
        .post("/api/tools/describe", json!({"code": DOCX}))
        .await;
    assert_eq!(described["tools"][0]["name"], "module", "{described}");
    let body = json!({"content": DOCX, "id": "docx", "name": "Docx",
        "meta": {"description": "Reads documents."}});
    let (status, created) = server.post("/api/tools/create", body).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["description"], "Reads documents.");
    let requirements = &created["permissions"]["requirements"];
    assert_eq!(requirements["python"], json!(["docx2txt"]), "{created}");
}

#[tokio::test]
async fn packages_that_cannot_be_installed_for_code_are_said_as_data() {
    let server = Server::start().await;
    let code = |body: &str| {
        let requirements = "\"\"\"\nrequirements: tenon-no-such-package==1.0\n\"\"\"\n";
        format!("{requirements}class Tools:\n    def run(self) -> int:\n        {body}\n")
    };
    let body = json!({"code": code("return 1"), "tool": "run"});
    let tried = events(&server, body.clone()).await;
    let detail = &tried.last().unwrap()["detail"];
    assert_eq!(detail["code"], "setup_failed", "{tried:?}");
    let (status, refused) = server.post("/api/tools/create", body).await;
    let expected = (400, &json!("setup_failed"));
    assert_eq!((status, &refused["error"]["code"]), expected, "{refused}");

    // What no package mends is said before any is installed.
    let body = json!({"code": code("return ("), "tool": "run"});
    let tried = events(&server, body).await;
    let is_pip = |event: &Value| {
        event["line"]
            .as_str()
            .is_some_and(|line| line.contains("pip"))
    };
    assert!(!tried.iter().any(is_pip), "{tried:?}");
    assert_eq!(tried.last().unwrap()["type"], "error", "{tried:?}");
}
