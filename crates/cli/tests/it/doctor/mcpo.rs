//! The real mcpo, in the forms people run it in.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{asked, check, fix, message, run};
use crate::listening::Listening;
use crate::peer::installed;

fn mcpo(options: &[&str], rest: &[&str]) -> Listening {
    let arguments: Vec<String> = [options, rest]
        .concat()
        .iter()
        .map(ToString::to_string)
        .collect();
    Listening::start(move |port| {
        let mut command = Command::new(installed("venv-mcpo/bin/python"));
        command
            .arg(installed("venv-mcpo/bin/mcpo"))
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(&arguments);
        command
    })
}

/// One server alone.
fn single(options: &[&str]) -> Listening {
    let time = installed("venv-mcp/bin/mcp-server-time");
    mcpo(
        options,
        &["--", time.to_str().unwrap(), "--local-timezone=UTC"],
    )
}

/// Two behind one address.
fn several(folder: &Path, options: &[&str]) -> Listening {
    let servers = json!({"mcpServers": {
        "time": {
            "command": installed("venv-mcp/bin/mcp-server-time"),
            "args": ["--local-timezone=UTC"],
        },
        "memory": {
            "command": installed("mcp/node_modules/.bin/mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": folder.join("memory.jsonl")},
        },
    }});
    let config = folder.join("config.json");
    std::fs::write(&config, servers.to_string()).unwrap();
    mcpo(options, &["--config", config.to_str().unwrap()])
}

#[test]
fn an_mcpo_is_well_with_everything_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let mcpo = several(folder.path(), &[]);
    let report = check(&mcpo.address, &[], "ok");
    assert_eq!(report["tools"], 11, "{report:#}");
    assert_eq!(
        asked(&report),
        [
            "GET /openapi.json 200",
            "GET /time/openapi.json 200",
            "OPTIONS /time/get_current_time 200",
            "GET /memory/openapi.json 200",
        ]
    );
    assert_eq!(report["notes"][0]["kind"], "permissionAsk");

    // By the number of its port, and for a page of this machine.
    let port = mcpo.address.rsplit(':').next().unwrap();
    let told = run(&[port]);
    assert!(told.status.success());
    let told = String::from_utf8(told.stdout).unwrap();
    let first = told.lines().next().unwrap();
    assert_eq!(
        first,
        format!(
            "Asking http://localhost:{port}/ as a page at http://127.0.0.1:8366 would \
             (no --origin was given)"
        )
    );
    let last = told.lines().last().unwrap();
    assert_eq!(
        last,
        "✓ A page at http://127.0.0.1:8366 can use this server: 11 tools."
    );
    assert!(
        told.lines().all(|line| line.chars().count() <= 100),
        "{told}"
    );
}

#[test]
fn an_mcpo_for_another_origin_is_told_with_the_option_that_mends_it() {
    let mut mcpo = single(&["--cors-allow-origins", "https://other.example"]);
    let report = check(&mcpo.address, &[], "cors");
    assert_eq!(asked(&report), ["GET /openapi.json 200"]);
    let lines = fix(&report);
    let [line] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], "mcpo");
    mcpo.stop();
    let mended = single(&words[3..5]);
    let report = check(&mended.address, &[], "ok");
    assert_eq!(report["tools"], 2);
}

#[test]
fn an_mcpo_with_a_key_wants_it_and_nobody_gets_to_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let mcpo = several(folder.path(), &["--api-key", "top-secret", "--strict-auth"]);
    let report = check(&mcpo.address, &[], "needsKey");
    assert!(message(&report).starts_with("The server wants a key (401)"));
    assert_eq!(fix(&report), ["--header 'Authorization: Bearer KEY'"]);

    let wrong = ["--header", "Authorization: Bearer not-the-key"];
    let report = check(&mcpo.address, &wrong, "needsKey");
    let said = message(&report);
    assert!(
        said.starts_with("The server does not take the key (403)"),
        "{said}"
    );

    let right = ["--header", "Authorization: Bearer top-secret"];
    let report = check(&mcpo.address, &right, "ok");
    assert_eq!(report["tools"], 11);
    let requested = &report["steps"][0]["asked"]["headers"]["access-control-request-headers"];
    assert_eq!(requested, "authorization");
    assert_eq!(report["steps"][1]["asked"]["headers"]["authorization"], "…");
    assert!(!report.to_string().contains("top-secret"), "{report:#}");
}

#[test]
fn an_mcpo_whose_tools_alone_want_a_key_is_well_and_says_so() {
    let mcpo = single(&["--api-key", "top-secret"]);
    let report = check(&mcpo.address, &[], "ok");
    assert_eq!(report["notes"][0]["kind"], "needsKey", "{report:#}");
    let last = report["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["asked"]["headers"]["access-control-request-headers"],
        "authorization,content-type"
    );
}
