//! Several tasks at once, and a run that is interrupted.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{TaskFixture, read_json, stderr};
#[cfg(target_os = "linux")]
use crate::program::at_a_terminal;
use crate::program::ended;

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_tasks_runs_side_by_side_and_is_added_up() {
    let fixture = TaskFixture::new().await;
    for name in ["first", "second"] {
        let script = format!("{name} together\ncall local-claim_done {{}}\n");
        fixture.task(&format!("pool/{name}"), &[], &["claim_done"], &script);
    }
    fixture.task("pool/third", &[], &["no_such_tool"], "call x {}");
    fixture.task("pool/fourth", &["nobody"], &[], "call x {}");
    fixture.write("pool/fifth.yaml", "prompt: five\nlocal_tools: [sleep]\n");

    let output = fixture.run(&["--jobs", "2", "--out", "out", "--json", "pool"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let frames: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcome = |task: &str| {
        let finished = frames
            .iter()
            .find(|frame| frame["type"] == "task:finished" && frame["task"] == task);
        let finished = finished.unwrap_or_else(|| panic!("{task}: {lines}"));
        let reason = finished["reason"].as_str().unwrap_or_default().to_owned();
        (finished["outcome"].as_str().unwrap().to_owned(), reason)
    };
    let done = || ("done".to_owned(), String::new());
    assert_eq!(outcome("first"), done());
    assert_eq!(outcome("second"), done());
    assert_eq!(outcome("fifth"), done());
    let (failed, why) = outcome("third");
    assert!(
        failed == "failed" && why.contains("`no_such_tool` is no local tool"),
        "{why}"
    );
    let (failed, why) = outcome("fourth");
    assert!(
        failed == "failed" && why.contains("the server `nobody`"),
        "{why}"
    );

    let last = frames.last().unwrap();
    assert_eq!(last["type"], "run:finished");
    assert_eq!((&last["done"], &last["failed"]), (&json!(3), &json!(2)));
    assert_eq!(last["total"]["calls"], 2);
    let names = |summary: &Value| -> Vec<String> {
        let tasks = summary["tasks"].as_array().unwrap().iter();
        tasks
            .map(|task| task["task"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(last), ["fifth", "first", "fourth", "second", "third"]);
    assert_eq!(
        names(&read_json(&fixture.path("out/summary.json"))),
        names(last)
    );

    // The same for people.
    let output = fixture.run(&["pool/fifth.yaml", "pool/third", "six"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(told.contains("no local tool"), "{told}");
    let output = fixture.run(&["pool/fifth.yaml", "six"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("task    outcome"), "{table}");
    assert!(
        lines[1].starts_with("fifth   done             1      0       0         10"),
        "{table}"
    );
    assert!(
        lines[3].starts_with("all     2/2 done         2      0       0         20"),
        "{table}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn control_c_keeps_what_was_done_so_far() {
    let fixture = TaskFixture::new().await;
    fixture.task(
        "wait",
        &[],
        &["sleep", "claim_done"],
        "call local-sleep {\"seconds\": 0}\ncall local-sleep {\"seconds\": 200}\n",
    );
    let mut command = fixture.command(&["--out", "out", "wait", "never begun"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("▸ local-sleep {\"seconds\":200}") {
        line.clear();
        assert!(
            told.read_line(&mut line).unwrap() > 0,
            "it ended before it began"
        );
    }
    let _ = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    let status = ended(&mut child);
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(status.code(), Some(130), "{rest}");
    let trajectory = fixture.trajectory("wait");
    assert_eq!(trajectory["outcome"], "interrupted");
    assert_eq!(
        (&trajectory["turns"], &trajectory["calls"]),
        (&json!(2), &json!(2))
    );
    let summary = read_json(&fixture.path("out/summary.json"));
    assert_eq!(summary["interrupted"], 2, "{summary:#}");
    assert_eq!(summary["total"]["usage"]["inputTokens"], 20);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_what_a_task_took_so_far() {
    let fixture = TaskFixture::new().await;
    fixture.task(
        "watched",
        &[],
        &["sleep", "claim_done"],
        "call local-sleep {\"seconds\": 1.2}\ncall local-claim_done {}\n",
    );
    let task = fixture.path("watched");
    let screen = at_a_terminal(&fixture.command(&[task.to_str().unwrap()]), &[]);
    assert!(
        screen.contains("\r\u{1b}[K  0 turns, 12 tokens, 0:0"),
        "{screen:?}"
    );
    assert!(screen.contains("▸ local-sleep"), "{screen:?}");
    let end = "done: 2 turns, 2 calls, 20 tokens in, 4 out, ";
    assert!(screen.contains(end), "{screen:?}");
}
