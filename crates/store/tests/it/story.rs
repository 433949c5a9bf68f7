//! A user opens a chat, talks, a tool is called, the power goes, the chat goes on.

use sea_orm::{Database, FromQueryResult, Statement};
use serde_json::json;
use tenon_domain::{
    CallId, CallRecord, CallStatus, Content, Cost, EntryPoint, ErrorDetail, Event, EventBody,
    MessageId, MessageRecord, ModelId, ModelRef, OmittedTool, Part, Role, RunsOn, SourceId,
    SourceInfo, SourceKind, TitledBy, ToolCall, ToolError, ToolId, ToolOutput, TurnId, TurnOutcome,
    Usage, UserId,
};
use tenon_store::{AbandonedTurns, Blob, ChatQuery, Error, Store};

use crate::postgres::Postgres;

#[tokio::test]
async fn the_story_of_a_user_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let url = format!("sqlite://{}", file.display());
    story(&url, || async { Store::open_file(&file).await.unwrap() }).await;
}

#[tokio::test]
async fn the_story_of_a_user_on_postgres() {
    let postgres = Postgres::start();
    let url = postgres.url();
    story(&url, || async { Store::open(&url).await.unwrap() }).await;
}

async fn story(url: &str, open: impl AsyncFn() -> Store) {
    let store = open().await;
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));

    // Chats are listed newest first, each to its owner alone.
    let older = store.create_chat(&ada, "").await.unwrap();
    let chat = store.create_chat(&ada, "").await.unwrap();
    store
        .append(
            &chat.id,
            vec![EventBody::ChatTitled {
                title: "东京\0🗼".into(),
                by: TitledBy::Person,
            }],
        )
        .await
        .unwrap();
    let listed = store.chats(&ada, &ChatQuery::newest(10)).await.unwrap();
    assert_eq!(
        listed.iter().map(|c| &c.id).collect::<Vec<_>>(),
        [&chat.id, &older.id]
    );
    assert_eq!(listed[0].title, "东京\u{FFFD}🗼");
    assert_eq!(store.chats(&bob, &ChatQuery::newest(10)).await.unwrap(), []);
    assert!(matches!(
        store.chat(&bob, &chat.id).await,
        Err(Error::NotFound("chat"))
    ));
    assert!(matches!(
        store.delete_chat(&bob, &chat.id).await,
        Err(Error::NotFound("chat"))
    ));

    // A turn: what is appended comes back numbered, without gaps, exactly.
    let turn = TurnId::new("turn-1");
    let message = |id: &str, role, parts| MessageRecord {
        id: MessageId::new(id),
        chat_id: chat.id.clone(),
        turn_id: turn.clone(),
        role,
        parts,
        created_at: 7,
    };
    let question = message("m1", Role::User, vec![Part::text("几点\0了？")]);
    let call = ToolCall {
        id: CallId::new("c1"),
        tool_id: ToolId::new("builtin_current_time"),
        input: json!({"timezone": "Asia/Tokyo"}),
    };
    let record = CallRecord::requested(
        call.clone(),
        MessageId::new("m2"),
        "Time/Current time",
        RunsOn::Server,
    );
    let blob = store
        .put_blob(
            &ada,
            &call.id,
            Blob {
                media_type: "text/plain".into(),
                data: b"whole".to_vec(),
            },
        )
        .await
        .unwrap();
    let output = ToolOutput {
        content: vec![
            Content::Text {
                text: "09:12".into(),
            },
            Content::Blob {
                name: None,
                blob_id: blob.clone(),
                media_type: "text/plain".into(),
                bytes: 5,
            },
        ],
    };
    let happened = vec![
        EventBody::TurnStarted {
            branch: None,
            tools: None,
            door: EntryPoint::Page,
            turn_id: turn.clone(),
            message: question.clone(),
            model: Some(ModelRef {
                id: ModelId::new("claude"),
                name: "Claude\0".into(),
            }),
        },
        EventBody::ToolsLeftOut {
            turn_id: turn.clone(),
            tools: vec![OmittedTool {
                tool_id: ToolId::new("mcp_s_b"),
                display_name: "s/b".into(),
                why: tenon_domain::ErrorDetail::other("its schema cannot be read"),
            }],
        },
        EventBody::MessageStarted {
            message: message("m2", Role::Assistant, vec![]),
        },
        EventBody::MessageFinished {
            message_id: MessageId::new("m2"),
            parts: vec![Part::call(call.clone())],
        },
        EventBody::CallRequested {
            call: record.clone(),
        },
        EventBody::CallStarted {
            call_id: call.id.clone(),
        },
        EventBody::CallFinished {
            call_id: call.id.clone(),
            status: CallStatus::Done,
            output: Some(output.clone()),
            error: None,
            duration_ms: 12,
        },
        EventBody::MessageStarted {
            message: message("m3", Role::Assistant, vec![]),
        },
    ];
    let written = store.append(&chat.id, happened.clone()).await.unwrap();
    assert_eq!(
        written.iter().map(|e| e.seq).collect::<Vec<_>>(),
        (2..=9).collect::<Vec<_>>()
    );
    assert_eq!(store.events(&chat.id, 1, 100).await.unwrap(), written);
    assert_eq!(store.events(&chat.id, 8, 100).await.unwrap(), written[7..]);
    assert_eq!(store.events(&chat.id, 0, 2).await.unwrap()[1], written[0]);
    let bodies: Vec<EventBody> = written.into_iter().map(|e: Event| e.body).collect();
    assert_eq!(bodies, happened);

    // The tables tell the same story.
    let done = CallRecord {
        status: CallStatus::Done,
        output: Some(output),
        duration_ms: Some(12),
        ..record
    };
    assert_eq!(
        store.calls(&chat.id).await.unwrap(),
        std::slice::from_ref(&done)
    );
    let said = store.messages(&chat.id).await.unwrap();
    assert_eq!(said[0], question);
    assert_eq!(said[1].parts, [Part::call(call)]);

    // Half a sentence is kept; then the process dies.
    let half = vec![Part::text("In Tokyo it")];
    store
        .checkpoint(&MessageId::new("m3"), &half)
        .await
        .unwrap();
    let second_call = CallRecord {
        id: CallId::new("c2"),
        status: CallStatus::Pending,
        output: None,
        duration_ms: None,
        ..done
    };
    store
        .append(
            &chat.id,
            vec![EventBody::CallRequested { call: second_call }],
        )
        .await
        .unwrap();
    drop(store);

    // On the next start its loose ends are found, tied, and found no more.
    let store = open().await;
    let another = open().await;
    let mut abandoned = left_behind(&store).await;
    let nobody_else = left_behind(&another).await;
    let abandoned = abandoned.pop().unwrap();
    let left = &abandoned.turns[0];
    assert_eq!((&left.id, &left.chat_id), (&turn, &chat.id));
    assert_eq!(abandoned.turns.len(), 1);
    // One tidies up, not two: with leases whoever changes the owner first, else whoever holds the
    // lock.
    if store.has_leases() {
        assert!(store.adopt(left).await.unwrap());
        assert!(!another.adopt(left).await.unwrap());
    } else {
        assert!(nobody_else.is_empty(), "{nobody_else:?}");
    }
    let (messages, calls) = store.open_items(&turn).await.unwrap();
    assert_eq!(messages, [message("m3", Role::Assistant, half.clone())]);
    assert_eq!(
        calls.iter().map(|call| &call.id).collect::<Vec<_>>(),
        [&CallId::new("c2")]
    );
    let ends = vec![
        EventBody::MessageFinished {
            message_id: MessageId::new("m3"),
            parts: half.clone(),
        },
        EventBody::CallFinished {
            call_id: CallId::new("c2"),
            status: CallStatus::Lost,
            output: None,
            error: Some(ToolError::lost()),
            duration_ms: 0,
        },
        EventBody::TurnFinished {
            turn_id: turn.clone(),
            outcome: TurnOutcome::Interrupted(ErrorDetail::other("restarted")),
            usage: Usage {
                input_tokens: 30,
                output_tokens: 4,
                cache_read_tokens: 20,
                cache_write_tokens: 5,
            },
            cost: Some(Cost {
                currency: "€".into(),
                micros: 1234,
            }),
        },
    ];
    store.append(&chat.id, ends).await.unwrap();
    drop(abandoned);
    assert_eq!(store.open_turns().await.unwrap(), []);
    assert!(left_behind(&another).await.is_empty());
    assert_eq!(store.open_items(&turn).await.unwrap(), (vec![], vec![]));
    assert_eq!(
        store.calls(&chat.id).await.unwrap()[1].result(),
        Err(ToolError::lost())
    );
    assert_eq!(store.chat_of_turn(&ada, &turn).await.unwrap(), chat.id);
    assert!(matches!(
        store.chat_of_turn(&bob, &turn).await,
        Err(Error::NotFound("turn"))
    ));

    // A late checkpoint cannot unsay what is finished.
    store.checkpoint(&MessageId::new("m3"), &[]).await.unwrap();
    assert_eq!(store.messages(&chat.id).await.unwrap()[2].parts, half);

    // A turn that another process runs is not abandoned while that process lives.
    let theirs = EventBody::TurnStarted {
        branch: None,
        tools: None,
        door: EntryPoint::Page,
        turn_id: TurnId::new("turn-2"),
        message: MessageRecord {
            id: MessageId::new("m4"),
            turn_id: TurnId::new("turn-2"),
            ..question
        },
        model: None,
    };
    another.append(&chat.id, vec![theirs]).await.unwrap();
    assert!(left_behind(&store).await.is_empty());
    drop(another);
    let abandoned = eventually(async || left_behind(&store).await).await;
    assert_eq!(abandoned[0].turns[0].id, TurnId::new("turn-2"));
    drop(abandoned);

    // Each turn keeps who was asked, what was counted and what it cost.
    let figures = figures(url).await;
    let of_first = Figures {
        model_id: Some("claude".into()),
        model_name: Some("Claude\u{FFFD}".into()),
        input_tokens: 30,
        output_tokens: 4,
        cache_read_tokens: 20,
        cache_write_tokens: 5,
        cost_micros: Some(1234),
        cost_currency: Some("€".into()),
    };
    assert_eq!(figures, [of_first, Figures::default()]);

    crate::models::chapter(&store, &open().await).await;
    crate::experts::chapter(&store).await;

    // Outputs of calls made by hand stay for a day.
    let by_hand = Blob {
        media_type: "text/plain".into(),
        data: b"by hand".to_vec(),
    };
    let by_hand = store
        .put_blob(&ada, &CallId::new("by-hand"), by_hand)
        .await
        .unwrap();
    assert_eq!(store.sweep_blobs().await.unwrap(), 0);
    assert!(store.blob(&ada, &by_hand).await.is_ok());

    // Tool ids are given once and kept, and one user's do not get in another's way.
    let source = |id: &str, owner: Option<&UserId>| SourceInfo {
        id: SourceId::new(id),
        kind: SourceKind::Mcp,
        name: "s".into(),
        title: "s".into(),
        owner: owner.cloned(),
    };
    let ids = |source: SourceInfo, names: &'static [&str]| {
        let store = store.clone();
        async move { store.tool_ids(&source, names).await.unwrap() }
    };
    let first = ids(source("s1", None), &["b", "a.b\0", "a"]).await;
    assert_eq!(first[0].as_str(), "mcp_s_b");
    assert_eq!(
        ids(source("s1", None), &["a", "new", "b"]).await[2],
        first[0]
    );
    let private = ids(source("ada-1", Some(&ada)), &["x"]).await;
    assert_eq!(ids(source("bob-1", Some(&bob)), &["x"]).await, private);
    assert_ne!(ids(source("s2", None), &["x"]).await, private);

    // Blobs are their owner's; a chat takes its own along when it goes.
    assert_eq!(store.blob(&ada, &blob).await.unwrap().data, b"whole");
    assert!(matches!(
        store.blob(&bob, &blob).await,
        Err(Error::NotFound("blob"))
    ));
    store.delete_chat(&ada, &chat.id).await.unwrap();
    store.purge_chat(&chat.id).await.unwrap();
    assert!(matches!(
        store.blob(&ada, &blob).await,
        Err(Error::NotFound("blob"))
    ));
    assert_eq!(store.events(&chat.id, 0, 10).await.unwrap(), []);
    assert_eq!(store.messages(&chat.id).await.unwrap(), []);
    let gone = store
        .append(
            &chat.id,
            vec![EventBody::ChatTitled {
                title: "x".into(),
                by: TitledBy::Person,
            }],
        )
        .await;
    assert!(matches!(gone, Err(Error::NotFound("chat"))));
    assert_eq!(
        store
            .chats(&ada, &ChatQuery::newest(10))
            .await
            .unwrap()
            .len(),
        1
    );
}

/// What the table `turns` says of a turn's model.
#[derive(Debug, Default, PartialEq, FromQueryResult)]
struct Figures {
    model_id: Option<String>,
    model_name: Option<String>,
    input_tokens: i64,
    output_tokens: i64,
    cache_read_tokens: i64,
    cache_write_tokens: i64,
    cost_micros: Option<i64>,
    cost_currency: Option<String>,
}

async fn figures(url: &str) -> Vec<Figures> {
    let db = Database::connect(url).await.unwrap();
    let ask = "SELECT * FROM turns ORDER BY id";
    let ask = Statement::from_string(db.get_database_backend(), ask);
    Figures::find_by_statement(ask).all(&db).await.unwrap()
}

/// PostgreSQL notices a moment later that a connection is gone.
async fn eventually<T>(look: impl AsyncFn() -> Vec<T>) -> Vec<T> {
    let started = std::time::Instant::now();
    loop {
        let found = look().await;
        if !found.is_empty() || started.elapsed() > std::time::Duration::from_secs(20) {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn several_may_start_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}", folder.path().join("tenon.db").display());
    let postgres = Postgres::start();
    for url in [file, postgres.url()] {
        let opening = (0..4).map(|_| {
            let url = url.clone();
            tokio::spawn(async move { Store::open(&url).await })
        });
        let opening: Vec<_> = opening.collect();
        for store in opening {
            let store = store.await.unwrap().unwrap();
            store.create_chat(&UserId::new("ada"), "").await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_file_may_have_any_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a%20b.db", "q?mode=ro.db", "空 格#.db"] {
        let file = folder.path().join(name);
        let store = Store::open_file(&file).await.unwrap();
        store.create_chat(&UserId::new("ada"), "").await.unwrap();
        assert!(file.exists(), "{name}");
    }
    let url = format!("sqlite://{}", folder.path().join("by-address.db").display());
    Store::open(&url).await.unwrap();
    assert!(folder.path().join("by-address.db").exists());
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_in_words() {
    let refused = Store::open("mysql://localhost/x").await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("use sqlite://FILE or postgres://"),
        "{refused}"
    );
}

/// What processes that are gone left open.
pub async fn left_behind(store: &Store) -> Vec<AbandonedTurns> {
    let mut abandoned = Vec::new();
    for owner in store.turn_owners().await.unwrap() {
        abandoned.extend(store.abandoned(&owner).await.unwrap());
    }
    abandoned
}
