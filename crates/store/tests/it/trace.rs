//! What was asked of models and called, as traces and statistics tell it, on both engines.

use sea_orm::{ConnectionTrait, Database};
use serde_json::{Value, json};
use tenon_domain::{
    CallId, CallInterface, CallRecord, CallStatus, ChatId, Cost, EntryPoint, ErrorDetail,
    EventBody, KeyId, MessageId, MessageRecord, ModelCallId, ModelId, ModelRef, Part, Role, RunsOn,
    SourceId, SourceInfo, SourceKind, StopReason, ToolCall, ToolId, TurnId, TurnOutcome, Usage,
    UserId,
};
use tenon_store::{
    AuditQuery, CallSlot, DirectCall, Error, ModelCall, ModelExchange, StatisticsRange, Store,
    fresh_id, now,
};

use crate::postgres::Postgres;

const HOUR_MS: i64 = 60 * 60 * 1000;

#[tokio::test]
async fn traces_and_statistics_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    chapter(&format!("sqlite://{}", file.display()), store).await;
}

#[tokio::test]
async fn traces_and_statistics_on_postgres() {
    let postgres = Postgres::start();
    let store = Store::open(&postgres.url()).await.unwrap();
    chapter(&postgres.url(), store).await;
}

async fn chapter(url: &str, store: Store) {
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
    let chat = store.create_chat(&ada, "").await.unwrap().id;
    let turn = TurnId::new("turn");
    let events = turn_events(&chat, &turn);
    let written = store.append(&chat, events).await.unwrap();

    // A busy server, then an answer.
    let refused = ModelCall {
        wait_ms: Some(900),
        error: Some(ErrorDetail::other("busy")),
        status: Some(429),
        ..model_call(&ada, Some(&turn), 1)
    };
    let answered = ModelCall {
        first_token_ms: Some(40),
        usage: usage(),
        cost: Some(dollars(70)),
        stop: Some(StopReason::ToolCalls),
        status: Some(200),
        ..model_call(&ada, Some(&turn), 2)
    };
    let exchange = ModelExchange {
        url: "https://models.example/v1/chat/completions".into(),
        request: json!({"messages": [{"content": "字\0".repeat(10_000)}]}),
        response: "data: {}\0".into(),
    };
    store.model_call_behind(refused.clone(), None);
    let kept = exchange.clone();
    store.model_call_behind(answered.clone(), Some(Box::new(move || kept)));
    // One whose turn is gone is left out, and takes nothing with it.
    let lost = model_call(&ada, Some(&TurnId::new("gone")), 1);
    store.model_call_behind(lost, Some(Box::new(ModelExchange::default)));

    let calls = store.model_calls_of(&turn).await.unwrap();
    let facts: Vec<_> = calls.iter().map(|stored| stored.call.clone()).collect();
    assert_eq!(facts, [refused, answered]);
    assert_eq!(
        calls.iter().map(|c| c.has_request).collect::<Vec<_>>(),
        [false, true]
    );
    let (first, second) = (&calls[0].id, &calls[1].id);
    let read = store.model_call(&ada, second).await.unwrap();
    assert_eq!(read, (calls[1].clone(), Some(exchange)));
    assert_eq!(store.model_call(&ada, first).await.unwrap().1, None);
    let nothing = [ModelCallId::new("nothing"), ModelCallId::new("a\0b")];
    for (user, id) in [(&bob, second), (&ada, &nothing[0]), (&ada, &nothing[1])] {
        let read = store.model_call(user, id).await;
        assert!(matches!(read, Err(Error::NotFound("model call"))), "{id}");
    }

    // The turn, with the events that are its own.
    let found = store.turn_events(&ada, &turn).await.unwrap();
    assert_eq!(found.events, written);
    assert_eq!((found.chat, found.is_whole), (chat.clone(), true));
    assert!(found.ended_at.is_some());
    let hidden = store.turn_events(&bob, &turn).await;
    assert!(matches!(hidden, Err(Error::NotFound("turn"))));

    recent_calls(&store, &ada, &chat, &turn).await;
    audited_calls(&store).await;
    call_traces(&store, &ada, &bob, &turn).await;
    statistics(&store, &ada, &bob).await;

    // What is old goes, and so does what belongs to a deleted chat.
    assert_eq!(store.sweep_model_calls().await.unwrap(), 0);
    let direct = Database::connect(url).await.unwrap();
    let age = "UPDATE model_calls SET id = '00000000-0001-7000-8000-000000000000' \
               WHERE attempt = 1 AND turn_id = 'turn'";
    direct.execute_unprepared(age).await.unwrap();
    assert_eq!(store.sweep_model_calls().await.unwrap(), 1);
    store.delete_chat(&ada, &chat).await.unwrap();
    let hidden = store.model_call(&ada, second).await;
    assert!(matches!(hidden, Err(Error::NotFound("model call"))));
    store.purge_chat(&chat).await.unwrap();
    assert_eq!(store.model_calls_of(&turn).await.unwrap(), []);
    let left = "SELECT 1 FROM model_requests";
    let left = sea_orm::Statement::from_string(direct.get_database_backend(), left);
    assert!(direct.query_all_raw(left).await.unwrap().is_empty());
}

/// Calls in the chat and by a key, the newest first, each to whom it is.
async fn recent_calls(store: &Store, ada: &UserId, chat: &ChatId, turn: &TurnId) {
    let tool = ToolId::new("mcp_s_look");
    let by_key = call_record("by-key", "s/look \0");
    let key = EntryPoint::Key(KeyId::new("k"));
    store.audit_call_behind(&DirectCall {
        client: Some("a client 1"),
        device: Some("Ada's laptop"),
        error: Some("failed"),
        ..direct_call(ada, &key, &by_key, (CallStatus::Failed, 1234))
    });
    let calls = store.recent_calls(ada, &tool, 10).await.unwrap();
    let facts: Vec<_> = calls
        .iter()
        .map(|call| (call.call.as_str(), call.status, call.duration_ms))
        .collect();
    assert_eq!(
        facts,
        [
            ("by-key", CallStatus::Failed, Some(1234)),
            ("c1", CallStatus::Done, Some(12)),
        ]
    );
    assert_eq!(calls[0].door, "key:k");
    assert_eq!((&calls[0].chat, &calls[0].turn), (&None, &None));
    assert_eq!(calls[1].chat.as_ref(), Some(chat));
    assert_eq!(calls[1].turn.as_ref(), Some(turn));
    assert_eq!(store.recent_calls(ada, &tool, 1).await.unwrap().len(), 1);
    let others = store.recent_calls(&UserId::new("bob"), &tool, 10).await;
    assert_eq!(others.unwrap(), []);
}

/// What admins read of calls: whose, where and how, and not what they were given.
async fn audited_calls(store: &Store) {
    let query = AuditQuery {
        action: Some("tool.called".into()),
        limit: 2,
        ..AuditQuery::default()
    };
    let details = store.audited(query).await.unwrap().into_iter();
    let details: Vec<Value> = details.map(|row| row.detail).collect();
    let by_key = json!({
        "callId": "by-key", "ok": false, "status": "failed", "durationMs": 1234,
        "displayName": "s/look \0", "interface": "mcp", "runsOn": "browser",
        "client": "a client 1", "device": "Ada's laptop", "error": "failed",
    });
    let in_chat = json!({
        "callId": "c1", "chatId": details[1]["chatId"], "status": "done", "durationMs": 12,
        "displayName": "S/look", "runsOn": "server",
    });
    assert_eq!(details, [by_key, in_chat]);
}

/// Those of calls outside of chats are kept for whoever made them, for a month.
async fn call_traces(store: &Store, ada: &UserId, bob: &UserId, turn: &TurnId) {
    let old = CallId::new("00000000-0001-7000-8000-000000000000");
    let call = CallId::new(fresh_id());
    for id in [&old, &call] {
        store.call_trace_behind(ada, id, "sealed one".into());
    }
    // Twice is once.
    store.call_trace_behind(bob, &call, "another".into());
    let kept = "sealed one".to_owned();
    assert_eq!(store.call_trace(ada, &call).await.unwrap(), Some(kept));
    assert_eq!(store.call_trace(bob, &call).await.unwrap(), None);
    assert_eq!(store.sweep_call_traces().await.unwrap(), 1);
    assert_eq!(store.call_trace(ada, &old).await.unwrap(), None);

    let in_chat = CallId::new("c1");
    assert_eq!(store.turn_of_call(ada, &in_chat).await.unwrap(), *turn);
    for (user, id) in [(bob, &in_chat), (ada, &call), (ada, &CallId::new("a\0b"))] {
        let found = store.turn_of_call(user, id).await;
        assert!(matches!(found, Err(Error::NotFound("call"))), "{id}");
    }
}

async fn statistics(store: &Store, ada: &UserId, bob: &UserId) {
    let source = SourceInfo {
        id: SourceId::new("s"),
        kind: SourceKind::Mcp,
        name: "s".into(),
        title: "S".into(),
        owner: None,
    };
    let ids = store.tool_ids(&source, &["look"]).await.unwrap();
    let key = EntryPoint::Key(KeyId::new("k"));
    for duration_ms in [1_234, 1_239, 456, 7] {
        let call = CallRecord {
            tool_id: ids[0].clone(),
            ..call_record("x", "S/look")
        };
        store.audit_call_behind(&direct_call(
            bob,
            &key,
            &call,
            (CallStatus::Done, duration_ms),
        ));
    }
    // A completion, which belongs to no chat.
    store.model_call_behind(
        ModelCall {
            usage: usage(),
            ..model_call(bob, None, 1)
        },
        None,
    );
    let range = StatisticsRange {
        from: now() - HOUR_MS,
        slot_ms: 2 * HOUR_MS,
    };
    let counts = store.call_counts(range).await.unwrap();
    let mut of_tool: Vec<_> = counts
        .iter()
        .filter(|count| count.tool == ids[0])
        .map(|count| (count.duration_ms, count.is_error, count.calls))
        .collect();
    of_tool.sort();
    let mut expected = vec![
        (Some(7), false, 1),
        (Some(450), false, 1),
        (Some(1_200), false, 2),
    ];
    // The id may be that of the calls before.
    if ids[0].as_str() == "mcp_s_look" {
        expected.extend([(Some(12), false, 1), (Some(1_200), true, 1)]);
    }
    expected.sort();
    assert_eq!(of_tool, expected);
    let last = counts.iter().find(|count| count.tool == ids[0]).unwrap();
    let named = [(ids[0].clone(), last.last_entry.clone())];
    let tools = store.audited_tools(&named).await.unwrap();
    assert_eq!(tools[0].source, Some(source.id));
    assert!(tools[0].display_name.is_some());

    let slots = store.call_slots(range).await.unwrap();
    assert!(slots.iter().all(|slot| slot.slot == 0), "{slots:?}");
    let sum = |count: fn(&CallSlot) -> u64| slots.iter().map(count).sum::<u64>();
    assert_eq!((sum(|slot| slot.calls), sum(|slot| slot.errors)), (6, 1));
    let slowest = slots.iter().filter_map(|slot| slot.duration_ms).max();
    assert_eq!(slowest, Some(1_200));

    let usage_slots = store.usage_slots(range).await.unwrap();
    let mut found: Vec<_> = usage_slots
        .iter()
        .map(|slot| {
            (
                slot.user.clone(),
                slot.model.as_str(),
                slot.answers,
                slot.usage,
                slot.cost.clone(),
            )
        })
        .collect();
    found.sort_by_key(|slot| slot.0.0.clone());
    assert_eq!(
        found,
        [
            (ada.clone(), "Mine", 1, usage(), Some(dollars(70))),
            (bob.clone(), "Mine", 1, usage(), None),
        ]
    );
    let later = StatisticsRange {
        from: now() + HOUR_MS,
        slot_ms: HOUR_MS,
    };
    assert_eq!(store.call_slots(later).await.unwrap(), []);
    assert_eq!(store.usage_slots(later).await.unwrap(), []);
    assert_eq!(store.call_counts(later).await.unwrap(), []);
}

fn usage() -> Usage {
    Usage {
        input_tokens: 100,
        output_tokens: 10,
        cache_read_tokens: 5,
        cache_write_tokens: 1,
    }
}

fn dollars(micros: u64) -> Cost {
    Cost {
        currency: "USD".into(),
        micros,
    }
}

fn model() -> ModelRef {
    ModelRef {
        id: ModelId::new("mine"),
        name: "Mine".into(),
    }
}

fn model_call(user: &UserId, turn: Option<&TurnId>, attempt: u64) -> ModelCall {
    ModelCall {
        user: user.clone(),
        turn: turn.cloned(),
        message: Some(MessageId::new("m2")),
        model: model(),
        attempt,
        started_at: now() + attempt as i64,
        first_token_ms: None,
        duration_ms: 80,
        wait_ms: None,
        usage: Usage::default(),
        cost: None,
        stop: None,
        error: None,
        status: None,
    }
}

fn call_record(id: &str, display_name: &str) -> CallRecord {
    let call = ToolCall {
        id: CallId::new(id),
        tool_id: ToolId::new("mcp_s_look"),
        input: json!({}),
    };
    CallRecord::requested(call, MessageId::new("m2"), display_name, RunsOn::Server)
}

fn direct_call<'a>(
    user: &'a UserId,
    entry: &'a EntryPoint,
    call: &'a CallRecord,
    (status, duration_ms): (CallStatus, u64),
) -> DirectCall<'a> {
    DirectCall {
        user,
        entry,
        interface: CallInterface::Mcp,
        client: None,
        address: "10.0.0.1",
        id: &call.id,
        tool: &call.tool_id,
        display_name: &call.display_name,
        runs_on: RunsOn::Browser,
        device: None,
        status,
        error: None,
        duration_ms,
    }
}

fn turn_events(chat: &ChatId, turn: &TurnId) -> Vec<EventBody> {
    let message = |id: &str, role, parts| MessageRecord {
        id: MessageId::new(id),
        chat_id: chat.clone(),
        turn_id: turn.clone(),
        role,
        parts,
        created_at: 7,
    };
    let call = call_record("c1", "S/look");
    vec![
        EventBody::TurnStarted {
            branch: None,
            tools: None,
            door: EntryPoint::Page,
            turn_id: turn.clone(),
            message: message("m1", Role::User, vec![Part::text("?")]),
            model: Some(model()),
        },
        EventBody::MessageStarted {
            message: message("m2", Role::Assistant, vec![]),
        },
        EventBody::MessageFinished {
            message_id: MessageId::new("m2"),
            parts: vec![Part::call(call.request())],
        },
        EventBody::CallRequested { call: call.clone() },
        EventBody::CallStarted {
            call_id: call.id.clone(),
        },
        EventBody::CallFinished {
            call_id: call.id,
            status: CallStatus::Done,
            output: None,
            error: None,
            duration_ms: 12,
        },
        EventBody::TurnFinished {
            turn_id: turn.clone(),
            outcome: TurnOutcome::Done,
            usage: usage(),
            cost: Some(dollars(70)),
        },
    ]
}
