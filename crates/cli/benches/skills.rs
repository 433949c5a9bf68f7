//! `make bench`: calls of skills that run programs: once for each call, beside a plain start of the
//! same program, and in a worker that stays warm.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/skill_fixture.rs"]
mod skill_fixture;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tenon_domain::{CallId, Caller, ToolAccess, ToolCall, ToolId, UserId};
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, MemoryOutputStore, MemoryToolIdStore, NoClient,
    Registry, Toolset,
};
use tokio_util::sync::CancellationToken;

const STARTS: usize = 60;
const WARM_CALLS: usize = 1000;

const SKILL: &str = r#"---
name: bench
description: Echoes.
tools:
  - {name: once, type: script, command: python3 once.py, parameters: {type: object}}
  - {name: python, type: script, module: tools.py, function: echo, parameters: {type: object}}
  - {name: node, type: script, module: tools.mjs, function: echo, parameters: {type: object}}
---
"#;

const ONCE: &str = "import sys\nprint(sys.stdin.read())\n";

const PYTHON: &str = "class Tools:\n    def echo(self, text: str) -> str:\n        return text\n";

const NODE: &str =
    "/** Echo. @param {string} text */\nexport function echo(text) {\n  return text;\n}\n";

fn main() {
    tenon_sandbox::helper_main();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(calls());
}

async fn calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("SKILL.md", SKILL),
        ("once.py", ONCE),
        ("tools.py", PYTHON),
        ("tools.mjs", NODE),
    ];
    let source = skill_fixture::skill(folder.path(), &files).await;
    let registry = Registry::new(
        Arc::new(MemoryToolIdStore::default()),
        Arc::new(MemoryOutputStore::default()),
        CallLimits::default(),
    );
    let _connected = registry.connect(source).await.expect("its tools");
    let toolset = registry.toolset(ToolAccess::all(&UserId::new("ada"), Caller::Person));

    let script = folder.path().join("files/once.py");
    let (mut plain, mut walled) = (Vec::new(), Vec::new());
    // In turns, so that whatever else the machine does is in both.
    for _ in 0..STARTS {
        plain.push(timed(async || plain_run(&script)).await);
        walled.push(timed(async || call(&toolset, "once").await).await);
    }
    let (plain, walled) = (median(plain), median(walled));
    let added = walled.saturating_sub(plain);
    println!("a Python program, started for each call");
    println!("  a plain start              {plain:>10.2?}");
    println!("  Toolset::call              {walled:>10.2?}");
    println!("  what the sandbox adds      {added:>10.2?}   target: at most 5 ms");
    for language in ["python", "node"] {
        let first = timed(async || call(&toolset, language).await).await;
        let mut warm = Vec::new();
        for _ in 0..WARM_CALLS {
            warm.push(timed(async || call(&toolset, language).await).await);
        }
        println!("a function of a module in {language}");
        println!("  the first call             {first:>10.2?}");
        println!(
            "  the next ones              {:>10.2?}   target: at most 3 ms",
            median(warm)
        );
    }
}

async fn call(toolset: &Toolset, name: &str) {
    let mut tools = toolset.listed().into_iter();
    let tool = tools.find(|tool| tool.spec.name == name).expect("the tool");
    let call = ToolCall {
        id: CallId::new("c"),
        tool_id: ToolId::clone(&tool.spec.id),
        input: json!({ "text": "somebody or something" }),
    };
    let context = CallContext {
        call_id: call.id.clone(),
        origin: CallOrigin::default(),
        user: UserId::new("ada"),
        workspace: Some(std::env::temp_dir().join("tenon-bench-skills")),
        cancel: CancellationToken::new(),
        client: Arc::new(NoClient),
        timer: CallTimer::default(),
    };
    let output = toolset.call(&call, &context).await.expect("an answer");
    assert_eq!(output.structured().expect("an object")["success"], true);
}

fn plain_run(script: &std::path::Path) {
    let mut child = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(b"{}").expect("it reads");
    drop(input);
    child.wait_with_output().expect("it ends");
}

async fn timed(work: impl AsyncFnOnce()) -> Duration {
    let begin = Instant::now();
    work().await;
    begin.elapsed()
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}
