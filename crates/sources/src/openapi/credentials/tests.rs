//! Who is shown what, and what is said where something is missing.

mod tokens;

use std::collections::VecDeque;

use reqwest::Method;
use serde_json::json;
use tenon_domain::{OpenapiConfig, OpenapiOrigin, SourceCredential, ToolOutput};
use tenon_openapi::operation::SecuritySchemeKind;
use tenon_openapi::operation::{ParameterLocation, SecurityRequirement};

use super::*;

/// Remembers what it was given, and answers as it was told to.
#[derive(Default)]
struct ScriptedSender {
    sent: Mutex<Vec<OpenapiRequest>>,
    answers: Mutex<VecDeque<OpenapiResponse>>,
}

#[async_trait]
impl RequestSender for ScriptedSender {
    async fn send(
        &self,
        request: OpenapiRequest,
        _: Option<Duration>,
    ) -> Result<OpenapiResponse, ToolError> {
        // Others have time to ask meanwhile.
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.sent.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front();
        Ok(answer.unwrap_or_else(|| answer_of(200, "ok")))
    }
}

impl ScriptedSender {
    fn answering<const N: usize>(answers: [OpenapiResponse; N]) -> Arc<Self> {
        Arc::new(Self {
            sent: Mutex::default(),
            answers: Mutex::new(answers.into()),
        })
    }

    /// "POST /token a form", "GET /x Bearer t" and so on; empties what is remembered.
    fn seen(&self) -> Vec<String> {
        let seen = |request: OpenapiRequest| {
            let authorization = request.headers.get("authorization");
            let body = request.body.unwrap_or_default();
            let pieces = [
                request.method.to_string(),
                request.url.path().to_owned(),
                String::from_utf8(authorization.map_or(Vec::new(), |v| v.as_bytes().to_vec()))
                    .unwrap(),
                String::from_utf8(body).unwrap(),
            ];
            pieces
                .into_iter()
                .filter(|piece| !piece.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.sent.lock().unwrap().drain(..).map(seen).collect()
    }
}

fn answer_of(status: u16, body: &str) -> OpenapiResponse {
    OpenapiResponse {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: body.into(),
    }
}

fn token(name: &str) -> OpenapiResponse {
    answer_of(
        200,
        &format!(r#"{{"access_token":"{name}","token_type":"Bearer","expires_in":100}}"#),
    )
}

fn scheme(name: &str, kind: SecuritySchemeKind) -> SecurityScheme {
    SecurityScheme {
        name: name.into(),
        kind,
        description: String::new(),
    }
}

fn schemes() -> Vec<SecurityScheme> {
    let key = |name: &str, location| {
        let kind = SecuritySchemeKind::ApiKey {
            location,
            name: format!("X-{name}"),
        };
        scheme(name, kind)
    };
    vec![
        key("header", ParameterLocation::Header),
        key("query", ParameterLocation::Query),
        key("cookie", ParameterLocation::Cookie),
        scheme("bearer", SecuritySchemeKind::Bearer),
        scheme("basic", SecuritySchemeKind::Basic),
        scheme(
            "client",
            SecuritySchemeKind::ClientCredentials {
                token_url: "/token".into(),
                scopes: vec!["read".into(), "write".into()],
            },
        ),
        scheme(
            "person",
            SecuritySchemeKind::Other("OAuth with a person".into()),
        ),
    ]
}

fn operation(sets: &[&[&str]]) -> Operation {
    let need = |name: &&str| {
        let (scheme, scopes) = name.split_once(':').unwrap_or((name, ""));
        SecurityRequirement {
            scheme: scheme.to_owned(),
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        }
    };
    Operation {
        name: "x".into(),
        title: None,
        description: String::new(),
        input_schema: json!({}).into(),
        deprecated: false,
        method: Method::GET,
        path: "/x".into(),
        servers: vec!["/".into()],
        parameters: Vec::new(),
        headers: Vec::new(),
        body: None,
        security: sets
            .iter()
            .map(|set| set.iter().map(need).collect())
            .collect(),
    }
}

fn request() -> OpenapiRequest {
    OpenapiRequest {
        method: Method::GET,
        url: Url::parse("https://a.example/x?a=1&X-query=mine&b").unwrap(),
        headers: HeaderMap::new(),
        body: None,
    }
}

fn key(value: &str) -> SourceCredential {
    SourceCredential::Key {
        value: value.into(),
    }
}

fn basic() -> SourceCredential {
    SourceCredential::Basic {
        user: "ada".into(),
        password: "pä:ss".into(),
    }
}

fn client(token_url: Option<&str>) -> SourceCredential {
    SourceCredential::Client {
        id: "me".into(),
        secret: "s/e".into(),
        token_url: token_url.map(str::to_owned),
        scopes: None,
    }
}

fn credentials(
    sender: &Arc<ScriptedSender>,
    held: &[(&str, SourceCredential)],
    headers: &[(&str, &str)],
) -> Credentials {
    let config = OpenapiConfig {
        headers: headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
        credentials: held
            .iter()
            .map(|(name, held)| (name.to_string(), held.clone()))
            .collect(),
        ..OpenapiConfig::new(OpenapiOrigin::Url {
            url: "https://a.example".into(),
        })
    };
    let base = Url::parse("https://a.example/openapi.json").unwrap();
    let sender: Arc<dyn RequestSender> = Arc::<ScriptedSender>::clone(sender);
    let document = CredentialContext {
        schemes: &schemes(),
        found_at: Some(&base),
        base: &base,
    };
    Credentials::new(&config, &document, sender).unwrap()
}

/// What is sent: the query, and headers but for those of every request.
async fn sent(
    sets: &[&[&str]],
    held: &[(&str, SourceCredential)],
    headers: &[(&str, &str)],
) -> String {
    let sender = ScriptedSender::answering([]);
    let credentials = credentials(&sender, held, headers);
    credentials.call(&operation(sets), request()).await.unwrap();
    let request = sender.sent.lock().unwrap().pop().unwrap();
    let headers = request.headers.iter().map(|(name, value)| {
        assert!(value.is_sensitive() || name == "cookie");
        format!(" {name}: {}", value.to_str().unwrap())
    });
    format!(
        "{}{}",
        request.url.query().unwrap(),
        headers.collect::<String>()
    )
}

#[tokio::test(start_paused = true)]
async fn each_scheme_is_shown_where_it_belongs() {
    const BARE: &str = "a=1&X-query=mine&b";
    let check = async |scheme: &str, credential: SourceCredential, expected: &str| {
        let found = sent(&[&[scheme]], &[(scheme, credential)], &[]).await;
        assert_eq!(found, expected, "{scheme}");
    };
    check("header", key("k"), &format!("{BARE} x-header: k")).await;
    check("query", key("k&/="), "a=1&b&X-query=k%26%2F%3D").await;
    check(
        "cookie",
        key("k;="),
        &format!("{BARE} cookie: X-cookie=k%3B="),
    )
    .await;
    check(
        "bearer",
        key("k"),
        &format!("{BARE} authorization: Bearer k"),
    )
    .await;
    check(
        "bearer",
        key(" bearer k\n"),
        &format!("{BARE} authorization: Bearer k"),
    )
    .await;
    check(
        "basic",
        basic(),
        &format!("{BARE} authorization: Basic YWRhOnDDpDpzcw=="),
    )
    .await;
    check(
        "client",
        key("k"),
        &format!("{BARE} authorization: Bearer k"),
    )
    .await;
    check(
        "person",
        key("k"),
        &format!("{BARE} authorization: Bearer k"),
    )
    .await;
    // What does not fit is not sent.
    for (scheme, credential) in [
        ("header", basic()),
        ("basic", key("k")),
        ("bearer", basic()),
        ("bearer", client(None)),
        ("nobody", key("k")),
    ] {
        check(scheme, credential, BARE).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_set_that_can_be_met_is() {
    let check = async |sets: &[&[&str]], held: &[&str], expected: &str| {
        let held: Vec<_> = held.iter().map(|name| (*name, key(name))).collect();
        let found = sent(sets, &held, &[]).await;
        let found = found.strip_prefix("a=1&X-query=mine&b").unwrap().trim();
        assert_eq!(found, expected, "{sets:?}");
    };
    check(&[], &["header"], "").await;
    check(
        &[&["header"], &["bearer"]],
        &["bearer"],
        "authorization: Bearer bearer",
    )
    .await;
    check(
        &[&["header"], &["bearer"]],
        &["bearer", "header"],
        "x-header: header",
    )
    .await;
    check(
        &[&["header", "bearer"]],
        &["bearer", "header"],
        "x-header: header authorization: Bearer bearer",
    )
    .await;
    check(&[&["header", "bearer"]], &["bearer"], "").await;
    check(
        &[&[], &["bearer"]],
        &["bearer"],
        "authorization: Bearer bearer",
    )
    .await;
    check(&[&[], &["bearer"]], &[], "").await;

    let headers = [("Authorization", "Token t"), ("X-Header", "h")];
    let both = "a=1&X-query=mine&b authorization: Token t x-header: h";
    assert_eq!(sent(&[&["header", "basic"]], &[], &headers).await, both);
    assert_eq!(sent(&[], &[], &headers).await, both);
    let own = sent(&[&["bearer"]], &[("bearer", key("k"))], &headers).await;
    assert_eq!(
        own,
        "a=1&X-query=mine&b authorization: Bearer k x-header: h"
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_key_is_named_when_the_server_minds() {
    let explained = async |status, sets: &[&[&str]], held: &[(&str, SourceCredential)]| {
        let sender = ScriptedSender::answering([answer_of(status, "")]);
        let credentials = credentials(&sender, held, &[]);
        let result = credentials.call(&operation(sets), request()).await;
        result.unwrap_err().message
    };
    let said = explained(
        401,
        &[&["header", "basic"], &["bearer"]],
        &[("header", key("k"))],
    )
    .await;
    assert!(said.ends_with("Nothing is stored for `basic` (a user name and a password): somebody has to enter it in the settings of this server."), "{said}");
    let said = explained(403, &[&["query", "unheard"]], &[]).await;
    assert!(
        said.contains("`query` (an API key in the query parameter X-query) and `unheard`:"),
        "{said}"
    );
    let said = explained(401, &[&["bearer"]], &[("bearer", key("k"))]).await;
    assert!(
        said.contains("missing or wrong") && !said.contains("Nothing is stored"),
        "{said}"
    );
    let said = explained(500, &[&["bearer"]], &[]).await;
    assert_eq!(said, "HTTP 500 Internal Server Error.");
}

#[test]
fn headers_that_cannot_be_sent_are_refused_at_once() {
    let check = |name: &str, value: &str| {
        let config = OpenapiConfig {
            headers: [(name.to_owned(), value.to_owned())].into(),
            ..OpenapiConfig::new(OpenapiOrigin::Url { url: String::new() })
        };
        let base = Url::parse("https://a.example").unwrap();
        let document = CredentialContext {
            schemes: &[],
            found_at: None,
            base: &base,
        };
        Credentials::new(&config, &document, ScriptedSender::answering([]))
            .unwrap_err()
            .to_string()
    };
    assert!(check("Host", "b.example").contains("belongs to the connection"));
    assert!(check("X-A", "a\nb").contains("`x-a` must be one line"));
}

#[tokio::test]
async fn a_large_answer_holds_nobody_up() {
    let one = json!({"number": 7, "name": "somebody or something", "tags": ["a", "b"]});
    let body = json!(vec![one; 150_000]).to_string();
    assert!(body.len() > 8 * 1024 * 1024, "{}", body.len());
    let sender = ScriptedSender::answering([answer_of(200, &body)]);
    let credentials = credentials(&sender, &[], &[]);
    // All on one thread: whoever works long on it makes this one late.
    let late = Arc::new(Mutex::new(Duration::ZERO));
    let latest = late.clone();
    let ticking = tokio::spawn(async move {
        loop {
            let begun = std::time::Instant::now();
            tokio::time::sleep(Duration::from_millis(1)).await;
            let mut latest = latest.lock().unwrap();
            *latest = (*latest).max(begun.elapsed());
        }
    });
    let operation = operation(&[]);
    let output = credentials.call(&operation, request());
    let (begun, output) = (std::time::Instant::now(), output.await.unwrap());
    let (took, late) = (begun.elapsed(), *late.lock().unwrap());
    ticking.abort();
    assert_eq!(output.content.len(), 1);
    assert!(late < took / 4, "{late:?} of {took:?}");
}
