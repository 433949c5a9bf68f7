//! What is denied, switched off or to be asked, at every door to a tool.

use std::process::Output;

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mcp_door::{McpProgram, message, stateless};
use crate::program::{Served, run, stdout};
use crate::server::cookie_of;
use crate::sources::fixtures::until;
use crate::user_command::user;

const CALCULATE: &str = "builtin_calculate";
const QUESTION: &str = "what is 1234*5678?";
const RESULT: &str = "7006652";

const PASSWORD: &str = "correct horse battery";

/// What a request shows: a cookie or a key.
type Credential = (&'static str, String);

/// A way to have a tool called.
enum CallRoute {
    /// `POST /api/tools/{id}/call`
    Call(Credential),
    /// `POST /api/chats/{id}/turns`
    Turn(Credential),
    /// `POST /v1/chat/completions`
    Completion(Credential),
    /// `tools/call` at `/mcp`
    Mcp(Credential),
    /// `tools/call` of `tenon mcp`
    McpCommand,
    /// `tenon tools call`, or `tenon run` with these.
    Command(&'static [&'static str]),
}

struct CallerFixture {
    data: TempDir,
    served: Served,
    cookie: Credential,
}

impl CallerFixture {
    /// A server that runs, and Ada, who is its admin and logged in.
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let add = ["add", "--email=ada@x.org", "--name=Ada", "--password-stdin"];
        stdout(&user(&data, &add, PASSWORD));
        let served = Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
        let login = served
            .client
            .post(format!("{}/api/auth/login", served.address))
            .json(&json!({"email": "ada@x.org", "password": PASSWORD}));
        let cookie = cookie_of(&login.send().await.unwrap());
        Self {
            data,
            served,
            cookie: ("cookie", cookie),
        }
    }

    /// A key of hers, made in a shell.
    fn key(&self, arguments: &[&str]) -> Credential {
        let new = ["key", "ada@x.org", "--name=program"];
        let key = stdout(&user(&self.data, &[&new, arguments].concat(), ""));
        ("authorization", format!("Bearer {}", key.trim()))
    }

    async fn send(&self, credential: &Credential, request: RequestBuilder) -> Value {
        let request = request.header(credential.0, &credential.1);
        let text = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_default()
    }

    async fn post(&self, credential: &Credential, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.served.address);
        let request = self.served.client.post(url).json(&body);
        self.send(credential, request).await
    }

    async fn set(&self, layer: &str, enabled: Value, policy: Value) {
        let tool = json!({"toolId": CALCULATE, "enabled": enabled, "policy": policy});
        self.change(json!({"layer": layer, "tools": [tool]})).await;
    }

    /// The same for all tools of its source.
    async fn set_source(&self, layer: &str, enabled: Value, policy: Value) {
        let source = json!({"sourceId": "builtin:math", "enabled": enabled, "policy": policy});
        self.change(json!({"layer": layer, "tools": [], "sources": [source]}))
            .await;
    }

    async fn change(&self, change: Value) {
        let url = format!("{}/api/tools", self.served.address);
        let request = self.served.client.patch(url).json(&change);
        assert_eq!(self.send(&self.cookie, request).await, Value::Null);
    }

    /// "runs", "asks", or "refused": with a reason, or as it is not even offered.
    async fn call_by(&self, route: &CallRoute) -> &'static str {
        match route {
            CallRoute::Call(credential) => {
                let sum = json!({"arguments": {"expression": "1234*5678"}});
                let path = format!("/api/tools/{CALCULATE}/call");
                let answer = self.post(credential, &path, sum).await;
                match &answer["error"]["kind"] {
                    Value::Null => outcome(&answer.to_string()),
                    kind => {
                        assert_eq!(kind, "denied", "{answer}");
                        "refused"
                    }
                }
            }
            CallRoute::Completion(credential) => {
                let asked = json!({"messages": [{"role": "user", "content": QUESTION}]});
                let answer = self.post(credential, "/v1/chat/completions", asked).await;
                assert!(answer["choices"][0]["message"].is_object(), "{answer}");
                outcome(&answer.to_string())
            }
            CallRoute::Turn(credential) => self.turn(credential).await,
            CallRoute::Mcp(credential) => self.mcp(credential).await,
            CallRoute::McpCommand => {
                let answers = McpProgram::start(&self.data).answers(&[mcp_call()]);
                outcome(&answers[0].to_string())
            }
            CallRoute::Command(["tools", ..]) => {
                let sum = r#"{"expression":"1234*5678"}"#;
                ended(&run(&self.data, &["tools", "call", CALCULATE, sum]))
            }
            CallRoute::Command(run_with) => {
                ended(&run(&self.data, &[&["run", QUESTION], *run_with].concat()))
            }
        }
    }

    /// What a client does not find in the list it does not call; if it does, it is refused as well.
    async fn mcp(&self, credential: &Credential) -> &'static str {
        let url = format!("{}/mcp", self.served.address);
        let send = async |message: Value| {
            let request = stateless(self.served.client.post(&url), &message);
            self.send(credential, request).await
        };
        let listed = send(message("tools/list", json!({}))).await;
        let is_listed = listed.to_string().contains(CALCULATE);
        let outcome = outcome(&send(mcp_call()).await.to_string());
        assert_eq!(is_listed, outcome == "runs", "{listed}");
        outcome
    }

    /// Every door to a tool, with what it is called.
    fn routes(&self) -> [(&'static str, CallRoute); 16] {
        let page = || self.cookie.clone();
        let full = self.key(&["--access=full"]);
        let uses = self.key(&["--access=use"]);
        let allowed = self.key(&["--access=use", "--allow=builtin_*", "--allow=mcp_echo_*"]);
        [
            ("page, by hand", CallRoute::Call(page())),
            ("full key", CallRoute::Call(full)),
            ("use key", CallRoute::Call(uses.clone())),
            ("allowing key", CallRoute::Call(allowed.clone())),
            ("page, model", CallRoute::Turn(page())),
            ("use key, model", CallRoute::Turn(uses.clone())),
            ("allowing key, model", CallRoute::Turn(allowed.clone())),
            ("/v1, use key", CallRoute::Completion(uses.clone())),
            ("/v1, allowing key", CallRoute::Completion(allowed.clone())),
            ("/v1, page", CallRoute::Completion(page())),
            ("/mcp, use key", CallRoute::Mcp(uses)),
            ("/mcp, allowing key", CallRoute::Mcp(allowed)),
            ("tenon mcp", CallRoute::McpCommand),
            ("tenon tools call", CallRoute::Command(&["tools"])),
            ("tenon run", CallRoute::Command(&[])),
            (
                "tenon run --allow",
                CallRoute::Command(&["--allow=builtin_*"]),
            ),
        ]
    }

    async fn turn(&self, credential: &Credential) -> &'static str {
        let chat = self.post(credential, "/api/chats", json!({})).await;
        let chat = format!("/api/chats/{}", chat["id"].as_str().unwrap());
        let said = json!({"text": QUESTION});
        let turn = self.post(credential, &format!("{chat}/turns"), said).await;
        let turn = turn["turnId"].as_str().unwrap();
        let outcome = until(|| async {
            let url = format!("{}{chat}/messages", self.served.address);
            let messages = self.send(credential, self.served.client.get(url)).await;
            let call = &messages[1]["toolCalls"][0];
            match call["status"].as_str() {
                Some("done") => Ok(outcome(&call.to_string())),
                Some("failed") => Ok("refused"),
                Some("pending") if call["asked"] == true => Ok("asks"),
                // Not offered, it is not called.
                None if messages[1]["parts"][0]["text"].is_string() => Ok("refused"),
                Some(_) | None => Err(messages),
            }
        })
        .await;
        let stop = format!("/api/turns/{turn}/cancel");
        self.post(credential, &stop, json!({})).await;
        outcome
    }
}

fn mcp_call() -> Value {
    let arguments = json!({"expression": "1234*5678"});
    message(
        "tools/call",
        json!({"name": CALCULATE, "arguments": arguments}),
    )
}

/// What becomes of a call at every door where the policy is to ask: by hand it runs, and where it
/// is allowed. A page has somebody to ask.
fn asks() -> [&'static str; 16] {
    let mut asks = ["refused"; 16];
    for number in [0, 3, 6, 8, 11, 12, 13, 15] {
        asks[number] = "runs";
    }
    asks[4] = "asks";
    asks
}

fn outcome(text: &str) -> &'static str {
    if text.contains(RESULT) {
        "runs"
    } else {
        "refused"
    }
}

fn ended(output: &Output) -> &'static str {
    outcome(&String::from_utf8_lossy(&output.stdout))
}

#[tokio::test]
async fn every_door_obeys_what_is_set_for_a_tool() {
    let fixture = CallerFixture::new().await;
    let routes = fixture.routes();
    let check = async |said: &str, expected: [&str; 16]| {
        for ((name, route), expected) in routes.iter().zip(expected) {
            assert_eq!(fixture.call_by(route).await, expected, "{name}, {said}");
        }
    };
    let (runs, refused, asks) = (["runs"; 16], ["refused"; 16], asks());
    check("by default", runs).await;
    for layer in ["user", "organisation"] {
        fixture.set(layer, Value::Null, json!("ask")).await;
        check(&format!("{layer} asks"), asks).await;
        fixture.set(layer, Value::Null, json!("deny")).await;
        check(&format!("{layer} denies"), refused).await;
        fixture.set(layer, json!(false), Value::Null).await;
        check(&format!("{layer} has it off"), refused).await;
        fixture.set(layer, Value::Null, Value::Null).await;
    }
    // Nobody allows what the organisation denies, and everybody what it only has asked about.
    fixture
        .set("organisation", Value::Null, json!("deny"))
        .await;
    fixture.set("user", Value::Null, json!("allow")).await;
    check("denied for everybody, allowed by her", refused).await;
    fixture
        .set("organisation", json!(false), json!("ask"))
        .await;
    fixture.set("user", json!(true), json!("allow")).await;
    check("off and asked for everybody, not by her", runs).await;
}

#[tokio::test]
async fn every_door_obeys_what_is_set_for_a_source() {
    let fixture = CallerFixture::new().await;
    let routes = fixture.routes();
    let check = async |said: &str, expected: [&str; 16]| {
        for ((name, route), expected) in routes.iter().zip(expected) {
            assert_eq!(fixture.call_by(route).await, expected, "{name}, {said}");
        }
    };
    let (none, refused) = (|| Value::Null, ["refused"; 16]);
    fixture.set_source("user", none(), json!("ask")).await;
    check("she is asked", asks()).await;
    fixture.set("user", none(), json!("allow")).await;
    check("she is asked, but not about this tool", ["runs"; 16]).await;
    fixture
        .set_source("organisation", none(), json!("deny"))
        .await;
    check("denied for everybody", refused).await;
    fixture.set_source("organisation", none(), none()).await;
    fixture.set_source("user", json!(false), none()).await;
    check("off for her", refused).await;
}

#[tokio::test]
async fn a_refused_key_is_told_how_to_be_allowed() {
    let fixture = CallerFixture::new().await;
    fixture.set("user", Value::Null, json!("ask")).await;
    let key = fixture.key(&["--access=use"]);
    let sum = json!({"arguments": {"expression": "6*7"}});
    let path = format!("/api/tools/{CALCULATE}/call");
    let answer = fixture.post(&key, &path, sum.clone()).await;
    assert_eq!(answer["error"]["kind"], "denied", "{answer}");
    assert_eq!(answer["error"]["code"], "call_unapproved", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    for word in [CALCULATE, "--allow", "scope", "policy"] {
        assert!(message.contains(word), "{message}");
    }
    // And as it says: with the flag it names, another key may.
    let allowed = fixture.key(&["--allow", CALCULATE]);
    let answer = fixture.post(&allowed, &path, sum).await;
    assert_eq!(answer["ok"], true, "{answer}");
}
