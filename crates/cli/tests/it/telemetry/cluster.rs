//! A trace that goes on at another server of the cluster.

use serde_json::{Value, json};

use super::receiver::Receiver;
use super::{PAGE_SPAN, TRACE, named, only, sends_to};
use crate::postgres::Postgres;
use crate::program::Served;
use crate::redis::Redis;
use crate::sources::fixtures;

const SECRET_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

#[tokio::test]
async fn a_trace_goes_on_at_the_server_that_runs_the_tool() {
    let (postgres, redis) = (Postgres::start(), Redis::start(&[]));
    let receiver = Receiver::start();
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let servers = folders.each_ref().map(|data| {
        Served::start_with(data, |serve| {
            sends_to(serve, receiver.url())
                .env("TENON_DATABASE", postgres.url())
                .env("TENON_BUS", redis.url())
                .env("TENON_SECRET_KEY", SECRET_KEY)
        })
    });
    let mut clock = fixtures::time("clock");
    clock["exclusive"] = json!(true);
    servers[0].post("/api/sources", clock).await;
    let is_ready = |source: &Value| source["state"] == "ready" && source["tools"] == 2;
    let mut asking = None;
    for server in &servers {
        server.until("/api/sources/mcp-clock", is_ready).await;
        if server.get("/api/sources/mcp-clock").await["pid"].is_null() {
            asking = Some(server);
        }
    }
    let asking = asking.expect("it runs at one of them");
    let allow = json!({
        "layer": "user", "tools": [{"toolId": "mcp_clock_get_current_time", "policy": "allow"}],
    });
    let request = asking.client.patch(format!("{}/api/tools", asking.address));
    let allowed = request.json(&allow).send().await.unwrap();
    assert!(allowed.status().is_success(), "{allowed:?}");

    let path = "/api/tools/mcp_clock_get_current_time/call";
    let request = asking.client.post(format!("{}{path}", asking.address));
    let answer = request
        .header("traceparent", format!("00-{TRACE}-{PAGE_SPAN}-01"))
        .json(&json!({"arguments": {"timezone": "UTC"}}))
        .send()
        .await
        .unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["ok"], true, "{answer}");

    let (called, sent) = (
        "execute_tool get_current_time",
        "tools/call get_current_time",
    );
    let spans = receiver.spans(TRACE, |spans| {
        [called, "routed_call", sent]
            .iter()
            .all(|name| !named(spans, name).is_empty())
    });
    let spans = spans.await;
    let routed = only(&spans, "routed_call");
    assert_eq!(
        (&routed.parent, &*routed.kind),
        (&only(&spans, called).id, "SPAN_KIND_SERVER")
    );
    assert_eq!(only(&spans, sent).parent, routed.id);
}
