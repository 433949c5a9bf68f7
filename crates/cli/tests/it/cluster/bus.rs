//! The bus itself: away, missing, behind TLS and a password.

use std::sync::Arc;

use serde_json::json;
use tenon_llm::Scripted;
use tenon_llm::scripted::ScriptStep;
use tokio::sync::Notify;

use super::{SECRET_KEY, TestCluster, follow, is_delta, new_chat, say, until};
use crate::certificate::Certificate;
use crate::people::Person;
use crate::postgres::Postgres;
use crate::program::Served;
use crate::redis::Redis;
use crate::server::Server;

#[tokio::test]
async fn a_bus_that_goes_away_delays_the_view_and_loses_nothing() {
    let go_on = Arc::new(Notify::new());
    let mut cluster = TestCluster::start();
    let (a, b) = cluster
        .pair(
            vec![
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
            ],
            Vec::new(),
        )
        .await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let chat = new_chat(&ada).await;
    let mut page = follow(&at_b, &chat).await;
    let _here = follow(&ada, &chat).await;
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
    // Where it runs, nothing was missed either.
    let mut late = ada.socket().await.unwrap();
    late.subscribe(&chat, 0).await;
    late.until(|frame| is_delta(frame, "Three, ")).await;
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
    let made = Certificate::make(folder.path());
    let (certificate, key) = (made.file.to_str().unwrap(), made.key.to_str().unwrap());
    let redis = Redis::start_with_tls(certificate, key, &["--requirepass", "secret"]);
    let log = folder.path().join("log");
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
                .env("SSL_CERT_FILE", certificate)
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
