//! Servers that want somebody to log in, as `oauth` of mcpo's configuration says.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::{BridgeProcess, write_config};
use crate::authority::Authority;
use crate::login::guarded;
use crate::sources::fixtures::until;

fn start(folder: &Path, authority: &Authority) -> BridgeProcess {
    let oauth = json!({ "server_url": authority.url, "callback_port": 0 });
    let server = json!({ "type": "streamable-http", "url": authority.server(), "oauth": oauth });
    let config = write_config(folder, &json!({ "guarded": server }));
    let arguments = ["--config", &config, "--log-level", "INFO"];
    BridgeProcess::start_with(&arguments, |command| {
        command.env("HOME", folder).stderr(Stdio::piped())
    })
}

/// The address that somebody is to open.
async fn login_address(bridge: &mut BridgeProcess) -> String {
    let log = BufReader::new(bridge.child.stderr.take().unwrap());
    let reading = tokio::task::spawn_blocking(move || {
        let mut lines = log.lines().map_while(Result::ok);
        let found = lines.find_map(|line| {
            let mut words = line.split_whitespace();
            let address = words.find(|word| word.contains("/authorize?"))?;
            Some(address.to_owned())
        });
        // What follows is read too, or the bridge could not write any more.
        std::thread::spawn(move || lines.for_each(drop));
        found
    });
    reading.await.unwrap().expect("an address in the log")
}

#[tokio::test]
async fn a_log_in_is_made_in_a_browser_and_kept() {
    let authority = guarded::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut bridge = start(folder.path(), &authority);
    let address = login_address(&mut bridge).await;
    // A browser follows it there and back.
    let client = reqwest::Client::new();
    let back = client.get(&address).send().await.unwrap();
    assert_eq!(back.status(), 200, "{back:?}");
    let said = back.text().await.unwrap();
    assert!(said.contains("logged in at guarded"), "{said}");
    let called = until(|| async {
        match bridge.post("/guarded/whisper", json!({})).await {
            (200, answer) => Ok(answer),
            other => Err(json!(other)),
        }
    });
    assert_eq!(called.await, json!("psst"));

    // Nobody is asked again.
    drop(bridge);
    let registered = authority.book().registrations.len();
    let again = start(folder.path(), &authority);
    let called = again.post("/guarded/whisper", json!({})).await;
    assert_eq!(called, (200, json!("psst")));
    assert_eq!(authority.book().registrations.len(), registered);
}
