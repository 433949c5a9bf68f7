//! A user sets tools, is asked about calls, changes their mind about what they
//! said, and all of it is still so after a restart.

use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, Database, FromQueryResult, Statement};
use serde_json::{Value, json};
use tenon_domain::{
    Branch, CallId, CallRecord, CallStatus, ChatId, EntryPoint, EventBody, KeyId, Layer, MessageId,
    MessageRecord, ModelId, ModelRef, Part, Policy, Role, RunsOn, SourceId, TitledBy, ToolCall,
    ToolId, ToolOutput, TurnId, TurnOutcome, Usage, UserId, Verdict,
};
use tenon_store::{ApprovalScope, ApprovalState, Error, PausedTurn, Store, ToolSettingChange};

use crate::postgres::Postgres;

#[tokio::test]
async fn what_a_user_decides_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let url = format!("sqlite://{}", file.display());
    chapter(&url, async || Store::open_file(&file).await.unwrap()).await;
}

#[tokio::test]
async fn what_a_user_decides_on_postgres() {
    let postgres = Postgres::start();
    let url = postgres.url();
    chapter(&url, async || Store::open(&url).await.unwrap()).await;
}

async fn chapter(url: &str, open: impl AsyncFn() -> Store) {
    let store = open().await;
    settings(&store).await;
    branches(&store).await;
    titles(&store).await;
    let chat = questions(&store).await;
    drop(store);
    let store = open().await;
    restart(&store, &chat).await;
    audit(url, &chat).await;
}

async fn settings(store: &Store) {
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
    let chat = store.create_chat(&ada, "").await.unwrap().id;
    let change = |tool: &str, enabled, policy| ToolSettingChange {
        target: ToolId::new(tool).into(),
        enabled,
        policy,
    };
    let everybody = [
        change("a", Some(Some(false)), Some(Some(Policy::Ask))),
        change("b", None, Some(Some(Policy::Deny))),
    ];
    store
        .set_tools(Layer::Organisation, "", everybody)
        .await
        .unwrap();
    let hers = [
        change("a", Some(Some(true)), None),
        change("b", None, Some(Some(Policy::Allow))),
    ];
    store
        .set_tools(Layer::User, ada.as_str(), hers)
        .await
        .unwrap();
    let here = [change("away", Some(Some(false)), None)];
    store
        .set_tools(Layer::Chat, chat.as_str(), here)
        .await
        .unwrap();

    let about = async |user: &UserId, chat: Option<&ChatId>, tool: &str| {
        let settings = store.tool_settings(user, None, chat).await.unwrap();
        let said = settings.effective(None, &ToolId::new(tool));
        (said.enabled, said.policy)
    };
    let asked = Some((Policy::Ask, Layer::Organisation));
    let denied = Some((Policy::Deny, Layer::Organisation));
    let on = Some((true, Layer::User));
    assert_eq!(about(&ada, None, "a").await, (on, asked));
    assert_eq!(about(&ada, None, "b").await, (None, denied));
    let off = Some((false, Layer::Organisation));
    assert_eq!(about(&bob, None, "a").await, (off, asked));
    // A tool that is away is remembered, in its chat alone.
    let off_here = Some((false, Layer::Chat));
    assert_eq!(about(&ada, Some(&chat), "away").await, (off_here, None));
    assert_eq!(about(&ada, None, "away").await, (None, None));

    // A whole source, apart from a tool whose id is the same.
    let (server, tool) = (SourceId::new("away"), ToolId::new("away"));
    let ask = ToolSettingChange {
        target: server.clone().into(),
        enabled: None,
        policy: Some(Some(Policy::Ask)),
    };
    let asked = store.set_tools(Layer::Chat, chat.as_str(), [ask]);
    asked.await.unwrap();
    let settings = store.tool_settings(&ada, None, Some(&chat)).await.unwrap();
    let expected = (Policy::Ask, Layer::Chat);
    assert_eq!(settings.of_source(&server).policy, Some(expected));
    assert_eq!(settings.effective(None, &tool).policy, None);
    let of_tool = settings.effective(Some(&server), &tool);
    assert_eq!(
        (of_tool.enabled, of_tool.policy),
        (off_here, Some(expected))
    );

    // What is not named stays as it is, and what is taken back is gone.
    let back = [change("a", None, Some(None))];
    store
        .set_tools(Layer::Organisation, "", back)
        .await
        .unwrap();
    let off = Some((false, Layer::Organisation));
    assert_eq!(about(&bob, None, "a").await, (off, None));

    store.delete_chat(&ada, &chat).await.unwrap();
    store.purge_chat(&chat).await.unwrap();
    assert_eq!(about(&ada, Some(&chat), "away").await, (None, None));
    let settings = store.tool_settings(&ada, None, Some(&chat)).await.unwrap();
    assert_eq!(settings.of_source(&server).policy, None);
    let all_back = [
        change("a", Some(None), Some(None)),
        change("b", Some(None), Some(None)),
    ];
    for (layer, owner) in [(Layer::Organisation, ""), (Layer::User, "ada")] {
        store
            .set_tools(layer, owner, all_back.clone())
            .await
            .unwrap();
    }
    assert_eq!(about(&ada, None, "a").await, (None, None));
}

async fn branches(store: &Store) {
    let ada = UserId::new("ada");
    let chat = store.create_chat(&ada, "").await.unwrap().id;
    let say = async |turn: &str, branch: Option<Option<&str>>| {
        let after = branch.map(|after| Branch {
            after: after.map(TurnId::new),
        });
        store
            .append(&chat, vec![started(&chat, turn, after, EntryPoint::Page)])
            .await
            .unwrap();
    };
    let shown = async || {
        let shown = store.branches(&chat).await.unwrap().shown();
        let said = store.messages_of(&chat, &shown).await.unwrap();
        let said: Vec<String> = said.iter().map(MessageRecord::text).collect();
        said.join(" ")
    };
    say("b-1", None).await;
    say("b-2", None).await;
    assert_eq!(shown().await, "b-1 b-2");
    say("b-3", Some(Some("b-1"))).await;
    assert_eq!(shown().await, "b-1 b-3");
    say("b-4", None).await;
    say("b-5", Some(None)).await;
    assert_eq!(shown().await, "b-5");
    let chosen = EventBody::BranchChosen {
        turn_id: TurnId::new("b-4"),
    };
    store.append(&chat, vec![chosen]).await.unwrap();
    assert_eq!(shown().await, "b-1 b-3 b-4");
    let branches = store.branches(&chat).await.unwrap();
    assert_eq!(branches.newest_leaf(&TurnId::new("b-1")).as_str(), "b-4");
    // They have no end; nobody else is to tidy up after them.
    store.delete_chat(&ada, &chat).await.unwrap();
    store.purge_chat(&chat).await.unwrap();
}

async fn titles(store: &Store) {
    let ada = UserId::new("ada");
    let chat = store.create_chat(&ada, "").await.unwrap().id;
    let set_title = async |title: &str, by| {
        let title = title.into();
        store
            .append(&chat, vec![EventBody::ChatTitled { title, by }])
            .await
    };
    set_title("is there a tr…", TitledBy::Cut).await.unwrap();
    assert_eq!(store.titled_by(&chat).await.unwrap(), TitledBy::Cut);
    set_title("Trains", TitledBy::Model).await.unwrap();
    set_title("Mine", TitledBy::Person).await.unwrap();
    let late = set_title("Yours", TitledBy::Model).await;
    assert!(matches!(late, Err(Error::TooLate(_))), "{late:?}");
    let chat = store.chat(&ada, &chat).await.unwrap();
    assert_eq!(chat.title, "Mine");
    assert_eq!(chat.last_seq, 3, "what came too late has no number");
}

async fn questions(store: &Store) -> ChatId {
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
    let chat = store.create_chat(&ada, "x").await.unwrap().id;
    let begun = [started(
        &chat,
        "q-1",
        None,
        EntryPoint::Key(KeyId::new("k")),
    )];
    let spoken = EventBody::MessageStarted {
        message: message(&chat, "q-1", "q-said", Role::Assistant),
    };
    let requests = ["q-a", "q-b", "q-c", "q-d"].map(|call| requested(call, "q-said"));
    let asks = ["q-a", "q-b", "q-c"].map(|call| EventBody::CallAsked {
        call_id: CallId::new(call),
    });
    let all = begun
        .into_iter()
        .chain([spoken])
        .chain(requests)
        .chain(asks);
    store.append(&chat, all.collect()).await.unwrap();
    assert_eq!(
        store
            .chats_awaiting_approval(std::slice::from_ref(&chat))
            .await
            .unwrap(),
        [chat.clone()].into()
    );
    let a = CallId::new("q-a");
    assert!(matches!(
        store.approval(&bob, &a).await,
        Err(Error::NotFound("call"))
    ));
    let (question, standing) = store.approval(&ada, &a).await.unwrap();
    assert_eq!((&question.call_id, &question.chat_id), (&a, &chat));
    assert!(
        matches!(standing, ApprovalState::Waiting(_)),
        "{standing:?}"
    );
    let tool = question.tool_id;
    let waiting = store
        .pending_approvals(&ada, &tool, ApprovalScope::User)
        .await
        .unwrap();
    assert_eq!(waiting.len(), 3);
    assert_eq!(
        store
            .pending_approvals(&bob, &tool, ApprovalScope::User)
            .await
            .unwrap(),
        []
    );

    // Of two answers at once one counts, and the other leaves no trace.
    let answer = async |call: &str, verdict| {
        let call_id = CallId::new(call);
        store
            .append(&chat, vec![EventBody::CallAnswered { call_id, verdict }])
            .await
    };
    let before = store.chat(&ada, &chat).await.unwrap().last_seq;
    let (first, second) = tokio::join!(answer("q-a", Verdict::Chat), answer("q-a", Verdict::Chat));
    let late = [first, second].into_iter().filter(|answer| match answer {
        Ok(_) => false,
        Err(error) => matches!(error, Error::TooLate(_)),
    });
    assert_eq!(late.count(), 1);
    let after = store.chat(&ada, &chat).await.unwrap().last_seq;
    assert_eq!(after, before + 1);
    assert_eq!(
        store.approval_state(&a).await.unwrap(),
        ApprovalState::Answered(Verdict::Chat)
    );
    // Nobody was asked about this one.
    assert!(matches!(
        answer("q-d", Verdict::Once).await,
        Err(Error::TooLate(_))
    ));

    // What is to be remembered is: for the chat, then for the user, whatever the chat says.
    let policy = async || {
        let settings = store.tool_settings(&ada, None, Some(&chat)).await.unwrap();
        settings.effective(None, &tool).policy
    };
    assert_eq!(policy().await, Some((Policy::Allow, Layer::Chat)));
    answer("q-b", Verdict::Always).await.unwrap();
    assert_eq!(policy().await, Some((Policy::Allow, Layer::User)));

    let usage = Usage {
        input_tokens: 7,
        ..Usage::default()
    };
    store.keep_usage(&TurnId::new("q-1"), &usage).await.unwrap();
    let finished = EventBody::CallFinished {
        call_id: a.clone(),
        status: CallStatus::Done,
        output: Some(ToolOutput::text("done")),
        error: None,
        duration_ms: 3,
    };
    store.append(&chat, vec![finished]).await.unwrap();
    assert_eq!(
        store.approval_state(&a).await.unwrap(),
        ApprovalState::Ended
    );
    chat
}

/// The turn waits for a person still: the next process goes on with it.
async fn restart(store: &Store, chat: &ChatId) {
    let turn = TurnId::new("q-1");
    let started = Instant::now();
    // PostgreSQL notices a moment later that a connection is gone.
    let abandoned = loop {
        let abandoned = crate::story::left_behind(store).await;
        if !abandoned.is_empty() || started.elapsed() > Duration::from_secs(20) {
            break abandoned;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(abandoned[0].turns[0].id, turn);
    let paused = store.paused(&turn).await.unwrap();
    assert_eq!(
        paused,
        Some(PausedTurn {
            id: turn.clone(),
            chat_id: chat.clone(),
            user: UserId::new("ada"),
            model: Some(ModelId::new("m")),
            tools: Some(vec![ToolId::new("t")]),
            door: EntryPoint::Key(KeyId::new("k")),
            usage: Usage {
                input_tokens: 7,
                ..Usage::default()
            },
        })
    );
    assert!(store.adopt(&abandoned[0].turns[0]).await.unwrap());
    drop(abandoned);
    assert!(
        crate::story::left_behind(store).await.is_empty(),
        "it is ours"
    );
    let calls = store.calls_of(&turn).await.unwrap();
    let waits: Vec<(bool, bool)> = calls
        .iter()
        .map(|call| (call.asked, call.is_paused()))
        .collect();
    let expected = [(false, false), (false, true), (true, true), (false, false)];
    assert_eq!(waits, expected);

    let end = EventBody::TurnFinished {
        turn_id: turn.clone(),
        outcome: TurnOutcome::Done,
        usage: Usage::default(),
        cost: None,
    };
    store.append(chat, vec![end]).await.unwrap();
    assert_eq!(store.paused(&turn).await.unwrap(), None);
}

#[derive(Debug, PartialEq, FromQueryResult)]
struct Audited {
    user_id: Option<String>,
    door: String,
    subject: String,
    detail: String,
}

async fn audit(url: &str, chat: &ChatId) {
    let db = Database::connect(url).await.unwrap();
    let ask = "SELECT * FROM audit WHERE action = 'tool.called'";
    let ask = Statement::from_string(db.get_database_backend(), ask);
    let rows = Audited::find_by_statement(ask).all(&db).await.unwrap();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(row.user_id.as_deref(), Some("ada"));
    assert_eq!(row.door, "key:k");
    assert_eq!(row.subject, "mcp_bench_\u{FFFD}");
    let empty = "SELECT * FROM tool_settings WHERE enabled IS NULL AND policy IS NULL";
    let empty = Statement::from_string(db.get_database_backend(), empty);
    let empty = db.query_all_raw(empty).await.unwrap();
    assert!(empty.is_empty(), "rows that say nothing are removed");
    let detail: Value = serde_json::from_str(&row.detail).unwrap();
    let expected = json!({
        "callId": "q-a",
        "chatId": chat,
        "status": "done",
        "durationMs": 3,
        "displayName": "Bench/✓", "runsOn": "server",
    });
    assert_eq!(detail, expected);
}

fn started(chat: &ChatId, turn: &str, branch: Option<Branch>, door: EntryPoint) -> EventBody {
    EventBody::TurnStarted {
        turn_id: TurnId::new(turn),
        message: message(chat, turn, turn, Role::User),
        branch,
        tools: Some(vec![ToolId::new("t")]),
        door,
        model: Some(ModelRef {
            id: ModelId::new("m"),
            name: "M".into(),
        }),
    }
}

fn message(chat: &ChatId, turn: &str, id: &str, role: Role) -> MessageRecord {
    MessageRecord {
        id: MessageId::new(id),
        chat_id: chat.clone(),
        turn_id: TurnId::new(turn),
        role,
        parts: vec![Part::text(id)],
        created_at: 7,
    }
}

fn requested(call: &str, message: &str) -> EventBody {
    let call = ToolCall {
        id: CallId::new(call),
        tool_id: ToolId::new("mcp_bench_\0"),
        input: json!({}),
    };
    let message = MessageId::new(message);
    EventBody::CallRequested {
        call: CallRecord::requested(call, message, "Bench/✓", RunsOn::Server),
    }
}
