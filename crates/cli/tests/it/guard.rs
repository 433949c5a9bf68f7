//! Pages from elsewhere reach nothing.

use crate::people::Person;
use crate::server::{Server, answer};

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let server = Server::start().await;
    let own = format!("http://{}", server.address);
    let port = server.address.port();
    let check = |method: &'static str, headers: Vec<(&'static str, String)>, expected: u16| {
        let mut request = server
            .request(method, "/api/chats")
            .header("content-type", "application/json");
        if method == "POST" {
            request = request.body("{}");
        }
        for (name, value) in &headers {
            request = request.header(*name, value);
        }
        async move {
            let (status, body) = answer(request.send().await.unwrap()).await;
            assert_eq!(status, expected, "{method} {headers:?}: {body}");
        }
    };
    // DNS rebinding: the name of another site that resolves to this machine.
    check("GET", vec![("host", "evil.example".into())], 421).await;
    check("GET", vec![("host", format!("evil.example:{port}"))], 421).await;
    check("GET", vec![("host", "127.0.0.1.evil.example".into())], 421).await;
    check("GET", vec![("host", String::new())], 421).await;
    for name in [
        "192.0.2.7.example",
        "2130706433",
        "0x7f.1",
        "[::1",
        "::1",
        "[localhost]",
    ] {
        check("GET", vec![("host", name.into())], 421).await;
    }
    for host in [
        "localhost",
        "127.0.0.1",
        "[::1]",
        // Nobody can make an address mean another machine.
        "192.0.2.7",
        "[2001:db8::1]",
        "tenon.example",
        "Tenon.Example",
        "LOCALHOST",
    ] {
        check("GET", vec![("host", format!("{host}:{port}"))], 200).await;
        check("GET", vec![("host", host.into())], 200).await;
    }

    // Cross-site requests.
    check("POST", vec![("origin", own.clone())], 201).await;
    check("POST", vec![], 201).await;
    check("POST", vec![("origin", "http://evil.example".into())], 403).await;
    check("POST", vec![("origin", "null".into())], 403).await;
    check(
        "POST",
        vec![("origin", format!("http://localhost:{port}"))],
        403,
    )
    .await;
    check("POST", vec![("origin", format!("{own}.evil.example"))], 403).await;
    check("POST", vec![("sec-fetch-site", "cross-site".into())], 403).await;
    check("POST", vec![("sec-fetch-site", "same-site".into())], 403).await;
    check("POST", vec![("sec-fetch-site", "same-origin".into())], 201).await;

    // A name is the same in any case.
    let shouted = vec![
        ("host", "TENON.example".into()),
        ("origin", "https://tenon.example".into()),
    ];
    check("POST", shouted, 201).await;
}

#[tokio::test]
async fn a_load_balancer_asks_by_whatever_name_it_has_for_the_machine() {
    let server = Server::start().await;
    for path in ["/health", "/ready"] {
        let asked = server.request("GET", path).header("host", "tenon-1:8366");
        let (status, body) = answer(asked.send().await.unwrap()).await;
        assert_eq!(status, 200, "{path}: {body}");
    }
    for path in ["/readyz", "/ready/", "/metrics", "/"] {
        let asked = server.request("GET", path).header("host", "tenon-1:8366");
        let (status, body) = answer(asked.send().await.unwrap()).await;
        assert_eq!(status, 421, "{path}: {body}");
    }
}

#[tokio::test]
async fn a_socket_from_another_site_is_refused() {
    use tokio_tungstenite::tungstenite::client::IntoClientRequest;
    let server = Server::start().await;
    let mut request = format!("ws://{}/api/ws", server.address)
        .into_client_request()
        .unwrap();
    request
        .headers_mut()
        .insert("origin", "http://evil.example".parse().unwrap());
    let refused = tokio_tungstenite::connect_async(request).await.unwrap_err();
    assert!(refused.to_string().contains("403"), "{refused}");
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_a_page_in_its_place() {
    let server = Server::start().await;
    for path in ["/", "/api/info", "/nothing", "/api/nothing"] {
        let answer = server.request("GET", path).send().await.unwrap();
        let csp = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(csp.contains("script-src 'self';"), "{path}: {csp}");
        assert!(
            csp.contains("http://localhost:* http://127.0.0.1:*"),
            "{path}: {csp}"
        );
        assert!(csp.contains("frame-src 'self';"), "{path}: {csp}");
        assert!(csp.contains("frame-ancestors 'none'"), "{path}: {csp}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers()["x-frame-options"], "DENY");
    }
}

#[tokio::test]
async fn no_answer_of_the_api_is_kept_by_a_browser_or_a_proxy() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    // What sends on to somewhere else is an answer too.
    let redirect = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder()
        .redirect(redirect)
        .build()
        .unwrap();
    let check = async |request: reqwest::RequestBuilder, what: &str| {
        let response = client.execute(request.build().unwrap()).await.unwrap();
        let caching = response.headers().get("cache-control");
        let caching = caching.map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(
            caching.as_deref(),
            Some("no-store"),
            "{what}: {}",
            response.status()
        );
    };
    for route in tenon_server::router::routes() {
        let path = match (route.path.find('{'), route.path.find('}')) {
            (Some(from), Some(to)) => {
                format!("/api{}x{}", &route.path[..from], &route.path[to + 1..])
            }
            _ => format!("/api{}", route.path),
        };
        let method = route.method.as_str();
        let nobody = server.request(method, &path);
        check(nobody, &format!("{method} {path} by nobody")).await;
        // What comes without a body changes nothing but who is logged in.
        let ends = path.starts_with("/api/auth/logout") || path.starts_with("/api/users/");
        if !ends {
            let hers = ada.request(method, &path);
            check(hers, &format!("{method} {path} by an admin")).await;
        }
    }
    for path in ["/api", "/api/", "/api/nothing", "/v1/models", "/v1/nothing"] {
        check(ada.request("GET", path), path).await;
        let elsewhere = server.request("GET", path).header("host", "evil.example");
        check(elsewhere, path).await;
    }
    check(ada.request("PUT", "/api/chats"), "a wrong method").await;
    check(ada.request("HEAD", "/api/chats"), "HEAD").await;
    check(ada.request("OPTIONS", "/api/chats"), "OPTIONS").await;
    for probe in ["/health", "/ready"] {
        check(server.request("GET", probe), probe).await;
    }

    // The page itself may be kept.
    let page = server.request("GET", "/").send().await.unwrap();
    assert_ne!(
        page.headers()
            .get("cache-control")
            .map(|value| value.as_bytes()),
        Some(b"no-store".as_slice())
    );
}
