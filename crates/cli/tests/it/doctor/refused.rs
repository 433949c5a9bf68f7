//! What browsers refuse, whoever would have answered.

use super::canned::{http, serve};
use super::{check, fix, message, run};

const DOCUMENT: &str = r#"{"openapi": "3.1.0", "info": {}, "paths": {"/tea": {"post": {
    "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}}}}"#;

/// A server that lets itself be read, and answers preflights with this.
fn described(status: &'static str, preflight: &'static str) -> String {
    serve(move |line| {
        if line.starts_with("OPTIONS") {
            http(status, preflight, "")
        } else {
            http("200 OK", "access-control-allow-origin: *\r\n", DOCUMENT)
        }
    })
}

#[test]
fn the_answer_to_a_preflight_decides_about_calls() {
    let check = |status, preflight, expected: &str, said: &str| {
        let report = check(&described(status, preflight), &[], expected);
        assert!(message(&report).contains(said), "{report:#}");
        if report["ok"] == false {
            // Nobody knows what it is: all three.
            assert_eq!(report["verdict"]["fix"].as_array().unwrap().len(), 3);
        }
    };
    let open = "access-control-allow-origin: *\r\naccess-control-allow-headers: Content-Type\r\n";
    check("200 OK", open, "ok", "1 tool");
    check("204 No Content", open, "ok", "1 tool");
    check(
        "405 Method Not Allowed",
        "",
        "preflightRefused",
        "(OPTIONS) gets 405",
    );
    check(
        "302 Found",
        "location: /login\r\n",
        "preflightRefused",
        "(OPTIONS) gets 302",
    );
    let typeless = "access-control-allow-origin: *\r\n";
    check(
        "200 OK",
        typeless,
        "preflightHeader",
        "send it content-type",
    );
    check(
        "200 OK",
        "",
        "preflightRefused",
        "OPTIONS has no Access-Control-Allow-Origin",
    );
}

#[test]
fn a_key_needs_a_header_that_everything_does_not_include() {
    let url = described(
        "200 OK",
        "access-control-allow-origin: *\r\naccess-control-allow-headers: *\r\n",
    );
    check(&url, &["--header", "X-Key: s3cret-key"], "ok");
    let key = ["--header", "Authorization: Bearer s3cret-key"];
    let report = check(&url, &key, "preflightHeader");
    assert!(
        message(&report).contains("send it authorization"),
        "{report:#}"
    );
}

#[test]
fn an_origin_is_compared_to_the_letter() {
    let check = |headers: &'static str, said: &str| {
        let url = serve(move |_| http("200 OK", headers, DOCUMENT));
        let report = check(&url, &[], "cors");
        assert!(message(&report).contains(said), "{report:#}");
    };
    check(
        "access-control-allow-origin: https://tenon.example/\r\n",
        "it allows https://tenon.example/, and",
    );
    check(
        "access-control-allow-origin: *\r\naccess-control-allow-origin: *\r\n",
        "more than one value (*, *)",
    );
    check(
        "cross-origin-resource-policy: same-origin\r\n",
        "the page may take the server for one that does not run",
    );
}

#[test]
fn a_server_that_refuses_the_origin_itself_is_not_taken_for_locked() {
    let url = serve(|_| http("403 Forbidden", "access-control-allow-origin: *\r\n", ""));
    check(&url, &[], "needsKey");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = [0; 4096];
            let read = stream.read(&mut head).unwrap_or_default();
            let asked = String::from_utf8_lossy(&head[..read]).to_lowercase();
            let status = if asked.contains("\r\norigin:") {
                "403 Forbidden"
            } else {
                "404 Not Found"
            };
            let _ = stream.write_all(&http(status, "", ""));
        }
    });
    let report = check(&address, &[], "cors");
    assert!(
        message(&report).starts_with("The server itself refuses pages at https://tenon.example")
    );
}

#[test]
fn an_mcp_server_beside_what_a_page_may_not_read_is_named() {
    let url = serve(|line| {
        let open = "access-control-allow-origin: *\r\naccess-control-allow-headers: *\r\n\
                    content-type: application/json\r\n";
        let tools = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}"#;
        match line {
            line if !line.contains(" /mcp ") => http("404 Not Found", "", ""),
            line if line.starts_with("OPTIONS") => http("204 No Content", open, ""),
            // The first question and the second have the same answer: it fits both.
            _ => {
                let both = tools.replace(
                    "\"tools\"",
                    "\"supportedVersions\":[\"2026-07-28\"],\"tools\"",
                );
                http("200 OK", open, &both)
            }
        }
    });
    let report = check(&url, &[], "cors");
    assert!(
        message(&report).contains(&format!("can use at {url}/mcp")),
        "{report:#}"
    );
    let report = check(&format!("{url}/mcp"), &[], "ok");
    assert_eq!(report["tools"], 1);
}

#[test]
fn a_redirect_is_followed_at_home_only() {
    let url = serve(|line| {
        if line.contains("/openapi.json") {
            http(
                "307 Temporary Redirect",
                "access-control-allow-origin: *\r\nlocation: /v2/description\r\n",
                "",
            )
        } else {
            http(
                "200 OK",
                "access-control-allow-origin: *\r\naccess-control-allow-headers: *\r\n",
                DOCUMENT,
            )
        }
    });
    check(&url, &[], "ok");
    let url = serve(|_| {
        let to = "access-control-allow-origin: *\r\nlocation: https://127.0.0.1/openapi.json\r\n";
        http("301 Moved Permanently", to, "")
    });
    let report = check(&url, &[], "useHttps");
    assert!(
        message(&report).contains("https://127.0.0.1/openapi.json"),
        "{report:#}"
    );
}

#[test]
fn what_browsers_refuse_unasked_is_not_asked() {
    let check = |arguments: &[&str], expected: &str| {
        let output = run(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["verdict"]["kind"], expected, "{report:#}");
        assert_eq!(report["steps"].as_array().unwrap().len(), 0);
        assert!(!fix(&report).is_empty());
    };
    check(&["6000"], "blockedPort");
    let page = ["--origin", "https://tenon.example"];
    check(
        &["http://tools.example:8000", page[0], page[1]],
        "mixedContent",
    );
    check(
        &["8000", "--origin", "http://tenon.example"],
        "permissionNeedsHttps",
    );
}

#[test]
fn every_name_of_this_machine_that_a_page_may_use_is_one() {
    let url = described(
        "200 OK",
        "access-control-allow-origin: *\r\naccess-control-allow-headers: *\r\n",
    );
    let port = url.rsplit(':').next().unwrap();
    check(&format!("http://localhost:{port}"), &[], "ok");
    check(&format!("http://127.0.0.1:{port}"), &[], "ok");
    check(&format!("http://0.0.0.0:{port}"), &[], "ok");
}

/// Only there is this address one of the machine without more ado.
#[cfg(target_os = "linux")]
#[test]
fn where_tenon_s_policy_lets_no_page_go_is_told() {
    let url = super::canned::serve_at("127.0.0.2", |_| {
        let open = "access-control-allow-origin: *\r\naccess-control-allow-headers: *\r\n";
        http("200 OK", open, DOCUMENT)
    });
    let report = check(&url, &[], "policy");
    let port = url.rsplit(':').next().unwrap();
    assert_eq!(fix(&report), [format!("http://localhost:{port}")]);
}
