//! Tools that live at one server, or on a person's computer, and are called from another.

use std::time::Duration;

use serde_json::{Value, json};

use super::{TestCluster, until};
use crate::local::registration;
use crate::login::{self, guarded};
use crate::people::Person;
use crate::sources::fixtures;

/// Somebody's tool that a browser has, once its server is in this state.
async fn local_tool(person: &Person<'_>, state: &str) -> Value {
    until(async || {
        let (_, tools) = person.get("/api/tools").await;
        let mut tools = tools.as_array().unwrap().iter();
        let is_it = |tool: &&Value| tool["runsOn"] == "browser" && tool["source"]["state"] == state;
        tools.find(is_it).cloned()
    })
    .await
}

#[tokio::test]
async fn a_call_reaches_the_page_wherever_it_is_connected() {
    let cluster = TestCluster::start();
    let (a, b) = cluster.pair(Vec::new(), Vec::new()).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let bob = ada.add("Bob").await;
    let mut page = at_b.socket().await.unwrap();
    page.send(&registration("laptop-of-ada", "page-one").to_string())
        .await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;

    let tool = local_tool(&ada, "ready").await;
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
    local_tool(&ada, "offline").await;
}

#[tokio::test]
async fn an_exclusive_server_runs_once_and_moves_when_its_server_ends() {
    let cluster = TestCluster::start();
    let (a, b) = cluster.pair(Vec::new(), Vec::new()).await;
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
    // Its log is read where it is, whoever asks.
    let logs = async |person: &Person<'_>| {
        let (status, lines) = person.get("/api/sources/mcp-clock/logs").await;
        assert_eq!(status, 200, "{lines}");
        let lines = lines.as_array().unwrap().iter();
        let texts = lines.map(|line| line["text"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    let of_runner = logs(at_runner).await;
    assert!(!of_runner.is_empty());
    let elsewhere = logs(stays).await;
    assert_eq!(elsewhere[0], "It runs at another server of the cluster.");
    assert_eq!(elsewhere[1..], of_runner);

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
    let (a, b) = cluster.pair(Vec::new(), Vec::new()).await;
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
