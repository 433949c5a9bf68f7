//! Two processes on one database, on both engines: each knows what the other one changes.

use std::time::Duration;

use tenon_domain::{KeyScope, Layer, Policy, ToolId, UserRole};
use tenon_store::{
    ChatFlags, Enrollment, NewUserRow, Store, StoreChange, ToolSettingChange, UserEdit,
};
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use crate::postgres::Postgres;

#[tokio::test]
async fn what_another_process_changes_is_known_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    story(&format!(
        "sqlite://{}",
        folder.path().join("tenon.db").display()
    ))
    .await;
}

#[tokio::test]
async fn what_another_process_changes_is_known_on_postgres() {
    let postgres = Postgres::start();
    story(&postgres.url()).await;
}

async fn story(url: &str) {
    let (ours, theirs) = (
        Store::open(url).await.unwrap(),
        Store::open(url).await.unwrap(),
    );
    let mut told = ours.subscribe();
    let new = NewUserRow {
        email: "ada@x.org",
        name: "Ada",
        role: UserRole::Admin,
        password_hash: None,
        oidc_subject: None,
    };
    let ada = theirs.create_user(new, Enrollment::First).await.unwrap();
    until(&mut told, StoreChange::Accounts(None)).await;
    let scope = KeyScope::default();

    // A key that is revoked there ends here.
    let (token, key) = ours.create_key(&ada.id, "ci", &scope).await.unwrap();
    assert!(ours.key_of(&token.0).await.unwrap().is_some());
    until(&mut told, StoreChange::Accounts(Some(ada.id.clone()))).await;
    theirs.delete_key(&ada.id, &key.id).await.unwrap();
    until(&mut told, StoreChange::Accounts(None)).await;
    assert!(ours.key_of(&token.0).await.unwrap().is_none());

    // So do a policy and a role.
    let tool = ToolId::new("mcp_echo_echo");
    let policy = async || {
        let settings = ours.tool_settings(&ada.id, None, None).await.unwrap();
        settings.effective(&tool).policy
    };
    assert_eq!(policy().await, None);
    let deny = ToolSettingChange {
        tool: tool.clone(),
        enabled: None,
        policy: Some(Some(Policy::Deny)),
    };
    let set = theirs.set_tools(Layer::Organisation, "", [deny]);
    set.await.unwrap();
    until(&mut told, StoreChange::ToolSettings(None)).await;
    assert_eq!(policy().await, Some((Policy::Deny, Layer::Organisation)));
    assert_eq!(ours.oldest_admin().await.unwrap().unwrap().name, "Ada");
    let renamed = UserEdit {
        name: Some("Augusta"),
        ..UserEdit::default()
    };
    theirs.change_user(&ada.id, renamed).await.unwrap();
    until(&mut told, StoreChange::Accounts(None)).await;
    assert_eq!(ours.oldest_admin().await.unwrap().unwrap().name, "Augusta");

    // A chat that comes, changes without getting newer, and goes.
    let chat = theirs.create_chat(&ada.id, "Tides").await.unwrap().id;
    let changed = StoreChange::Chat {
        user: ada.id.clone(),
        chat: chat.clone(),
    };
    until(&mut told, changed.clone()).await;
    let pin = ChatFlags {
        pinned: Some(true),
        archived: None,
    };
    theirs.set_chat_flags(&ada.id, &chat, pin).await.unwrap();
    until(&mut told, changed.clone()).await;
    theirs.delete_chat(&ada.id, &chat).await.unwrap();
    until(&mut told, changed).await;

    // Whether writing works is no change.
    theirs.try_write().await.unwrap();
    let take_back = ToolSettingChange {
        tool: tool.clone(),
        enabled: None,
        policy: Some(None),
    };
    let set = theirs.set_tools(Layer::Organisation, "", [take_back]);
    set.await.unwrap();
    assert_eq!(next(&mut told).await, StoreChange::ToolSettings(None));
}

async fn until(told: &mut Receiver<StoreChange>, expected: StoreChange) {
    while next(told).await != expected {}
}

async fn next(told: &mut Receiver<StoreChange>) -> StoreChange {
    let told = timeout(Duration::from_secs(10), told.recv()).await;
    told.expect("it is told in time").unwrap()
}
