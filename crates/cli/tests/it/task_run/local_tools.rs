//! The local tools, as a model uses them in a run.

use serde_json::{Value, json};

use super::{TaskFixture, result_of, stderr};

/// The results of all calls, in order.
fn results(trajectory: &Value) -> Vec<&str> {
    let messages = trajectory["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn python_runs_apart_within_limits() {
    let fixture = TaskFixture::new().await;
    let programs = [
        "import os; print(os.getcwd()); print(sorted(os.environ)); open('made.txt', 'w').write('x')",
        "print('a' * 1000); raise SystemExit(3)",
        "import subprocess, time; subprocess.Popen(['sleep', '287.5']); time.sleep(300)",
        "x = bytearray(3 * 1024**3)",
        "import sys\nfor _ in range(2000): sys.stdout.write('b' * 1000)",
        "input()",
    ];
    let script: String = programs
        .iter()
        .map(|code| {
            // Only the one that never ends need not wait for a busy machine.
            let timeout = if code.contains("sleep") { 2 } else { 120 };
            let input = json!({"code": code, "timeout": timeout, "filename": "../../p.py"});
            format!("call local-python-execute {input}\n")
        })
        .collect();
    let local = ["python_execute", "claim_done"];
    fixture.task(
        "python",
        &[],
        &local,
        &format!("{script}call local-claim_done {{}}\n"),
    );
    let output = fixture.run(&["--allow", "local-python-*", "--out", "out", "python"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let trajectory = fixture.trajectory("python");
    let results = results(&trajectory);
    let workspace = fixture.path("out/python/workspace");

    assert!(
        results[0].starts_with(workspace.canonicalize().unwrap().to_str().unwrap()),
        "{}",
        results[0]
    );
    assert!(!results[0].contains("OPENAI_API_KEY"), "{}", results[0]);
    assert!(workspace.join("made.txt").exists());
    assert!(
        results[1].contains("exited with 3") && results[1].contains("aaa"),
        "{}",
        results[1]
    );
    assert!(results[2].contains("not done after 2 s"), "{}", results[2]);
    assert!(results[3].contains("MemoryError"), "{}", results[3]);
    // 256 KiB are kept, and the hub shows 16 of those.
    assert!(results[4].contains("The output is 262"), "{}", results[4]);
    assert!(results[5].contains("EOFError"), "{}", results[5]);
    let left = std::fs::read_dir(workspace.join(".python_tmp")).unwrap();
    assert_eq!(left.count(), 0, "programs are removed");
    assert!(!is_running("sleep 287.5"), "what it started is gone");
}

/// Whether somebody runs this in the folders of this test's user. Other tests wait otherwise.
fn is_running(command: &str) -> bool {
    let listed = std::process::Command::new("ps")
        .args(["-eo", "args"])
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.lines().any(|line| line == command)
}

#[tokio::test(flavor = "multi_thread")]
async fn long_outputs_are_paged_and_old_turns_dropped_and_found_again() {
    let fixture = TaskFixture::new().await;
    let long = "print('\\n'.join(f'row {n} value {n * 7}' for n in range(3000)))";
    let calls = [
        ("local-python-execute", json!({"code": long})),
        (
            "local-view_overlong_tooloutput",
            json!({"shortuuid": "$SHORTUUID"}),
        ),
        (
            "local-view_overlong_tooloutput_navigate",
            json!({"view_session_id": "view_1", "action": "next_page"}),
        ),
        (
            "local-view_overlong_tooloutput_navigate",
            json!({"view_session_id": "view_1", "action": "jump_to_page", "target_page": 99}),
        ),
        (
            "local-search_overlong_tooloutput",
            json!({"shortuuid": "$SHORTUUID", "pattern": "row \\d+99 ", "context_size": 20}),
        ),
        (
            "local-search_overlong_tooloutput_navigate",
            json!({"search_session_id": "search_1", "action": "last_page"}),
        ),
        ("local-check_context_status", json!({})),
        (
            "local-manage_context",
            json!({"method": "keep_recent_turns", "value": 2}),
        ),
        (
            "local-search_history",
            json!({"keywords": ["row 7 ", "value"]}),
        ),
        (
            "local-view_history_turn",
            json!({"turn": 4, "context_turns": 0}),
        ),
        (
            "local-search_in_turn",
            json!({"turn": 4, "pattern": "hit \\d+"}),
        ),
        (
            "local-browse_history",
            json!({"start_turn": 6, "end_turn": 7}),
        ),
        ("local-history_stats", json!({})),
        (
            "local-smart_context_truncate",
            json!({"ranges": [[0, 0], [12, 12]]}),
        ),
        ("local-web_search", json!({"query": "mortise"})),
        (
            "local-ai_webpage_summary",
            json!({"url": format!("{}/page", fixture.model.site())}),
        ),
        ("local-claim_done", json!({})),
    ];
    let script: String = calls
        .iter()
        .map(|(name, input)| format!("call {name} {input}\n"))
        .collect();
    let local = [
        "python_execute",
        "handle_overlong_tool_outputs",
        "manage_context",
        "history",
        "web_search",
        "ai_webpage_summary",
        "claim_done",
    ];
    fixture.task("long", &[], &local, &script);
    fixture.write("tenon.toml", "allow_private_networks = true\n");
    let flags = ["--yes", "--out", "out", "--config", "tenon.toml", "long"];
    let output = fixture
        .command(&flags)
        .env("SERPER_API_KEY", "serper-key")
        .env("SERPER_BASE_URL", fixture.model.site())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let trajectory = fixture.trajectory("long");
    let results = results(&trajectory);
    let check = |index: usize, expected: &str| {
        let (name, _) = &calls[index];
        assert!(
            results[index].contains(expected),
            "{name}: {}",
            results[index]
        );
    };
    check(0, "Read on with local-view_overlong_tooloutput");
    check(1, "[page 1 of ");
    check(1, "row 0 value 0");
    check(2, "[page 2 of ");
    check(3, "There is no page 99");
    check(4, "[page 1 of 3, 29 hits, search_session_id \"search_1\"]");
    check(5, "[page 3 of 3, 29 hits");
    check(5, "row 2999 value");
    check(6, "\"turns\":6");
    check(6, "\"context_limit_tokens\":128000");
    check(7, "5 turns were dropped; 2 of 7 are left");
    check(8, "\"turn\":0");
    check(9, "[turn 4, tool_call] local-search_overlong_tooloutput");
    check(10, "\"total_matches\":10");
    check(11, "[turn 7, tool_output] 5 turns were dropped");
    check(12, "\"tool_calls\":12");
    check(14, "About mortise");
    check(15, "SUMMARY of");
    assert!(result_of(&trajectory, "local-smart_context_truncate").contains("of 13 are left"));

    // What the model was told after each cut.
    let told = |calls_made: usize| {
        let requests = fixture.model.requests();
        let request = requests
            .iter()
            .filter(|request| request["tools"].is_array())
            .nth(calls_made);
        let messages = request.unwrap()["messages"].as_array().unwrap().clone();
        let calls = messages
            .iter()
            .filter_map(|message| message["tool_calls"][0]["function"]["name"].as_str());
        calls.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(told(7).len(), 7);
    let kept = [
        "local-search_overlong_tooloutput_navigate",
        "local-check_context_status",
        "local-manage_context",
    ];
    assert_eq!(told(8), kept);
    assert_eq!(
        told(14),
        ["local-history_stats", "local-smart_context_truncate"]
    );
}
