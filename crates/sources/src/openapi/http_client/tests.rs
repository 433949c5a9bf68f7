use super::*;

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_when_it_is_resolved() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = Url::parse(&format!("http://localhost:{port}/")).unwrap();
    let caller = OpenapiHttpClient::new(Network::PublicOnly).unwrap();
    // Past the check of the address, as a name under somebody else's control would be.
    let error = caller.client.get(url.clone()).send().await.unwrap_err();
    let host = "localhost".into();
    assert_eq!(
        SendError::of(&error, &url),
        SendError::Refused(ServerFault::Private { host }.into())
    );
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody must have come");
}

#[track_caller]
fn check(
    method: &str,
    status: u16,
    there: &str,
    cross_origin: CrossOriginRedirect,
    expected: &str,
) {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let url = Url::parse("https://a.example/x").unwrap();
    let mut request = reqwest::Request::new(method, url.clone());
    for name in ["accept", "authorization", "content-type", "cookie", "x-key"] {
        request.headers_mut().insert(name, name.parse().unwrap());
    }
    *request.body_mut() = Some("body".into());
    let status = StatusCode::from_u16(status).unwrap();
    let there = url.join(there).unwrap();
    let shown = match follow(request, status, there, cross_origin) {
        Ok(request) => {
            let names = request.headers().keys().map(|name| name.as_str());
            let names = names.collect::<std::collections::BTreeSet<_>>();
            let names: Vec<&str> = names.into_iter().collect();
            let body = request.body().map_or("nothing", |_| "body");
            let (method, url) = (request.method(), request.url());
            format!("{method} {url} {body}: {}", names.join(" "))
        }
        Err(error) => error.into_detail().message,
    };
    assert_eq!(shown, expected);
}

#[test]
fn a_redirect_keeps_what_it_may() {
    use CrossOriginRedirect::{Refuse, WithoutCredentials};
    let all = "accept authorization content-type cookie x-key";
    let check_all = |status, expected: &str| check("POST", status, "/y?z", Refuse, expected);
    for status in [307, 308] {
        check_all(status, &format!("POST https://a.example/y?z body: {all}"));
    }
    for status in [301, 302, 303] {
        let few = "GET https://a.example/y?z nothing: accept authorization cookie x-key";
        check_all(status, few);
    }
    let put = format!("PUT https://a.example/y body: {all}");
    check("PUT", 302, "/y", Refuse, &put);
    let stays = |there: &str| {
        format!(
            "https://a.example/x redirects to {there}, which is another site, so the redirect \
             is not followed. If that is the server, enter its address instead."
        )
    };
    // Another host, another port and another protocol are all other sites.
    for there in [
        "https://b.example/y",
        "https://a.example:8443/y",
        "http://a.example/y",
    ] {
        check("GET", 302, there, Refuse, &stays(there));
        check(
            "GET",
            302,
            there,
            WithoutCredentials,
            &format!("GET {there} body: accept"),
        );
    }
    check(
        "GET",
        302,
        "//b.example/y?key=1",
        Refuse,
        &stays("https://b.example/y"),
    );
}
