//! Servers that stand in a file: there while it is, and changed there alone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenon_domain::SourceConfig;
use tenon_sources::import::ImportedServer;

use super::fixtures::{delete, is_alive, ready, source, time, tools};
use crate::server::Server;

fn found(name: &str, mut new: Value) -> ImportedServer {
    new["transport"] = json!("stdio");
    ImportedServer {
        name: name.to_owned(),
        title: name.to_owned(),
        config: Ok(SourceConfig::Mcp(serde_json::from_value(new).unwrap())),
        document: None,
        enabled: true,
        notes: Vec::new(),
    }
}

#[tokio::test]
async fn what_a_file_says_runs_and_what_stays_the_same_keeps_running() {
    let server = Server::start().await;
    let sources = &server.app.sources;
    let clock = || found("clock", time("clock"));
    sources.put_file("tools.json", vec![clock()]).await;
    let up = ready(&server, "file-clock").await;
    assert_eq!(up["origin"], json!({"kind": "file", "file": "tools.json"}));
    assert_eq!((&up["editable"], up.get("reach")), (&json!(false), None));
    assert_eq!(tools(&server, "mcp_clock_").await.len(), 2);

    // Another one beside it, and the file of the first one written anew.
    let mut zone = time("zone");
    zone["args"] = json!(["--local-timezone=Asia/Tokyo"]);
    let zone = found("zone", zone);
    sources.put_file("tools.json", vec![clock(), zone]).await;
    ready(&server, "file-zone").await;
    assert_eq!(ready(&server, "file-clock").await["pid"], up["pid"]);
    // The same name in another file: the first one counts.
    sources.put_file("z.json", vec![clock()]).await;
    assert_eq!(ready(&server, "file-clock").await["pid"], up["pid"]);

    let path = "/api/sources/file-clock";
    let (status, refused) = server.patch(path, json!({"title": "x"})).await;
    assert_eq!(status, 400);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("tools.json")
    );
    assert_eq!(delete(&server, path).await, 400);
    assert_eq!(
        server.post(&format!("{path}/restart"), json!({})).await.0,
        200
    );
    assert_eq!(server.get(&format!("{path}/logs")).await.0, 200);
    ready(&server, "file-clock").await;

    sources.remove_file("tools.json").await;
    assert_eq!(server.get("/api/sources/file-zone").await.0, 404);
    let (_, moved) = server.get(path).await;
    assert_eq!(moved["origin"]["file"], "z.json");
    sources.remove_file("z.json").await;
    assert!(tools(&server, "mcp_").await.is_empty());
    sources.close().await;
}

/// Like a server that listens to nobody: it outlives its input and what it is told.
fn stubborn(name: &str, life: usize) -> ImportedServer {
    let mut new = time(name);
    let script =
        "trap '' TERM; exec 3<&0; \"$0\" \"$@\" <&3 3<&- & exec 3<&-; while :; do sleep 1; done";
    let program = new["command"].take();
    new["command"] = json!("sh");
    new["args"] = json!(["-c", script, program, "--local-timezone=UTC"]);
    new["env"] = json!({"LIFE": life.to_string()});
    found(name, new)
}

#[tokio::test]
async fn servers_that_do_not_want_to_end_hold_up_nobody() {
    let server = Server::start().await;
    let sources = &server.app.sources;
    let all = |life: usize| {
        let names = ["a", "b", "c", "d"];
        names.map(|name| stubborn(name, life)).to_vec()
    };
    sources.put_file("tools.json", all(1)).await;
    let mut pids = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let up = ready(&server, &format!("file-{name}")).await;
        pids.push(up["pid"].as_u64().unwrap());
    }
    let begun = Instant::now();
    sources.put_file("tools.json", all(2)).await;
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    // The next one waits for the one before it.
    let next = source(&server, "file-a", |source| {
        source["pid"].as_u64().is_some_and(|pid| pid != pids[0])
    });
    let next = next.await;
    assert!(!is_alive(pids[0]));
    pids.push(next["pid"].as_u64().unwrap());

    // In the middle of another change all of them end.
    sources.put_file("tools.json", all(3)).await;
    let begun = Instant::now();
    sources.close().await;
    assert!(
        begun.elapsed() < Duration::from_secs(9),
        "{:?}",
        begun.elapsed()
    );
    for pid in pids {
        assert!(!is_alive(pid), "{pid}");
    }
}
