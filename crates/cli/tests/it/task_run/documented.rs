//! The examples of docs/run.md, run as they stand there.

use super::{TaskFixture, read_json, stderr};
use crate::documents::{examples, shell};
use crate::peer::installed;

#[tokio::test(flavor = "multi_thread")]
async fn every_example_does_what_it_says() {
    let documented = examples("run.md");
    assert_eq!(documented, examples("run.zh-CN.md"));
    let [(_, commands), (title, task)] = documented.as_slice() else {
        panic!("an example that nobody tries: {documented:?}");
    };
    let fixture = TaskFixture::new().await;
    fixture.write(title.strip_prefix("yaml ").unwrap(), task);
    fixture.write("notes/apples.md", "Apples are red.");
    let server = installed("mcp/node_modules/.bin/mcp-server-filesystem");
    let server = format!(
        "type: stdio\nname: filesystem\nparams:\n  command: {}\n  args: [\"${{agent_workspace}}\"]\n",
        server.display()
    );
    fixture.write("configs/mcp_servers/filesystem.yaml", &server);
    let script = "call filesystem-list_allowed_directories {}\ncall local-claim_done {}\n";
    for folder in ["TASK_FOLDER", "tasks/finalpool/one", "tasks/finalpool/two"] {
        // The model counts the steps of each text.
        let script = format!("{folder}\n{script}");
        fixture.task(folder, &["filesystem"], &["claim_done"], &script);
    }
    // The model does nothing that its task does not spell out: it claims to be done with none but
    // the scripts.
    for (command, code) in commands.lines().zip([0, 3, 0, 0]) {
        let mut shell = shell(command);
        for (name, value) in fixture.command(&[]).get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("TENON_DATA", fixture.data.path());
        if !command.contains(".yaml") {
            shell.env("TENON_MODEL", "scripted");
        }
        let output = shell.current_dir(fixture.files.path()).output().unwrap();
        let status = output.status.code();
        assert_eq!(status, Some(code), "{command}: {}", stderr(&output));
    }
    let asked = fixture.model.requests();
    assert!(asked.iter().any(|request| request["model"] == "gpt-x"));
    for task in ["TASK_FOLDER", "one", "two"] {
        let path = fixture.path(&format!("results/{task}/trajectory.json"));
        assert_eq!(read_json(&path)["outcome"], "done", "{task}");
    }
}
