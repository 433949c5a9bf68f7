//! Browsers that are there, away or forgotten.

use std::time::Duration;

use serde_json::json;
use tenon_domain::{ErrorKind, SourceState, UserId};

use super::super::*;
use super::house::*;

#[tokio::test(start_paused = true)]
async fn a_browser_that_never_found_anything_is_forgotten_when_it_leaves() {
    let house = House::new();
    let ada = UserId::new("ada");
    for number in 0..60 {
        let tab = house
            .page("ada", &format!("window{number}"), "1", Vec::new())
            .await;
        tab.seat.leave();
    }
    assert!(house.desk.devices(&ada).len() <= 60);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(house.desk.devices(&ada).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_device_that_is_away_keeps_its_tools_and_offers_them_to_no_model() {
    let house = House::new();
    let tab = house.laptop().await;
    assert_eq!(house.tools("ada").specs().len(), 1);
    tab.seat.leave();
    // It may only be loading anew.
    assert_eq!(house.state("ada"), SourceState::Ready);
    let calling = house.call_now();
    tokio::task::yield_now().await;
    let back = house.page("ada", "laptop", "2", vec![time()]).await;
    let order = back.order().await;
    back.answer(&order, json!({"status": 204, "headers": []}));
    calling.await.unwrap().unwrap();

    back.seat.leave();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(house.state("ada"), SourceState::Offline);
    assert_eq!(house.ids("ada"), [NOW]);
    assert!(house.tools("ada").specs().is_empty());
    let refused = error(
        house
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
    let later = House::with(house.notes.clone());
    later.desk.restore().await.unwrap();
    assert_eq!(later.ids("ada"), [NOW]);
    assert_eq!(later.state("ada"), SourceState::Offline);
    let bare = Found {
        offered: None,
        ..time()
    };
    let tab = later.page("ada", "laptop", "3", vec![bare]).await;
    assert!(tab.registered.servers[0].wanted);
    tab.seat
        .register(registration("laptop", "3", vec![time()]))
        .await
        .unwrap();
    assert_eq!(later.state("ada"), SourceState::Ready);
    assert!(
        later
            .desk
            .forget(&UserId::new("ada"), "device-laptop")
            .await
            .unwrap()
    );
    assert!(later.ids("ada").is_empty());
    assert!(later.notes.0.lock().unwrap().is_empty());
}
