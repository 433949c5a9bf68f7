use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_domain::{
    Access, CallId, ErrorKind, SourceId, SourceState, ToolCall, ToolError, ToolId, ToolResult,
    UserId,
};
use tenon_tools::{
    Asker, CallContext, Errand, Limits, MemoryIdBook, MemoryShelf, Nobody, Pulse, Registry, Toolset,
};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::*;
use std::sync::{Arc, Mutex};

/// Keeps what it is given, as the store would.
#[derive(Default)]
struct Notes(Mutex<Vec<Remembered>>);

#[async_trait]
impl Memory for Notes {
    async fn load(&self) -> Result<Vec<Remembered>, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn keep(&self, server: &Remembered) -> Result<(), String> {
        let mut kept = self.0.lock().unwrap();
        kept.retain(|one| one.info.id != server.info.id);
        kept.push(server.clone());
        Ok(())
    }

    async fn seen(&self, _servers: &[SourceId]) -> Result<(), String> {
        Ok(())
    }

    async fn forget(&self, servers: &[SourceId]) -> Result<(), String> {
        self.0
            .lock()
            .unwrap()
            .retain(|one| !servers.contains(&one.info.id));
        Ok(())
    }
}

struct House {
    registry: Arc<Registry>,
    desk: Desk,
    notes: Arc<Notes>,
}

impl House {
    fn new() -> Self {
        Self::with(Arc::default())
    }

    fn with(notes: Arc<Notes>) -> Self {
        let ids = Arc::new(MemoryIdBook::default());
        let shelf = Arc::new(MemoryShelf::default());
        let registry = Registry::new(ids, shelf, Limits::default());
        let parses = Arc::new(Semaphore::new(2));
        let desk = Desk::new(registry.clone(), notes.clone(), parses);
        Self {
            registry,
            desk,
            notes,
        }
    }

    async fn page(&self, user: &str, device: &str, page: &str, servers: Vec<Found>) -> Tab {
        let (gives, frames) = mpsc::channel(64);
        let registration = registration(device, page, servers);
        let user = UserId::new(user);
        let seat = self.desk.sit(&user, &registration, gives).unwrap();
        let registered = seat.register(registration).await.unwrap();
        Tab {
            seat,
            frames: AsyncMutex::new(frames),
            registered,
        }
    }

    fn tools(&self, user: &str) -> Toolset {
        self.registry.toolset(Access::all(&UserId::new(user)))
    }

    fn ids(&self, user: &str) -> Vec<String> {
        let toolset = self.tools(user);
        let listed = toolset.listed();
        listed.iter().map(|tool| tool.spec.id.to_string()).collect()
    }

    fn state(&self, user: &str) -> SourceState {
        let toolset = self.tools(user);
        toolset.listed()[0].source.state()
    }

    /// A call that somebody makes by hand.
    fn call(&self, user: &str, tool: &str, input: Value) -> tokio::task::JoinHandle<ToolResult> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let call = ToolCall {
            id: CallId(format!("call-{number}")),
            tool_id: ToolId::new(tool),
            input,
        };
        let context = CallContext {
            call_id: call.id.clone(),
            errand: Errand::default(),
            user: UserId::new(user),
            asker: Asker::Person,
            workspace: None,
            cancel: CancellationToken::new(),
            attendant: Arc::new(Nobody),
            pulse: Pulse::default(),
        };
        let toolset = self.tools(user);
        tokio::spawn(async move { toolset.call(&call, &context).await })
    }
}

/// A page, as far as Tenon sees it.
struct Tab {
    seat: Seat,
    frames: AsyncMutex<mpsc::Receiver<Frame>>,
    registered: Registered,
}

impl Tab {
    async fn order(&self) -> Execute {
        let frame = self.frames.lock().await.recv().await;
        match frame {
            Some(Frame::Execute(order)) => *order,
            other => panic!("{other:?} is no call"),
        }
    }

    async fn cancelled(&self) -> CallId {
        let frame = self.frames.lock().await.recv().await;
        match frame {
            Some(Frame::Cancel { call_id }) => call_id,
            other => panic!("{other:?} cancels nothing"),
        }
    }

    fn begin(&self, order: &Execute) {
        self.seat.sign(Sign {
            call_id: order.call_id.clone(),
            progress: None,
            total: None,
            message: None,
        });
    }

    fn answer(&self, order: &Execute, outcome: Value) {
        let mut answered = outcome;
        answered["call_id"] = json!(order.call_id);
        self.seat.end(serde_json::from_value(answered).unwrap());
    }
}

fn registration(device: &str, page: &str, servers: Vec<Found>) -> Registration {
    Registration {
        device: DeviceInfo {
            id: format!("device-{device}"),
            name: format!("Chrome on {device}"),
        },
        page: format!("page-{page}-of-{device}"),
        servers,
        looking: Vec::new(),
        calls: Vec::new(),
    }
}

fn found(name: &str, offered: Option<Value>) -> Found {
    let via = match &offered {
        Some(offered) if offered["type"] == "mcp" => Via::Mcp,
        _ => Via::Mcpo,
    };
    Found {
        url: "http://localhost:8000".into(),
        name: name.into(),
        title: String::new(),
        via,
        hash: format!("hash of {name}"),
        offered: offered.map(|offered| serde_json::from_value(offered).unwrap()),
    }
}

/// The time server behind an mcpo, as far as it matters.
fn time() -> Found {
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "mcp-time", "version": "1"},
        "servers": [{"url": "/time"}],
        "paths": {"/now": {"post": {
            "operationId": "now",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {
                "type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"],
            }}}},
        }}},
    });
    let url = "http://127.0.0.1:8000/time/openapi.json";
    found(
        "time",
        Some(json!({"type": "openapi", "document": document.to_string(), "url": url})),
    )
}

fn echo() -> Found {
    let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
    found("echo", Some(json!({"type": "mcp", "tools": tools})))
}

const NOW: &str = "local_time_now";

fn error(result: ToolResult) -> ToolError {
    result.unwrap_err()
}

#[tokio::test]
async fn what_a_page_finds_is_its_owners_alone_and_called_by_it() {
    let house = House::new();
    let tab = house.page("ada", "laptop", "1", vec![time(), echo()]).await;
    let counts: Vec<usize> = tab.registered.servers.iter().map(|one| one.tools).collect();
    assert_eq!(counts, [1, 1]);
    assert_eq!(house.ids("ada"), ["local_echo_echo", NOW]);
    assert!(house.ids("bob").is_empty());
    assert_eq!(
        error(
            house
                .call("bob", NOW, json!({"zone": "UTC"}))
                .await
                .unwrap()
        )
        .kind,
        ErrorKind::UnknownTool
    );

    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
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

    let calling = house.call("ada", "local_echo_echo", json!({"a": 1}));
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
    let house = House::new();
    let ada = house.page("ada", "laptop", "1", vec![time()]).await;
    let bob = house.page("bob", "laptop", "1", vec![time()]).await;
    let asks_ada = house.call("ada", NOW, json!({"zone": "A"}));
    let asks_bob = house.call("bob", NOW, json!({"zone": "B"}));
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
    let house = House::new();
    let bare = || Found {
        offered: None,
        ..time()
    };
    let tab = house.page("ada", "laptop", "1", vec![bare()]).await;
    assert!(tab.registered.servers[0].wanted);
    assert!(house.ids("ada").is_empty());
    let registered = tab
        .seat
        .register(registration("laptop", "1", vec![time()]))
        .await
        .unwrap();
    assert_eq!(
        (registered.servers[0].wanted, registered.servers[0].tools),
        (false, 1)
    );
    let other = house.page("ada", "laptop", "2", vec![bare()]).await;
    assert_eq!(
        (
            other.registered.servers[0].wanted,
            other.registered.servers[0].tools
        ),
        (false, 1)
    );
    // Another browser has its own, though it is the same.
    let elsewhere = house.page("ada", "desktop", "1", vec![bare()]).await;
    assert!(elsewhere.registered.servers[0].wanted);
}

#[tokio::test]
async fn a_description_that_is_wrong_costs_only_itself() {
    let house = House::new();
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
    let tab = house
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
        away.notes[0].contains("https://elsewhere.example"),
        "{away:?}"
    );
    assert_eq!(time.tools, 1);
    assert_eq!(house.ids("ada"), [NOW]);
}

#[tokio::test(start_paused = true)]
async fn another_page_takes_over_what_was_not_begun() {
    let house = House::new();
    let first = house.page("ada", "laptop", "1", vec![time()]).await;
    let second = house.page("ada", "laptop", "2", vec![time()]).await;
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    let order = second.order().await;
    second.seat.leave();
    let again = first.order().await;
    assert_eq!(again.call_id, order.call_id);
    first.begin(&again);
    first.answer(
        &again,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "here"}}),
    );
    assert_eq!(calling.await.unwrap().unwrap().to_text(), "here");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_sleeps_is_passed_over_while_there_is_another() {
    let house = House::new();
    let awake = house.page("ada", "laptop", "1", vec![time()]).await;
    let asleep = house.page("ada", "laptop", "2", vec![time()]).await;
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    let order = asleep.order().await;
    let again = awake.order().await;
    assert_eq!(asleep.cancelled().await, order.call_id);
    // It had begun after all, and its sign got lost.
    awake.answer(
        &again,
        json!({"error": {"kind": "taken", "message": "Another page has it."}}),
    );
    let error = error(calling.await.unwrap());
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("is not known"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_closed_fails_at_once_what_it_had_begun() {
    let house = House::new();
    let tab = house.page("ada", "laptop", "1", vec![time()]).await;
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    let order = tab.order().await;
    tab.begin(&order);
    tokio::task::yield_now().await;
    let before = tokio::time::Instant::now();
    tab.seat.leave();
    let error = error(calling.await.unwrap());
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert!(
        error.message.contains("Chrome on laptop"),
        "{}",
        error.message
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_connection_broke_comes_back_to_its_calls() {
    let house = House::new();
    let tab = house.page("ada", "laptop", "1", vec![time()]).await;
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    let order = tab.order().await;
    tab.begin(&order);
    tokio::task::yield_now().await;
    tab.seat.lose();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let back = house.page("ada", "laptop", "1", vec![time()]).await;
    back.answer(
        &order,
        json!({"status": 200, "headers": [], "body": {"type": "text", "text": "kept"}}),
    );
    assert_eq!(calling.await.unwrap().unwrap().to_text(), "kept");

    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    let order = back.order().await;
    back.begin(&order);
    tokio::task::yield_now().await;
    back.seat.lose();
    let error = error(calling.await.unwrap());
    assert!(error.message.contains("is not known"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_lost_with_a_connection_is_given_to_the_page_again() {
    let house = House::new();
    let _asleep = house.page("ada", "laptop", "1", vec![time()]).await;
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    tokio::task::yield_now().await;
    // It comes back before anybody noticed that it was away.
    let back = house.page("ada", "laptop", "1", vec![time()]).await;
    let order = back.order().await;
    back.answer(&order, json!({"status": 200, "headers": []}));
    calling.await.unwrap().unwrap();

    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    back.order().await;
    back.seat.lose();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let again = house.page("ada", "laptop", "1", vec![time()]).await;
    let order = again.order().await;
    again.answer(&order, json!({"status": 200, "headers": []}));
    calling.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_too_much_for_one_browser_is_told_one_by_one() {
    let house = House::new();
    let many = |from: usize, to: usize| -> Vec<Found> {
        let offered = json!({"type": "mcp", "tools": []});
        let number = |number| found(&format!("n{number}"), Some(offered.clone()));
        (from..to).map(number).collect()
    };
    let tab = house.page("ada", "laptop", "1", many(0, 70)).await;
    let refused = |registered: &Registered| {
        let servers = registered.servers.iter();
        servers.filter(|server| server.problem.is_some()).count()
    };
    assert_eq!(refused(&tab.registered), 6);
    // What is no longer there makes way for something new.
    let others = registration("laptop", "1", many(70, 100));
    let others = tab.seat.register(others).await.unwrap();
    assert_eq!(refused(&others), 30, "all of them were there until now");
    let others = registration("laptop", "1", many(70, 100));
    let others = tab.seat.register(others).await.unwrap();
    assert_eq!(refused(&others), 0);
    assert_eq!(house.desk.devices(&UserId::new("ada"))[0].servers.len(), 30);
    let flood = registration("laptop", "1", many(0, 1_001));
    assert!(tab.seat.register(flood).await.is_err());
}

#[tokio::test]
async fn a_server_that_spoils_its_description_says_so_until_it_is_mended() {
    let house = House::new();
    let tab = house.page("ada", "laptop", "1", vec![time()]).await;
    let state = || {
        house.desk.devices(&UserId::new("ada"))[0].servers[0]
            .state
            .clone()
    };
    let spoilt = || {
        let document = json!({"type": "openapi", "document": "{\"openapi\": \"3.1.0\", \"paths\": 5}", "url": "http://localhost:8000/openapi.json"});
        Found {
            hash: "another".into(),
            ..found("time", Some(document))
        }
    };
    let told = registration("laptop", "1", vec![spoilt()]);
    tab.seat.register(told).await.unwrap();
    let SourceState::Failed { why } = state() else {
        panic!("{:?}", state());
    };
    assert!(why.contains("paths"), "{why}");
    // By its hash alone it is asked for, and nothing changes meanwhile.
    let by_hash = Found {
        offered: None,
        ..spoilt()
    };
    let told = registration("laptop", "1", vec![by_hash]);
    assert!(tab.seat.register(told).await.unwrap().servers[0].wanted);
    assert!(matches!(state(), SourceState::Failed { .. }));
    let told = registration("laptop", "1", vec![time()]);
    tab.seat.register(told).await.unwrap();
    assert_eq!(state(), SourceState::Ready);
}

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
    let tab = house.page("ada", "laptop", "1", vec![time()]).await;
    assert_eq!(house.tools("ada").specs().len(), 1);
    tab.seat.leave();
    // It may only be loading anew.
    assert_eq!(house.state("ada"), SourceState::Ready);
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
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

#[tokio::test]
async fn what_is_gone_is_told_and_what_is_unwanted_is_forgotten() {
    let house = House::new();
    let tab = house.page("ada", "laptop", "1", vec![time(), echo()]).await;
    let mut news = house.desk.news();
    tab.seat
        .register(registration("laptop", "1", vec![echo()]))
        .await
        .unwrap();
    assert_eq!(news.recv().await.unwrap(), Told(UserId::new("ada")));
    let toolset = house.tools("ada");
    let state = |id: &str| toolset.get(&ToolId::new(id)).unwrap().source.state();
    assert!(matches!(state(NOW), SourceState::Failed { .. }));
    assert_eq!(state("local_echo_echo"), SourceState::Ready);
    tab.seat.unregister("http://localhost:8000").await.unwrap();
    assert!(house.ids("ada").is_empty());
    assert!(house.notes.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled() {
    let house = House::new();
    let tab = house.page("ada", "laptop", "1", vec![time()]).await;
    let calling = house.call("ada", NOW, json!({"zone": "UTC"}));
    let order = tab.order().await;
    calling.abort();
    assert_eq!(tab.cancelled().await, order.call_id);
    // What comes of it nevertheless is nobody's.
    tab.answer(&order, json!({"status": 200, "headers": []}));
}

#[tokio::test]
async fn what_no_page_of_ours_would_say_is_refused() {
    let house = House::new();
    let sit = |registration: Registration| {
        let (gives, _frames) = mpsc::channel(1);
        house
            .desk
            .sit(&UserId::new("ada"), &registration, gives)
            .map(drop)
    };
    let odd = Registration {
        page: "../..".into(),
        ..registration("laptop", "1", Vec::new())
    };
    assert!(sit(odd).unwrap_err().contains("ids"));
    let many = registration("laptop", "1", vec![time(); 1_001]);
    assert!(sit(many).unwrap_err().contains("more than Tenon takes in"));
    let tab = house.page("ada", "laptop", "1", Vec::new()).await;
    let script = Found {
        url: "javascript:alert(1)".into(),
        ..time()
    };
    let registered = tab
        .seat
        .register(registration("laptop", "1", vec![script]))
        .await
        .unwrap();
    assert!(registered.servers[0].problem.is_some());
    for number in 1..50 {
        sit(registration(&format!("phone-{number}"), "1", Vec::new())).unwrap();
    }
    assert!(
        sit(registration("one-too-many", "1", Vec::new()))
            .unwrap_err()
            .contains("Forget one")
    );
}
