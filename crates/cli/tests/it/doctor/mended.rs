//! The lines it prints are taken at their word: put into the server, they mend it.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{PAGE, check, fix};
use crate::listening::Listening;
use crate::peer::installed;

/// A script that listens at the port that it is given in `PORT`.
fn script(program: impl AsRef<Path>, name: &str, folder: &Path, text: &str) -> Listening {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    let program = program.as_ref().to_owned();
    Listening::start(move |port| {
        let mut command = Command::new(&program);
        command.arg(&file).env("PORT", port.to_string());
        command
    })
}

const FASTMCP: &str = r#"
import os
from fastmcp import FastMCP

mcp = FastMCP("fast")


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b

"#;

fn fastmcp(folder: &Path, lines: &str) -> Listening {
    let python = installed("venv-fastmcp/bin/python");
    script(
        python,
        "server.py",
        folder,
        &format!("{FASTMCP}\n{lines}\n"),
    )
}

/// The port in the lines is that of the server before.
fn at_its_port(lines: &[String], address: &str) -> String {
    let port = address.rsplit(':').next().unwrap();
    let old = format!("port={port}");
    let text = lines.join("\n");
    assert!(text.contains(&old), "{text}");
    text.replace(&old, "port=int(os.environ[\"PORT\"])")
}

#[test]
fn what_it_says_of_fastmcp_mends_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = "mcp.run(transport=\"http\", port=int(os.environ[\"PORT\"]))";
    let mut closed = fastmcp(folder.path(), run);
    let report = check(&closed.address, &[], "cors");
    let lines = at_its_port(&fix(&report), &closed.address);
    closed.stop();
    let open = fastmcp(folder.path(), &lines);
    let report = check(&open.address, &[], "ok");
    assert_eq!(report["tools"], 1, "{report:#}");
}

#[test]
fn a_fastmcp_that_lets_in_too_little_is_told_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let middleware = |headers: &str, exposed: &str| {
        format!(
            r#"
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
cors = Middleware(CORSMiddleware, allow_origins=["{PAGE}"], allow_methods=["*"],
    allow_headers={headers}, expose_headers={exposed})
mcp.run(transport="http", port=int(os.environ["PORT"]), middleware=[cors])
"#
        )
    };
    // A page that may not ask as in 2026 asks as before, and that works.
    let older = r#"["content-type", "mcp-protocol-version", "mcp-session-id"]"#;
    let server = fastmcp(folder.path(), &middleware(older, r#"["mcp-session-id"]"#));
    let report = check(&server.address, &[], "ok");
    assert_eq!(report["tools"], 1, "{report:#}");
    let key = ["--header", "X-Key: s3cret-key"];
    let report = check(&server.address, &key, "preflightHeader");
    assert!(!report.to_string().contains("s3cret-key"));
    drop(server);

    let server = fastmcp(folder.path(), &middleware(older, "[]"));
    let report = check(&server.address, &[], "exposeHeader");
    assert!(
        fix(&report).join("\n").contains("expose_headers"),
        "{report:#}"
    );
    drop(server);

    let server = fastmcp(folder.path(), &middleware("[]", "[]"));
    let report = check(&format!("{}/mcp", server.address), &[], "preflightHeader");
    assert!(
        fix(&report).join("\n").contains("allow_headers"),
        "{report:#}"
    );
}

#[test]
fn what_it_says_of_fastapi_mends_it() {
    let folder = tempfile::tempdir().unwrap();
    let fastapi = |lines: &str| {
        let text = format!(
            r#"
import os
import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.patch("/tea/{{kind}}")
def brew(kind: str, spoons: list[int]):
    return kind


{lines}
uvicorn.run(app, port=int(os.environ["PORT"]))
"#
        );
        let python = installed("venv-fastapi/bin/python");
        script(python, "server.py", folder.path(), &text)
    };
    let mut closed = fastapi("");
    let report = check(&closed.address, &[], "cors");
    let lines = fix(&report).join("\n");
    closed.stop();
    let open = fastapi(&lines);
    let report = check(&open.address, &[], "ok");
    assert_eq!(report["tools"], 1, "{report:#}");
    let called = &report["steps"][1]["asked"]["headers"];
    assert_eq!(called["access-control-request-method"], "PATCH");
}

#[test]
fn what_it_says_of_express_mends_it() {
    let folder = tempfile::tempdir().unwrap();
    let modules = installed("mcp/node_modules");
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Tea", "version": "1"},
        "paths": {"/tea": {"put": {
            "operationId": "brew",
            "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
            "responses": {"200": {"description": "Tea"}},
        }}},
    });
    let express = |lines: &str| {
        let text = format!(
            r#"
import express from "express";
const app = express();
{lines}
app.get("/openapi.json", (_, response) => response.json({document}));
app.put("/tea", (_, response) => response.json("tea"));
app.listen(process.env.PORT, "127.0.0.1");
"#
        );
        script("node", "server.mjs", folder.path(), &text)
    };
    let mut closed = express("");
    let report = check(&closed.address, &[], "cors");
    let lines = fix(&report).join("\n");
    assert!(lines.starts_with("import cors from \"cors\";"), "{lines}");
    closed.stop();

    let open = express(&lines);
    let report = check(&open.address, &[], "ok");
    assert_eq!(report["tools"], 1, "{report:#}");
    drop(open);

    // It lets itself be read, but not be called.
    let half = r#"app.use((_, response, next) => response.set("Access-Control-Allow-Origin", "*") && next());"#;
    let half = express(half);
    let report = check(&half.address, &[], "preflightRefused");
    assert!(
        super::message(&report).starts_with("A page can read its description, but not call"),
        "{report:#}"
    );
}
