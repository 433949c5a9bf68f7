//! The story of several people: accounts, log-ins, keys, invitations, on both engines.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Database};
use serde_json::json;
use tenon_domain::pattern::Pattern;
use tenon_domain::{
    CallId, EntryPoint, KeyAccess, KeyScope, Layer, SourceId, SourceInfo, SourceKind, UserId,
    UserRole,
};
use tenon_store::{
    AccountError, AuditEntry, AuditQuery, Blob, Enrollment, Error, LOCAL, NewUserRow, Store,
    StoreChange, UserEdit,
};
use tokio::time::timeout;

use crate::postgres::Postgres;

#[tokio::test]
async fn the_story_of_several_people_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("tenon.db").display());
    story(&url).await;
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_on_the_machine_can_read_the_database() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let _store = Store::open_file(&folder.path().join("tenon.db"))
        .await
        .unwrap();
    for name in ["tenon.db", "tenon.db-wal"] {
        let file = std::fs::metadata(folder.path().join(name)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn the_story_of_several_people_on_postgres() {
    let postgres = Postgres::start();
    story(&postgres.url()).await;
}

fn new<'a>(email: &'a str, role: UserRole) -> NewUserRow<'a> {
    NewUserRow {
        email,
        name: "Somebody",
        role,
        password_hash: Some("hash"),
        oidc_subject: None,
    }
}

fn refused<T>(result: tenon_store::Result<T>) -> Option<AccountError> {
    match result {
        Err(Error::Account(why)) => Some(why),
        _ => None,
    }
}

async fn story(url: &str) {
    let store = Store::open(url).await.unwrap();
    let sql = async |statement: &str| {
        let db = Database::connect(url).await.unwrap();
        db.execute_unprepared(statement).await.unwrap();
    };
    // The same, until it is known here what another process did.
    let sql_on_sessions = async |statement: &str| {
        let mut told = store.subscribe();
        sql(statement).await;
        let known = async { while told.recv().await.unwrap() != StoreChange::Accounts(None) {} };
        let known = timeout(Duration::from_secs(10), known).await;
        known.expect("it is told in time");
    };
    let local = UserId::new(LOCAL);

    // Before there is an account, everything is nobody's in particular.
    let chat = store.create_chat(&local, "before").await.unwrap();
    let bytes = Blob {
        media_type: "text/plain".into(),
        data: b"kept".to_vec(),
    };
    let blob = store
        .put_blob(&local, &CallId::new("by hand"), bytes)
        .await
        .unwrap();
    sql(
        "INSERT INTO tool_settings (layer, owner, tool_id, enabled) \
         VALUES ('user', 'local', 'a_tool', false), ('organisation', '', 'a_tool', true)",
    )
    .await;
    assert!(!store.has_users().await.unwrap());
    assert_eq!(store.oldest_admin().await.unwrap(), None);

    // Whoever runs Tenon for themself alone has log-ins, but no account that they are of.
    let (alone, own) = store.create_session(&local, "", "").await.unwrap();
    let found = store.local_session_of(&alone.0).await.unwrap();
    assert_eq!(found.as_ref(), Some(&own.id));
    assert_eq!(store.session_of(&alone.0).await.unwrap(), None);

    // And keys, which the first account takes over.
    let scope = KeyScope::default();
    let (program, program_key) = store.create_key(&local, "editor", &scope).await.unwrap();
    let found = store.find_key(&program.0).await.unwrap().unwrap();
    assert_eq!((&found.id, &*found.scope), (&program_key.id, &scope));
    assert_eq!(found.account, None);
    assert!(store.key_exists(&program_key.id).await.unwrap());

    // The first one is set-up's to make: neither a sign-up nor an invitation is it.
    let (token, _) = store
        .create_invite(&local, None, UserRole::Admin)
        .await
        .unwrap();
    for who in [Enrollment::Another, Enrollment::Invited(&token.0)] {
        let early = store.create_user(new("eve@x.org", UserRole::User), who);
        assert_eq!(refused(early.await), Some(AccountError::SetUpFirst));
    }
    sql("DELETE FROM invites").await;

    // Of several who want to be first one is, and adopts it.
    let racing = (0..6).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let email = format!("first-{n}@x.org");
            store
                .create_user(new(&email, UserRole::User), Enrollment::First)
                .await
        })
    });
    let racing: Vec<_> = racing.collect();
    let mut first = None;
    for made in racing {
        match made.await.unwrap() {
            Ok(account) => assert!(first.replace(account).is_none(), "two were first"),
            Err(Error::Account(why)) => assert_eq!(why, AccountError::SetUp),
            Err(error) => panic!("{error}"),
        }
    }
    let ada = first.expect("one of them is first");
    assert_eq!(ada.role, UserRole::Admin);
    assert_eq!(store.chat(&ada.id, &chat.id).await.unwrap().title, "before");
    let found = store.find_key(&program.0).await.unwrap().unwrap();
    assert_eq!(found.account.as_ref().map(|who| &who.id), Some(&ada.id));
    store.delete_key(&ada.id, &program_key.id).await.unwrap();
    assert_eq!(store.blob(&ada.id, &blob).await.unwrap().data, b"kept");
    assert!(store.chat(&local, &chat.id).await.is_err());
    assert_eq!(settings_of(url, &ada.id.0).await, 1);
    assert_eq!(settings_of(url, "").await, 1, "the organisation's stay");
    assert_eq!(
        store.session_of(&alone.0).await.unwrap(),
        None,
        "nobody comes into an account without its password"
    );
    let (adas, _) = store.create_session(&ada.id, "", "").await.unwrap();
    assert_eq!(store.local_session_of(&adas.0).await.unwrap(), None);
    assert!(store.session_exists(&own.id).await.unwrap());
    store.delete_session(&local, &own.id).await.unwrap();
    assert_eq!(store.local_session_of(&alone.0).await.unwrap(), None);

    // An address is one person's, however it is written.
    let bob = store.create_user(new(" Bob@X.org ", UserRole::User), Enrollment::Another);
    let bob = bob.await.unwrap();
    assert_eq!(
        (bob.email.as_str(), bob.role),
        ("bob@x.org", UserRole::User)
    );
    let again = store.create_user(new("BOB@x.org", UserRole::User), Enrollment::Another);
    assert_eq!(refused(again.await), Some(AccountError::EmailTaken));
    let taken = UserEdit {
        email: Some(&ada.email),
        ..UserEdit::default()
    };
    let taken = store.change_user(&bob.id, taken).await;
    assert_eq!(refused(taken), Some(AccountError::EmailTaken));
    let (found, hash) = store.user_by_email("bOB@x.ORG").await.unwrap().unwrap();
    assert_eq!((found.id, hash.as_deref()), (bob.id.clone(), Some("hash")));
    let everybody = store.users().await.unwrap();
    assert_eq!(everybody, [ada.clone(), bob.clone()]);

    // A log-in is known by its token, until it is over.
    let (token, session) = store
        .create_session(&bob.id, &"x".repeat(1000), "192.0.2.1")
        .await
        .unwrap();
    assert_eq!(session.agent.len(), 400);
    assert_eq!(format!("{token:?}"), "SecretToken(…)");
    let (who, id) = store.session_of(&token.0).await.unwrap().unwrap();
    assert_eq!((who.id, &id), (bob.id.clone(), &session.id));
    assert_eq!(store.session_of("something").await.unwrap(), None);
    let others = store.delete_session(&ada.id, &session.id).await;
    assert!(matches!(others, Err(Error::NotFound("session"))));
    sql_on_sessions("UPDATE auth_sessions SET last_seen_at = 0, token_hash = token_hash").await;
    store.session_of(&token.0).await.unwrap().unwrap();
    let seen = &store.sessions(&bob.id).await.unwrap()[0];
    assert!(
        seen.last_seen_at >= session.last_seen_at,
        "its use is written down"
    );
    sql_on_sessions("UPDATE auth_sessions SET expires_at = 1, token_hash = token_hash").await;
    assert_eq!(store.session_of(&token.0).await.unwrap(), None);
    assert!(!store.session_exists(&session.id).await.unwrap());
    assert_eq!(store.sessions(&bob.id).await.unwrap(), []);

    // A key does too, and says when it was used.
    let scope = KeyScope {
        access: KeyAccess::Read,
        allow: vec![Pattern::new("mcp_*")],
    };
    let (token, key) = store.create_key(&bob.id, "ci\0", &scope).await.unwrap();
    assert!(token.0.starts_with("tn_") && token.0.len() == 46);
    assert_eq!(key.hint, format!("{}…", &token.0[..7]));
    assert_eq!((&key.scope, key.last_used_at), (&scope, None));
    let found = store.find_key(&token.0).await.unwrap().unwrap();
    assert_eq!(found.account.as_ref().map(|who| &who.id), Some(&bob.id));
    let used = &store.keys(&bob.id).await.unwrap()[0];
    assert!(used.last_used_at.is_some());
    assert_eq!(store.keys(&ada.id).await.unwrap(), []);
    let others = store.delete_key(&ada.id, &key.id).await;
    assert!(matches!(others, Err(Error::NotFound("key"))));

    // Whoever is disabled is out at once, and comes back to their keys alone.
    let (login, session) = store.create_session(&bob.id, "", "").await.unwrap();
    let disable = |disabled| UserEdit {
        disabled: Some(disabled),
        ..UserEdit::default()
    };
    let (changed, ended) = store.change_user(&bob.id, disable(true)).await.unwrap();
    assert!(changed.disabled);
    assert!(!store.is_active(&bob.id).await.unwrap());
    assert!(store.is_active(&ada.id).await.unwrap());
    assert!(store.is_active(&local).await.unwrap());
    assert!(ended.sessions.contains(&session.id));
    assert_eq!(store.session_of(&login.0).await.unwrap(), None);
    assert!(store.find_key(&token.0).await.unwrap().is_none());
    assert!(!store.key_exists(&key.id).await.unwrap());
    let late = store.create_session(&bob.id, "", "").await;
    assert!(matches!(late, Err(Error::NotFound("user"))));
    store.change_user(&bob.id, disable(false)).await.unwrap();
    assert_eq!(store.session_of(&login.0).await.unwrap(), None);
    assert!(store.key_exists(&key.id).await.unwrap());

    // One log-in can be kept when the others end.
    let (_, kept) = store.create_session(&bob.id, "", "").await.unwrap();
    let (_, other) = store.create_session(&bob.id, "", "").await.unwrap();
    let edit = UserEdit {
        password_hash: Some("another"),
        only_session: Some(Some(&kept.id)),
        ..UserEdit::default()
    };
    let (_, ended) = store.change_user(&bob.id, edit).await.unwrap();
    assert_eq!((ended.sessions, ended.keys), (vec![other.id], vec![]));
    assert!(store.session_exists(&kept.id).await.unwrap());
    let hash = store.password_hash(&bob.id).await.unwrap();
    assert_eq!(hash.as_deref(), Some("another"));
    assert!(store.key_exists(&key.id).await.unwrap());
    let edit = UserEdit {
        only_session: Some(None),
        end_keys: true,
        ..UserEdit::default()
    };
    let (_, ended) = store.change_user(&bob.id, edit).await.unwrap();
    assert_eq!(ended.sessions, [kept.id]);
    assert!(ended.keys.contains(&key.id));
    assert!(!store.key_exists(&key.id).await.unwrap());

    // The last admin who may come stays.
    let demote = || UserEdit {
        role: Some(UserRole::User),
        ..UserEdit::default()
    };
    let last = Some(AccountError::LastAdmin);
    assert_eq!(refused(store.change_user(&ada.id, demote()).await), last);
    assert_eq!(
        refused(store.change_user(&ada.id, disable(true)).await),
        last
    );
    assert_eq!(refused(store.delete_user(&ada.id).await), last);
    let promote = UserEdit {
        role: Some(UserRole::Admin),
        ..UserEdit::default()
    };
    store.change_user(&bob.id, promote).await.unwrap();
    let (one, two) = tokio::join!(
        store.change_user(&ada.id, demote()),
        store.change_user(&bob.id, demote())
    );
    let stayed = [refused(one), refused(two)];
    assert_eq!(stayed.iter().flatten().count(), 1, "{stayed:?}");
    let admin = store.oldest_admin().await.unwrap().unwrap();

    invitations(&store, &admin.id, sql).await;
    linked(&store, &scope).await;
    audit(&store, &ada.id, sql).await;
    organisation(&store).await;

    // Deleting somebody deletes all that is theirs, and nothing else.
    let leaves = if admin.id == ada.id { &bob.id } else { &ada.id };
    let theirs = store.create_chat(leaves, "theirs").await.unwrap();
    let stays = store.create_chat(&admin.id, "stays").await.unwrap();
    let bytes = Blob {
        media_type: "text/plain".into(),
        data: b"gone".to_vec(),
    };
    let blob = store
        .put_blob(leaves, &CallId::new("c"), bytes)
        .await
        .unwrap();
    store.create_key(leaves, "k", &scope).await.unwrap();
    let own = SourceInfo {
        id: SourceId::new("own"),
        kind: SourceKind::Browser,
        name: "own".into(),
        title: "own".into(),
        owner: Some(leaves.clone()),
    };
    store.tool_ids(&own, &["tool"]).await.unwrap();
    store
        .set_preference(Some(leaves), "theme", &"dark")
        .await
        .unwrap();
    assert!(store.chat_ids(leaves).await.unwrap().contains(&theirs.id));
    let (_, session) = store.create_session(leaves, "", "").await.unwrap();
    store.delete_user(leaves).await.unwrap();
    assert!(!store.session_exists(&session.id).await.unwrap());
    assert!(matches!(
        store.user(leaves).await,
        Err(Error::NotFound("user"))
    ));
    assert_eq!(store.chat_ids(leaves).await.unwrap(), []);
    assert!(store.blob(leaves, &blob).await.is_err());
    assert_eq!(store.keys(leaves).await.unwrap(), []);
    assert_eq!(settings_of(url, &leaves.0).await, 0);
    let theme: Option<String> = store.preference(Some(leaves), "theme").await.unwrap();
    assert_eq!(theme, None);
    assert_eq!(store.chat(&admin.id, &stays.id).await.unwrap(), stays);
    assert!(matches!(
        store.delete_user(leaves).await,
        Err(Error::NotFound("user"))
    ));
}

/// Each for one person, once.
async fn invitations(store: &Store, admin: &UserId, sql: impl AsyncFn(&str)) {
    let (token, invite) = store
        .create_invite(admin, None, UserRole::Admin)
        .await
        .unwrap();
    assert_eq!(store.invites().await.unwrap(), [invite]);
    let racing = (0..4).map(|n| {
        let (store, token) = (store.clone(), token.0.clone());
        tokio::spawn(async move {
            let email = format!("guest-{n}@x.org");
            let guest = new(&email, UserRole::User);
            store.create_user(guest, Enrollment::Invited(&token)).await
        })
    });
    let racing: Vec<_> = racing.collect();
    let mut guests = Vec::new();
    for made in racing {
        match made.await.unwrap() {
            Ok(account) => guests.push(account),
            Err(Error::Account(why)) => assert_eq!(why, AccountError::Invite),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(guests.len(), 1);
    assert_eq!(guests[0].role, UserRole::Admin, "as the invitation says");
    assert_eq!(store.invites().await.unwrap(), []);
    store.delete_user(&guests[0].id).await.unwrap();

    let (token, _) = store
        .create_invite(admin, Some("Eve@x.org"), UserRole::User)
        .await
        .unwrap();
    let invited = Enrollment::Invited(&token.0);
    let other = store.create_user(new("mallory@x.org", UserRole::Admin), invited);
    assert_eq!(refused(other.await), Some(AccountError::InviteEmail));
    // One that failed is not used up by it; one that is too old is.
    assert!(store.invite_of(&token.0).await.unwrap().is_some());
    sql("UPDATE invites SET expires_at = 1").await;
    assert_eq!(store.invite_of(&token.0).await.unwrap(), None);
    let late = store.create_user(new("eve@x.org", UserRole::User), invited);
    assert_eq!(refused(late.await), Some(AccountError::Invite));

    // Those of an admin who is one no longer are nobody's.
    let leave = [
        UserEdit {
            role: Some(UserRole::User),
            ..UserEdit::default()
        },
        UserEdit {
            disabled: Some(true),
            ..UserEdit::default()
        },
    ];
    for (n, leave) in leave.into_iter().enumerate() {
        let email = format!("leaves-{n}@x.org");
        let leaves = store.create_user(new(&email, UserRole::Admin), Enrollment::Another);
        let leaves = leaves.await.unwrap().id;
        let invite = store.create_invite(&leaves, None, UserRole::Admin);
        let (token, _) = invite.await.unwrap();
        let (_, stays) = store
            .create_invite(admin, None, UserRole::User)
            .await
            .unwrap();
        store.change_user(&leaves, leave).await.unwrap();
        assert_eq!(store.invite_of(&token.0).await.unwrap(), None);
        assert_eq!(store.invites().await.unwrap(), std::slice::from_ref(&stays));
        store.delete_invite(&stays.id).await.unwrap();
        store.delete_user(&leaves).await.unwrap();
    }
}

/// Whom an issuer vouches for gets the account of their address; whoever was in it is out.
async fn linked(store: &Store, scope: &KeyScope) {
    let early = store.create_user(new("owner@x.org", UserRole::User), Enrollment::Another);
    let early = early.await.unwrap().id;
    let (login, _) = store.create_session(&early, "", "").await.unwrap();
    let (key, _) = store.create_key(&early, "k", scope).await.unwrap();
    let told = store.link_subject(&early, "issuer owner").await.unwrap();
    assert!(told.is_some());
    assert_eq!(store.switched_off(&early).await.unwrap(), told);
    store.forget_switched_off(&early).await.unwrap();
    assert_eq!(store.switched_off(&early).await.unwrap(), None);
    assert_eq!(store.password_hash(&early).await.unwrap(), None);
    assert_eq!(store.session_of(&login.0).await.unwrap(), None);
    assert!(store.find_key(&key.0).await.unwrap().is_none());
    let found = store.user_by_subject("issuer owner").await.unwrap();
    assert_eq!(found.map(|account| account.id), Some(early.clone()));
    // It is given away once, and the second one who asks ends nothing.
    let (login, _) = store.create_session(&early, "", "").await.unwrap();
    let told = store.link_subject(&early, "issuer other").await.unwrap();
    assert_eq!(told, None);
    assert!(store.session_of(&login.0).await.unwrap().is_some());
    store.delete_user(&early).await.unwrap();
}

/// What happened is told newest first, in pages, and forgotten after a year.
async fn audit(store: &Store, ada: &UserId, sql: impl AsyncFn(&str)) {
    for (action, user) in [
        ("login", Some(ada)),
        ("login.failed", None),
        ("key.created", Some(ada)),
        ("keyless", None),
    ] {
        let entry = AuditEntry {
            user: user.cloned(),
            door: EntryPoint::Page,
            action,
            subject: "a\0b".into(),
            detail: json!({"why": "\0"}),
            address: "192.0.2.1".into(),
        };
        store.audit(entry).await.unwrap();
    }
    let ask = async |query: AuditQuery| {
        let rows = store.audited(query).await.unwrap();
        rows.into_iter().map(|row| row.action).collect::<Vec<_>>()
    };
    let all = AuditQuery {
        limit: 10,
        ..AuditQuery::default()
    };
    let everything = ["keyless", "key.created", "login.failed", "login"];
    assert_eq!(ask(all.clone()).await, everything);
    let begins = |action: &str| AuditQuery {
        action: Some(action.into()),
        ..all.clone()
    };
    assert_eq!(ask(begins("login")).await, ["login.failed", "login"]);
    assert_eq!(ask(begins("key.")).await, ["key.created"]);
    assert_eq!(ask(begins("k%d")).await, [""; 0]);
    assert_eq!(ask(begins("key_")).await, [""; 0]);
    let hers = AuditQuery {
        user: Some(ada.clone()),
        ..all.clone()
    };
    assert_eq!(ask(hers).await, ["key.created", "login"]);
    let mut page = AuditQuery {
        limit: 3,
        ..all.clone()
    };
    let rows = store.audited(page.clone()).await.unwrap();
    assert_eq!(rows[0].detail, json!({"why": "\0"}));
    assert_eq!(rows[0].subject, "a\u{FFFD}b");
    page.before = Some(rows[2].id.clone());
    assert_eq!(ask(page).await, ["login"]);
    assert_eq!(store.sweep_audit().await.unwrap(), 0);
    let long_ago = "00000000-0001-7000-8000-000000000000";
    sql(&format!(
        "UPDATE audit SET id = '{long_ago}' WHERE action = 'login'"
    ))
    .await;
    assert_eq!(store.sweep_audit().await.unwrap(), 1);
}

async fn organisation(store: &Store) {
    let decided = async || store.preference::<bool>(None, "sign_up").await.unwrap();
    assert_eq!(decided().await, None);
    store.set_preference(None, "sign_up", &true).await.unwrap();
    store.set_preference(None, "sign_up", &false).await.unwrap();
    assert_eq!(decided().await, Some(false));
}

/// How much a user or everybody has said about tools.
async fn settings_of(url: &str, owner: &str) -> usize {
    let db = Database::connect(url).await.unwrap();
    let layer = if owner.is_empty() {
        Layer::Organisation
    } else {
        Layer::User
    };
    let layer = serde_json::to_value(layer).unwrap();
    let ask = format!(
        "SELECT tool_id FROM tool_settings WHERE layer = '{}' AND owner = '{owner}'",
        layer.as_str().unwrap()
    );
    let rows = db.query_all_raw(sea_orm::Statement::from_string(
        db.get_database_backend(),
        ask,
    ));
    rows.await.unwrap().len()
}
