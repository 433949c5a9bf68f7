//! `tenon run` with tasks: real servers, a scripted model, nobody to ask.

mod documented;
mod hostile;
mod local_tools;
mod model;
mod several;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_app::auth::CurrentUser;
use tenon_store::Store;

use crate::peer::{installed, ours};
use crate::program::tenon;
use model::ScriptedModel;

/// A data folder, tasks and outputs, all of them gone afterwards.
struct TaskFixture {
    data: TempDir,
    files: TempDir,
    model: ScriptedModel,
}

impl TaskFixture {
    async fn new() -> Self {
        Self {
            data: tempfile::tempdir().unwrap(),
            files: tempfile::tempdir().unwrap(),
            model: ScriptedModel::start().await,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    /// A file with its folders, anywhere among the tasks.
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A task in the layout of Toolathlon, whose prompt is a script.
    fn task(&self, folder: &str, servers: &[&str], local: &[&str], prompt: &str) {
        let config = json!({
            "needed_mcp_servers": servers,
            "needed_local_tools": local,
            "meta": {},
        });
        self.write(&format!("{folder}/task_config.json"), &config.to_string());
        self.write(&format!("{folder}/docs/task.md"), prompt);
    }

    /// The configuration of the filesystem server, as Toolathlon writes it.
    fn filesystem(&self) {
        let server = installed("mcp/node_modules/.bin/mcp-server-filesystem");
        let yaml = format!(
            "type: stdio\nname: filesystem\nparams:\n  command: {}\n  args:\n    - \"${{agent_workspace}}\"\n    - \"${{token.shared_folder}}\"\n  \
             cwd: \"${{agent_workspace}}\"\nclient_session_timeout_seconds: 60\ncache_tools_list: true\n",
            server.display()
        );
        self.write("servers/npx-filesystem.yaml", &yaml);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = tenon(&self.data, &["run", "--model", "scripted"]);
        command
            .args(arguments)
            .current_dir(self.files.path())
            .env("OPENAI_BASE_URL", &self.model.url)
            .env("OPENAI_API_KEY", "not-for-tools")
            .env_remove("SERPER_API_KEY");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn trajectory(&self, task: &str) -> Value {
        read_json(&self.path(&format!("out/{task}/trajectory.json")))
    }
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The result of the first call of a tool.
fn result_of<'a>(trajectory: &'a Value, tool: &str) -> &'a str {
    let messages = trajectory["messages"].as_array().unwrap();
    let result = messages
        .iter()
        .find(|message| message["role"] == "tool" && message["name"] == tool);
    result.unwrap_or_else(|| panic!("{tool}: {trajectory:#}"))["content"]
        .as_str()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_toolathlon_task_works_in_a_copy_of_its_files_until_it_claims_to_be_done() {
    let fixture = TaskFixture::new().await;
    fixture.filesystem();
    fixture.task(
        "tasks/tidy",
        &["filesystem"],
        &[
            "claim_done",
            "handle_overlong_tool_outputs",
            "manage_context",
            "history",
        ],
        "call filesystem-read_text_file {\"path\": \"notes.txt\"}\n\
         call filesystem-list_allowed_directories {}\n\
         call filesystem-write_file {\"path\": \"done.txt\", \"content\": \"tidy\"}\n\
         call local-claim_done {}\n\
         call filesystem-write_file {\"path\": \"after.txt\", \"content\": \"too late\"}\n",
    );
    let prompt = "You work in !!<<<<||||workspace_dir||||>>>>!!. It is !!<<<<||||time||||>>>>!!. Task: !!<<<<||||task_description||||>>>>!!";
    fixture.write("tasks/tidy/docs/agent_system_prompt.md", prompt);
    fixture.write("tasks/tidy/initial_workspace/notes.txt", "buy milk");
    fixture.write("tasks/tidy/groundtruth_workspace/done.txt", "hidden");
    fixture.write("own/readme", "of the task");
    let own = fixture.path("own");
    let python = format!(
        "import os\nall_token_key_session = Dict(\n    shared_folder = \"{}\",\n)\n",
        own.display()
    );
    fixture.write("tasks/tidy/token_key_session.py", &python);
    fixture.write("tokens.json", r#"{"shared_folder": "/nowhere"}"#);

    let flags = [
        "--yes",
        "--servers",
        "servers",
        "--tokens",
        "tokens.json",
        "--out",
        "out",
    ];
    let output = fixture.run(&[&flags[..], &["tasks/tidy"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let trajectory = fixture.trajectory("tidy");
    assert_eq!(trajectory["outcome"], "done");
    assert_eq!(
        (&trajectory["turns"], &trajectory["calls"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(trajectory["usage"]["inputTokens"], 40);
    assert!(result_of(&trajectory, "filesystem-read_text_file").contains("buy milk"));
    let workspace = fixture.path("out/tidy/workspace");
    let allowed = result_of(&trajectory, "filesystem-list_allowed_directories");
    for folder in [&workspace, &own] {
        let folder = folder.canonicalize().unwrap();
        assert!(allowed.contains(folder.to_str().unwrap()), "{allowed}");
    }
    assert_eq!(
        std::fs::read_to_string(workspace.join("done.txt")).unwrap(),
        "tidy"
    );
    assert!(!workspace.join("after.txt").exists(), "it was done before");
    assert!(
        !fixture
            .path("tasks/tidy/initial_workspace/done.txt")
            .exists()
    );

    let system = trajectory["messages"][0]["content"].as_str().unwrap();
    let folder = std::path::absolute(&workspace).unwrap();
    assert!(
        system.starts_with(&format!("You work in {}. It is 2", folder.display())),
        "{system}"
    );
    assert!(!system.contains("||||"), "{system}");
    let offered: Vec<&str> = trajectory["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    for name in [
        "filesystem-read_text_file",
        "local-claim_done",
        "local-check_context_status",
        "local-manage_context",
        "local-smart_context_truncate",
        "local-search_history",
        "local-view_history_turn",
        "local-search_in_turn",
        "local-browse_history",
        "local-history_stats",
        "local-search_overlong_tooloutput",
        "local-search_overlong_tooloutput_navigate",
        "local-view_overlong_tooloutput",
        "local-view_overlong_tooloutput_navigate",
    ] {
        assert!(offered.contains(&name), "{name}: {offered:?}");
    }
    assert!(
        !offered.iter().any(|name| name.starts_with("builtin_")),
        "{offered:?}"
    );
    check_replay(&fixture, &fixture.path("out/tidy/trajectory.json"));

    // The same folder again would mix two runs.
    let again = fixture.run(&[&flags[..], &["tasks/tidy"]].concat());
    assert_eq!(again.status.code(), Some(1));
    assert!(
        stderr(&again).contains("is there already"),
        "{}",
        stderr(&again)
    );
}

/// The official SDK takes the messages and tools for what its types say, and a server answers them.
fn check_replay(fixture: &TaskFixture, trajectory: &Path) {
    let output = Command::new(installed("venv/bin/python"))
        .arg(ours("openai/replay.py"))
        .args([fixture.model.url.as_str(), trajectory.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "filesystem-write_file"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_asks_nobody_and_gives_up_within_its_limits() {
    let fixture = TaskFixture::new().await;
    fixture.task(
        "silent",
        &[],
        &["claim_done", "python_execute"],
        "call local-python-execute {\"code\": \"print(1)\"}\n",
    );
    let output = fixture.run(&["--out", "out", "silent"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(
        told.contains("`--allow local-python-execute` or `--yes`"),
        "{told}"
    );
    let trajectory = fixture.trajectory("silent");
    assert_eq!(trajectory["outcome"], "gaveUp");
    assert_eq!(trajectory["failedCalls"], 1);
    let reason = "The model stopped without calling local-claim_done.";
    assert_eq!(trajectory["reason"], reason);

    let call = |step: usize| format!("call local-sleep {{\"seconds\": 0.0{step}}}\n");
    let calls: String = (1..9).map(call).collect();
    fixture.write(
        "long.yaml",
        &json!({
            "prompt": calls, "local_tools": ["sleep", "claim_done"], "max_turns": 3,
        })
        .to_string(),
    );
    let output = fixture.run(&["--out", "out", "--no-record", "long.yaml"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let trajectory = fixture.trajectory("long");
    assert_eq!(trajectory["reason"], "The limit of 3 turns is reached.");
    assert_eq!(trajectory["turns"], 3);
    assert_eq!(trajectory.get("chatId"), None);
    assert_eq!(kept_chats(&fixture).await, 1, "the other was not kept");
    let folders = std::fs::read_dir(fixture.data.path().join("work"));
    let folders = folders.map_or(0, |entries| entries.count());
    assert_eq!(folders, 0, "the work folders are in the output");
}

/// How many chats are on record.
async fn kept_chats(fixture: &TaskFixture) -> usize {
    let file = fixture.data.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    let user = CurrentUser::of_shell(&store).await.unwrap();
    store.chat_ids(&user.id).await.unwrap().len()
}
