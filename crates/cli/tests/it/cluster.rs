//! Several servers on one PostgreSQL and one bus: what happens at one is seen and answered at another.

mod chaos;

use std::panic::Location;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_domain::FormAnswer;
use tenon_llm::Scripted;
use tenon_llm::scripted::ScriptStep;
use tokio::sync::Notify;

use crate::form_tool::FormTool;
use crate::local::registration;
use crate::login::{self, guarded};
use crate::people::Person;
use crate::postgres::Postgres;
use crate::program::Served;
use crate::redis::Redis;
use crate::server::{Page, Server, TEST_TIMEOUT};
use crate::sources::fixtures;

/// The key that all servers of a cluster share.
const SECRET_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

struct TestCluster {
    postgres: Postgres,
    redis: Redis,
}

impl TestCluster {
    fn start() -> Self {
        Self {
            postgres: Postgres::start(),
            redis: Redis::start(&[]),
        }
    }

    async fn server(&self, scripts: Vec<Vec<ScriptStep>>) -> Server {
        let config = Config {
            bus: Some(self.redis.url()),
            ..self.config()
        };
        Server::in_cluster(config, Arc::new(Scripted::new(scripts))).await
    }

    fn config(&self) -> Config {
        Config {
            database: Some(self.postgres.url()),
            secret_key: Some(SECRET_KEY.into()),
            local_models: Some(Vec::new()),
            ..Config::default()
        }
    }
}

async fn connected(server: &Server) {
    let mut state = server.app.cluster.bus.state();
    let connected = state.wait_for(|state| *state == tenon_bus::BusState::Connected);
    drop(
        tokio::time::timeout(TEST_TIMEOUT, connected)
            .await
            .unwrap()
            .unwrap(),
    );
}

async fn new_chat(person: &Person<'_>) -> String {
    let (status, chat) = person.post("/api/chats", json!({})).await;
    assert_eq!(status, 201, "{chat}");
    chat["id"].as_str().unwrap().to_owned()
}

async fn say(person: &Person<'_>, chat: &str) -> String {
    let path = format!("/api/chats/{chat}/turns");
    let (status, started) = person.post(&path, json!({"text": "go"})).await;
    assert_eq!(status, 202, "{started}");
    started["turnId"].as_str().unwrap().to_owned()
}

async fn follow(person: &Person<'_>, chat: &str) -> Page {
    let mut page = person.socket().await.unwrap();
    page.subscribe(chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    page
}

fn is_delta(frame: &Value, text: &str) -> bool {
    frame["type"] == "delta" && frame["text"] == text
}

#[tokio::test]
async fn an_answer_is_seen_live_and_stopped_at_another_server() {
    let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let cluster = TestCluster::start();
    let a = cluster
        .server(vec![vec![
            ScriptStep::text("One, "),
            ScriptStep::WaitFor(first.clone()),
            ScriptStep::text("two, "),
            ScriptStep::WaitFor(second.clone()),
            ScriptStep::text("three."),
            ScriptStep::stop(),
        ]])
        .await;
    let b = cluster.server(Vec::new()).await;
    connected(&a).await;
    connected(&b).await;
    // A link from one may lead to the page of another.
    assert!(b.app.auth.setup.fits(&a.app.auth.setup.current()));
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let chat = new_chat(&ada).await;
    let mut page = follow(&at_b, &chat).await;
    let turn = say(&ada, &chat).await;
    page.until(|frame| is_delta(frame, "One, ")).await;
    let (_, seen) = at_b.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(seen["running"], turn.as_str(), "{seen}");
    // In the middle: the text so far, then what follows.
    let mut late = at_b.socket().await.unwrap();
    late.subscribe(&chat, 0).await;
    late.until(|frame| is_delta(frame, "One, ")).await;
    first.notify_one();
    for page in [&mut page, &mut late] {
        page.until(|frame| is_delta(frame, "two, ")).await;
    }
    let (status, busy) = at_b
        .post(&format!("/api/chats/{chat}/turns"), json!({"text": "too"}))
        .await;
    assert_eq!(status, 409, "{busy}");

    let (status, _) = at_b
        .post(&format!("/api/turns/{turn}/cancel"), json!({}))
        .await;
    assert_eq!(status, 202);
    for page in [&mut page, &mut late] {
        let frames = page.until_finished().await;
        let end = frames.last().unwrap();
        assert_eq!(end["body"]["outcome"]["kind"], "stopped", "{end}");
    }
    let (_, messages) = at_b.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[1]["text"], "One, two, ");
    // The chat goes on anywhere.
    assert!(at_b.get(&format!("/api/chats/{chat}")).await.1["running"].is_null());
}

#[tokio::test]
async fn calls_are_allowed_and_forms_answered_at_another_server() {
    let cluster = TestCluster::start();
    let calculate = json!({"expression": "6*7"});
    let a = cluster
        .server(vec![
            vec![
                ScriptStep::call(0, "builtin_calculate", &calculate),
                ScriptStep::stop(),
            ],
            vec![
                ScriptStep::call(0, "mcp_clerk_contact", &json!({})),
                ScriptStep::stop(),
            ],
            vec![ScriptStep::text("Fine."), ScriptStep::stop()],
        ])
        .await;
    let b = cluster.server(Vec::new()).await;
    connected(&a).await;
    connected(&b).await;
    let (form_tool, _connection) = FormTool::connect(&a.app.registry).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let ask = json!({
        "layer": "organisation",
        "tools": [{"toolId": "builtin_calculate", "policy": "ask"},
                  {"toolId": "mcp_clerk_contact", "policy": "allow"}],
    });
    assert_eq!(ada.patch("/api/tools", ask).await.0, 204);
    let chat = new_chat(&ada).await;
    let mut page = follow(&at_b, &chat).await;
    say(&ada, &chat).await;

    let asked = page
        .until(|frame| frame["body"]["type"] == "callAsked")
        .await;
    let call = asked.last().unwrap()["body"]["callId"].as_str().unwrap();
    let begun = Instant::now();
    let path = format!("/api/calls/{call}/answer");
    let (status, _) = at_b.post(&path, json!({"verdict": "once"})).await;
    assert_eq!(status, 204);
    page.until(|frame| frame["body"]["type"] == "callFinished")
        .await;
    let took = begun.elapsed();
    assert!(
        took < Duration::from_millis(1900),
        "nobody polled: {took:?}"
    );

    let shown = page
        .until(|frame| frame["body"]["type"] == "formShown")
        .await;
    let shown = &shown.last().unwrap()["body"];
    let path = format!("/api/calls/{}/form", shown["callId"].as_str().unwrap());
    let id = &shown["form"]["id"];
    let wrong = json!({"formId": id, "action": "accept", "content": {"email": "ada"}});
    let (status, error) = at_b.post(&path, wrong).await;
    assert_eq!(
        (status, error["error"]["code"].as_str()),
        (422, Some("form_not_email"))
    );
    let decline = json!({"formId": id, "action": "decline"});
    assert_eq!(at_b.post(&path, decline.clone()).await.0, 204);
    page.until_finished().await;
    assert_eq!(*form_tool.got.lock().unwrap(), [FormAnswer::Decline]);
    assert_eq!(at_b.post(&path, decline).await.0, 409);
}

#[tokio::test]
async fn what_waits_for_a_person_moves_when_its_server_ends() {
    let cluster = TestCluster::start();
    let calculate = json!({"expression": "6*7"});
    let call = ScriptStep::call(0, "builtin_calculate", &calculate);
    let a = cluster.server(vec![vec![call, ScriptStep::stop()]]).await;
    let answer = vec![ScriptStep::text("42."), ScriptStep::stop()];
    let b = cluster.server(vec![answer]).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let ask = json!({
        "layer": "organisation",
        "tools": [{"toolId": "builtin_calculate", "policy": "ask"}],
    });
    assert_eq!(ada.patch("/api/tools", ask).await.0, 204);
    let (chat, other) = (new_chat(&ada).await, new_chat(&ada).await);
    let mut page = follow(&at_b, &chat).await;
    say(&ada, &chat).await;
    let asked = page
        .until(|frame| frame["body"]["type"] == "callAsked")
        .await;
    let call = asked.last().unwrap()["body"]["callId"].as_str().unwrap();

    // As after SIGTERM.
    a.app.agent.drain(Duration::from_secs(1)).await;
    let path = format!("/api/chats/{other}/turns");
    let (status, error) = ada.post(&path, json!({"text": "go"})).await;
    assert_eq!(status, 503, "{error}");
    a.app.closing.cancel();
    let store = &b.app.store;
    until(async || {
        let open = store.open_turns().await.unwrap();
        (open[0].owner.runner == store.runner_name()).then_some(())
    })
    .await;

    let path = format!("/api/calls/{call}/answer");
    assert_eq!(at_b.post(&path, json!({"verdict": "once"})).await.0, 204);
    let frames = page.until_finished().await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "done");
    let (_, messages) = at_b.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[2]["text"], "42.", "{messages}");
}

#[tokio::test]
async fn a_call_reaches_the_page_wherever_it_is_connected() {
    let cluster = TestCluster::start();
    let (a, b) = (
        cluster.server(Vec::new()).await,
        cluster.server(Vec::new()).await,
    );
    connected(&a).await;
    connected(&b).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let bob = ada.add("Bob").await;
    let mut page = at_b.socket().await.unwrap();
    page.send(&registration("laptop-of-ada", "page-one").to_string())
        .await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;

    let tool = until(async || {
        let (_, tools) = ada.get("/api/tools").await;
        let mut tools = tools.as_array().unwrap().iter();
        let ready =
            |tool: &&Value| tool["runsOn"] == "browser" && tool["source"]["state"] == "ready";
        tools.find(ready).cloned()
    })
    .await;
    let (_, devices) = ada.get("/api/devices").await;
    assert_eq!(devices[0]["pages"], json!(["page-one"]), "{devices}");
    let (_, his) = bob.get("/api/tools").await;
    assert!(
        his.as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["runsOn"] != "browser")
    );

    let path = format!("/api/tools/{}/call", tool["toolId"].as_str().unwrap());
    // Longer than one message of the bus.
    let long = "x".repeat(900_000);
    let calling = ada.post(&path, json!({"arguments": {"at": "this"}}));
    let working = async {
        let heard = page.until(|frame| frame["type"] == "execute:tool").await;
        let order = heard.last().unwrap();
        assert_eq!(order["tool_args"], json!({"at": "this"}));
        let call = &order["call_id"];
        page.send(&json!({"type": "tool:progress", "call_id": call}).to_string())
            .await;
        let content = json!([{"type": "text", "text": long}]);
        let answer =
            json!({"type": "tool:result", "call_id": call, "result": {"content": content}});
        page.send(&answer.to_string()).await;
    };
    let ((status, answer), ()) = tokio::join!(calling, working);
    assert_eq!((status, &answer["ok"]), (200, &json!(true)), "{answer}");

    // Whoever does not wait any more has the page stop.
    let calling = ada.post(&path, json!({"arguments": {"at": "that"}}));
    let heard = tokio::select! {
        heard = page.until(|frame| frame["type"] == "execute:tool") => heard,
        (status, answer) = calling => panic!("{status} {answer}"),
    };
    let call = heard.last().unwrap()["call_id"].clone();
    let cancelled = page.until(|frame| frame["type"] == "cancel:tool").await;
    assert_eq!(cancelled.last().unwrap()["call_id"], call);

    // A page that goes is gone everywhere.
    drop(page);
    until(async || {
        let (_, tools) = ada.get("/api/tools").await;
        let mut tools = tools.as_array().unwrap().iter();
        let gone =
            |tool: &&Value| tool["runsOn"] == "browser" && tool["source"]["state"] == "offline";
        tools.find(gone).cloned()
    })
    .await;
}

#[tokio::test]
async fn an_exclusive_server_runs_once_and_moves_when_its_server_ends() {
    let cluster = TestCluster::start();
    let (a, b) = (
        cluster.server(Vec::new()).await,
        cluster.server(Vec::new()).await,
    );
    connected(&a).await;
    connected(&b).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let mut clock = fixtures::time("clock");
    clock["exclusive"] = json!(true);
    let (status, added) = ada.post("/api/sources", clock).await;
    assert_eq!(status, 201, "{added}");
    let allow = json!({
        "layer": "organisation",
        "tools": [{"toolId": "mcp_clock_get_current_time", "policy": "allow"}],
    });
    let ready = async |person: &Person<'_>| {
        let (_, source) = person.get("/api/sources/mcp-clock").await;
        (source["state"] == "ready" && source["tools"].as_u64() == Some(2)).then_some(source)
    };
    let sources = [
        until(async || ready(&ada).await).await,
        until(async || ready(&at_b).await).await,
    ];
    let running = sources.iter().filter(|source| source["pid"].is_number());
    assert_eq!(running.count(), 1, "{sources:#?}");
    assert_eq!(ada.patch("/api/tools", allow).await.0, 204);
    let call = async |person: &Person<'_>| {
        let path = "/api/tools/mcp_clock_get_current_time/call";
        let (status, answer) = person
            .post(path, json!({"arguments": {"timezone": "UTC"}}))
            .await;
        assert_eq!((status, &answer["ok"]), (200, &json!(true)), "{answer}");
    };
    call(&ada).await;
    call(&at_b).await;

    let (ends, at_runner, stays) = if sources[0]["pid"].is_number() {
        (&a, &ada, &at_b)
    } else {
        (&b, &at_b, &ada)
    };
    // It is restarted where it runs, whoever is asked.
    let pid = ready(at_runner).await.unwrap()["pid"].clone();
    let restart = stays.post("/api/sources/mcp-clock/restart", json!({}));
    assert_eq!(restart.await.0, 200);
    until(async || ready(at_runner).await.filter(|source| source["pid"] != pid)).await;

    // Whoever runs it ends: the other one does from then on.
    ends.app.sources.close().await;
    until(async || {
        let source = ready(stays).await?;
        source["pid"].is_number().then_some(())
    })
    .await;
    call(stays).await;
}

#[tokio::test]
async fn a_log_in_ends_at_another_server_and_is_refreshed_once() {
    let authority = guarded::start().await;
    let cluster = TestCluster::start();
    let (a, b) = (
        cluster.server(Vec::new()).await,
        cluster.server(Vec::new()).await,
    );
    until(async || (b.app.cluster.bus.peers().borrow().len() == 1).then_some(())).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let id = login::add(&ada, &authority).await;
    let back = login::visit(&login::leave(&ada, &id).await).await;
    let response = login::open(&at_b, &back).await;
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    for person in [&ada, &at_b] {
        let is_ready = |source: &Value| source["state"] == "ready" && source["tools"] == 1;
        login::until(person, &id, is_ready).await;
        assert_eq!(login::call(person).await["ok"], true);
    }

    // The token ends for both of them at once, and the refresh token is good for one.
    let before = authority.book().refreshes;
    authority.forget_access();
    authority.behave(|ways| ways.slowness = Duration::from_millis(200));
    let answers = tokio::join!(login::call(&ada), login::call(&at_b));
    assert_eq!(
        (&answers.0["ok"], &answers.1["ok"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(authority.book().refreshes, before + 1);
}

#[tokio::test]
async fn a_bus_that_goes_away_delays_the_view_and_loses_nothing() {
    let go_on = Arc::new(Notify::new());
    let mut cluster = TestCluster::start();
    let a = cluster
        .server(vec![
            vec![
                ScriptStep::text("One, "),
                ScriptStep::WaitFor(go_on.clone()),
                ScriptStep::text("two."),
                ScriptStep::call(0, "builtin_calculate", &json!({"expression": "1+1"})),
                ScriptStep::stop(),
            ],
            vec![
                ScriptStep::text("Three, "),
                ScriptStep::WaitFor(go_on.clone()),
                ScriptStep::text("four."),
                ScriptStep::stop(),
            ],
        ])
        .await;
    let b = cluster.server(Vec::new()).await;
    connected(&a).await;
    connected(&b).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let chat = new_chat(&ada).await;
    let mut page = follow(&at_b, &chat).await;
    let turn = say(&ada, &chat).await;
    page.until(|frame| is_delta(frame, "One, ")).await;

    cluster.redis.kill();
    let told = page.until(|frame| frame["type"] == "cluster").await;
    assert_eq!(told.last().unwrap()["state"], "delayed");
    let (status, error) = at_b
        .post(&format!("/api/turns/{turn}/cancel"), json!({}))
        .await;
    assert_eq!(
        (status, error["error"]["code"].as_str()),
        (503, Some("turn_unreachable"))
    );
    // The turn goes on, and what is stored arrives.
    go_on.notify_one();
    page.until(|frame| frame["body"]["type"] == "callFinished")
        .await;

    cluster.redis.restart();
    let frames = page.until(|frame| is_delta(frame, "Three, ")).await;
    assert!(
        frames
            .iter()
            .any(|frame| frame["type"] == "cluster" && frame["state"] == "ok")
    );
    go_on.notify_one();
    let frames = page.until_finished().await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "done");
    let (_, messages) = at_b.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[2]["text"], "Three, four.", "{messages}");
}

#[tokio::test]
async fn servers_without_a_bus_say_so() {
    let cluster = TestCluster::start();
    let model = || Arc::new(Scripted::new(Vec::new()));
    let a = Server::in_cluster(cluster.config(), model()).await;
    let ada = Person::set_up(&a, "Ada").await;
    let mut page = ada.socket().await.unwrap();
    let b = Server::in_cluster(cluster.config(), model()).await;
    let told = page.until(|frame| frame["type"] == "cluster").await;
    assert_eq!(told.last().unwrap()["state"], "noBus");
    let mut page = ada.at(&b).socket().await.unwrap();
    page.until(|frame| frame["type"] == "cluster").await;
}

#[tokio::test]
async fn a_bus_with_tls_and_a_password_is_reached() {
    let postgres = Postgres::start();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key) = (path("cert.pem"), path("key.pem"));
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let redis = Redis::start_with_tls(&certificate, &key, &["--requirepass", "secret"]);
    let log = path("log");
    let start = |password: &str| {
        let data = tempfile::tempdir().unwrap();
        let bus = format!("rediss://:{password}@localhost:{}", redis.port());
        let served = Served::start_with(&data, |serve| {
            let log = std::fs::File::create(&log).unwrap();
            serve
                .env("TENON_DATABASE", postgres.url())
                .env("TENON_BUS", &bus)
                .env("TENON_SECRET_KEY", SECRET_KEY)
                .env("TENON_LOG", "info")
                .env("SSL_CERT_FILE", &certificate)
                .stderr(log)
        });
        (served, data)
    };
    let told = async |words: &str| {
        until(async || {
            let log = std::fs::read_to_string(&log).unwrap();
            assert!(!log.contains("secret"), "{log}");
            log.contains(words).then_some(())
        })
        .await;
    };
    let (served, _data) = start("secret");
    told("connected to the bus").await;
    drop(served);
    let (_served, _data) = start("wrong");
    told("the bus cannot be reached").await;
}

/// What it gives, once it gives something.
#[track_caller]
fn until<T>(look: impl AsyncFn() -> Option<T>) -> impl Future<Output = T> {
    let from = Location::caller();
    async move {
        let begun = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(begun.elapsed() < TEST_TIMEOUT, "not yet at {from}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
}
