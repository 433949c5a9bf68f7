//! Tools that are found by meaning where the words differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;
use tenon_domain::Message;
use tenon_tools::{
    Connection, Embedder, EmbedderError, Embedding, OfferLimits, OfferSize, TOOL_SEARCH, Toolset,
};
use tokio::sync::Notify;

use crate::hub::{Hub, Odd, by_model, call, context};

/// A tool whose text the model does not take.
const REJECTED: &str = "walk_dog_13";

/// A tool whose text the model breaks on, if it does.
const BREAKING: &str = "water_plants";

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Knows of two meanings: security of a house, and everything else.
#[derive(Default)]
struct TwoMeanings {
    texts: AtomicUsize,
    is_away: AtomicBool,
    hangs: AtomicBool,
    /// Whether it breaks on [`BREAKING`].
    breaks: AtomicBool,
    /// Whether it breaks on whatever it is asked.
    is_broken: AtomicBool,
    /// Requests with one text that it broke on.
    broken_texts: AtomicUsize,
    /// What hangs goes on.
    released: Notify,
}

impl TwoMeanings {
    async fn embed(&self, text: &str) -> Result<Embedding, EmbedderError> {
        if self.hangs.load(Ordering::SeqCst) {
            self.released.notified().await;
        }
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(EmbedderError::Failed);
        }
        if self.is_away.load(Ordering::SeqCst) {
            return Err(EmbedderError::Unavailable);
        }
        self.texts.fetch_add(1, Ordering::SeqCst);
        let of_house = ["lock_door", "burglars"];
        let is_of_house = of_house.iter().any(|word| text.contains(word));
        let vector = if is_of_house { [1.0, 0.1] } else { [0.0, 1.0] };
        Embedding::new(&vector).ok_or(EmbedderError::Rejected)
    }

    fn breaks_on(&self, texts: &[String]) -> bool {
        let breaks = self.breaks.load(Ordering::SeqCst);
        let is_broken = self.is_broken.load(Ordering::SeqCst);
        is_broken || breaks && texts.iter().any(|text| text.contains(BREAKING))
    }
}

#[async_trait]
impl Embedder for TwoMeanings {
    async fn embed_tools(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedderError> {
        if texts.iter().any(|text| text.contains(REJECTED)) {
            return Err(EmbedderError::Rejected);
        }
        if self.breaks_on(texts) {
            let is_alone = usize::from(texts.len() == 1);
            self.broken_texts.fetch_add(is_alone, Ordering::SeqCst);
            return Err(EmbedderError::Failed);
        }
        let mut vectors = Vec::new();
        for text in texts {
            vectors.push(self.embed(text).await?);
        }
        Ok(vectors)
    }

    async fn embed_query(&self, text: &str) -> Result<Embedding, EmbedderError> {
        self.embed(text).await
    }
}

async fn found(toolset: &Toolset) -> String {
    found_for(toolset, "keep burglars out").await
}

async fn found_for(toolset: &Toolset, query: &str) -> String {
    let input = json!({"query": query, "limit": 3});
    let output = toolset.call(&call(TOOL_SEARCH, input), &context()).await;
    output.unwrap().content[0].as_text().unwrap().to_owned()
}

/// Dogs, and a door among them.
async fn home(hub: &Hub) -> (Connection, Vec<&'static str>) {
    let dogs = (0..70).map(|number| &*format!("walk_dog_{number}").leak());
    let mut names: Vec<&'static str> = dogs.filter(|name| *name != REJECTED).collect();
    names.extend(["lock_door", BREAKING]);
    let source = Arc::new(Odd::new("home", &names));
    (hub.registry.connect(source).await.unwrap(), names)
}

/// Waits until so many texts were embedded.
async fn embedded(embedder: &TwoMeanings, texts: usize) {
    let waiting = async {
        while embedder.texts.load(Ordering::SeqCst) != texts {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let minute = Duration::from_secs(60);
    tokio::time::timeout(minute, waiting).await.unwrap();
}

/// What a model is offered in a conversation where it cannot be told of all tools.
async fn offered(hub: &Hub, said: &str) -> Vec<String> {
    let toolset = hub.registry.toolset(by_model()).with_search();
    let (messages, size) = (
        [Message::user(said)],
        OfferSize::Full(OfferLimits {
            max_tools: 20,
            ..OfferLimits::NONE
        }),
    );
    toolset.prepare_offer(&messages, size).await;
    let tools = toolset.offer(&messages, size).tools;
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn a_tool_is_found_by_what_it_means_once_that_is_known() {
    let hub = Hub::showing(10_000);
    let (connection, names) = home(&hub).await;
    let rejected = Arc::new(Odd::new("other", &[REJECTED]));
    let _rejected = hub.registry.connect(rejected).await.unwrap();
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
    // Each text once but for the one that is rejected, and what is looked for once.
    let made = embedder.texts.load(Ordering::SeqCst);
    assert_eq!(made, names.len() + 1);
    let first = found(&hub.registry.toolset(by_model()).with_search()).await;
    assert!(first.starts_with("mcp_home_lock_door"), "{first}");
    assert_eq!(embedder.texts.load(Ordering::SeqCst), made);

    // What the words name comes before what they mean.
    let toolset = hub.registry.toolset(by_model()).with_search();
    let both = found_for(&toolset, "water the plants, burglars like them dry").await;
    let place = |name| both.find(name).unwrap_or_else(|| panic!("{both}"));
    assert!(place(BREAKING) < place("lock_door"), "{both}");
    assert!(both.starts_with(&format!("mcp_home_{BREAKING}")), "{both}");

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

#[tokio::test(start_paused = true)]
async fn a_text_that_the_model_breaks_on_is_tried_again_and_keeps_no_other_from_its_embedding() {
    let hub = Hub::showing(10_000);
    let (_connection, names) = home(&hub).await;
    let embedder = Arc::new(TwoMeanings::default());
    embedder.breaks.store(true, Ordering::SeqCst);
    hub.registry.embed_with(embedder.clone());
    embedded(&embedder, names.len() - 1).await;
    assert!(
        offered(&hub, "keep burglars out")
            .await
            .contains(&"lock_door".to_owned())
    );

    // Nothing has changed but the model.
    embedder.breaks.store(false, Ordering::SeqCst);
    embedded(&embedder, names.len() + 1).await;
}

#[tokio::test(start_paused = true)]
async fn texts_that_the_model_does_not_take_keep_no_other_from_its_embedding() {
    let hub = Hub::showing(10_000);
    let (_connection, names) = home(&hub).await;
    // They come first.
    let rejected: Vec<&'static str> = (0..8)
        .map(|number| &*format!("{REJECTED}_{number}").leak())
        .collect();
    let source = Arc::new(Odd::new("a", &rejected));
    let _rejected = hub.registry.connect(source).await.unwrap();
    let embedder = Arc::new(TwoMeanings::default());
    hub.registry.embed_with(embedder.clone());
    embedded(&embedder, names.len()).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_breaks_on_everything_is_left_alone_for_a_while() {
    let hub = Hub::showing(10_000);
    let (_connection, names) = home(&hub).await;
    let embedder = Arc::new(TwoMeanings::default());
    embedder.is_broken.store(true, Ordering::SeqCst);
    hub.registry.embed_with(embedder.clone());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(embedder.broken_texts.load(Ordering::SeqCst), 8);
    embedder.is_broken.store(false, Ordering::SeqCst);
    embedded(&embedder, names.len()).await;
}

#[tokio::test(start_paused = true)]
async fn what_words_chose_in_one_step_is_not_chosen_by_meaning_in_the_next() {
    let hub = Hub::showing(10_000);
    let (_connection, names) = home(&hub).await;
    let embedder = Arc::new(TwoMeanings::default());
    hub.registry.embed_with(embedder.clone());
    embedded(&embedder, names.len()).await;
    let door = "lock_door".to_owned();

    embedder.is_broken.store(true, Ordering::SeqCst);
    let first = offered(&hub, "keep burglars out").await;
    assert!(!first.contains(&door), "{first:?}");
    embedder.is_broken.store(false, Ordering::SeqCst);
    assert_eq!(offered(&hub, "keep burglars out").await, first);
    // Other texts are embedded at once.
    assert!(offered(&hub, "no burglars here").await.contains(&door));

    // What comes too late is kept for later.
    embedder.hangs.store(true, Ordering::SeqCst);
    let first = offered(&hub, "burglars again").await;
    assert!(!first.contains(&door), "{first:?}");
    embedder.hangs.store(false, Ordering::SeqCst);
    embedder.released.notify_waiters();
    embedded(&embedder, names.len() + 2).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(offered(&hub, "burglars again").await, first);
    tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
    assert!(offered(&hub, "burglars again").await.contains(&door));
    assert_eq!(embedder.texts.load(Ordering::SeqCst), names.len() + 2);
}

#[tokio::test(start_paused = true)]
async fn tools_of_one_person_are_not_embedded() {
    let hub = Hub::showing(10_000);
    let (_connection, names) = home(&hub).await;
    let embedder = Arc::new(TwoMeanings::default());
    hub.registry.embed_with(embedder.clone());
    embedded(&embedder, names.len()).await;
    let own = Arc::new(Odd::new("own", &["lock_safe"]).of(&crate::hub::ada()));
    let _own = hub.registry.connect(own).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(embedder.texts.load(Ordering::SeqCst), names.len());
}
