//! A server for one person is for nobody else: not for another process on the machine,
//! and not for whoever a reverse proxy lets through.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tenon_server::authorize::RouteAccess;
use tenon_server::route::Route;
use tenon_server::router::routes;
use tokio_tungstenite::tungstenite::Error;

use super::{TITLE, example};
use crate::people::Person;
use crate::proxy::Proxy;
use crate::server::{Server, answer};

/// What strangers may try to pass as.
const DISGUISES: [&[(&str, &str)]; 5] = [
    &[],
    &[("x-forwarded-for", "127.0.0.1"), ("x-real-ip", "127.0.0.1")],
    &[("forwarded", "for=127.0.0.1"), ("via", "1.1 proxy")],
    &[("cookie", "tenon=local; __Host-tenon=local")],
    &[("host", "localhost"), ("sec-fetch-site", "same-origin")],
];

/// What clients made for OpenAI use, which is not in the list of the API.
const OPENAI: [(&str, &str); 2] = [("GET", "/v1/models"), ("POST", "/v1/chat/completions")];

fn path_of(route: &Route) -> (String, Option<Value>) {
    let example = example(route);
    let path = match (route.path.find('{'), route.path.find('}')) {
        (Some(from), Some(to)) => {
            let (before, after) = (&route.path[..from], &route.path[to + 1..]);
            format!("{before}{}{after}", example.id)
        }
        _ => route.path.to_owned(),
    };
    (format!("/api{path}{}", example.query), example.body)
}

/// Every route, as somebody who has no secret.
async fn try_all(request: impl Fn(&str, &str) -> RequestBuilder) {
    let send = async |method: &str, path: &str, body: Option<&Value>, disguise: &[(&str, &str)]| {
        let mut sent = request(method, path);
        for (name, value) in disguise {
            sent = sent.header(*name, *value);
        }
        if let Some(body) = body {
            sent = sent.json(body);
        }
        answer(sent.send().await.unwrap()).await
    };
    for route in routes() {
        let (path, body) = path_of(&route);
        let method = route.method.as_str();
        for disguise in DISGUISES {
            let (status, answer) = send(method, &path, body.as_ref(), disguise).await;
            let told = answer.to_string();
            assert!(!told.contains(TITLE), "{route:?} with {disguise:?}: {told}");
            match route.access {
                RouteAccess::Open => assert_ne!(status, 500, "{route:?}: {told}"),
                RouteAccess::User
                | RouteAccess::Owner(_)
                | RouteAccess::Admin
                | RouteAccess::Key
                | RouteAccess::Shell => {
                    assert_eq!(status, 401, "{route:?} with {disguise:?}: {told}");
                    assert_eq!(answer["error"]["code"], "not_logged_in", "{route:?}");
                }
            }
        }
        // A bearer that is no key is refused too.
        if route.access != RouteAccess::Open {
            let bearer = [("authorization", "Bearer local")];
            let (status, _) = send(method, &path, body.as_ref(), &bearer).await;
            assert_eq!(status, 401, "{route:?}");
        }
    }
    for (method, path) in OPENAI {
        let body = json!({"model": "builtin", "messages": []});
        let body = (method == "POST").then_some(&body);
        for disguise in DISGUISES {
            let (status, answer) = send(method, path, body, disguise).await;
            assert_eq!(status, 401, "{path} with {disguise:?}: {answer}");
        }
    }
}

async fn one_with_a_chat() -> Server {
    let server = Server::start().await;
    let (status, _) = server.post("/api/chats", json!({"title": TITLE})).await;
    assert_eq!(status, 201);
    server
}

#[tokio::test]
async fn another_process_on_this_machine_gets_through_no_route() {
    let server = one_with_a_chat().await;
    let before = server.get("/api/chats").await;
    try_all(|method, path| server.anonymous(method, path)).await;
    let refused = Person::nobody(&server).socket().await;
    assert_eq!(refused.err(), Some(401));
    assert_eq!(server.get("/api/chats").await, before);
}

#[tokio::test]
async fn nobody_gets_through_a_route_by_a_reverse_proxy() {
    let server = one_with_a_chat().await;
    let proxy = Proxy::start(&server.address.to_string());
    let before = server.get("/api/chats").await;
    try_all(|method, path| proxy.request(method, path)).await;
    let socket = format!("ws://{}/api/ws", proxy.address);
    match tokio_tungstenite::connect_async(socket).await {
        Err(Error::Http(refused)) => assert_eq!(refused.status(), 401),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.get("/api/chats").await, before);
}
