//! What a socket is told is about one's own things, or about nothing.

use serde_json::{Value, json};
use tenon_domain::CallId;
use tenon_server::wire::ClientFrame;
use tenon_sources::browser::{
    DeviceInfo, LocalCallOutcome, LocalCallResult, Registration, RemoteCallProgress,
};

use super::{AccessFixture, DEVICE, TITLE, script};
use crate::people::Person;
use crate::server::Server;

/// What her browser runs, and a call to that.
const LOCAL_URL: &str = "http://localhost:8000/mcp";
const CALL: &str = "olgas-call";

/// The frame to try after this one. A new frame does not compile until it has its turn.
fn after(frame: Option<&ClientFrame>, chat: &str) -> Option<ClientFrame> {
    let chat_id = tenon_domain::ChatId::new(chat);
    let call_id = CallId::new(CALL);
    match frame {
        None => Some(ClientFrame::Subscribe {
            chat_id,
            after: 0,
            batched: true,
        }),
        Some(ClientFrame::Subscribe { .. }) => Some(ClientFrame::Unsubscribe { chat_id }),
        Some(ClientFrame::Unsubscribe { .. }) => Some(ClientFrame::SubscribeUser),
        Some(ClientFrame::SubscribeUser) => Some(ClientFrame::Ping),
        Some(ClientFrame::Ping) => Some(ClientFrame::Register(Registration {
            device: DeviceInfo {
                id: DEVICE.into(),
                name: "Browser".into(),
            },
            page: "somebody-elses-page".into(),
            servers: Vec::new(),
            looking: Vec::new(),
            calls: Vec::new(),
        })),
        Some(ClientFrame::Register(_)) => Some(ClientFrame::ToolProgress(RemoteCallProgress {
            call_id,
            progress: None,
            total: None,
            message: None,
        })),
        Some(ClientFrame::ToolProgress(_)) => Some(ClientFrame::ToolResult(LocalCallResult {
            call_id,
            outcome: LocalCallOutcome::Mcp { result: json!({}) },
        })),
        Some(ClientFrame::ToolResult(_)) => Some(ClientFrame::Unregister {
            url: LOCAL_URL.into(),
        }),
        Some(ClientFrame::Unregister { .. }) => None,
    }
}

fn written(frame: &ClientFrame) -> Value {
    match frame {
        ClientFrame::Subscribe {
            chat_id,
            after,
            batched,
        } => {
            json!({"type": "subscribe", "chatId": chat_id, "after": after, "batched": batched})
        }
        ClientFrame::Unsubscribe { chat_id } => json!({"type": "unsubscribe", "chatId": chat_id}),
        ClientFrame::SubscribeUser => json!({"type": "subscribe:user"}),
        ClientFrame::Ping => json!({"type": "ping"}),
        ClientFrame::Register(Registration { device, page, .. }) => {
            json!({"type": "tools:register", "device": device, "page": page, "servers": []})
        }
        ClientFrame::Unregister { url } => json!({"type": "tools:unregister", "url": url}),
        ClientFrame::ToolProgress(progress) => {
            json!({"type": "tool:progress", "call_id": progress.call_id})
        }
        ClientFrame::ToolResult(answered) => {
            json!({"type": "tool:result", "call_id": answered.call_id, "result": {}})
        }
    }
}

#[tokio::test]
async fn no_frame_reaches_into_another_users_chat() {
    let server = Server::with_accounts(script()).await;
    let fixture = AccessFixture::new(&server).await;
    assert_eq!(Person::nobody(&server).socket().await.err(), Some(401));
    let mut hers = fixture.olga.socket().await.unwrap();
    hers.subscribe(&fixture.chat, 0).await;
    hers.until(|frame| frame["type"] == "caughtUp").await;
    let offered =
        json!({"type": "mcp", "tools": [{"name": "look", "inputSchema": {"type": "object"}}]});
    let found = json!({"url": LOCAL_URL, "name": "", "title": "Hers", "via": "mcp", "hash": "1", "offered": offered});
    let device = json!({"id": DEVICE, "name": "Hers"});
    let registration = json!({"type": "tools:register", "device": device, "page": "olgas-page", "servers": [found]});
    hers.send(&registration.to_string()).await;
    hers.until(|frame| frame["type"] == "tools:registered")
        .await;
    let her_devices = fixture.olga.get("/api/devices").await;
    assert_eq!(her_devices.1[0]["servers"][0]["state"], "ready");
    // A key of hers that may not do everything runs none of her tools.
    for access in ["read", "use"] {
        let mut program = fixture.olga.key(access).await.socket().await.unwrap();
        program.send(&registration.to_string()).await;
        let heard = program
            .until(|frame| frame["type"] == "tools:registered")
            .await;
        assert!(
            heard.last().unwrap()["problem"]["code"].is_string(),
            "{heard:?}"
        );
    }

    let (_, own) = fixture.bob.post("/api/chats", json!({})).await;
    for stranger in [&fixture.bob, &fixture.bob.key("full").await] {
        let mut page = stranger.socket().await.unwrap();
        let mut heard = Vec::new();
        let mut frame = after(None, &fixture.chat);
        while let Some(sent) = frame {
            page.send(&written(&sent).to_string()).await;
            if matches!(sent, ClientFrame::Subscribe { .. }) {
                // Who unsubscribes at once wants no answer any more.
                heard.extend(page.until(|frame| frame["type"] == "error").await);
            }
            frame = after(Some(&sent), &fixture.chat);
        }
        let renamed = json!({"title": format!("{TITLE} again")});
        let path = format!("/api/chats/{}", fixture.chat);
        fixture.olga.patch(&path, renamed).await;
        page.subscribe(own["id"].as_str().unwrap(), 0).await;
        heard.extend(page.until(|frame| frame["type"] == "caughtUp").await);
        let (refusals, others): (Vec<_>, Vec<_>) =
            heard.iter().partition(|frame| frame["type"] == "error");
        assert_eq!(refusals.len(), 1, "{heard:?}");
        // The one who asked is told what they asked for, and nothing else.
        assert_eq!(refusals[0]["error"]["code"], "not_found", "{heard:?}");
        assert_eq!(refusals[0]["chatId"], *fixture.chat);
        assert!(!refusals[0].to_string().contains(TITLE), "{heard:?}");
        for frame in others {
            let text = frame.to_string();
            assert!(
                !text.contains(TITLE) && !text.contains(&*fixture.chat),
                "{frame}"
            );
            if frame["type"] == "tools:registered" {
                let none = json!([]);
                assert_eq!(frame["servers"], none, "another's browser by the same name");
            }
        }
        // And she still hears of it.
        hers.until(|frame| frame["body"]["type"] == "chatTitled")
            .await;
        assert_eq!(fixture.olga.get("/api/devices").await, her_devices);
    }
}
