//! Two processes on one database, on both engines: each knows what the other one changes.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Database};
use tenon_domain::{KeyScope, Layer, Policy, ToolId, UserRole};
use tenon_store::{
    ChatFlags, Enrollment, NewUserRow, Store, StoreChange, ToolSettingChange, UserEdit,
};
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use crate::postgres::Postgres;

const TEST_TIMEOUT: Duration = Duration::from_secs(10);

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

#[tokio::test]
async fn a_revoked_key_ends_while_postgres_cannot_notify() {
    let postgres = Postgres::start();
    let (ours, theirs) = (
        Store::open(&postgres.url()).await.unwrap(),
        Store::open(&postgres.url()).await.unwrap(),
    );
    let ada = ours.create_user(ada(), Enrollment::First).await.unwrap().id;
    let scope = KeyScope::default();
    let (token, key) = ours.create_key(&ada, "ci", &scope).await.unwrap();
    let is_valid = async || ours.find_key(&token.0).await.unwrap().is_some();
    assert!(is_valid().await);

    // From another database: this one takes no new connections for a while.
    let admin = Database::connect(postgres.url_of("template1"))
        .await
        .unwrap();
    let allow = async |is_allowed: bool| {
        let alter = format!("ALTER DATABASE postgres ALLOW_CONNECTIONS {is_allowed}");
        admin.execute_unprepared(&alter).await.unwrap();
    };
    allow(false).await;
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
    admin.execute_unprepared(kill).await.unwrap();
    theirs.delete_key(&ada, &key.id).await.unwrap();
    let ended = async {
        while is_valid().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, ended).await.expect("it ends in time");

    // Once it is connected again everything counts as changed, and what follows is told.
    let mut told = ours.subscribe();
    allow(true).await;
    until(&mut told, StoreChange::Chats).await;
    theirs.create_chat(&ada, "Tides").await.unwrap();
    while !matches!(next(&mut told).await, StoreChange::Chat { .. }) {}
}

fn ada() -> NewUserRow<'static> {
    NewUserRow {
        email: "ada@x.org",
        name: "Ada",
        role: UserRole::Admin,
        password_hash: None,
        oidc_subject: None,
    }
}

async fn story(url: &str) {
    let (ours, theirs) = (
        Store::open(url).await.unwrap(),
        Store::open(url).await.unwrap(),
    );
    let mut told = ours.subscribe();
    let ada = theirs.create_user(ada(), Enrollment::First).await.unwrap();
    until(&mut told, StoreChange::Accounts(None)).await;
    let scope = KeyScope::default();

    // A key that is revoked there ends here.
    let (token, key) = ours.create_key(&ada.id, "ci", &scope).await.unwrap();
    assert!(ours.find_key(&token.0).await.unwrap().is_some());
    until(&mut told, StoreChange::Accounts(Some(ada.id.clone()))).await;
    theirs.delete_key(&ada.id, &key.id).await.unwrap();
    until(&mut told, StoreChange::Accounts(None)).await;
    assert!(ours.find_key(&token.0).await.unwrap().is_none());

    // So do a policy and a role.
    let tool = ToolId::new("mcp_echo_echo");
    let policy = async || {
        let settings = ours.tool_settings(&ada.id, None, None).await.unwrap();
        settings.effective(None, &tool).policy
    };
    assert_eq!(policy().await, None);
    let deny = ToolSettingChange {
        target: tool.clone().into(),
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
        ..ChatFlags::default()
    };
    theirs.set_chat_flags(&ada.id, &chat, pin).await.unwrap();
    until(&mut told, changed.clone()).await;
    theirs.delete_chat(&ada.id, &chat).await.unwrap();
    until(&mut told, changed).await;

    // Whether writing works is no change.
    theirs.try_write().await.unwrap();
    let take_back = ToolSettingChange {
        target: tool.clone().into(),
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
    let told = timeout(TEST_TIMEOUT, told.recv()).await;
    told.expect("it is told in time").unwrap()
}
