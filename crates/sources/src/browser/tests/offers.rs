//! What a page offers, and what is made of it.

use serde_json::json;
use tenon_domain::{ErrorKind, SourceState, ToolId, UserId};
use tokio::sync::mpsc;

use super::super::*;
use super::fixture::*;

#[tokio::test]
async fn what_a_page_finds_is_its_owners_alone_and_called_by_it() {
    let fixture = Fixture::new();
    let tab = fixture
        .page("ada", "laptop", "1", vec![time(), echo()])
        .await;
    let counts: Vec<usize> = tab.registered.servers.iter().map(|one| one.tools).collect();
    assert_eq!(counts, [1, 1]);
    assert_eq!(fixture.ids("ada"), ["local_echo_echo", NOW]);
    assert!(fixture.ids("bob").is_empty());
    assert_eq!(
        error(
            fixture
                .call("bob", NOW, json!({"zone": "UTC"}))
                .await
                .unwrap()
        )
        .kind,
        ErrorKind::UnknownTool
    );

    let calling = fixture.call_now();
    let order = tab.order().await;
    assert_eq!(order.server_url, "http://localhost:8000");
    let request = order.request.clone().unwrap();
    // Its document was read at another name of the same machine.
    assert_eq!(request.url, "http://localhost:8000/time/now");
    tab.begin(&order);
    tab.answer(
        &order,
        json!({
            "status": 200,
            "headers": [["content-type", "application/json"]],
            "body": {"type": "text", "text": "{\"now\":\"12:00\"}"},
        }),
    );
    let output = calling.await.unwrap().unwrap();
    assert_eq!(output.structured().unwrap()["now"], "12:00");

    let calling = fixture.call("ada", "local_echo_echo", json!({"a": 1}));
    let order = tab.order().await;
    assert!(order.request.is_none());
    assert_eq!(order.tool_args, json!({"a": 1}));
    tab.answer(
        &order,
        json!({"result": {"content": [{"type": "text", "text": "hi"}]}}),
    );
    assert_eq!(calling.await.unwrap().unwrap().to_text(), "hi");
}

#[tokio::test]
async fn two_people_at_the_same_address_never_meet() {
    let fixture = Fixture::new();
    let ada = fixture.laptop().await;
    let bob = fixture.page("bob", "laptop", "1", vec![time()]).await;
    let asks_ada = fixture.call("ada", NOW, json!({"zone": "A"}));
    let asks_bob = fixture.call("bob", NOW, json!({"zone": "B"}));
    let (of_ada, of_bob) = (ada.order().await, bob.order().await);
    assert_eq!(of_ada.tool_args, json!({"zone": "A"}));
    assert_eq!(of_bob.tool_args, json!({"zone": "B"}));
    // Neither answers for the other.
    ada.answer(
        &of_bob,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "stolen"}}),
    );
    bob.answer(
        &of_bob,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "of bob"}}),
    );
    ada.answer(
        &of_ada,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "of ada"}}),
    );
    assert_eq!(asks_ada.await.unwrap().unwrap().to_text(), "of ada");
    assert_eq!(asks_bob.await.unwrap().unwrap().to_text(), "of bob");
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let fixture = Fixture::new();
    let bare = || DiscoveredServer {
        offered: None,
        ..time()
    };
    let tab = fixture.page("ada", "laptop", "1", vec![bare()]).await;
    assert!(tab.registered.servers[0].wanted);
    assert!(fixture.ids("ada").is_empty());
    let registered = tab
        .connection
        .register(registration("laptop", "1", vec![time()]))
        .await
        .unwrap();
    assert_eq!(
        (registered.servers[0].wanted, registered.servers[0].tools),
        (false, 1)
    );
    let other = fixture.page("ada", "laptop", "2", vec![bare()]).await;
    assert_eq!(
        (
            other.registered.servers[0].wanted,
            other.registered.servers[0].tools
        ),
        (false, 1)
    );
    // Another browser has its own, though it is the same.
    let elsewhere = fixture.page("ada", "desktop", "1", vec![bare()]).await;
    assert!(elsewhere.registered.servers[0].wanted);
}

#[tokio::test]
async fn a_description_that_is_wrong_costs_only_itself() {
    let fixture = Fixture::new();
    let wrong = found(
        "wrong",
        Some(
            json!({"type": "openapi", "document": "{\"openapi\": \"3.1.0\", \"paths\": 5}", "url": "http://localhost:8000/openapi.json"}),
        ),
    );
    let away = json!({
        "openapi": "3.1.0", "info": {"title": "a", "version": "1"},
        "servers": [{"url": "https://elsewhere.example"}],
        "paths": {"/a": {"get": {"operationId": "a"}}},
    });
    let away = found(
        "away",
        Some(
            json!({"type": "openapi", "document": away.to_string(), "url": "http://localhost:8000/openapi.json"}),
        ),
    );
    let tab = fixture
        .page("ada", "laptop", "1", vec![wrong, away, time()])
        .await;
    let [wrong, away, time] = &tab.registered.servers[..] else {
        panic!("three were found");
    };
    assert!(
        wrong.problem.as_ref().unwrap().message.contains("paths"),
        "{wrong:?}"
    );
    assert_eq!(away.tools, 0);
    assert!(
        away.notes[0].message.contains("https://elsewhere.example"),
        "{away:?}"
    );
    assert_eq!(time.tools, 1);
    assert_eq!(fixture.ids("ada"), [NOW]);
}

#[tokio::test]
async fn what_is_too_much_for_one_browser_is_told_one_by_one() {
    let fixture = Fixture::new();
    let many = |from: usize, to: usize| -> Vec<DiscoveredServer> {
        let offered = json!({"type": "mcp", "tools": []});
        let number = |number| found(&format!("n{number}"), Some(offered.clone()));
        (from..to).map(number).collect()
    };
    let tab = fixture.page("ada", "laptop", "1", many(0, 70)).await;
    let refused = |registered: &RegistrationResult| {
        let servers = registered.servers.iter();
        servers.filter(|server| server.problem.is_some()).count()
    };
    assert_eq!(refused(&tab.registered), 6);
    // What is no longer there makes way for something new.
    let others = registration("laptop", "1", many(70, 100));
    let others = tab.connection.register(others).await.unwrap();
    assert_eq!(refused(&others), 30, "all of them were there until now");
    let others = registration("laptop", "1", many(70, 100));
    let others = tab.connection.register(others).await.unwrap();
    assert_eq!(refused(&others), 0);
    assert_eq!(
        fixture.hub.devices(&UserId::new("ada"))[0].servers.len(),
        30
    );
    let flood = registration("laptop", "1", many(0, 1_001));
    assert!(tab.connection.register(flood).await.is_err());
}

#[tokio::test]
async fn a_server_that_spoils_its_description_says_so_until_it_is_mended() {
    let fixture = Fixture::new();
    let tab = fixture.laptop().await;
    let state = || {
        fixture.hub.devices(&UserId::new("ada"))[0].servers[0]
            .state
            .clone()
    };
    let spoilt = || {
        let document = json!({"type": "openapi", "document": "{\"openapi\": \"3.1.0\", \"paths\": 5}", "url": "http://localhost:8000/openapi.json"});
        DiscoveredServer {
            hash: "another".into(),
            ..found("time", Some(document))
        }
    };
    let told = registration("laptop", "1", vec![spoilt()]);
    tab.connection.register(told).await.unwrap();
    let SourceState::Failed { why } = state() else {
        panic!("{:?}", state());
    };
    assert!(why.message.contains("paths"), "{why}");
    // By its hash alone it is asked for, and nothing changes meanwhile.
    let by_hash = DiscoveredServer {
        offered: None,
        ..spoilt()
    };
    let told = registration("laptop", "1", vec![by_hash]);
    assert!(tab.connection.register(told).await.unwrap().servers[0].wanted);
    assert!(matches!(state(), SourceState::Failed { .. }));
    let told = registration("laptop", "1", vec![time()]);
    tab.connection.register(told).await.unwrap();
    assert_eq!(state(), SourceState::Ready);
}

#[tokio::test]
async fn what_is_gone_is_told_and_what_is_unwanted_is_forgotten() {
    let fixture = Fixture::new();
    let tab = fixture
        .page("ada", "laptop", "1", vec![time(), echo()])
        .await;
    let mut news = fixture.hub.subscribe();
    tab.connection
        .register(registration("laptop", "1", vec![echo()]))
        .await
        .unwrap();
    assert_eq!(news.recv().await.unwrap(), ToolsChanged(UserId::new("ada")));
    let toolset = fixture.tools("ada");
    let state = |id: &str| toolset.get(&ToolId::new(id)).unwrap().source.state();
    assert!(matches!(state(NOW), SourceState::Failed { .. }));
    assert_eq!(state("local_echo_echo"), SourceState::Ready);
    tab.connection
        .unregister("http://localhost:8000")
        .await
        .unwrap();
    assert!(fixture.ids("ada").is_empty());
    assert!(fixture.notes.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_no_page_of_ours_would_say_is_refused() {
    let fixture = Fixture::new();
    let connect = |registration: Registration| {
        let (gives, _frames) = mpsc::channel(1);
        fixture
            .hub
            .connect(&UserId::new("ada"), &registration, gives)
            .map(drop)
    };
    let odd = Registration {
        page: "../..".into(),
        ..registration("laptop", "1", Vec::new())
    };
    assert!(connect(odd).unwrap_err().to_string().contains("ids"));
    let many = registration("laptop", "1", vec![time(); 1_001]);
    assert!(
        connect(many)
            .unwrap_err()
            .to_string()
            .contains("more than Tenon can process")
    );
    let tab = fixture.page("ada", "laptop", "1", Vec::new()).await;
    let script = DiscoveredServer {
        url: "javascript:alert(1)".into(),
        ..time()
    };
    let registered = tab
        .connection
        .register(registration("laptop", "1", vec![script]))
        .await
        .unwrap();
    assert!(registered.servers[0].problem.is_some());
    for number in 1..50 {
        connect(registration(&format!("phone-{number}"), "1", Vec::new())).unwrap();
    }
    assert!(
        connect(registration("one-too-many", "1", Vec::new()))
            .unwrap_err()
            .to_string()
            .contains("Forget one")
    );
}
