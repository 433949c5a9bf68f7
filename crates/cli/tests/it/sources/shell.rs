//! Servers from a shell: listed as they were, woken by a call, gone with the process.

use serde_json::json;

use super::fixtures::{is_alive, memory, time, until, until_stored};
use crate::program::{Served, ended, run, stdout};

#[tokio::test]
async fn a_server_ends_with_its_servers_and_a_shell_wakes_them_again() {
    let data = tempfile::tempdir().unwrap();
    let mut served = Served::start(&data);
    let file = data.path().join("memory.jsonl");
    served.post("/api/sources", memory("memory", &file)).await;
    served.post("/api/sources", time("clock")).await;
    let ready = until(|| async {
        let sources = served.get("/api/sources").await;
        let all = sources.as_array().unwrap();
        let is_ready = all.len() == 2 && all.iter().all(|source| source["state"] == "ready");
        is_ready.then_some(sources.clone()).ok_or(sources)
    })
    .await;
    until(|| async {
        let tools = served.get("/api/tools").await;
        let ids = super::fixtures::ids(&tools, "mcp_");
        (ids.len() == 11).then_some(()).ok_or(json!(ids))
    })
    .await;
    for source in ["mcp-memory", "mcp-clock"] {
        until_stored(&data, source).await;
    }
    served.signal("-TERM");
    assert!(ended(&mut served.child).success());
    for source in ready.as_array().unwrap() {
        let pid = source["pid"].as_u64().unwrap();
        assert!(!is_alive(pid), "{source}");
    }

    let listed = stdout(&run(&data, &["sources", "list"]));
    assert_eq!(
        listed,
        "mcp-clock   clock, 2 tools, starts when it is called\n\
         mcp-memory  memory, 9 tools, starts when it is called\n"
    );
    let listed = stdout(&run(&data, &["tools", "list"]));
    for id in ["mcp_memory_read_graph", "mcp_clock_get_current_time"] {
        assert!(listed.contains(id), "{listed}");
    }
    let call = [
        "tools",
        "call",
        "mcp_clock_get_current_time",
        r#"{"timezone":"Asia/Tokyo"}"#,
    ];
    let told = stdout(&run(&data, &call));
    assert!(told.contains("Asia/Tokyo"), "{told}");
    let ours = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.ok()?.path();
        let pid: u64 = path.file_name()?.to_str()?.parse().ok()?;
        let env = std::fs::read(path.join("environ")).ok()?;
        let folder = file.to_str()?.as_bytes();
        env.windows(folder.len())
            .any(|bytes| bytes == folder)
            .then_some(pid)
    });
    assert_eq!(
        ours.filter(|pid| is_alive(*pid)).count(),
        0,
        "nothing is left behind"
    );
}

#[tokio::test]
async fn a_shell_is_told_how_servers_are_and_why() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let off = json!({"kind": "mcp", "name": "off", "command": "true", "enabled": false});
    served.post("/api/sources", off).await;
    let own = json!({"kind": "mcp", "name": "own", "command": "true", "env": {"A": "${user.KEY}"}});
    served.post("/api/sources", own).await;
    let none = json!({"kind": "mcp", "name": "none", "command": "/nowhere/at/all"});
    served.post("/api/sources", none).await;
    until(|| async {
        let none = served.get("/api/sources/mcp-none").await;
        (none["state"] == "failed").then_some(()).ok_or(none)
    })
    .await;
    let listed = stdout(&run(&data, &["sources", "list"]));
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    // After one try it is not given up yet.
    assert!(
        lines[0].starts_with("mcp-none  none, 0 tools, ")
            && lines[0].contains("ed: `/nowhere/at/all` was not found"),
        "{listed}"
    );
    assert_eq!(lines[1], "mcp-off   off, 0 tools, off");
    assert_eq!(
        lines[2],
        "mcp-own   own, 0 tools, failed: Set secrets of your own first: KEY."
    );
}
