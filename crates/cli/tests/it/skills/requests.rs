//! Tools of skills that are HTTP requests, against a server here.

use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{Asks, SkillFiles, id_of, path_of};
use crate::people::Person;
use crate::server::Server;

/// Answers with what it was asked.
#[derive(Clone, Default)]
struct EchoServer(Arc<Mutex<usize>>);

impl EchoServer {
    async fn start(&self) -> String {
        let router = axum::Router::new()
            .fallback(Self::answer)
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    async fn answer(State(server): State<Self>, request: Request) -> Response {
        *server.0.lock().unwrap() += 1;
        if request.uri().path() == "/broken" {
            return (StatusCode::IM_A_TEAPOT, "short and stout").into_response();
        }
        if request.uri().path() == "/plain" {
            return "just words".into_response();
        }
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap());
        axum::Json(json!({
            "method": head.method.as_str(),
            "uri": head.uri.to_string(),
            "key": header("x-api-key"),
            "trace": header("x-trace"),
            "body": serde_json::from_slice::<Value>(&body).ok(),
        }))
        .into_response()
    }

    fn count(&self) -> usize {
        *self.0.lock().unwrap()
    }
}

fn skill(base: &str) -> SkillFiles {
    let parameters = "parameters: {type: object, properties: {city: {type: string}, \
        unit: {type: string}, trace: {type: string}, note: {type: string}}, required: [city]}";
    let mapping =
        "mapping: {city: path, unit: query.u, trace: {in: header, name: X-Trace}, note: body}";
    SkillFiles::new("weather")
        .with("secrets: [{name: API_KEY, required: true}]")
        .tool(
            "ask",
            &format!(
                "type: http, method: POST, endpoint: '{base}/cities/{{city}}', {mapping}, \
                      headers: {{X-Api-Key: '${{API_KEY}}'}}, {parameters}"
            ),
        )
        .tool(
            "plain",
            &format!("type: http, endpoint: '{base}/plain', parameters: {{type: object}}"),
        )
        .tool(
            "broken",
            &format!("type: http, endpoint: '{base}/broken', parameters: {{type: object}}"),
        )
}

#[tokio::test]
async fn arguments_go_where_the_mapping_says_and_the_secret_into_its_header() {
    let server = Server::start().await;
    let echo = EchoServer::default();
    let skill = server.install(&skill(&echo.start().await)).await;
    let ask = id_of(&skill, "ask");
    let arguments = json!({"city": "a/b 京", "unit": "C&F", "trace": "t1", "note": "hi"});
    let refused = server.failure(&ask, arguments.clone()).await;
    assert!(refused.contains("needs a value for `API_KEY`"), "{refused}");
    assert_eq!(echo.count(), 0);

    let set = json!({"variables": {"API_KEY": "s3cret"}});
    let (status, detail) = server.patch(&path_of(&skill), set).await;
    assert_eq!(
        (status, &detail["values"]),
        (200, &json!([{"name": "API_KEY", "isSet": true}])),
        "{detail}"
    );
    let asked = server.result(&ask, arguments).await;
    assert_eq!(
        asked,
        json!({
            "method": "POST", "uri": "/cities/a%2Fb%20%E4%BA%AC?u=C%26F",
            "key": "s3cret", "trace": "t1", "body": {"note": "hi"},
        })
    );
    assert_eq!(
        server.result(&id_of(&skill, "plain"), json!({})).await,
        "just words"
    );
    let failed = server.failure(&id_of(&skill, "broken"), json!({})).await;
    assert!(
        failed.contains("418") && failed.contains("short and stout"),
        "{failed}"
    );
    let (_, tools) = server.get("/api/tools").await;
    assert!(!tools.to_string().contains("s3cret"));
}

#[tokio::test]
async fn an_http_skill_of_somebody_who_is_no_admin_reaches_nothing_on_this_machine() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let olga = ada.add("Olga").await;
    let echo = EchoServer::default();
    let base = echo.start().await;
    let skill = |name: &str| {
        let tool = format!("type: http, endpoint: '{base}/plain', parameters: {{type: object}}");
        SkillFiles::new(name).tool("ask", &tool)
    };
    let hers = olga.install(&skill("hers")).await;
    assert_eq!(hers["visibility"], "private");
    let refused = olga.failure(&id_of(&hers, "ask"), json!({})).await;
    assert!(
        refused.contains("private") || refused.contains("127.0.0.1"),
        "{refused}"
    );
    assert_eq!(echo.count(), 0);
    let adas = ada.install(&skill("adas")).await;
    assert_eq!(adas["visibility"], "team");
    assert_eq!(
        olga.result(&id_of(&adas, "ask"), json!({})).await,
        "just words"
    );
}
