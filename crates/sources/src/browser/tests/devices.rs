//! Browsers that are there, away or forgotten.

use std::time::Duration;

use serde_json::json;
use tenon_domain::{Caller, ErrorKind, Message, SourceState, ToolAccess, ToolId, UserId};
use tenon_tools::{OfferLimits, OfferSize};

use super::super::*;
use super::fixture::*;

#[tokio::test(start_paused = true)]
async fn a_browser_that_never_found_anything_is_forgotten_when_it_leaves() {
    let fixture = Fixture::new();
    let ada = UserId::new("ada");
    for number in 0..60 {
        let tab = fixture
            .page("ada", &format!("window{number}"), "1", Vec::new())
            .await;
        tab.connection.close();
    }
    assert!(fixture.hub.devices(&ada).len() <= 60);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(fixture.hub.devices(&ada).is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_a_browser_with_tools_changes_the_list_by_coming_and_going() {
    let fixture = Fixture::new();
    let mut changes = fixture.hub.subscribe();
    let bare = fixture.page("ada", "phone", "1", Vec::new()).await;
    bare.connection.close();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(changes.is_empty());

    let laptop = fixture.laptop().await;
    let _ = changes.recv().await.unwrap();
    while changes.try_recv().is_ok() {}
    laptop.connection.close();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(
        changes.recv().await.unwrap(),
        ToolsChanged(UserId::new("ada"))
    );
    fixture.page("ada", "laptop", "2", Vec::new()).await;
    assert_eq!(
        changes.recv().await.unwrap(),
        ToolsChanged(UserId::new("ada"))
    );
}

#[tokio::test(start_paused = true)]
async fn what_no_page_has_seen_for_long_is_forgotten_with_its_device() {
    let fixture = Fixture::new();
    let ada = UserId::new("ada");
    let laptop = fixture.laptop().await;
    let id = laptop.registered.servers[0].source_id.clone();
    laptop.connection.close();
    tokio::time::sleep(Duration::from_secs(10)).await;
    fixture.hub.forget_unseen().await.unwrap();
    assert_eq!(fixture.hub.devices(&ada).len(), 1);
    fixture.notes.1.lock().unwrap().push(id);
    fixture.hub.forget_unseen().await.unwrap();
    assert!(fixture.hub.devices(&ada).is_empty());
    assert!(fixture.tools("ada").listed().is_empty());
    assert!(fixture.notes.0.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_device_that_is_away_keeps_its_tools_and_offers_them_to_no_model() {
    let fixture = Fixture::new();
    let tab = fixture.laptop().await;
    assert_eq!(fixture.tools("ada").specs().len(), 1);
    tab.connection.close();
    // It may only be loading anew.
    assert_eq!(fixture.state("ada"), SourceState::Ready);
    let calling = fixture.call_now();
    all_tasks_wait().await;
    let back = fixture.page("ada", "laptop", "2", vec![time()]).await;
    let order = back.order().await;
    back.answer(&order, json!({"status": 204, "headers": []}));
    calling.await.unwrap().unwrap();

    back.connection.close();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(fixture.state("ada"), SourceState::Offline);
    assert_eq!(fixture.ids("ada"), [NOW]);
    assert!(fixture.tools("ada").specs().is_empty());
    let refused = error(
        fixture
            .call("ada", NOW, json!({"zone": "UTC"}))
            .await
            .unwrap(),
    );
    assert_eq!(refused.kind, ErrorKind::Unavailable);
    assert!(
        refused.message.contains("open Tenon there"),
        "{}",
        refused.message
    );

    // After a restart as well.
    let later = Fixture::with(fixture.notes.clone());
    later.hub.restore().await.unwrap();
    assert_eq!(later.ids("ada"), [NOW]);
    assert_eq!(later.state("ada"), SourceState::Offline);
    let bare = DiscoveredServer {
        offered: None,
        ..time()
    };
    let tab = later.page("ada", "laptop", "3", vec![bare]).await;
    assert!(tab.registered.servers[0].wanted);
    tab.connection
        .register(registration("laptop", "3", vec![time()]))
        .await
        .unwrap();
    assert_eq!(later.state("ada"), SourceState::Ready);
    assert!(
        later
            .hub
            .forget(&UserId::new("ada"), "device-laptop")
            .await
            .unwrap()
    );
    assert!(later.ids("ada").is_empty());
    assert!(later.notes.0.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn two_browsers_of_one_computer_offer_its_servers_once() {
    let fixture = Fixture::new();
    let chrome = fixture
        .page("ada", "laptop", "chrome", vec![time(), echo()])
        .await;
    // It may not reach all that the other does.
    let firefox = fixture.page("ada", "laptop", "firefox", vec![echo()]).await;
    assert_eq!(fixture.ids("ada").len(), 2);
    assert_eq!(fixture.hub.devices(&UserId::new("ada")).len(), 1);
    let toolset = fixture.tools("ada");
    let state = || toolset.get(&ToolId::new(NOW)).unwrap().source.state();
    assert_eq!(state(), SourceState::Ready);
    // The older page is asked: the newer one did not find this server.
    let _calling = fixture.call_now();
    chrome.order().await;
    chrome.connection.close();
    let told = registration("laptop", "firefox", vec![echo()]);
    firefox.connection.register(told).await.unwrap();
    assert!(matches!(state(), SourceState::Failed { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_model_is_offered_the_tools_of_the_computer_that_is_used() {
    let fixture = Fixture::new();
    let _laptop = fixture.laptop().await;
    let _desktop = fixture.page("ada", "desktop", "1", vec![time()]).await;
    let offered = |device: Option<&str>, words: &str| {
        let caller = Caller::ChatModel {
            allow: [].as_slice().into(),
        };
        let access = ToolAccess::all(&UserId::new("ada"), caller);
        let toolset = fixture
            .registry
            .toolset(access.from_device(device.map(Into::into)));
        let full = OfferSize::Full(OfferLimits::NONE);
        let tools = toolset.offer(&[Message::user(words)], full).tools;
        let titles: Vec<String> = tools.iter().map(|tool| tool.display_name.clone()).collect();
        titles
    };
    let both = offered(None, "hello");
    assert_eq!(both.len(), 2, "{both:?}");
    // Which of two it is, its name says.
    assert!(
        both.iter().any(|name| name.contains("Chrome on desktop")),
        "{both:?}"
    );
    assert_eq!(offered(Some("device-laptop"), "hello").len(), 1);
    assert_eq!(offered(Some("device-desktop"), "hello").len(), 1);
    // A phone has none of its own.
    assert_eq!(offered(Some("device-phone"), "hello").len(), 2);
    // What a person names is offered all the same.
    assert_eq!(
        offered(Some("device-desktop"), &format!("Use {NOW}.")).len(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_computer_can_be_renamed_while_its_page_is_open() {
    let fixture = Fixture::new();
    let laptop = fixture.laptop().await;
    let desktop = fixture.page("ada", "desktop", "1", vec![time()]).await;
    let ids = fixture.ids("ada");
    let mut changes = fixture.hub.subscribe();
    for (tab, device) in [(&laptop, "laptop"), (&desktop, "desktop")] {
        let mut renamed = registration(device, "1", vec![time()]);
        renamed.device.name = format!("  The\n{device} ");
        tab.connection.register(renamed).await.unwrap();
        assert_eq!(
            changes.try_recv().unwrap(),
            ToolsChanged(UserId::new("ada"))
        );
    }
    let devices = fixture.hub.devices(&UserId::new("ada"));
    let mut names: Vec<&str> = devices.iter().map(|one| one.info.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["The desktop", "The laptop"]);
    // The tools are the same ones, under the new name where the computer is part of it.
    assert_eq!(fixture.ids("ada"), ids);
    let toolset = fixture.tools("ada");
    let listed = toolset.listed();
    let mut titles: Vec<&str> = listed
        .iter()
        .map(|tool| tool.source.info().title.as_str())
        .collect();
    titles.sort_unstable();
    assert_eq!(titles, ["time", "time · The desktop"]);
    let _calling = fixture.call_now();
    laptop.order().await;
    // It is kept so.
    let kept = fixture.notes.0.lock().unwrap();
    let is_kept = |one: &LocalServerRecord| one.device.name == "The desktop";
    assert!(kept.iter().any(is_kept), "{kept:?}");
}
