//! Models come, change, take turns at being the default, and go.

use serde_json::{Map, json};
use tenon_domain::{ModelConfig, ModelId, Prices, ToolMode, ToolUse, WireFormat};
use tenon_store::{Error, Store, StoredModel};

pub async fn chapter(store: &Store, another: &Store) {
    let claude = ModelConfig {
        id: ModelId::new("claude"),
        name: "克劳德\0".into(),
        provider: WireFormat::Anthropic,
        base_url: "https://api.example".into(),
        endpoint: None,
        model: "claude-x".into(),
        parameters: Map::from_iter([("stop".into(), json!(["\0", 0.7, null]))]),
        tool_mode: ToolMode::Auto,
        tools_seen: None,
        context_tokens: Some(u64::MAX),
        tool_budget: None,
        prices: Some(Prices {
            currency: "USD".into(),
            input: 3.0,
            output: 15.0,
            cache_read: Some(0.3),
            cache_write: None,
        }),
    };
    let local = ModelConfig {
        id: ModelId::new("local"),
        name: "Local".into(),
        provider: WireFormat::Openai,
        base_url: String::new(),
        endpoint: Some("ollama".into()),
        model: "llama3.2".into(),
        parameters: Map::new(),
        tool_mode: ToolMode::Constrained,
        tools_seen: Some(ToolUse::None),
        context_tokens: None,
        tool_budget: None,
        prices: None,
    };
    assert_eq!(store.models().await.unwrap(), []);

    // What is put comes back, but for NUL and what no column can count.
    let first = store.put_model(&claude, Some("v1.sealed")).await.unwrap();
    let kept = ModelConfig {
        name: "克劳德\u{FFFD}".into(),
        context_tokens: Some(i64::MAX.unsigned_abs()),
        tool_budget: None,
        ..claude
    };
    assert_eq!(
        first,
        StoredModel {
            config: kept.clone(),
            sealed_key: Some("v1.sealed".into()),
            is_default: false,
            ..first.clone()
        }
    );
    // Another millisecond, so that the older one is the older one.
    while tenon_store::now() == first.created_at {
        tokio::task::yield_now().await;
    }
    let second = store.put_model(&local, None).await.unwrap();
    assert_eq!(second.config, local);
    assert_eq!(
        another.models().await.unwrap(),
        [first.clone(), second.clone()]
    );
    assert_eq!(store.model(&local.id).await.unwrap(), second);

    // One is the default, or none.
    store.choose_model(Some(&local.id)).await.unwrap();
    assert_eq!(defaults(store).await, ["local"]);
    store.choose_model(Some(&kept.id)).await.unwrap();
    assert_eq!(defaults(store).await, ["claude"]);
    let nobody = ModelId::new("no\0body");
    let chosen = store.choose_model(Some(&nobody)).await;
    assert!(matches!(chosen, Err(Error::NotFound("model"))));
    assert_eq!(defaults(store).await, ["claude"]);
    for _ in 0..20 {
        store.choose_model(None).await.unwrap();
        assert!(defaults(store).await.is_empty());
        let (here, there) = tokio::join!(
            store.choose_model(Some(&local.id)),
            another.choose_model(Some(&kept.id))
        );
        here.and(there).unwrap();
        assert_eq!(defaults(store).await.len(), 1);
    }
    store.choose_model(Some(&kept.id)).await.unwrap();

    // A change keeps age and default; a key that is not given again is gone.
    let renamed = ModelConfig {
        name: "Opus".into(),
        prices: None,
        ..kept
    };
    let changed = store.put_model(&renamed, None).await.unwrap();
    assert_eq!(
        changed,
        StoredModel {
            config: renamed.clone(),
            sealed_key: None,
            is_default: true,
            created_at: first.created_at,
            updated_at: changed.updated_at,
        }
    );
    assert!(changed.updated_at > first.updated_at);
    assert_eq!(store.model(&renamed.id).await.unwrap(), changed);

    // A test's finding touches nothing else.
    for seen in [Some(ToolUse::Native), Some(ToolUse::Constrained), None] {
        store.set_tools_seen(&renamed, seen).await.unwrap();
        let tested = store.model(&renamed.id).await.unwrap();
        let expected = ModelConfig {
            tools_seen: seen,
            ..renamed.clone()
        };
        assert_eq!((tested.config, tested.is_default), (expected, true));
    }

    // One that was moved while the test ran is another one.
    let elsewhere = ModelConfig {
        base_url: "http://elsewhere/v1".into(),
        ..renamed.clone()
    };
    let late = store.set_tools_seen(&elsewhere, Some(ToolUse::None)).await;
    assert!(matches!(late, Err(Error::NotFound("model"))));

    // Two changes at once both count.
    let change = |store: &Store, change: fn(&mut ModelConfig)| {
        let (store, id) = (store.clone(), renamed.id.clone());
        tokio::spawn(async move {
            store
                .change_model::<Error>(&id, |mut old| {
                    change(&mut old.config);
                    Ok((old.config, Some("sealed".into())))
                })
                .await
        })
    };
    let one = change(store, |config| config.name = "Both".into());
    let two = change(another, |config| config.context_tokens = Some(4_096));
    one.await.unwrap().unwrap();
    two.await.unwrap().unwrap();
    let both = store.model(&renamed.id).await.unwrap();
    assert_eq!(
        (
            both.config.name.as_str(),
            both.config.context_tokens,
            both.is_default
        ),
        ("Both", Some(4_096), true)
    );
    assert_eq!(both.created_at, first.created_at);

    // The default goes, and then there is none.
    store.delete_model(&renamed.id).await.unwrap();
    assert_eq!(store.models().await.unwrap(), [second]);
    for missing in [&renamed.id, &nobody] {
        for answer in [
            store.model(missing).await.map(drop),
            store.delete_model(missing).await,
            store
                .change_model::<Error>(missing, |old| Ok((old.config, None)))
                .await
                .map(drop),
        ] {
            assert!(matches!(answer, Err(Error::NotFound("model"))));
        }
    }
    // The same id again is a new model.
    let again = store.put_model(&renamed, None).await.unwrap();
    assert!(again.created_at > first.created_at && !again.is_default);
}

async fn defaults(store: &Store) -> Vec<String> {
    let models = store.models().await.unwrap().into_iter();
    let defaults = models.filter(|model| model.is_default);
    defaults.map(|model| model.config.id.0).collect()
}
