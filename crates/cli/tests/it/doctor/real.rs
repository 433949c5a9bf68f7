//! MCP servers, and what is none, as they come.

use std::process::Command;

use super::{asked, check, fix, message};
use crate::listening::{self, Listening};
use crate::peer::{Peer, installed, ours};

#[test]
fn an_mcp_server_with_a_handshake_is_talked_to_as_the_page_does() {
    let everything = Listening::everything("streamableHttp");
    let report = check(&everything.address, &[], "ok");
    assert_eq!(report["tools"], 13, "{report:#}");
    assert_eq!(
        asked(&report),
        [
            "GET /openapi.json 404",
            "OPTIONS /mcp 204",
            "POST /mcp 400",
            "POST /mcp 200",
            "OPTIONS /mcp 204",
            "POST /mcp 202",
            "POST /mcp 200",
        ]
    );
    let requested = |step: usize| {
        let headers = &report["steps"][step]["asked"]["headers"];
        headers["access-control-request-headers"].clone()
    };
    assert_eq!(requested(1), "content-type,mcp-method,mcp-protocol-version");
    assert_eq!(
        requested(4),
        "content-type,mcp-protocol-version,mcp-session-id"
    );
}

#[test]
fn an_mcp_server_over_sse_is_found_and_talked_to() {
    let everything = Listening::everything("sse");
    for address in [
        everything.address.clone(),
        format!("{}/sse", everything.address),
    ] {
        let report = check(&address, &[], "ok");
        assert_eq!(report["tools"], 13, "{report:#}");
    }
}

#[test]
fn a_fastmcp_without_cors_is_kept_from_pages() {
    let fast = Listening::python(listening::fast(), "http");
    for address in [fast.address.clone(), format!("{}/mcp", fast.address)] {
        let report = check(&address, &[], "cors");
        let said = message(&report);
        assert!(
            said.ends_with("it sends no Access-Control-Allow-Origin."),
            "{said}"
        );
        let preflight = "OPTIONS /mcp 405".to_owned();
        assert!(asked(&report).contains(&preflight), "{report:#}");
        let lines = fix(&report);
        assert_eq!(lines[0], "from starlette.middleware import Middleware");
        assert!(!lines.iter().any(|line| line.contains("mcpo")), "{lines:?}");
    }
    let sse = Listening::python(listening::fast(), "sse");
    let report = check(&sse.address, &[], "cors");
    assert_eq!(asked(&report).last().unwrap(), "GET /sse 200");
}

#[test]
fn an_express_server_that_describes_itself_nowhere_is_no_tool_server() {
    let installed = installed("openapi-express");
    let mut command = Command::new("node");
    command.arg(ours("openapi/express/app.mjs")).arg(installed);
    let express = Peer::start(command);
    let report = check(&express.url, &[], "notToolServer");
    assert_eq!(asked(&report)[0], "GET /openapi.json 404");
}

#[test]
fn a_server_of_files_is_no_tool_server() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<h1>Files</h1>").unwrap();
    let path = folder.path().to_owned();
    let files = Listening::start(move |port| {
        let mut command = Command::new("python3");
        command.args([
            "-m",
            "http.server",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
        ]);
        command.current_dir(&path);
        command
    });
    let report = check(&files.address, &[], "notToolServer");
    assert_eq!(
        asked(&report),
        [
            "GET /openapi.json 404",
            "OPTIONS /mcp 501",
            "POST /mcp 501",
            "GET /sse 404",
        ]
    );
    let report = check(&format!("{}/mcp", files.address), &[], "wrongPath");
    assert!(message(&report).starts_with("There is no MCP server at /mcp"));
}
