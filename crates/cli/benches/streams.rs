//! `make bench`: a thousand answers that are streamed at once.
//!
//! The model says a word every 20 ms in each of them; somebody watches every chat. The delay is
//! from the model's stream to whoever watches, so that nothing of ours is left out but the
//! socket.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/heap.rs"]
mod heap;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use tenon_agent::feed::{LiveUpdate, WatchEvent};
use tenon_agent::{Agent, AgentSettings, TurnModel, TurnRequest};
use tenon_domain::{ChatId, EventBody, ModelId, ModelRef, StopReason, TurnOutcome, UserId};
use tenon_llm::{Error, ModelDelta, ModelRequest, ModelStream, Provider};
use tenon_store::Store;
use tenon_tools::{CallLimits, MemoryOutputStore, MemoryToolIdStore, Registry};

/// A build that is not optimised only shows that this works.
const TURNS: usize = if cfg!(debug_assertions) { 100 } else { 1_000 };
const WORDS: u32 = 500;
const WORD_INTERVAL: Duration = Duration::from_millis(20);

/// Words carry the time since then.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder for the database");
    let file = folder.path().join("bench.db");
    let store = Store::open_file(&file).await.expect("a database");
    let registry = Registry::new(
        Arc::new(MemoryToolIdStore::default()),
        Arc::new(MemoryOutputStore::default()),
        CallLimits::default(),
    );
    let agent = Agent::new(store.clone(), registry, AgentSettings::new(folder.path()));
    let user = UserId::new("ada");
    let mut chats = Vec::new();
    for _ in 0..TURNS {
        chats.push(store.create_chat(&user, "x").await.expect("a chat").id);
    }
    // The first one fills what stays whatever comes.
    let first = store.create_chat(&user, "x").await.expect("a chat").id;
    turn(agent.clone(), user.clone(), first).await;

    let before = heap::in_use();
    heap::reset_peak();
    let turns = chats
        .into_iter()
        .map(|chat| tokio::spawn(turn(agent.clone(), user.clone(), chat)));
    let turns: Vec<_> = turns.collect();
    let mut delays = Vec::with_capacity(TURNS * WORDS as usize);
    for turn in turns {
        delays.extend(turn.await.expect("every turn ends"));
    }
    // What was noted down to measure it is not a turn's.
    let noted = (TURNS * WORDS as usize * size_of::<Duration>()) as isize * 2;
    let each = (heap::peak() - before - noted) / TURNS as isize;
    delays.sort();
    let quantile = |share: usize| delays[delays.len() * share / 1000];
    println!(
        "{TURNS} turns at once, {} words/s: delay {:.2?}, p99 {:.2?} (target: 50 ms), p99.9 {:.2?}; \
         {} KiB a turn (target: 100)",
        TURNS as u128 * 1000 / WORD_INTERVAL.as_millis(),
        quantile(500),
        quantile(990),
        quantile(999),
        each / 1024
    );
}

/// How long each word took from the model to whoever watches.
async fn turn(agent: Agent, user: UserId, chat: ChatId) -> Vec<Duration> {
    let mut watch = agent.feed().watch(&chat);
    let model = TurnModel {
        provider: Arc::new(Clockwork),
        shown: ModelRef {
            id: ModelId::new("bench"),
            name: "Bench".into(),
        },
        prices: None,
        makes_titles: false,
    };
    let request = TurnRequest::new(user, chat, "go", model);
    agent.start(request).await.expect("a turn");
    let mut delays = Vec::with_capacity(WORDS as usize);
    loop {
        match watch.next().await {
            WatchEvent::Live(LiveUpdate::Delta(delta)) => {
                let now = BEGUN.elapsed();
                // Words that waited together come as one delta.
                let said = delta.text.split_whitespace();
                let said = said.filter_map(|micros| micros.parse().ok());
                delays.extend(said.map(|micros| now.saturating_sub(Duration::from_micros(micros))));
            }
            WatchEvent::Live(LiveUpdate::Event(event)) => {
                if let EventBody::TurnFinished { outcome, .. } = &event.body {
                    assert_eq!(*outcome, TurnOutcome::Done);
                    assert_eq!(delays.len(), WORDS as usize);
                    return delays;
                }
            }
            WatchEvent::Live(
                LiveUpdate::Waiting(_) | LiveUpdate::PromptProgress(_) | LiveUpdate::Progress(_),
            ) => {}
            WatchEvent::Behind | WatchEvent::Closed => panic!("a watcher fell behind"),
        }
    }
}

/// Says the time, fifty times a second.
struct Clockwork;

#[async_trait]
impl Provider for Clockwork {
    fn name(&self) -> &str {
        "Clockwork"
    }

    async fn stream(&self, _request: ModelRequest) -> Result<ModelStream, Error> {
        let pace = tokio::time::interval(WORD_INTERVAL);
        let words = stream::unfold((pace, 0), |(mut pace, said)| async move {
            if said == WORDS {
                return None;
            }
            pace.tick().await;
            let word = format!("{} ", BEGUN.elapsed().as_micros());
            Some((Ok(ModelDelta::Text(word)), (pace, said + 1)))
        });
        let stop = stream::iter([Ok(ModelDelta::Stop(StopReason::End))]);
        Ok(Box::pin(words.chain(stop)))
    }
}
