//! Chats in the list: found, shared, deleted and brought back, each to its
//! owner alone. On both engines.

use std::time::Duration;

use serde_json::json;
use tenon_domain::{
    Branch, CallId, CallRecord, CallStatus, ChatId, Content, EntryPoint, EventBody, MessageId,
    MessageRecord, ModelId, ModelRef, Part, Role, RunsOn, TitledBy, ToolCall, ToolId, ToolOutput,
    TurnId, TurnOutcome, Usage, UserId, Verdict,
};
use tenon_store::{
    Blob, ChatCursor, ChatFilter, ChatFlags, ChatQuery, Error, MatchKind, NewChat, NewChatState,
    ShareScope, Store, fresh_id, now,
};

use crate::postgres::Postgres;

const WITH_TOOLS: ShareScope = ShareScope {
    with_tools: true,
    with_files: false,
};

#[tokio::test]
async fn the_life_of_chats_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    chapter(Store::open_file(&file).await.unwrap()).await;
}

#[tokio::test]
async fn the_life_of_chats_on_postgres() {
    let postgres = Postgres::start();
    chapter(Store::open(&postgres.url()).await.unwrap()).await;
}

#[tokio::test]
async fn the_life_of_chats_in_memory() {
    chapter(Store::open("sqlite::memory:").await.unwrap()).await;
}

async fn chapter(store: Store) {
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
    list(&store, &ada, &bob).await;
    search(&store, &ada, &bob).await;
    share(&store, &ada, &bob).await;
    import(&store, &ada, &bob).await;
    delete(&store, &ada, &bob).await;
}

fn said(chat: &ChatId, turn: &str, role: Role, text: &str) -> MessageRecord {
    MessageRecord {
        id: MessageId(fresh_id()),
        chat_id: chat.clone(),
        turn_id: TurnId::new(turn),
        role,
        parts: vec![Part::thinking("unseen"), Part::text(text)],
        created_at: 7,
    }
}

/// A person says something; the turn stays open.
fn turn(chat: &ChatId, turn: &str, text: &str) -> EventBody {
    EventBody::TurnStarted {
        turn_id: TurnId::new(turn),
        message: said(chat, turn, Role::User, text),
        branch: None,
        tools: None,
        door: EntryPoint::Page,
        model: None,
    }
}

fn ended(turn: &str) -> EventBody {
    EventBody::TurnFinished {
        turn_id: TurnId::new(turn),
        outcome: TurnOutcome::Done,
        usage: Usage::default(),
        cost: None,
    }
}

fn call(message: &MessageId, id: &str) -> CallRecord {
    let call = ToolCall {
        id: CallId::new(id),
        tool_id: ToolId::new("t"),
        input: json!({"place": "Łódź\nPiotrkowska", "deep": [{"er": "Wasser\0"}]}),
    };
    CallRecord::requested(call, message.clone(), "Maps/Find\0", RunsOn::Server)
}

fn is_no_chat<T: std::fmt::Debug>(answer: Result<T, Error>) {
    assert!(matches!(answer, Err(Error::NotFound("chat"))), "{answer:?}");
}

async fn list(store: &Store, ada: &UserId, bob: &UserId) {
    let mut made = Vec::new();
    for _ in 0..5 {
        made.insert(0, store.create_chat(ada, "").await.unwrap().id);
    }
    store.create_chat(bob, "").await.unwrap();
    let ids = async |listing: ChatQuery| {
        let chats = store.chats(ada, &listing).await.unwrap();
        chats.into_iter().map(|chat| chat.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(ChatQuery::newest(100)).await, made);

    // Chats of the same moment are told apart by their ids.
    let chats = store.chats(ada, &ChatQuery::newest(100)).await.unwrap();
    for (place, chat) in chats.iter().enumerate() {
        let before = ChatCursor {
            updated_at: chat.updated_at,
            id: chat.id.clone(),
        };
        let page = ChatQuery {
            folder: None,
            before: Some(before),
            ..ChatQuery::newest(2)
        };
        let rest = &made[place + 1..];
        assert_eq!(ids(page).await, rest[..rest.len().min(2)]);
    }

    let pin = |pinned| ChatFlags {
        pinned: Some(pinned),
        ..ChatFlags::default()
    };
    let archive = ChatFlags {
        archived: Some(true),
        ..ChatFlags::default()
    };
    is_no_chat(store.set_chat_flags(bob, &made[0], pin(true)).await);
    is_no_chat(
        store
            .set_chat_flags(bob, &made[0], ChatFlags::default())
            .await,
    );
    store
        .set_chat_flags(ada, &made[3], pin(true))
        .await
        .unwrap();
    store.set_chat_flags(ada, &made[0], archive).await.unwrap();
    assert_eq!(
        ids(ChatQuery::newest(1)).await,
        [made[3].clone(), made[1].clone()]
    );
    let archive_query = ChatQuery {
        folder: None,
        filter: ChatFilter::Archived,
        ..ChatQuery::newest(9)
    };
    assert_eq!(ids(archive_query.clone()).await, made[..1]);
    let archived = store.chat(ada, &made[0]).await.unwrap();
    assert!(archived.archived && archived.updated_at == chats[0].updated_at);

    // A title does not bring it back; a word does.
    let title = EventBody::ChatTitled {
        title: "x".into(),
        by: TitledBy::Person,
    };
    store.append(&made[0], vec![title]).await.unwrap();
    assert_eq!(ids(archive_query.clone()).await.len(), 1);
    let begins = vec![turn(&made[0], "l1", "hi"), ended("l1")];
    store.append(&made[0], begins).await.unwrap();
    assert_eq!(ids(archive_query).await, []);

    // A call that waits is a question, until it is answered or ends.
    let message = store.messages(&made[0]).await.unwrap()[0].id.clone();
    let call_id = CallId::new("lc");
    let asks = vec![
        EventBody::CallRequested {
            call: call(&message, "lc"),
        },
        EventBody::CallAsked {
            call_id: call_id.clone(),
        },
    ];
    store.append(&made[0], asks).await.unwrap();
    assert_eq!(
        store
            .chats_awaiting_approval(&made)
            .await
            .unwrap()
            .into_iter()
            .collect::<Vec<_>>(),
        made[..1]
    );
    let verdict = Verdict::Once;
    let answered = vec![EventBody::CallAnswered { call_id, verdict }];
    store.append(&made[0], answered).await.unwrap();
    assert!(
        store
            .chats_awaiting_approval(&made)
            .await
            .unwrap()
            .is_empty()
    );
    for chat in made {
        store.delete_chat(ada, &chat).await.unwrap();
    }
}

async fn search(store: &Store, ada: &UserId, bob: &UserId) {
    let chat = store.create_chat(ada, "Reise nach Łódź").await.unwrap().id;
    let theirs = store.create_chat(bob, "Reise nach Rom").await.unwrap().id;
    let answer = said(&chat, "s1", Role::Assistant, "我们去东京塔。Don't\0 panic!");
    let record = call(&answer.id, "sc");
    let happened = vec![
        turn(&chat, "s1", "Wohin soll ich reisen? RÖMER"),
        EventBody::MessageStarted {
            message: answer.clone(),
        },
        EventBody::MessageFinished {
            message_id: answer.id.clone(),
            parts: answer.parts.clone(),
        },
        EventBody::CallRequested { call: record },
        EventBody::CallFinished {
            call_id: CallId::new("sc"),
            status: CallStatus::Done,
            output: Some(ToolOutput {
                content: vec![
                    Content::Text {
                        text: format!("{}needle", "字 ".repeat(4_000)),
                    },
                    Content::Text {
                        text: format!("{}beyond", "x ".repeat(16_000)),
                    },
                ],
            }),
            error: None,
            duration_ms: 1,
        },
        ended("s1"),
    ];
    store.append(&chat, happened).await.unwrap();
    let other = vec![turn(&theirs, "s2", "Römer in Rom"), ended("s2")];
    store.append(&theirs, other).await.unwrap();

    use MatchKind::{Call, Message, Title};
    let check = async |question: &str, expected: &[MatchKind]| {
        let hits = store.search(ada, question, 10).await.unwrap();
        assert!(hits.iter().all(|hit| hit.chat == chat), "{question}");
        let kinds: Vec<MatchKind> = hits.iter().map(|hit| hit.kind).collect();
        assert_eq!(kinds, expected, "{question:?}");
    };
    check("reise", &[Message, Title]).await;
    check("reise łódź", &[Title]).await;
    check("reise rom", &[]).await;
    check("römer", &[Message]).await;
    check("Rö", &[Message]).await;
    check("rö reisen", &[]).await;
    check("东京", &[Message]).await;
    check("东京塔", &[Message]).await;
    check("去", &[Message]).await;
    check("塔", &[Message]).await;
    check("东塔", &[]).await;
    check("去塔", &[]).await;
    check("panic don", &[Message]).await;
    check("unseen", &[]).await;
    check("piotrkowska wasser maps find", &[Call]).await;
    check("npiotrkowska", &[]).await;
    check("needle", &[Call]).await;
    check("beyond", &[]).await;
    check("\u{E000}616461", &[]).await;
    check("616461", &[]).await;
    check(
        "'; DROP TABLE chats; -- \\ \" * :* & | ! ( NEAR(a b) \0",
        &[],
    )
    .await;
    check(&"long ".repeat(5_000), &[]).await;
    let one = store.search(ada, "reise", 1).await.unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].turn, Some(TurnId::new("s1")));
    assert_eq!(store.search(bob, "reise", 10).await.unwrap().len(), 1);
    assert_eq!(store.search(bob, "东京", 10).await.unwrap(), []);

    // A hundred kilobytes of one run, of one word, of many words.
    for text in [
        "字".repeat(40_000),
        "x".repeat(99_999),
        "a b c ".repeat(20_000),
    ] {
        let chat = store.create_chat(bob, "long").await.unwrap().id;
        let turn_id = fresh_id();
        let happened = vec![turn(&chat, &turn_id, &text), ended(&turn_id)];
        store.append(&chat, happened).await.unwrap();
    }
    assert_eq!(
        store.search(bob, &"字".repeat(30), 10).await.unwrap().len(),
        1
    );

    // A chat is one hit of each kind, however often it says so.
    let often = (0..50).flat_map(|n| {
        let id = format!("o{n}");
        [turn(&chat, &id, "immerzu"), ended(&id)]
    });
    store.append(&chat, often.collect()).await.unwrap();
    check("immerzu", &[Message]).await;
    store.delete_chat(ada, &chat).await.unwrap();
    check("immerzu", &[]).await;
    store.restore_chat(ada, &chat).await.unwrap();
    check("immerzu", &[Message]).await;
}

async fn share(store: &Store, ada: &UserId, bob: &UserId) {
    let chat = store.create_chat(ada, "shared").await.unwrap().id;
    assert_eq!(store.share(ada, &chat).await.unwrap(), None);
    assert_eq!(
        store
            .share_chat(ada, &chat, ShareScope::default())
            .await
            .unwrap(),
        None
    );
    let begins = vec![turn(&chat, "h1", "one")];
    store.append(&chat, begins).await.unwrap();
    let too_early = store
        .share_chat(ada, &chat, ShareScope::default())
        .await
        .unwrap();
    assert_eq!(too_early, None, "nothing has ended");
    store.append(&chat, vec![ended("h1")]).await.unwrap();
    is_no_chat(store.share(bob, &chat).await);
    is_no_chat(store.share_chat(bob, &chat, WITH_TOOLS).await);
    is_no_chat(store.unshare_chat(bob, &chat).await);
    is_no_chat(store.transcript(bob, &chat).await);
    let share = store
        .share_chat(ada, &chat, ShareScope::default())
        .await
        .unwrap()
        .unwrap();

    // An id is one turn's, whatever the chat: a client may have chosen it.
    let elsewhere = store.create_chat(ada, "").await.unwrap().id;
    for other in [&chat, &elsewhere] {
        let again = store.append(other, vec![turn(other, "h1", "one")]).await;
        assert!(matches!(again, Err(Error::Taken("turn"))), "{again:?}");
    }
    assert_eq!(store.events(&elsewhere, 0, 9).await.unwrap(), []);
    store.delete_chat(ada, &elsewhere).await.unwrap();

    // Two branches: the link shows the one it was made on.
    let beside = EventBody::TurnStarted {
        turn_id: TurnId::new("h2"),
        message: said(&chat, "h2", Role::User, "another"),
        branch: Some(Branch { after: None }),
        tools: None,
        door: EntryPoint::Page,
        model: None,
    };
    store
        .append(&chat, vec![beside, ended("h2")])
        .await
        .unwrap();
    let runs = vec![turn(&chat, "h3", "still running")];
    store.append(&chat, runs).await.unwrap();
    let turns = async |token: &str| {
        let (transcript, _) = store.shared(token).await.unwrap();
        let turns = transcript.turns.into_iter().map(|turn| turn.id.0);
        turns.collect::<Vec<_>>()
    };
    assert_eq!(turns(&share.token).await, ["h1"]);
    assert!(store.share(ada, &chat).await.unwrap().unwrap().behind);
    let renewed = store
        .share_chat(ada, &chat, WITH_TOOLS)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(renewed.token, share.token);
    assert!(renewed.with_tools && renewed.behind);
    assert_eq!(turns(&share.token).await, ["h2"]);
    store.append(&chat, vec![ended("h3")]).await.unwrap();
    let renewed = store
        .share_chat(ada, &chat, WITH_TOOLS)
        .await
        .unwrap()
        .unwrap();
    assert!(!renewed.behind);
    assert_eq!(turns(&share.token).await, ["h2", "h3"]);
    let whole = store.transcript(ada, &chat).await.unwrap();
    assert_eq!(whole.turns.len(), 3);
    let on_show = store.active_branch_transcript(ada, &chat).await.unwrap();
    assert_eq!(on_show.turns, whole.turns[1..]);

    let own = store.shares(ada).await.unwrap();
    assert_eq!((own.len(), &own[0].0.id, &own[0].1), (1, &chat, &renewed));
    assert_eq!(store.shares(bob).await.unwrap(), []);
    assert!(store.unshare_chat(ada, &chat).await.unwrap());
    let gone = store.shared(&share.token).await;
    assert!(matches!(gone, Err(Error::NotFound("link"))));
}

async fn import(store: &Store, ada: &UserId, bob: &UserId) {
    let id = ChatId(fresh_id());
    let model = Some(ModelRef {
        id: ModelId::new("m"),
        name: "M".into(),
    });
    let begins = EventBody::TurnStarted {
        turn_id: TurnId::new("i1"),
        message: said(&id, "i1", Role::User, "importiert"),
        branch: None,
        tools: None,
        door: EntryPoint::Page,
        model: model.clone(),
    };
    let chat = NewChat {
        files: Vec::new(),
        id: id.clone(),
        created_at: 3,
        happened: vec![(5, begins), (6, ended("i1"))],
        state: NewChatState {
            pinned: true,
            folder: Some("Urlaub".to_owned()),
            ..NewChatState::default()
        },
    };
    let imported = store.import_chat(ada, chat.clone()).await.unwrap();
    assert_eq!((imported.created_at, imported.updated_at), (3, 6));
    assert_eq!(imported.last_seq, 2);
    assert_eq!((imported.pinned, imported.archived), (true, false));
    let transcript = store.transcript(ada, &id).await.unwrap();
    assert_eq!(transcript.turns[0].model, model);
    assert_eq!(store.search(ada, "importiert", 9).await.unwrap().len(), 1);
    is_no_chat(store.chat(bob, &id).await);

    let folders = store.folders(ada).await.unwrap();
    let folder = folders.iter().find(|folder| folder.name == "Urlaub");
    assert_eq!(imported.folder.as_ref(), folder.map(|folder| &folder.id));

    // What goes wrong halfway leaves nothing.
    let mut twice = NewChat {
        id: ChatId(fresh_id()),
        ..chat
    };
    twice.state.folder = Some("Arbeit".to_owned());
    assert!(store.import_chat(ada, twice.clone()).await.is_err());
    is_no_chat(store.chat(ada, &twice.id).await);
    assert_eq!(store.folders(ada).await.unwrap(), folders);
}

async fn delete(store: &Store, ada: &UserId, bob: &UserId) {
    let chat = store.create_chat(ada, "vergänglich").await.unwrap().id;
    let question = said(&chat, "d1", Role::Assistant, "x");
    let wish = ToolCall {
        id: CallId::new("dc"),
        tool_id: ToolId::new("t"),
        input: json!({}),
    };
    let happened = vec![
        turn(&chat, "d1", "vergänglich"),
        EventBody::MessageStarted {
            message: question.clone(),
        },
        EventBody::MessageFinished {
            message_id: question.id.clone(),
            parts: vec![Part::call(wish.clone())],
        },
        EventBody::CallRequested {
            call: call(&question.id, "dc"),
        },
    ];
    store.append(&chat, happened).await.unwrap();
    let blob = Blob {
        media_type: "text/plain".into(),
        data: b"kept".to_vec(),
    };
    let blob = store.put_blob(ada, &wish.id, blob).await.unwrap();

    is_no_chat(store.delete_chat(bob, &chat).await);
    let began = now();
    store.delete_chat(ada, &chat).await.unwrap();
    is_no_chat(store.delete_chat(ada, &chat).await);
    is_no_chat(store.chat(ada, &chat).await);
    is_no_chat(store.branches(&chat).await);
    is_no_chat(store.transcript(ada, &chat).await);
    is_no_chat(store.share_chat(ada, &chat, WITH_TOOLS).await);
    assert!(store.blob(ada, &blob).await.is_err());
    assert!(store.chat_of_turn(ada, &TurnId::new("d1")).await.is_err());
    assert_eq!(store.search(ada, "vergänglich", 9).await.unwrap(), []);

    // Nothing begins there; what ran may end.
    is_no_chat(store.append(&chat, vec![turn(&chat, "d2", "x")]).await);
    store.append(&chat, vec![ended("d1")]).await.unwrap();
    is_no_chat(store.restore_chat(bob, &chat).await);
    let restored = store.restore_chat(ada, &chat).await.unwrap();
    assert_eq!(restored.title, "vergänglich");
    is_no_chat(store.restore_chat(ada, &chat).await);
    assert_eq!(store.blob(ada, &blob).await.unwrap().data, b"kept");
    assert_eq!(store.search(ada, "vergänglich", 9).await.unwrap().len(), 2);

    // For good: nothing of it is left, and what is not deleted cannot be meant.
    is_no_chat(store.purge_chat(&chat).await);
    store.delete_chat(ada, &chat).await.unwrap();
    let long_ago = Duration::from_millis(now().abs_diff(began) + 5_000);
    assert!(!store.deleted_chats(long_ago).await.unwrap().contains(&chat));
    assert!(
        store
            .deleted_chats(Duration::ZERO)
            .await
            .unwrap()
            .contains(&chat)
    );
    store.purge_chat(&chat).await.unwrap();
    is_no_chat(store.restore_chat(ada, &chat).await);
    assert!(store.blob(ada, &blob).await.is_err());
    assert_eq!(store.events(&chat, 0, 9).await.unwrap(), []);
}
