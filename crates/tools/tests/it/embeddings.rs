//! Tools that are found by meaning where the words differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;
use tenon_tools::{Embedder, EmbedderError, Embedding, TOOL_SEARCH, Toolset};

use crate::hub::{Hub, Odd, by_model, call, context};

/// A tool whose text the model does not take.
const REFUSED: &str = "walk_dog_13";

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Knows of two meanings: security of a house, and everything else.
#[derive(Default)]
struct TwoMeanings {
    texts: AtomicUsize,
    is_away: AtomicBool,
    hangs: AtomicBool,
}

impl TwoMeanings {
    async fn embed(&self, text: &str) -> Option<Embedding> {
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.is_away.load(Ordering::SeqCst) {
            return None;
        }
        self.texts.fetch_add(1, Ordering::SeqCst);
        let of_house = ["lock_door", "burglars"];
        let is_of_house = of_house.iter().any(|word| text.contains(word));
        let vector = if is_of_house { [1.0, 0.1] } else { [0.0, 1.0] };
        Embedding::new(&vector)
    }
}

#[async_trait]
impl Embedder for TwoMeanings {
    async fn embed_tools(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedderError> {
        if texts.iter().any(|text| text.contains(REFUSED)) {
            return Err(EmbedderError::Refused);
        }
        let mut vectors = Vec::new();
        for text in texts {
            vectors.push(self.embed(text).await.ok_or(EmbedderError::Away)?);
        }
        Ok(vectors)
    }

    async fn embed_query(&self, text: &str) -> Result<Embedding, EmbedderError> {
        self.embed(text).await.ok_or(EmbedderError::Away)
    }
}

async fn found(toolset: &Toolset) -> String {
    let input = json!({"query": "keep burglars out", "limit": 3});
    let output = toolset.call(&call(TOOL_SEARCH, input), &context()).await;
    output.unwrap().content[0].as_text().unwrap().to_owned()
}

#[tokio::test]
async fn a_tool_is_found_by_what_it_means_once_that_is_known() {
    let hub = Hub::showing(10_000);
    let dogs = (0..70).map(|number| &*format!("walk_dog_{number}").leak());
    let mut names: Vec<&'static str> = dogs.collect();
    names.push("lock_door");
    let source = Arc::new(Odd::new("home", &names));
    let connection = hub.registry.connect(source).await.unwrap();
    let toolset = hub.registry.toolset(by_model()).with_search();
    assert!(found(&toolset).await.starts_with("No tool was found"));

    let embedder = Arc::new(TwoMeanings::default());
    embedder.is_away.store(true, Ordering::SeqCst);
    hub.registry.embed_with(embedder.clone());
    let toolset = hub.registry.toolset(by_model()).with_search();
    assert!(found(&toolset).await.starts_with("No tool was found"));
    embedder.is_away.store(false, Ordering::SeqCst);
    // A change of the catalog has it try again before its time.
    hub.registry.refresh(&connection).await.unwrap();
    let begun = Instant::now();
    loop {
        let toolset = hub.registry.toolset(by_model()).with_search();
        if found(&toolset).await.contains("lock_door") {
            break;
        }
        assert!(begun.elapsed() < TEST_TIMEOUT);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Each text once but for the one that is refused, and what is looked for once.
    let made = embedder.texts.load(Ordering::SeqCst);
    assert_eq!(made, names.len());
    let first = found(&hub.registry.toolset(by_model()).with_search()).await;
    assert!(first.starts_with("mcp_home_lock_door"), "{first}");
    assert_eq!(embedder.texts.load(Ordering::SeqCst), made);

    // One that hangs is not waited for: words must do.
    embedder.hangs.store(true, Ordering::SeqCst);
    let toolset = hub.registry.toolset(by_model());
    toolset.prepare_search("walk dog 7").await;
    let found = toolset.search("walk dog 7", None, 1);
    assert_eq!(found[0].spec.name, "walk_dog_7");
    // Nor asked at once again.
    let begun = Instant::now();
    for number in 0..50 {
        toolset.prepare_search(&format!("walk dog {number}")).await;
    }
    assert!(begun.elapsed() < TEST_TIMEOUT);
}
