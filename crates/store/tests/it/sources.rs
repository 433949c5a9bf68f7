//! Servers come, change and go, with who is logged in there and the secrets they are given.

use serde_json::json;
use tenon_domain::{SourceId, SourceInfo, SourceKind, ToolDefinition, UserId, UserRole};
use tenon_store::{
    BackupInput, Enrollment, Error, ExistingFile, LOCAL, NewSourceRow, NewUserRow, Store,
    StoredDocument, StoredSource, Vault, VerifiedBackup,
};

use crate::postgres::Postgres;

#[tokio::test]
async fn the_story_of_servers_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("tenon.db").display());
    story(&url).await;
}

#[tokio::test]
async fn the_story_of_servers_on_postgres() {
    let postgres = Postgres::start();
    story(&postgres.url()).await;
}

async fn story(url: &str) {
    let store = Store::open(url).await.unwrap();
    let another = Store::open(url).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open(folder.path(), None).unwrap();
    let local = UserId::new(LOCAL);

    // What is added comes back, sealed for the id it got; a name is used once by each owner.
    assert_eq!(store.sources().await.unwrap(), []);
    let shared = add(&store, &vault, "memory", None).await.unwrap();
    assert_eq!(
        shared,
        StoredSource {
            id: SourceId::new("mcp-memory"),
            kind: SourceKind::Mcp,
            name: "memory".into(),
            title: "The \u{FFFD} memory".into(),
            owner: None,
            enabled: true,
            wants_login: false,
            trust_hints: true,
            ..shared.clone()
        }
    );
    let opened = vault.open_sealed("source:mcp-memory", &shared.sealed_config);
    assert_eq!(opened.unwrap(), "config of mcp-memory");
    let own = add(&store, &vault, "memory", Some(&local)).await.unwrap();
    assert_eq!(own.id, SourceId::new("mcp-memory.local"));
    for owner in [None, Some(&local)] {
        let again = add(&another, &vault, "memory", owner).await;
        assert!(matches!(again, Err(Error::Taken("server"))));
    }
    assert_eq!(
        another.sources().await.unwrap(),
        [shared.clone(), own.clone()]
    );

    // Of several who want a name at once one gets it.
    let racing = (0..6).map(|n| {
        let store = [&store, &another][n % 2].clone();
        tokio::spawn(async move {
            let new = NewSourceRow {
                kind: SourceKind::Mcp,
                name: "raced",
                title: "Raced",
                owner: None,
                enabled: false,
                trust_hints: false,
            };
            store.add_source(new, |_| "sealed".into()).await
        })
    });
    let mut made = 0;
    for racer in racing.collect::<Vec<_>>() {
        match racer.await.unwrap() {
            Ok(_) => made += 1,
            Err(Error::Taken(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(made, 1);
    let raced = SourceId::new("mcp-raced");
    store.remove_source(&raced).await.unwrap();
    assert!(matches!(
        store.remove_source(&raced).await,
        Err(Error::NotFound("server"))
    ));

    // Two changes at once both count, and are seen to be changes.
    let change = |store: &Store, change: fn(&mut StoredSource)| {
        let (store, id) = (store.clone(), shared.id.clone());
        tokio::spawn(async move {
            store
                .change_source::<Error>(&id, |mut old| {
                    change(&mut old);
                    Ok(old)
                })
                .await
        })
    };
    let one = change(&store, |source| source.title = "Both".into());
    let two = change(&another, |source| source.enabled = false);
    let (one, two) = (one.await.unwrap().unwrap(), two.await.unwrap().unwrap());
    assert_ne!(one.updated_at, two.updated_at);
    store.set_wants_login(&shared.id, true).await.unwrap();
    let changed = store.source(&shared.id).await.unwrap();
    assert_eq!(
        (
            changed.title.as_str(),
            changed.enabled,
            changed.wants_login,
            changed.sealed_config
        ),
        ("Both", false, true, shared.sealed_config.clone())
    );

    // What it offered last, also to one person.
    let tool = ToolDefinition {
        name: "read".into(),
        title: None,
        description: "\0 reads".into(),
        input_schema: json!({"type": "object"}).into(),
        annotations: Default::default(),
    };
    let personal = SourceId::new("mcp-memory:local");
    for id in [&shared.id, &personal, &own.id] {
        assert_eq!(store.source_tools(id).await.unwrap(), None);
        let tools = std::slice::from_ref(&tool);
        store.put_source_tools(id, tools).await.unwrap();
        store.put_source_tools(id, &[]).await.unwrap();
        store.put_source_tools(id, tools).await.unwrap();
        let kept = another.source_tools(id).await.unwrap().unwrap();
        assert_eq!(kept, tools);
    }
    // Its documents: those with the same name are replaced, those that are not named are forgotten.
    let document = |name: &str, body: &[u8]| StoredDocument {
        name: name.into(),
        url: "https://a.example/openapi.json".into(),
        address: "a".into(),
        body: body.to_vec(),
        etag: Some("\"1\"".into()),
        last_modified: None,
        fetched_at: 7,
    };
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    for id in [&shared.id, &personal, &own.id] {
        let keep = |documents: Vec<StoredDocument>, names: Vec<String>| {
            let store = &store;
            async move {
                let kept = store.put_source_documents(id, documents, &names).await;
                kept.unwrap();
            }
        };
        let first = vec![document("", b"{}"), document("time", b"\0\xff")];
        keep(first, names(&["", "time"])).await;
        keep(vec![document("", b"new")], names(&["", "time"])).await;
        let mut kept = another.source_documents(id).await.unwrap();
        kept.sort_by(|one, other| one.name.cmp(&other.name));
        assert_eq!(kept, [document("", b"new"), document("time", b"\0\xff")]);
        keep(Vec::new(), names(&["time"])).await;
        let kept = another.source_documents(id).await.unwrap();
        assert_eq!(kept, [document("time", b"\0\xff")]);
    }
    assert_eq!(store.count_documents().await.unwrap(), 3);

    let info = |id: &SourceId, owner: &UserId| SourceInfo {
        id: id.clone(),
        kind: SourceKind::Mcp,
        name: "memory".into(),
        title: "Memory".into(),
        owner: Some(owner.clone()),
    };
    let given = store.tool_ids(&info(&personal, &local), &["read"]).await;
    let given = given.unwrap();

    // Log-ins and secrets: one each, the last one counts.
    for token in ["one", "two"] {
        let seal = |id: &str| vault.seal(&format!("grant:{id}"), token);
        store.put_grant(&shared.id, &local, seal).await.unwrap();
        for owner in [None, Some(&local)] {
            let seal = |id: &str| vault.seal(&format!("secret:{id}"), token);
            store.put_secret(owner, "KEY", seal).await.unwrap();
        }
    }
    let of = |owner| {
        let (store, vault) = (&another, &vault);
        async move {
            let secret = store.secret(owner, "KEY").await.unwrap()?;
            let about = format!("secret:{}", secret.id);
            Some(vault.open_sealed(&about, &secret.sealed_value).unwrap())
        }
    };
    assert_eq!(of(None).await.unwrap(), "two");
    assert_eq!(of(Some(&local)).await.unwrap(), "two");
    assert_eq!(store.secrets().await.unwrap().len(), 2);
    assert_eq!(store.secret(None, "no\0ne").await.unwrap(), None);

    // All of it moves to a new key.
    let rotated = store.rotate(&vault).await.unwrap();
    assert_eq!((rotated.moved, rotated.left), (5, Vec::new()));

    // The first account takes over what was there, and its tools keep their ids.
    let ada = user(&store, "ada@x.org").await;
    let adopted = store.source(&own.id).await.unwrap();
    assert_eq!(adopted.owner, Some(ada.clone()));
    let grant = store.grant(&shared.id, &ada).await.unwrap().unwrap();
    let token = vault.open_sealed(&format!("grant:{}", grant.id), &grant.sealed_grant);
    assert_eq!(token.unwrap(), "two");
    assert_eq!(of(Some(&ada)).await.unwrap(), "two");
    let hers = SourceId(format!("mcp-memory:{ada}"));
    let ids = store.tool_ids(&info(&hers, &ada), &["read"]).await;
    assert_eq!(ids.unwrap(), given);

    // A backup has it all.
    let file = folder.path().join("backup.tenon");
    let origin = BackupInput {
        work: &folder.path().join("work"),
        keys: None,
    };
    store
        .backup_to(&file, ExistingFile::Keep, origin, &mut |_, _| {})
        .await
        .unwrap();
    let before = store.sources().await.unwrap();

    // Whoever goes takes what is theirs along, and nothing else.
    let bob = user(&store, "bob@x.org").await;
    let his = add(&store, &vault, "his", Some(&bob)).await.unwrap();
    store
        .put_grant(&shared.id, &bob, |_| "sealed".into())
        .await
        .unwrap();
    store
        .put_secret(Some(&bob), "KEY", |_| "sealed".into())
        .await
        .unwrap();
    let before_bob = store.count_documents().await.unwrap();
    for id in [&his.id, &SourceId(format!("mcp-memory:{bob}"))] {
        store.put_source_tools(id, &[]).await.unwrap();
        let documents = vec![document("", b"{}")];
        let kept = store
            .put_source_documents(id, documents, &names(&[""]))
            .await;
        kept.unwrap();
    }
    store.delete_user(&bob).await.unwrap();
    assert!(store.source(&his.id).await.is_err());
    assert_eq!(store.grants().await.unwrap().len(), 1);
    assert_eq!(store.secrets().await.unwrap().len(), 2);
    assert_eq!(store.count_documents().await.unwrap(), before_bob);
    for id in [&his.id, &SourceId(format!("mcp-memory:{bob}"))] {
        assert_eq!(store.source_tools(id).await.unwrap(), None);
    }
    assert!(store.source_tools(&shared.id).await.unwrap().is_some());

    // So does a server.
    store.put_source_tools(&hers, &[]).await.unwrap();
    let beside = SourceId::new("mcp-memory-too");
    store.put_source_tools(&beside, &[]).await.unwrap();
    store.remove_source(&shared.id).await.unwrap();
    assert_eq!(store.grants().await.unwrap(), []);
    for id in [&shared.id, &hers] {
        assert_eq!(store.source_tools(id).await.unwrap(), None);
    }
    for id in [&own.id, &beside] {
        assert!(store.source_tools(id).await.unwrap().is_some());
    }
    assert!(!store.remove_grant(&shared.id, &ada).await.unwrap());
    store.remove_secret(None, "KEY").await.unwrap();
    assert!(matches!(
        store.remove_secret(None, "KEY").await,
        Err(Error::NotFound("secret"))
    ));
    assert!(of(Some(&ada)).await.is_some());

    // Added again it is the one it was.
    let again = add(&store, &vault, "memory", None).await.unwrap();
    assert_eq!(again.id, shared.id);

    let checked = VerifiedBackup::read(&file).unwrap();
    let work = folder.path().join("work");
    store
        .restore(&checked, &work, "before", &mut |_, _| {})
        .await
        .unwrap();
    assert_eq!(store.sources().await.unwrap(), before);
    assert_eq!(store.grant(&shared.id, &ada).await.unwrap(), Some(grant));
    assert_eq!(of(None).await.unwrap(), "two");
    assert!(store.source_tools(&shared.id).await.unwrap().is_some());
    let restored = store.source_documents(&shared.id).await.unwrap();
    assert_eq!(restored, [document("time", b"\0\xff")]);
}

async fn add(
    store: &Store,
    vault: &Vault,
    name: &str,
    owner: Option<&UserId>,
) -> tenon_store::Result<StoredSource> {
    let new = NewSourceRow {
        kind: SourceKind::Mcp,
        name,
        title: &format!("The \0 {name}"),
        owner,
        enabled: true,
        trust_hints: owner.is_none(),
    };
    let seal = |id: &SourceId| vault.seal(&format!("source:{id}"), &format!("config of {id}"));
    store.add_source(new, seal).await
}

async fn user(store: &Store, email: &str) -> UserId {
    let new = NewUserRow {
        email,
        name: "Somebody",
        role: UserRole::User,
        password_hash: None,
        oidc_subject: None,
    };
    store.create_user(new, Enrollment::Any).await.unwrap().id
}
