use std::fs;

use serde_json::Map;
use tenon_domain::{CallId, ModelConfig, ModelId, ToolMode, UserId, WireFormat};

use super::*;

fn model(id: &str) -> ModelConfig {
    ModelConfig {
        id: ModelId::new(id),
        name: id.into(),
        provider: WireFormat::Openai,
        base_url: "https://models.example/v1".into(),
        endpoint: None,
        model: "m".into(),
        parameters: Map::new(),
        tool_mode: ToolMode::Auto,
        tools_seen: None,
        context_tokens: None,
        tool_budget: None,
        prices: None,
    }
}

/// Keeps the key of a model as the server does.
async fn keep(store: &Store, vault: &Vault, id: &str, secret: &str) {
    let sealed = vault.seal(&format!("model:{id}"), secret);
    store.put_model(&model(id), Some(&sealed)).await.unwrap();
}

async fn kept(store: &Store, vault: &Vault, id: &str) -> Result<String> {
    let sealed = store.model(&ModelId::new(id)).await?.sealed_key.unwrap();
    vault.open_sealed(&format!("model:{id}"), &sealed)
}

async fn uses(store: &Store, vault: &Vault) -> Vec<(usize, KeyLocation)> {
    let uses = store.key_use(vault).await.unwrap();
    uses.iter().map(|key| (key.values, key.place)).collect()
}

#[tokio::test]
async fn every_sealed_column_is_in_the_list() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let find = "SELECT m.name || '.' || p.name FROM sqlite_master m, pragma_table_info(m.name) p \
                WHERE p.name LIKE 'sealed%' ORDER BY 1";
    let found = store.first_column(find).await;
    let moved = SEALED.map(|column| format!("{}.{}", column.table, column.column));
    let deleted = "call_traces.sealed_content".to_owned();
    assert_eq!(found, [vec![deleted], moved.to_vec()].concat());
}

#[tokio::test]
async fn everything_moves_to_the_new_key_and_the_old_one_goes_a_rotation_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open("sqlite::memory:").await.unwrap();
    let vault = Vault::open(folder.path(), None).unwrap();
    store.put_model(&model("open"), None).await.unwrap();
    keep(&store, &vault, "a", "sk-a").await;
    keep(&store, &vault, "b", "sk-b").await;
    let late = vault.seal("model:late", "sk-late");
    let (user, call) = (UserId::new("ada"), CallId::new(crate::fresh_id()));
    store.call_trace_behind(&user, &call, vault.seal("call:1", "traced"));
    let trace = store.call_trace(&user, &call).await.unwrap();
    assert!(trace.is_some());

    let rotated = store.rotate(&vault).await.unwrap();
    assert_eq!(store.call_trace(&user, &call).await.unwrap(), None);
    assert_eq!((rotated.moved, rotated.left), (2, Vec::new()));
    assert_eq!(kept(&store, &vault, "a").await.unwrap(), "sk-a");
    // Somebody who had read the old key writes what it sealed only now.
    store.put_model(&model("late"), Some(&late)).await.unwrap();
    assert_eq!(
        uses(&store, &vault).await,
        [(2, KeyLocation::Seals), (1, KeyLocation::Opens)]
    );

    let rotated = store.rotate(&vault).await.unwrap();
    assert_eq!(rotated.moved, 3);
    assert_eq!(kept(&store, &vault, "late").await.unwrap(), "sk-late");
    assert_eq!(vault.key_ids().len(), 3);
    store.rotate(&vault).await.unwrap();
    assert_eq!(
        uses(&store, &vault).await,
        [(3, KeyLocation::Seals), (0, KeyLocation::Opens)]
    );
}

/// Stopped after the file was written, and before anything was sealed anew.
#[tokio::test]
async fn a_rotation_that_is_cut_off_leaves_everything_readable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    let vault = Vault::open(folder.path(), None).unwrap();
    keep(&store, &vault, "a", "sk-a").await;
    for _ in 0..3 {
        let before = Store::open_file(&file).await.unwrap();
        let used = vault.key_ids().into_iter().collect();
        vault.renew(&used).unwrap();
        drop(before);
        let later = Vault::open(folder.path(), None).unwrap();
        assert_eq!(kept(&store, &later, "a").await.unwrap(), "sk-a");
    }
    // Or the new file never got its name.
    let left = folder.path().join(".secret.key.cut-off");
    fs::write(left, "BwcH").unwrap();
    let later = Vault::open(folder.path(), None).unwrap();
    assert_eq!(kept(&store, &later, "a").await.unwrap(), "sk-a");

    assert_eq!(store.rotate(&later).await.unwrap().moved, 1);
    assert_eq!(kept(&store, &later, "a").await.unwrap(), "sk-a");
    // The keys of the rotations that came to nothing are not used and go.
    assert_eq!(later.key_ids().len(), 3);
}

#[tokio::test]
async fn what_cannot_be_opened_stays_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open("sqlite::memory:").await.unwrap();
    let stranger = Vault::open(&folder.path().join("elsewhere"), None).unwrap();
    let vault = Vault::open(folder.path(), None).unwrap();
    keep(&store, &vault, "ours", "sk-ours").await;
    keep(&store, &stranger, "theirs", "sk-theirs").await;
    let rotated = store.rotate(&vault).await.unwrap();
    assert_eq!(rotated.moved, 1);
    assert_eq!(rotated.left[0].0, "model:theirs");
    assert!(rotated.left[0].1.contains("sealed with another key"));
    assert_eq!(
        kept(&store, &stranger, "theirs").await.unwrap(),
        "sk-theirs"
    );
    assert_eq!(
        uses(&store, &vault).await,
        [
            (1, KeyLocation::Seals),
            (0, KeyLocation::Opens),
            (1, KeyLocation::Missing)
        ]
    );
}

#[tokio::test]
async fn given_keys_are_left_to_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open("sqlite::memory:").await.unwrap();
    let (old, new) = ("07".repeat(32), "08".repeat(32));
    let before = Vault::open(folder.path(), Some(&old)).unwrap();
    keep(&store, &before, "a", "sk-a").await;
    let both = Vault::open(folder.path(), Some(&format!("{new},{old}"))).unwrap();
    assert_eq!(store.rotate(&both).await.unwrap().moved, 1);
    let after = Vault::open(folder.path(), Some(&new)).unwrap();
    assert_eq!(kept(&store, &after, "a").await.unwrap(), "sk-a");
    assert!(!folder.path().join("secret.key").exists());
}
