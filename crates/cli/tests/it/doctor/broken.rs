//! Servers that do not answer as servers should.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use super::canned::{http, serve};
use super::{asked, check, examine, fix, message, run};
use crate::certificate::Certificate;
use crate::listening::Listening;

const OPEN: &str = "access-control-allow-origin: *\r\ncontent-type: application/json\r\n";

#[test]
fn nobody_there_is_told_as_such() {
    // A port that somebody had a moment ago is nobody's for a while.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let report = check(&gone.to_string(), &[], "notRunning");
    assert_eq!(asked(&report), ["GET /openapi.json connection refused"]);
    let port = gone.port();
    assert_eq!(
        fix(&report),
        [format!("mcpo --port {port} -- uvx mcp-server-time")]
    );
    // The reason is told once, and nothing that is not known.
    assert_eq!(report["tools"], 0);
}

#[test]
fn one_that_hangs_is_given_up_in_time() {
    // Connections wait in its queue for ever.
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let began = Instant::now();
    let report = check(&hangs.local_addr().unwrap().to_string(), &[], "tooSlow");
    assert!(
        began.elapsed() < Duration::from_secs(12),
        "{:?}",
        began.elapsed()
    );
    assert!(message(&report).contains("did not answer within 5 s"));
}

#[test]
fn one_that_never_ends_is_given_up_in_time() {
    let url = serve(|_| {
        std::thread::sleep(Duration::from_secs(2));
        http("404 Not Found", OPEN, "")
    });
    let began = Instant::now();
    examine(&url, &[]);
    assert!(
        began.elapsed() < Duration::from_secs(50),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn what_is_no_http_is_told_as_such() {
    let url = serve(|_| b"220 mail.example ESMTP\r\n".to_vec());
    check(&url, &[], "notHttp");
    let url = serve(|_| Vec::new());
    check(&url, &[], "notHttp");
}

#[test]
fn what_breaks_off_or_is_too_long_is_told_as_such() {
    let url = serve(|_| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n{OPEN}\r\n");
        [head.as_bytes(), b"{\"openapi\""].concat()
    });
    check(&url, &[], "cut");
    let url = serve(|_| http("200 OK", OPEN, &"x".repeat(9 * 1024 * 1024)));
    let report = check(&url, &[], "badSpec");
    assert_eq!(
        message(&report),
        "Its answer is larger than 8 MiB, and more is not read."
    );
}

#[test]
fn a_broken_description_is_told_with_its_place() {
    let url = serve(|_| http("200 OK", OPEN, "{\"openapi\": \"3.1.0\",\n \"paths\" {}}"));
    let report = check(&url, &[], "badSpec");
    assert_eq!(
        message(&report),
        "The document is not valid JSON: line 2, column 10: expected `:`."
    );
    let url = serve(|_| http("200 OK", OPEN, "{\"openapi\": \"3.1.0\", \"paths\": []}"));
    let report = check(&url, &[], "badSpec");
    assert!(message(&report).contains("`#/paths` is not an object"));
}

#[test]
fn a_strange_handshake_is_told_as_such() {
    let open = format!("{OPEN}access-control-allow-headers: *\r\n");
    let headers = open.clone();
    let url = serve(move |line| {
        if line.starts_with("OPTIONS") {
            http("200 OK", &headers, "")
        } else {
            http(
                "200 OK",
                &headers,
                r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            )
        }
    });
    let report = check(&format!("{url}/mcp"), &[], "badHandshake");
    assert_eq!(
        message(&report),
        "Its answer to `initialize` names no protocolVersion."
    );
}

#[test]
fn what_a_server_says_steers_no_terminal() {
    // What HTTP itself lets through: an escape sequence of eight bits, and letters turned around.
    let odd = "\u{9b}2J\u{202e}\u{200b}";
    let url = serve(move |_| {
        let headers = format!(
            "access-control-allow-origin: https://a.example{odd}\r\ncontent-type: text/{odd}html\r\n"
        );
        http(
            "200 OK",
            &headers,
            "{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {}}}",
        )
    });
    for json in [&["--json"][..], &[]] {
        let output = run(&[&[url.as_str()], json].concat());
        let told = String::from_utf8(output.stdout).unwrap();
        let is_odd =
            |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{200b}'));
        assert!(!told.contains(is_odd), "{told:?}");
        assert!(!told.contains("\\u00"), "{told}");
        assert!(told.contains("https://a.example2J,"), "{told}");
    }
    let says = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no\u001b[31m"}}"#;
    let url = serve(move |_| {
        let open = format!("{OPEN}access-control-allow-headers: *\r\n");
        http("200 OK", &open, says)
    });
    let output = run(&[&format!("{url}/mcp")]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("an MCP server does: no[31m"), "{told:?}");
}

#[test]
fn a_key_that_a_server_says_back_is_not_shown() {
    let url = serve(|_| {
        let headers = format!("{OPEN}access-control-allow-headers: *\r\nx-echo: s3cret-key!\r\n");
        http("500 s3cret-key!", &headers, "s3cret-key!")
    });
    for json in [&["--json"][..], &[]] {
        let arguments = [&[url.as_str(), "--header", "X-Key: s3cret-key!"], json].concat();
        let told = String::from_utf8(run(&arguments).stdout).unwrap();
        assert!(!told.contains("s3cret"), "{told}");
    }
}

/// Files over TLS, with a certificate that signs itself.
fn secure(folder: &std::path::Path) -> Listening {
    Certificate::make(folder);
    let script = r#"
import http.server, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("certificate.pem", "key.pem")
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
"#;
    let folder = folder.to_owned();
    Listening::start(move |port| {
        let mut command = Command::new("python3");
        command.args(["-c", script, &port.to_string()]);
        command.current_dir(&folder);
        command
    })
}

#[test]
fn a_certificate_that_nobody_trusts_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let secure = secure(folder.path());
    let port = secure.address.rsplit(':').next().unwrap();
    let address = format!("https://localhost:{port}");
    let report = check(&address, &[], "tlsNotTrusted");
    assert_eq!(asked(&report), ["GET /openapi.json untrusted certificate"]);
    let plain = "--ssl-certfile FILE --ssl-keyfile FILE";
    assert_eq!(fix(&report)[0], plain, "{report:#}");

    // And asked without TLS it says nothing that is HTTP.
    let report = check(&format!("localhost:{port}"), &[], "useHttps");
    assert_eq!(fix(&report)[0], plain, "{report:#}");
}

#[test]
fn tls_where_there_is_none_is_told_as_such() {
    let url = serve(|_| http("404 Not Found", "", ""));
    let secure = url.replace("http:", "https:");
    let report = check(&secure, &[], "useHttp");
    assert_eq!(fix(&report), [format!("{url}/")]);
}
