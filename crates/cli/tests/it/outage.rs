//! A database that is away for a moment.

use std::collections::BTreeSet;

use tenon_app::config::Config;
use tenon_domain::{ChatId, EventBody, TitledBy};
use tenon_store::Store;

use crate::postgres::Postgres;
use crate::server::{Page, Server};
use crate::tcp_proxy::TcpProxy;

#[tokio::test]
async fn a_page_follows_its_chats_on_once_the_database_is_back() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let config = Config {
        database: Some(proxy.url.clone()),
        local_models: Some(Vec::new()),
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let other = Store::open(&postgres.url()).await.unwrap();
    let (chat, another) = (server.new_chat().await, server.new_chat().await);
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;

    proxy.break_after(0);
    let titled = EventBody::ChatTitled {
        title: "Tides".into(),
        by: TitledBy::Person,
    };
    other
        .append(&ChatId::new(&chat), vec![titled])
        .await
        .unwrap();
    page.subscribe(&another, 0).await;
    let both = || BTreeSet::from([chat.as_str().to_owned(), another.clone()]);
    let mut untold = both();
    while !untold.is_empty() {
        let frames = page.until(|frame| frame["type"] == "error").await;
        let told = frames.last().unwrap()["chatId"].as_str().unwrap();
        assert!(untold.remove(told), "{told} is told twice");
    }

    proxy.mend();
    let mut awaited = both();
    let mut frames = Vec::new();
    while !awaited.is_empty() {
        frames.extend(page.until(|frame| frame["type"] == "caughtUp").await);
        awaited.remove(frames.last().unwrap()["chatId"].as_str().unwrap());
    }
    let is_title = |frame: &serde_json::Value| frame["body"]["title"] == "Tides";
    assert_eq!(frames.iter().filter(|frame| is_title(frame)).count(), 1);
}
