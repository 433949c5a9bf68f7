//! Servers from a shell: listed as they were, woken by a call, gone with the process.

use serde_json::json;

use super::desk::{is_alive, memory, time, until};
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
        let ids = super::desk::ids(&tools, "mcp_");
        (ids.len() == 11).then_some(()).ok_or(json!(ids))
    })
    .await;
    // What is kept is kept a moment after it is offered.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    served.signal("-TERM");
    assert!(ended(&mut served.child).success());
    for source in ready.as_array().unwrap() {
        let pid = source["pid"].as_u64().unwrap();
        assert!(!is_alive(pid), "{source}");
    }

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
