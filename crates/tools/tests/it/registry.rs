//! Sources come and go; what a turn has taken stays.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tenon_domain::pattern::Pattern;
use tenon_domain::{Caller, EntryPoint, SourceInfo, ToolAccess, ToolId, ToolOutput, UserId};
use tenon_tools::{CallLimits, Error, MemoryOutputStore, MemoryToolIdStore, Registry, ToolIdStore};
use tokio::sync::Notify;

use crate::hub::{Hub, Odd, ada, by_model, call, context};

fn ids(hub: &Hub, user: &UserId) -> Vec<String> {
    hub.registry
        .toolset(ToolAccess::all(user, Caller::chat_model()))
        .specs()
        .iter()
        .map(|spec| spec.id.0.clone())
        .collect()
}

#[tokio::test]
async fn a_source_is_listed_while_it_is_connected() {
    let hub = Hub::new();
    let first = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["y", "x"])))
        .await
        .unwrap();
    let second = hub
        .registry
        .connect(Arc::new(Odd::new("b", &["x"])))
        .await
        .unwrap();
    assert_eq!(ids(&hub, &ada()), ["mcp_a_x", "mcp_a_y", "mcp_b_x"]);
    drop(first);
    assert_eq!(ids(&hub, &ada()), ["mcp_b_x"]);
    drop(second);
    assert_eq!(ids(&hub, &ada()), [""; 0]);
}

#[tokio::test]
async fn a_turn_keeps_the_tools_it_began_with() {
    let hub = Hub::new();
    let connected = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["echo"])))
        .await
        .unwrap();
    let toolset = hub.registry.toolset(by_model());
    drop(connected);
    let answer = toolset
        .call(&call("mcp_a_echo", json!({"text": "still"})), &context())
        .await;
    assert_eq!(answer, Ok(ToolOutput::text("still")));
    assert_eq!(ids(&hub, &ada()), [""; 0]);
}

#[tokio::test]
async fn a_guest_is_there_for_whoever_holds_it_and_takes_nobodys_name() {
    let hub = Hub::new();
    let _there = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["echo"])))
        .await
        .unwrap();
    let mut guest = Odd::new("a", &["echo"]).of(&ada());
    guest.info.id = tenon_domain::SourceId::new("guest");
    let guest: Arc<dyn tenon_tools::ToolSource> = Arc::new(guest);
    let request_tools = hub.registry.request_tools(&ada(), &[guest]);
    // What the rest is narrowed to is not about request_tools.
    let access = by_model().only([ToolId::new("mcp_a_echo")]);
    let toolset = hub
        .registry
        .toolset(access)
        .with_request_tools(&request_tools);
    let all = toolset.specs();
    assert_eq!(all.len(), 2);
    let other = all.iter().find(|spec| spec.id.0 != "mcp_a_echo").unwrap();
    let answer = toolset
        .call(&call(&other.id.0, json!({"text": "hi"})), &context())
        .await;
    assert_eq!(answer, Ok(ToolOutput::text("hi")));
    assert_eq!(ids(&hub, &ada()), ["mcp_a_echo"]);
}

#[tokio::test]
async fn tools_of_a_task_have_its_names_and_need_approval() {
    let hub = Hub::new();
    let mut server = Odd::new("files", &["echo"]);
    server.has_trusted_hints = false;
    let server: Arc<dyn tenon_tools::ToolSource> = Arc::new(server);
    let task_tools = hub.registry.task_tools(&ada(), &[server]);
    let call = call("files-echo", json!({"text": "hi"}));
    let check = async |allow: &[&str]| {
        let allow = allow.iter().copied().map(Pattern::new).collect();
        let entry = EntryPoint::Shell;
        let access = ToolAccess::all(&ada(), Caller::UnattendedModel { entry, allow });
        let toolset = hub.registry.toolset(access.only([]));
        let toolset = toolset.with_request_tools(&task_tools);
        toolset.call(&call, &context()).await
    };
    let refused = check(&[]).await.unwrap_err();
    let advice = "`--allow files-echo` or `--yes` would allow it.";
    assert!(refused.message.ends_with(advice), "{refused}");
    assert_eq!(check(&["files-*"]).await, Ok(ToolOutput::text("hi")));
}

#[tokio::test]
async fn a_source_that_comes_back_replaces_itself_and_keeps_its_ids() {
    let hub = Hub::new();
    let old = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["x", "y"])))
        .await
        .unwrap();
    let new = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["y", "z"])))
        .await
        .unwrap();
    assert_eq!(ids(&hub, &ada()), ["mcp_a_y", "mcp_a_z"]);
    drop(old);
    assert_eq!(
        ids(&hub, &ada()),
        ["mcp_a_y", "mcp_a_z"],
        "the old connection is not the new one's"
    );
    hub.registry.refresh(&new).await.unwrap();
    assert_eq!(ids(&hub, &ada()), ["mcp_a_y", "mcp_a_z"]);
}

#[tokio::test]
async fn a_private_source_is_its_owners_alone() {
    let hub = Hub::new();
    let bob = UserId::new("bob");
    let _ada = hub
        .registry
        .connect(Arc::new(Odd::new("ada-laptop", &["echo"]).of(&ada())))
        .await
        .unwrap();
    let _all = hub
        .registry
        .connect(Arc::new(Odd::new("all", &["echo"])))
        .await
        .unwrap();
    assert_eq!(ids(&hub, &ada()), ["mcp_ada-laptop_echo", "mcp_all_echo"]);
    assert_eq!(ids(&hub, &bob), ["mcp_all_echo"]);
    assert_eq!(hub.registry.sources(&bob).len(), 1);

    let theirs = hub
        .registry
        .toolset(ToolAccess::all(&bob, Caller::chat_model()));
    assert!(theirs.get(&ToolId::new("mcp_ada-laptop_echo")).is_none());
    let refused = theirs
        .call(
            &call("mcp_ada-laptop_echo", json!({"text": "x"})),
            &context(),
        )
        .await;
    assert!(refused.is_err());
}

#[tokio::test]
async fn only_what_is_switched_on_is_seen_and_called() {
    let hub = Hub::new();
    let _connected = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["echo", "x"])))
        .await
        .unwrap();
    let toolset = hub
        .registry
        .toolset(by_model().only([ToolId::new("mcp_a_x")]));
    assert_eq!(toolset.specs().len(), 1);
    assert!(
        toolset
            .call(&call("mcp_a_echo", json!({"text": "x"})), &context())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_name_that_is_listed_twice_is_one_tool() {
    let hub = Hub::new();
    let _connected = hub
        .registry
        .connect(Arc::new(Odd::new("a", &["x", "x"])))
        .await
        .unwrap();
    assert_eq!(ids(&hub, &ada()), ["mcp_a_x"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_are_never_disturbed_by_sources_that_come_and_go() {
    let hub = Hub::new();
    let _stays = hub
        .registry
        .connect(Arc::new(Odd::new("stays", &["echo"])))
        .await
        .unwrap();
    let registry = hub.registry.clone();
    let coming_and_going = tokio::spawn(async move {
        for _ in 0..200 {
            drop(
                registry
                    .connect(Arc::new(Odd::new("guest", &["a", "b"])))
                    .await
                    .unwrap(),
            );
            tokio::task::yield_now().await;
        }
    });
    while !coming_and_going.is_finished() {
        let answer = hub.call("mcp_stays_echo", json!({"text": "hi"})).await;
        assert_eq!(answer, Ok(ToolOutput::text("hi")));
        tokio::task::yield_now().await;
    }
    coming_and_going.await.unwrap();
    assert_eq!(ids(&hub, &ada()), ["mcp_stays_echo"]);
}

#[tokio::test]
async fn what_was_asked_for_earlier_never_replaces_what_came_later() {
    let slow = Arc::new(SlowToolIdStore::default());
    let registry = Registry::new(
        slow.clone(),
        Arc::new(MemoryOutputStore::default()),
        CallLimits::default(),
    );
    let first = tokio::spawn({
        let registry = registry.clone();
        async move {
            registry
                .connect(Arc::new(Odd::new("a", &["old"])))
                .await
                .unwrap()
        }
    });
    slow.asked.notified().await;
    // The store is busy with the first; readers do not notice, and the second overtakes it.
    assert_eq!(registry.toolset(by_model()).specs().len(), 0);
    let _second = registry
        .connect(Arc::new(Odd::new("a", &["new"])))
        .await
        .unwrap();
    slow.go_on.notify_one();
    drop(first.await.unwrap());
    let specs = registry.toolset(by_model()).specs();
    assert_eq!(
        specs
            .iter()
            .map(|spec| spec.name.as_str())
            .collect::<Vec<_>>(),
        ["new"]
    );
}

/// A tool id store that takes its time over the first question.
#[derive(Default)]
struct SlowToolIdStore {
    inner: MemoryToolIdStore,
    asked: Notify,
    go_on: Notify,
}

#[async_trait]
impl ToolIdStore for SlowToolIdStore {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        if names == ["old"] {
            self.asked.notify_one();
            self.go_on.notified().await;
        }
        self.inner.ids(source, names).await
    }
}
