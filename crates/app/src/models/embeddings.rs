//! The embeddings that tools are found by: made by the model that is configured for it, and stored.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use tenon_domain::ModelId;
use tenon_llm::embeddings::embed;
use tenon_store::Store;
use tenon_tools::{Embedder, Embedding};

use super::Models;

/// Asks a model for what the store does not have.
pub(crate) struct ModelEmbedder {
    models: Models,
    store: Store,
    model: ModelId,
    /// Whether the log was told that it does not work.
    is_told: AtomicBool,
}

impl ModelEmbedder {
    pub(crate) fn new(models: Models, store: Store, model: &str) -> Self {
        Self {
            models,
            store,
            model: ModelId::new(model),
            is_told: AtomicBool::new(false),
        }
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Embedding>, String> {
        let model = self.models.find(&self.model).await;
        let remote = model.map_err(|error| error.to_string())?.remote;
        let vectors = embed(&remote, texts).await;
        let vectors = vectors.map_err(|error| error.message)?;
        let vectors = vectors.iter().map(|vector| Embedding::new(vector));
        vectors
            .collect::<Option<_>>()
            .ok_or_else(|| "a vector without a direction".into())
    }

    fn tell(&self, why: &str) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(model = %self.model, why, "tools are found by their words alone: the model makes no embeddings");
        }
    }
}

#[async_trait]
impl Embedder for ModelEmbedder {
    async fn embed(&self, texts: &[String]) -> Option<Vec<Embedding>> {
        let model = self.model.as_str();
        let hashes: Vec<String> = texts.iter().map(|text| hash(text)).collect();
        let known = self.store.embeddings(model, &hashes).await;
        let mut known: HashMap<String, Embedding> = known
            .inspect_err(|error| self.tell(&error.to_string()))
            .ok()?
            .into_iter()
            .map(|(hash, vector)| (hash, Embedding::from_bytes(&vector)))
            .collect();
        let missing: HashMap<&String, &String> = hashes
            .iter()
            .zip(texts)
            .filter(|(hash, _)| !known.contains_key(*hash))
            .collect();
        if !missing.is_empty() {
            let (hashes, texts): (Vec<&String>, Vec<String>) = missing
                .into_iter()
                .map(|(hash, text)| (hash, text.clone()))
                .unzip();
            let made = self.ask(&texts).await;
            let made = made.inspect_err(|why| self.tell(why)).ok()?;
            self.is_told.store(false, Ordering::Relaxed);
            let made: Vec<(String, Embedding)> = hashes.into_iter().cloned().zip(made).collect();
            let rows = made
                .iter()
                .map(|(hash, made)| (hash.clone(), made.to_bytes()));
            if let Err(error) = self.store.put_embeddings(model, rows.collect()).await {
                tracing::debug!(%error, "embeddings are not stored, and made again next time");
            }
            known.extend(made);
        }
        hashes.iter().map(|hash| known.get(hash).cloned()).collect()
    }
}

fn hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
