//! The real mcpo beside the bridge, the same servers behind both: the same requests get the same
//! answers.
//!
//! What differs on purpose is in `differences.json`, with its reason; the list has to be exact.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use super::{BridgeProcess, answer, write_config};
use crate::listening::Listening;
use crate::peer::installed;

const KEY: &str = "top-secret";

/// Calls that make sense, by server and tool. What they leave behind the next ones find.
fn calls(root: &str) -> Vec<(&'static str, &'static str, Value)> {
    let file = format!("{root}/files/a.txt");
    let repository = format!("{root}/repository");
    vec![
        (
            "time",
            "get_current_time",
            json!({ "timezone": "Asia/Tokyo" }),
        ),
        (
            "time",
            "get_current_time",
            json!({ "timezone": "Nope/Zone" }),
        ),
        (
            "time",
            "convert_time",
            json!({ "source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Tokyo" }),
        ),
        (
            "memory",
            "create_entities",
            json!({ "entities": [{ "name": "a", "entityType": "t", "observations": ["o"] }] }),
        ),
        (
            "memory",
            "create_entities",
            json!({ "entities": [{ "name": "a" }] }),
        ),
        (
            "memory",
            "add_observations",
            json!({ "observations": [{ "entityName": "a", "contents": ["p"] }] }),
        ),
        (
            "memory",
            "add_observations",
            json!({ "observations": [{ "entityName": "nobody", "contents": ["p"] }] }),
        ),
        ("memory", "search_nodes", json!({ "query": "a" })),
        ("memory", "open_nodes", json!({ "names": ["a"] })),
        ("memory", "delete_entities", json!({ "entityNames": ["a"] })),
        ("everything", "echo", json!({ "message": "hello" })),
        (
            "everything",
            "echo",
            json!({ "message": "{\"a\": [1, null, 2.5]}" }),
        ),
        ("everything", "get-sum", json!({ "a": 2, "b": 40 })),
        ("everything", "get-sum", json!({ "a": "2", "b": 40.5 })),
        (
            "everything",
            "get-annotated-message",
            json!({ "messageType": "error" }),
        ),
        (
            "everything",
            "get-annotated-message",
            json!({ "messageType": "success", "includeImage": true }),
        ),
        ("everything", "get-resource-links", json!({ "count": 2 })),
        (
            "everything",
            "get-resource-reference",
            json!({ "resourceType": "Text", "resourceId": 1 }),
        ),
        (
            "everything",
            "get-structured-content",
            json!({ "location": "New York" }),
        ),
        (
            "everything",
            "trigger-long-running-operation",
            json!({ "duration": 0.2, "steps": 2 }),
        ),
        ("files", "read_text_file", json!({ "path": file })),
        (
            "files",
            "read_text_file",
            json!({ "path": file, "head": 1, "tail": null }),
        ),
        ("files", "read_text_file", json!({ "path": "/etc/passwd" })),
        ("files", "read_multiple_files", json!({ "paths": [file] })),
        (
            "files",
            "write_file",
            json!({ "path": format!("{root}/files/b.txt"), "content": "b" }),
        ),
        (
            "files",
            "list_directory",
            json!({ "path": format!("{root}/files") }),
        ),
        (
            "files",
            "search_files",
            json!({ "path": format!("{root}/files"), "pattern": "*.txt" }),
        ),
        ("git", "git_status", json!({ "repo_path": repository })),
        (
            "git",
            "git_log",
            json!({ "repo_path": repository, "max_count": 1 }),
        ),
        (
            "git",
            "git_branch",
            json!({ "repo_path": repository, "branch_type": "local" }),
        ),
        (
            "git",
            "git_show",
            json!({ "repo_path": repository, "revision": "HEAD" }),
        ),
        ("git", "git_status", json!({ "repo_path": "/nowhere" })),
    ]
}

/// Whose defaults take ten seconds, or reach into the internet.
const NOT_WITHOUT_ARGUMENTS: [&str; 2] =
    ["trigger-long-running-operation", "gzip-file-as-resource"];

/// A folder with files and a repository, the same at each call but for where it is.
fn prepare(root: &Path) -> Value {
    let (files, repository) = (root.join("files"), root.join("repository"));
    std::fs::create_dir_all(&files).unwrap();
    std::fs::create_dir_all(&repository).unwrap();
    std::fs::write(files.join("a.txt"), "first\nsecond\n").unwrap();
    std::fs::write(repository.join("a.txt"), "a").unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(&repository).args(arguments);
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Ada")
                .env(format!("GIT_{who}_EMAIL"), "ada@example.org")
                .env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "First"]);
    std::fs::write(repository.join("b.txt"), "b").unwrap();
    let node = |name: &str| installed(&format!("mcp/node_modules/.bin/mcp-server-{name}"));
    json!({
        "time": { "command": installed("venv-mcp/bin/mcp-server-time"), "args": ["--local-timezone=UTC"] },
        "memory": { "command": node("memory"), "env": { "MEMORY_FILE_PATH": root.join("memory.jsonl") } },
        "everything": { "command": node("everything"), "args": ["stdio"] },
        "files": { "command": node("filesystem"), "args": [files], "disabledTools": ["move_file"] },
        "git": { "command": installed("venv-mcp/bin/mcp-server-git"), "args": ["--repository", repository] },
    })
}

/// One of the two.
struct Side {
    client: reqwest::Client,
    address: String,
    root: String,
}

impl Side {
    async fn request(&self, method: Method, path: &str, body: Option<&str>) -> (u16, Value) {
        let url = format!("{}{path}", self.address);
        let mut request = self.client.request(method, url).bearer_auth(KEY);
        if let Some(body) = body {
            let kind = ("content-type", "application/json");
            request = request.header(kind.0, kind.1).body(body.to_owned());
        }
        let (status, body) = answer(request).await;
        (status, self.normal(body))
    }

    /// Without what differs between two folders, two moments, and 33 and 33.0.
    fn normal(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(text.replace(&self.root, "ROOT")),
            Value::Number(number) => json!(number.as_f64()),
            Value::Array(all) => all.into_iter().map(|one| self.normal(one)).collect(),
            Value::Object(members) => {
                let members = members
                    .into_iter()
                    .map(|(name, value)| match name.as_str() {
                        "datetime" => (name, json!("NOW")),
                        _ => (name, self.normal(value)),
                    });
                Value::Object(members.collect())
            }
            other => other,
        }
    }
}

#[tokio::test]
async fn the_same_requests_get_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let roots = ["mcpo", "bridge"].map(|name| folder.path().join(name));
    let [config, servers] = [&roots[0], &roots[1]].map(|root| prepare(root));
    let config = write_config(&roots[0], &config);
    let mcpo = Listening::start(move |port| {
        let mut command = Command::new(installed("venv-mcpo/bin/python"));
        command
            .arg(installed("venv-mcpo/bin/mcpo"))
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--api-key", KEY, "--config", &config]);
        command
    });
    let bridge = BridgeProcess::with_servers(&roots[1], &servers, &["--api-key", KEY]);
    let [mcpo_root, bridge_root] = roots.map(|root| root.to_str().unwrap().to_owned());
    let side = |address: &str, root: String| Side {
        client: bridge.client.clone(),
        address: address.to_owned(),
        root,
    };
    let sides = Sides {
        mcpo: side(&mcpo.address, mcpo_root),
        bridge: side(&bridge.address, bridge_root),
        differences: BTreeMap::new(),
    };
    let found = sides.compare().await;
    let expected: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("differences.json")).unwrap();
    let names = |all: &BTreeMap<String, Value>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "{:#}", json!(found));
}

struct Sides {
    mcpo: Side,
    bridge: Side,
    /// By the case: what each of them answered.
    differences: BTreeMap<String, Value>,
}

impl Sides {
    async fn compare(mut self) -> BTreeMap<String, Value> {
        self.check("main document", Method::GET, "/openapi.json", None)
            .await;
        let mut paths = Vec::new();
        for server in ["time", "memory", "everything", "files", "git"] {
            paths.extend(self.documents(server).await);
        }
        for (server, tool, body) in calls("ROOT") {
            let path = format!("/{server}/{tool}");
            self.check_call(&path, &body).await;
        }
        for (server, tool) in paths {
            let path = format!("/{server}{tool}");
            self.check(&format!("{path} as GET"), Method::GET, &path, None)
                .await;
            if NOT_WITHOUT_ARGUMENTS.contains(&tool.trim_start_matches('/')) {
                continue;
            }
            for body in [None, Some("{}"), Some("[1]")] {
                let case = format!("{path} {}", body.unwrap_or("without a body"));
                self.check(&case, Method::POST, &path, body).await;
            }
        }
        for path in ["/", "/time", "/time/nothing", "/nobody/echo"] {
            self.check(path, Method::POST, path, Some("{}")).await;
        }
        let broken = "/time/get_current_time";
        self.check("a body that is no JSON", Method::POST, broken, Some("{bad"))
            .await;
        self.differences
    }

    /// The paths that both have. What they say of each is the same.
    async fn documents(&mut self, server: &str) -> Vec<(String, String)> {
        let path = format!("/{server}/openapi.json");
        let (_, theirs) = self.mcpo.request(Method::GET, &path, None).await;
        let (_, ours) = self.bridge.request(Method::GET, &path, None).await;
        assert_eq!(theirs["info"], ours["info"]);
        assert_eq!(theirs["servers"], ours["servers"]);
        let paths = |document: &Value| {
            let paths = document["paths"].as_object().unwrap();
            paths.keys().cloned().collect::<Vec<String>>()
        };
        let both: Vec<String> = paths(&theirs)
            .into_iter()
            .filter(|path| ours["paths"].get(path).is_some())
            .collect();
        for path in paths(&theirs).iter().chain(&paths(&ours)) {
            if !both.contains(path) {
                let whose = [&theirs, &ours].map(|document| document["paths"].get(path).is_some());
                let case = format!("/{server}{path} is listed");
                self.differences.insert(case, json!(whose));
            }
        }
        for path in &both {
            let [theirs_said, ours_said] =
                [&theirs, &ours].map(|document| &document["paths"][path]);
            if theirs_said != ours_said {
                let case = format!("/{server}{path} in the document");
                let said = json!({ "mcpo": theirs_said, "bridge": ours_said });
                self.differences.insert(case, said);
            }
            let [theirs_form, ours_form] = [&theirs, &ours].map(|document| fields(document, path));
            assert_eq!(theirs_form, ours_form, "{server}{path}");
        }
        let both = both.into_iter();
        both.map(|path| (server.to_owned(), path)).collect()
    }

    async fn check_call(&mut self, path: &str, body: &Value) {
        let text = body.to_string();
        let theirs = text.replace("ROOT", &self.mcpo.root);
        let ours = text.replace("ROOT", &self.bridge.root);
        let theirs = self.mcpo.request(Method::POST, path, Some(&theirs)).await;
        let ours = self.bridge.request(Method::POST, path, Some(&ours)).await;
        self.note(&format!("{path} {body}"), theirs, ours);
    }

    async fn check(&mut self, case: &str, method: Method, path: &str, body: Option<&str>) {
        let theirs = self.mcpo.request(method.clone(), path, body).await;
        let ours = self.bridge.request(method, path, body).await;
        self.note(case, theirs, ours);
    }

    fn note(&mut self, case: &str, theirs: (u16, Value), ours: (u16, Value)) {
        if theirs != ours {
            let said = json!({ "mcpo": theirs, "bridge": ours });
            self.differences.insert(case.to_owned(), said);
        }
    }
}

/// The fields of a form, and which of them are required.
fn fields(document: &Value, path: &str) -> Option<(Vec<String>, Vec<String>)> {
    let name = format!("{}_form_model", path.trim_start_matches('/'));
    let form = document["components"]["schemas"].get(name)?;
    let sorted = |names: Vec<String>| {
        let mut names = names;
        names.sort();
        names
    };
    let properties = form["properties"].as_object()?.keys().cloned().collect();
    let required = form.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    Some((
        sorted(properties),
        sorted(required.map(str::to_owned).collect()),
    ))
}
