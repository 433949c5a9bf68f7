//! Packages that skills need, from PyPI and npm.

use std::io::{Cursor, Write};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Asks, SkillFiles, events, id_of, path_of};
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

/// A folder with a package for each language, which need no index.
fn own_packages() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut wheel = ZipWriter::new(Cursor::new(Vec::new()));
    let about = "Metadata-Version: 2.1\nName: tinypy\nVersion: 1.0\n";
    let of_wheel =
        "Wheel-Version: 1.0\nGenerator: tenon\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    for (path, text) in [
        ("tinypy.py", "two = 2\n"),
        ("tinypy-1.0.dist-info/METADATA", about),
        ("tinypy-1.0.dist-info/WHEEL", of_wheel),
        ("tinypy-1.0.dist-info/RECORD", ""),
    ] {
        wheel
            .start_file(path, SimpleFileOptions::default())
            .unwrap();
        wheel.write_all(text.as_bytes()).unwrap();
    }
    let wheel = wheel.finish().unwrap().into_inner();
    std::fs::write(folder.path().join("tinypy-1.0-py3-none-any.whl"), wheel).unwrap();
    let package = folder.path().join("tinyjs");
    std::fs::create_dir(&package).unwrap();
    let manifest = r#"{"name": "tinyjs", "version": "1.0.0", "type": "module", "main": "main.js"}"#;
    std::fs::write(package.join("package.json"), manifest).unwrap();
    std::fs::write(package.join("main.js"), "export const two = 2;\n").unwrap();
    let mut pack = Command::new("npm");
    pack.args(["pack", "--pack-destination", ".."]);
    let packed = pack.current_dir(&package).output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
    folder
}

/// What is told while code becomes a skill.
async fn creation(served: &Served, body: Value) -> Vec<Value> {
    let url = format!("{}/api/tools/create/stream", served.address);
    let request = served.client.post(url).json(&body);
    let answer = request.timeout(INSTALL_TIMEOUT).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let text = answer.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.map(|event| serde_json::from_str(event.trim()).unwrap())
        .collect()
}

#[tokio::test]
async fn code_of_both_languages_has_packages_and_whoever_saves_it_hears_how_they_are_installed() {
    let data = tempfile::tempdir().unwrap();
    let packages = own_packages();
    let served = Served::start_with(&data, |serve| {
        serve
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", packages.path())
            .env("UV_NO_INDEX", "1")
            .env("UV_FIND_LINKS", packages.path())
            // So that the sandbox shows it to npm.
            .env("npm_config_tenon_packages", packages.path())
            .env("npm_config_registry", "http://127.0.0.1:9/")
    });
    let python = "\"\"\"\nrequirements: tinypy==1.0\n\"\"\"\nfrom tinypy import two\n\nclass Tools:\n    def number(self) -> int:\n        \"\"\"Two.\"\"\"\n        return two\n";
    let tarball = packages.path().join("tinyjs-1.0.0.tgz");
    let tinyjs = format!("tinyjs@file:{}", tarball.display());
    let node = format!(
        "/**\n * requirements: {tinyjs}\n */\nimport {{ two }} from 'tinyjs';\n\n/** Two. */\nexport function number() {{\n  return two;\n}}\n"
    );
    for (code, said) in [
        (python, "pip install tinypy==1.0".to_owned()),
        (node.as_str(), format!("npm install {tinyjs}")),
    ] {
        let told = creation(&served, json!({"code": code, "name": "Numbers"})).await;
        let line = json!({"type": "line", "line": said});
        assert!(told.contains(&line), "{told:#?}");
        let last = told.last().unwrap();
        assert_eq!(last["type"], "created", "{told:#?}");
        let skill = &last["skill"];
        let number = id_of(skill, "number");
        // It waits for its own packages.
        assert_eq!(served.result(&number, json!({})).await, 2);
        // It is still one module, which can be edited, and tried with what was installed.
        assert!(skill["code"]["file"].is_string(), "{skill}");
        let url = format!("{}/api/tools/try", served.address);
        let trial = json!({"code": code, "tool": "number"});
        let tried = served.client.post(url).json(&trial).send().await.unwrap();
        let tried = tried.text().await.unwrap();
        assert!(tried.contains(r#""type":"result","result":2"#), "{tried}");
        let removed = served.ask_for("DELETE", &path_of(skill), json!({})).await;
        assert_eq!(removed.0, 204);
    }

    let refused = format!("\"\"\"\nrequirements: tinypy==2.0\n\"\"\"\n{python}");
    let told = creation(&served, json!({"code": refused})).await;
    let last = told.last().unwrap();
    let expected = (&json!("error"), &json!("setup_failed"));
    assert_eq!((&last["type"], &last["detail"]["code"]), expected);
    assert_eq!(served.get("/api/skills").await, json!([]));
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
