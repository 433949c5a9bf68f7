//! Fetching from a site on this machine, and refusing to when that is not allowed.

use std::net::SocketAddr;

use serde_json::json;
use tenon_domain::source::BuiltinConfig;
use tenon_domain::{Content, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::BuiltinHarness;

/// A server that answers by path, with bytes no server framework would send.
async fn site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, address));
        }
    });
    address
}

async fn answer(mut stream: TcpStream, address: SocketAddr) {
    let mut request = vec![0; 8192];
    let length = stream.read(&mut request).await.unwrap_or_default();
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let ok = |content_type: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let redirect = |to: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .into_bytes()
    };
    let response = match path {
        "/html" => ok(
            "text/html; charset=utf-8",
            "<h1>Hi</h1><script>no()</script><p>See <a href=/json>this</a>. 你好</p>".as_bytes(),
        ),
        "/gbk" => ok("text/html; charset=gbk", b"<p>\xc4\xe3\xba\xc3</p>"),
        "/bad-charset" => ok("text/plain; charset=klingon", b"plain"),
        "/not-utf-8" => ok("text/plain", b"a\xffb"),
        "/json" => ok("application/json", br#"{"b":1,"a":[]}"#),
        "/png" => ok("image/png", b"\x89PNG\r\n\x1a\n"),
        "/zip" => ok("application/zip", b"PK\x03\x04"),
        "/once" => redirect("/json"),
        "/loop" => redirect("/loop"),
        "/to-file" => redirect("file:///etc/passwd"),
        "/with-password" => redirect(&format!("http://a:b@{address}/json")),
        "/missing" => {
            let body = format!("<p>No such page. {}</p>", "x ".repeat(5000));
            let head = format!(
                "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            [head.into_bytes(), body.into_bytes()].concat()
        }
        "/huge" => {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
                .await
                .ok();
            // Without end: who reads it all never comes back.
            while stream.write_all(&[b'x'; 65536]).await.is_ok() {}
            return;
        }
        "/stalls" => {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                .await
                .ok();
            // Says nothing more until the other side goes away.
            stream.read_exact(&mut [0; 1]).await.ok();
            return;
        }
        "/breaks-off" => b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec(),
        "/nonsense" => b"this is not HTTP\r\n\r\n".to_vec(),
        _ => ok("text/plain", b"hello"),
    };
    stream.write_all(&response).await.ok();
}

/// May reach this machine, for a site on it.
async fn desk_and_site() -> (BuiltinHarness, SocketAddr) {
    let config = BuiltinConfig {
        allow_private_networks: true,
        ..BuiltinConfig::default()
    };
    (BuiltinHarness::with(config).await, site().await)
}

#[tokio::test]
async fn pages_are_shown_as_what_they_are() {
    let (harness, site) = desk_and_site().await;
    let check = async |path: &str, expected: &str| {
        assert_eq!(
            harness
                .text("fetch_url", json!({"url": format!("http://{site}{path}")}))
                .await,
            expected
        );
    };
    check(
        "/html",
        &format!("# Hi\n\nSee [this](http://{site}/json). 你好\n"),
    )
    .await;
    check("/gbk", "你好\n").await;
    check("/bad-charset", "plain").await;
    check(
        "/not-utf-8",
        "[not valid UTF-8: what could not be read is shown as \u{FFFD}]\na\u{FFFD}b",
    )
    .await;
    check("/json", "{\n  \"b\": 1,\n  \"a\": []\n}").await;
    check(
        "/zip",
        "[4 bytes of application/zip: not text, so not shown]",
    )
    .await;
    check(
        "/once",
        &format!("[redirected to http://{site}/json]\n{{\n  \"b\": 1,\n  \"a\": []\n}}"),
    )
    .await;
    check("/text", "hello").await;
    let by_name = format!("http://localhost:{}/text", site.port());
    assert_eq!(
        harness.text("fetch_url", json!({"url": by_name})).await,
        "hello"
    );
}

#[tokio::test]
async fn a_picture_is_shown_whole() {
    let (harness, site) = desk_and_site().await;
    let output = harness
        .call("fetch_url", json!({"url": format!("http://{site}/png")}))
        .await
        .unwrap();
    let picture = Content::Image {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
    };
    assert_eq!(output.content, [picture]);
}

#[tokio::test]
async fn a_page_without_end_is_cut() {
    let (harness, site) = desk_and_site().await;
    let said = harness
        .text("fetch_url", json!({"url": format!("http://{site}/huge")}))
        .await;
    assert!(said.starts_with("[cut: only the first 5242880 bytes were read]\nxxx"));
    assert!(
        said.contains("The output is 5242880 bytes long"),
        "{}",
        &said[said.len() - 500..]
    );
}

#[tokio::test]
async fn what_goes_wrong_is_one_sentence() {
    let (harness, site) = desk_and_site().await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let check = async |url: String, kind: ErrorKind, expected: &str| {
        let (was, message) = harness.error("fetch_url", json!({"url": url})).await;
        assert!(
            was == kind && message.starts_with(expected),
            "{url}: {was:?} {message}"
        );
    };
    let failed = ErrorKind::Failed;
    check(
        format!("http://{closed}/"),
        failed,
        &format!("127.0.0.1 refuses connections at port {}.", closed.port()),
    )
    .await;
    check(
        format!("https://{site}/"),
        failed,
        "No secure connection to 127.0.0.1 could be made: ",
    )
    .await;
    check(
        format!("http://{site}/loop"),
        failed,
        "The address redirects more than 5 times.",
    )
    .await;
    check(
        format!("http://{site}/nonsense"),
        failed,
        "127.0.0.1 gave no usable answer: ",
    )
    .await;
    check(
        format!("http://{site}/breaks-off"),
        failed,
        "The connection to 127.0.0.1 failed: ",
    )
    .await;
    check(
        format!("http://{site}/to-file"),
        failed,
        &format!("http://{site}/to-file answered 302 Found and leads nowhere that can be fetched."),
    )
    .await;
    check(
        format!("http://{site}/with-password"),
        ErrorKind::InvalidInput,
        "A URL with a user name",
    )
    .await;
    // Too long for any name server to be asked about it.
    let nobody = "a".repeat(64);
    check(
        format!("http://{nobody}/"),
        failed,
        &format!("There is no host named {nobody}, or it has no address."),
    )
    .await;
}

#[tokio::test]
async fn an_error_page_is_quoted_but_not_at_length() {
    let (harness, site) = desk_and_site().await;
    let (kind, message) = harness
        .error(
            "fetch_url",
            json!({"url": format!("http://{site}/missing")}),
        )
        .await;
    assert_eq!(kind, ErrorKind::Failed);
    let (head, quoted) = message.split_once(": ").unwrap();
    assert_eq!(
        head,
        format!("http://{site}/missing answered 404 Not Found")
    );
    assert!(
        quoted.starts_with("No such page. x x") && quoted.chars().count() == 2000,
        "{quoted}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_stalls_is_given_up() {
    let (harness, site) = desk_and_site().await;
    let error = harness
        .error("fetch_url", json!({"url": format!("http://{site}/stalls")}))
        .await;
    assert_eq!(
        error,
        (
            ErrorKind::TimedOut,
            "127.0.0.1 did not send everything within 20 s.".into()
        )
    );
}

#[tokio::test]
async fn addresses_inside_are_refused_unless_an_admin_allows_them() {
    let harness = BuiltinHarness::new().await;
    let port = site().await.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "2130706433",
        "169.254.169.254",
        "0x7f.1",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
    ] {
        let (kind, message) = harness
            .error(
                "fetch_url",
                json!({"url": format!("http://{host}:{port}/")}),
            )
            .await;
        assert_eq!(kind, ErrorKind::Denied, "{host}: {message}");
        assert!(message.ends_with(
            "is on a private network or on this machine. An administrator can allow that with allow_private_networks."
        ));
    }
}

#[tokio::test]
async fn what_is_no_web_address_is_refused() {
    let harness = BuiltinHarness::new().await;
    for url in [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://a:b@example.com/",
        "http://",
    ] {
        let (kind, message) = harness.error("fetch_url", json!({"url": url})).await;
        assert_eq!(kind, ErrorKind::InvalidInput, "{url}: {message}");
    }
}
