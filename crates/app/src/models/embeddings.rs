//! The embeddings that tools are found by: made by the model that is configured for it, and stored.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use tenon_domain::ModelId;
use tenon_domain::text::hex;
use tenon_llm::Remote;
use tenon_llm::embeddings::{EmbeddingFault, embed};
use tenon_store::Store;
use tenon_tools::{Embedder, EmbedderError, Embedding};

use super::Models;

/// Asks a model for what the store does not have.
pub(crate) struct ModelEmbedder {
    models: Models,
    store: Store,
    model: ModelId,
    /// Whether it was logged that the model makes no embeddings.
    has_warned: AtomicBool,
    /// Whether it was logged that it makes none of some text.
    has_warned_of_text: AtomicBool,
}

impl ModelEmbedder {
    /// A model that nobody knows is logged at once.
    pub(crate) fn start(models: Models, store: Store, model: &str) -> Arc<Self> {
        let embedder = Arc::new(Self {
            models,
            store,
            model: ModelId::new(model),
            has_warned: AtomicBool::new(false),
            has_warned_of_text: AtomicBool::new(false),
        });
        let checked = embedder.clone();
        tokio::spawn(async move { checked.remote().await });
        embedder
    }

    async fn remote(&self) -> Result<Remote, EmbedderError> {
        let model = self.models.find(&self.model).await;
        match model {
            Ok(model) => Ok(model.remote),
            Err(error) => {
                self.warn(&error.to_string());
                Err(EmbedderError::Unavailable)
            }
        }
    }

    async fn ask(
        &self,
        remote: &Remote,
        texts: &[String],
    ) -> Result<Vec<Embedding>, EmbedderError> {
        let vectors = embed(remote, texts).await.map_err(|fault| match fault {
            EmbeddingFault::Rejected(why) => {
                self.warn_of_text(texts, &why.message);
                EmbedderError::Rejected
            }
            EmbeddingFault::Failed(why) => {
                self.warn_of_text(texts, &why.message);
                EmbedderError::Failed
            }
            EmbeddingFault::Unavailable(why) => {
                self.warn(&why.message);
                EmbedderError::Unavailable
            }
        })?;
        self.has_warned.store(false, Ordering::Relaxed);
        let vectors = vectors.iter().map(|vector| Embedding::new(vector));
        // One without a direction says nothing of its text.
        vectors
            .collect::<Option<_>>()
            .ok_or(EmbedderError::Rejected)
    }

    /// Once, until it works again.
    fn warn(&self, why: &str) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                model = %self.model, why,
                "tools are found by their words alone: the model makes no embeddings"
            );
        }
    }

    /// Once: a text that the model breaks on is tried again and again. Of several texts it is
    /// asked for fewer.
    fn warn_of_text(&self, texts: &[String], why: &str) {
        if texts.len() == 1 && !self.has_warned_of_text.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                model = %self.model, why,
                "what the model makes no embedding of is found by its words alone"
            );
        }
    }
}

#[async_trait]
impl Embedder for ModelEmbedder {
    async fn embed_tools(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedderError> {
        let remote = self.remote().await?;
        // The same name at another address is another model.
        let model = format!("{} {}", remote.base_url, remote.model);
        let hashes: Vec<String> = texts.iter().map(|text| hash(text)).collect();
        let known = self.store.embeddings(&model, &hashes).await;
        let mut known: HashMap<String, Embedding> = known
            .map_err(|error| {
                tracing::warn!(%error, "stored embeddings cannot be read");
                EmbedderError::Unavailable
            })?
            .into_iter()
            .map(|(hash, vector)| (hash, Embedding::from_bytes(&vector)))
            .collect();
        let (missing, texts): (Vec<String>, Vec<String>) = hashes
            .iter()
            .cloned()
            .zip(texts.iter().cloned())
            .filter(|(hash, _)| !known.contains_key(hash))
            .unzip();
        if !missing.is_empty() {
            let made = self.ask(&remote, &texts).await?;
            let rows = made.iter().map(Embedding::to_bytes);
            let rows = missing.iter().cloned().zip(rows).collect();
            if let Err(error) = self.store.put_embeddings(&model, rows).await {
                tracing::debug!(%error, "embeddings are not stored, and made again next time");
            }
            known.extend(missing.into_iter().zip(made));
        }
        let all = hashes.iter().map(|hash| known.get(hash).cloned());
        all.collect::<Option<_>>().ok_or(EmbedderError::Failed)
    }

    async fn embed_query(&self, text: &str) -> Result<Embedding, EmbedderError> {
        let remote = self.remote().await?;
        let vectors = self.ask(&remote, &[text.to_owned()]).await?;
        vectors.into_iter().next().ok_or(EmbedderError::Failed)
    }
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text)[..16])
}
