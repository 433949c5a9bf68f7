//! Leases on PostgreSQL: a process that lost its lease writes nothing more to its turns.

use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, Database};
use tenon_domain::{
    CallId, ChatId, EntryPoint, EventBody, MessageId, MessageRecord, ModelId, ModelRef, Part, Role,
    TitledBy, TurnId, TurnOutcome, Usage, UserId,
};
use tenon_store::{Error, LeaseState, OtherServers, ServerRole, Store};
use tokio::time::timeout;

use crate::postgres::Postgres;
use crate::story::left_behind;
use crate::tcp_proxy::TcpProxy;

const TEST_TIMEOUT: Duration = Duration::from_secs(40);

/// After so long others may take turns over.
const LEASE_TIME: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_process_that_lost_its_lease_writes_nothing_more_to_its_turns() {
    let postgres = Postgres::start();
    let (ours, theirs) = (
        Store::open(&postgres.url()).await.unwrap(),
        Store::open(&postgres.url()).await.unwrap(),
    );
    let admin = Database::connect(postgres.url()).await.unwrap();
    let chat = ours.create_chat(&UserId::new("ada"), "").await.unwrap().id;
    ours.append(&chat, vec![begin(&chat, "one")]).await.unwrap();
    assert!(left_behind(&theirs).await.is_empty(), "it lives");
    assert!(!theirs.has_abandoned_turns().await.unwrap());
    let refused = theirs.append(&chat, vec![speak(&chat, "one")]).await;
    assert!(matches!(refused, Err(Error::NotOwner)), "{refused:?}");

    // As if it had been paused for longer than its lease.
    let expire = format!(
        "UPDATE runners SET lease_until = 0 WHERE name = '{}'",
        ours.runner_name()
    );
    let former = fence(&ours);
    admin.execute_unprepared(&expire).await.unwrap();
    assert!(theirs.has_abandoned_turns().await.unwrap());
    let abandoned = left_behind(&theirs).await;
    let turn = &abandoned[0].turns[0];
    assert_eq!(turn.owner.fence, former);
    let refused = ours.append(&chat, vec![speak(&chat, "one")]).await;
    assert!(matches!(refused, Err(Error::LeaseLost)), "{refused:?}");
    assert_eq!(*ours.watch_lease().borrow(), LeaseState::Lost);

    assert!(theirs.adopt(turn).await.unwrap());
    assert!(!theirs.adopt(turn).await.unwrap(), "once");
    let ends = |turn: &str| EventBody::TurnFinished {
        turn_id: TurnId::new(turn),
        outcome: TurnOutcome::Done,
        usage: Usage::default(),
        cost: None,
    };
    // It gets a new lease, and its former turn is not its own any more.
    until_held(&ours).await;
    assert!(fence(&ours) > former);
    let refused = ours.append(&chat, vec![ends("one")]).await;
    assert!(matches!(refused, Err(Error::NotOwner)), "{refused:?}");
    let busy = ours.append(&chat, vec![begin(&chat, "two")]).await;
    assert!(matches!(busy, Err(Error::TooLate(_))), "{busy:?}");
    theirs.append(&chat, vec![ends("one")]).await.unwrap();
    ours.append(&chat, vec![begin(&chat, "two"), ends("two")])
        .await
        .unwrap();
    // What is no part of a turn anybody with a lease may say.
    let title = EventBody::ChatTitled {
        title: "Tides".into(),
        by: TitledBy::Person,
    };
    theirs.append(&chat, vec![title]).await.unwrap();
    // An answer that nobody waits for is refused for that, and not for who gives it.
    let answer = EventBody::CallAnswered {
        call_id: CallId::new("none"),
        verdict: tenon_domain::Verdict::Once,
    };
    let refused = theirs.append(&chat, vec![answer]).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn who_ends_in_order_leaves_its_turns_to_the_others_at_once() {
    let postgres = Postgres::start();
    let (ours, theirs) = (
        Store::open(&postgres.url()).await.unwrap(),
        Store::open(&postgres.url()).await.unwrap(),
    );
    let role = ServerRole {
        serves: true,
        has_bus: false,
    };
    ours.set_role(role);
    let begun = Instant::now();
    let one = OtherServers {
        all: 1,
        without_bus: 1,
    };
    while theirs.other_servers().await.unwrap() != one {
        assert!(begun.elapsed() < TEST_TIMEOUT);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let chat = ours.create_chat(&UserId::new("ada"), "").await.unwrap().id;
    ours.append(&chat, vec![begin(&chat, "one")]).await.unwrap();
    ours.release().await.unwrap();
    let abandoned = left_behind(&theirs).await;
    assert!(theirs.adopt(&abandoned[0].turns[0]).await.unwrap());
    let none = OtherServers::default();
    assert_eq!(theirs.other_servers().await.unwrap(), none);
    let refused = ours.append(&chat, vec![begin(&chat, "two")]).await;
    assert!(matches!(refused, Err(Error::LeaseLost)), "{refused:?}");
}

#[tokio::test]
async fn a_process_whose_network_falls_silent_stops_in_time_and_gets_over_it() {
    let postgres = Postgres::start();
    let proxy = TcpProxy::before(&postgres.url()).await;
    let (ours, theirs) = (
        Store::open(&proxy.url).await.unwrap(),
        Store::open(&postgres.url()).await.unwrap(),
    );
    let ada = UserId::new("ada");
    let (chat, other) = (
        ours.create_chat(&ada, "").await.unwrap().id,
        ours.create_chat(&ada, "").await.unwrap().id,
    );
    ours.append(&chat, vec![begin(&chat, "one")]).await.unwrap();
    let silent_since = Instant::now();
    proxy.silence();
    let writing = tokio::spawn({
        let (ours, chat) = (ours.clone(), chat.clone());
        async move { ours.append(&chat, vec![speak(&chat, "one")]).await }
    });
    let mut lease = ours.watch_lease();
    drop(lease.wait_for(|state| *state == LeaseState::Lost).await);
    assert!(
        silent_since.elapsed() < LEASE_TIME,
        "it knows before others do"
    );
    let refused = ours.append(&chat, vec![speak(&chat, "one")]).await;
    assert!(matches!(refused, Err(Error::LeaseLost)), "{refused:?}");
    let unanswered = timeout(TEST_TIMEOUT, writing).await.unwrap().unwrap();
    assert!(unanswered.is_err(), "{unanswered:?}");
    while !theirs.has_abandoned_turns().await.unwrap() {
        assert!(silent_since.elapsed() < TEST_TIMEOUT);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let abandoned = left_behind(&theirs).await;
    assert!(theirs.adopt(&abandoned[0].turns[0]).await.unwrap());

    // The connections of before stay dead.
    proxy.end_silence();
    let back_since = Instant::now();
    until_held(&ours).await;
    while let Err(error) = ours.append(&other, vec![begin(&other, "two")]).await {
        assert!(back_since.elapsed() < TEST_TIMEOUT, "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(ours.is_own(&TurnId::new("two")).await.unwrap());
    let mut heard = ours.foreign_chats();
    let hears = async {
        loop {
            theirs.create_chat(&ada, "").await.unwrap();
            let chat = timeout(Duration::from_secs(1), heard.recv());
            if chat.await.is_ok() {
                return;
            }
        }
    };
    timeout(TEST_TIMEOUT, hears).await.unwrap();
}

fn fence(store: &Store) -> i64 {
    match *store.watch_lease().borrow() {
        LeaseState::Held { fence } => fence,
        LeaseState::Lost => 0,
    }
}

async fn until_held(store: &Store) {
    let mut lease = store.watch_lease();
    let held = lease.wait_for(|state| *state != LeaseState::Lost);
    drop(
        tokio::time::timeout(TEST_TIMEOUT, held)
            .await
            .unwrap()
            .unwrap(),
    );
}

fn begin(chat: &ChatId, turn: &str) -> EventBody {
    EventBody::TurnStarted {
        turn_id: TurnId::new(turn),
        message: message(chat, turn, Role::User),
        branch: None,
        tools: None,
        door: EntryPoint::Page,
        model: Some(ModelRef {
            id: ModelId::new("m"),
            name: "m".into(),
        }),
    }
}

fn speak(chat: &ChatId, turn: &str) -> EventBody {
    EventBody::MessageStarted {
        message: message(chat, turn, Role::Assistant),
    }
}

fn message(chat: &ChatId, turn: &str, role: Role) -> MessageRecord {
    MessageRecord {
        id: MessageId(format!("{turn}-{role:?}")),
        chat_id: chat.clone(),
        turn_id: TurnId::new(turn),
        role,
        parts: vec![Part::text("hello")],
        created_at: 1,
    }
}
