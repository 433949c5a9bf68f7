//! Three servers behind a proxy, and everything that can go wrong with them at once.
//!
//! People write through nginx, which gives each request to another server; pages follow the chats
//! over sockets. Meanwhile servers are killed or paused for longer than their leases, Redis is
//! killed, and connections to PostgreSQL are cut. Witnesses that are no part of Tenon count: what
//! was acknowledged is there once and has an end, no tool was called twice for one call, and every
//! page sees every event in order. `CLUSTER_SECONDS`, `CLUSTER_CLIENTS` and `CLUSTER_PAGES` make it
//! longer (`make torture`); `TORTURE_SEED` repeats the order of faults.

mod pages;
mod servers;
mod witness;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use sea_orm::{ConnectionTrait, Database};
use serde_json::{Value, json};
use tenon_domain::{ChatId, EventBody, TurnId};
use tenon_store::Store;
use tokio::sync::watch;

use crate::postgres::Postgres;
use crate::redis::Redis;
use pages::LastEvents;
use servers::{BalancedServers, RETRY_PAUSE};
use witness::Witness;

/// A server that is paused for so long has lost its lease.
const PAUSE: Duration = Duration::from_secs(18);

/// A page follows so many chats, so that each is followed by two where there are a thousand.
const CHATS_OF_PAGE: usize = 10;

/// So long after the last fault everything has an end: a lease, a look for it, and slack for a slow
/// machine.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_nothing_acknowledged_is_lost_or_doubled() {
    let seconds = number("CLUSTER_SECONDS").unwrap_or(60);
    let clients = number("CLUSTER_CLIENTS").unwrap_or(12);
    let page_count = number("CLUSTER_PAGES").unwrap_or(6);
    let seed = number("TORTURE_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap().as_nanos() as u64
    });
    eprintln!("TORTURE_SEED={seed} CLUSTER_SECONDS={seconds}");
    let postgres = Postgres::start();
    let redis = Redis::start(&[]);
    let witness = Witness::start().await;
    let servers = BalancedServers::start(&postgres.url(), &redis.url(), &witness.address);
    servers.add_tool(&witness.address).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let record = TurnRecord::default();

    let chats = servers.new_chats(clients as usize).await;
    let last = watch::Sender::new(None);
    let pages: Vec<_> = (0..page_count as usize)
        .map(|number| {
            let watched = (0..CHATS_OF_PAGE)
                .map(|next| &chats[(number * CHATS_OF_PAGE + next) % chats.len()]);
            let watched = watched.cloned().collect();
            tokio::spawn(pages::follow(servers.access(), watched, last.subscribe()))
        })
        .collect();
    let writers: Vec<_> = chats
        .iter()
        .map(|chat| {
            let (access, record) = (servers.access(), record.clone());
            tokio::spawn(write(access, chat.clone(), record, is_over.clone()))
        })
        .collect();

    let mut faults = Faults {
        servers,
        redis,
        database: postgres.url(),
        dice: seed | 1,
        counts: BTreeMap::new(),
    };
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        faults.cause_one().await;
    }
    let refusals = record.0.lock().unwrap().refusals.clone();
    eprintln!("{:?}, refused {refusals:?}", faults.counts);
    faults.servers.mend_all();
    is_over.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }

    let store = Store::open(&postgres.url()).await.unwrap();
    let begun = Instant::now();
    while !store.open_turns().await.unwrap().is_empty() {
        let open = store.open_turns().await.unwrap();
        assert!(begun.elapsed() < SETTLE_TIMEOUT, "no end: {open:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let settled = begun.elapsed();
    let turns = record.turns();
    let outcomes = check_store(&store, &turns).await;
    let calls = witness.calls();
    let doubled: Vec<_> = calls.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty(), "called twice: {doubled:?}");
    last.send_replace(Some(last_numbers(&store, &chats).await));
    let mut seen = 0;
    for page in pages {
        seen += page.await.unwrap();
    }
    eprintln!(
        "{} turns acknowledged ({outcomes:?}), {} calls, {seen} events seen by pages, settled {settled:?} after the last fault",
        turns.len(),
        calls.len(),
    );
    assert!(turns.len() > 20, "too little happened");
}

#[derive(Clone, Default)]
struct TurnRecord(Arc<Mutex<TurnAnswers>>);

/// What was answered to those who wanted a turn.
#[derive(Default)]
struct TurnAnswers {
    /// The turns that were acknowledged, with their chats.
    turns: BTreeMap<String, String>,
    /// How often each other status came; 0: no answer.
    refusals: BTreeMap<u16, usize>,
}

impl TurnRecord {
    fn acknowledge(&self, turn: &str, chat: &str) {
        let turns = &mut self.0.lock().unwrap().turns;
        turns.insert(turn.to_owned(), chat.to_owned());
    }

    fn refuse(&self, status: u16) {
        let refusals = &mut self.0.lock().unwrap().refusals;
        *refusals.entry(status).or_default() += 1;
    }

    fn turns(&self) -> BTreeMap<String, String> {
        self.0.lock().unwrap().turns.clone()
    }
}

/// One person, who says the next thing when the last has an end.
async fn write(
    access: servers::Access,
    chat: String,
    record: TurnRecord,
    is_over: Arc<AtomicBool>,
) {
    while !is_over.load(Ordering::SeqCst) {
        let turn = tenon_store::fresh_id();
        let body =
            json!({"turnId": turn, "text": format!("record {turn}"), "modelId": "openai:scripted"});
        // Sent again until somebody says that it has it: it is one turn all the same.
        loop {
            match access
                .post(&format!("/api/chats/{chat}/turns"), &body)
                .await
            {
                Some((202, _)) => {
                    record.acknowledge(&turn, &chat);
                    break;
                }
                // The one before has no end yet, or a server is going or lost its lease.
                Some((status @ (409 | 500 | 502 | 503 | 504), _)) => record.refuse(status),
                None => record.refuse(0),
                Some((status, refused)) => panic!("{status} {refused}"),
            }
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }
}

/// Each turn is there once and has an end; the numbers of the events have no gap.
async fn check_store(store: &Store, turns: &BTreeMap<String, String>) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    let mut found: BTreeMap<TurnId, usize> = BTreeMap::new();
    let chats: std::collections::BTreeSet<&String> = turns.values().collect();
    for chat in chats {
        let id = ChatId(chat.clone());
        let events = store.events(&id, 0, u64::from(u32::MAX)).await.unwrap();
        let numbers: Vec<i64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=events.len() as i64).collect::<Vec<_>>());
        for event in events {
            match event.body {
                EventBody::TurnStarted { turn_id, .. } => *found.entry(turn_id).or_default() += 1,
                EventBody::TurnFinished {
                    turn_id, outcome, ..
                } => {
                    *found.entry(turn_id).or_default() += 100;
                    let outcome = serde_json::to_value(outcome).unwrap();
                    let code = outcome["error"]["code"].as_str().unwrap_or_default();
                    let kind = format!("{} {code}", outcome["kind"].as_str().unwrap());
                    *outcomes.entry(kind).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    for turn in turns.keys() {
        let count = found
            .get(&TurnId(turn.clone()))
            .copied()
            .unwrap_or_default();
        assert_eq!(count, 101, "{turn} began and ended once");
    }
    outcomes
}

async fn last_numbers(store: &Store, chats: &[String]) -> LastEvents {
    let mut last = BTreeMap::new();
    for chat in chats {
        let id = ChatId(chat.clone());
        let events = store.events(&id, 0, u64::from(u32::MAX)).await.unwrap();
        last.insert(chat.clone(), events.len() as i64);
    }
    last
}

struct Faults {
    servers: BalancedServers,
    redis: Redis,
    database: String,
    dice: u64,
    counts: BTreeMap<&'static str, usize>,
}

impl Faults {
    async fn cause_one(&mut self) {
        let server = self.roll(3) as usize;
        match self.roll(10) {
            0..4 => {
                self.count("killed");
                self.servers.kill(server);
                self.wait(200, 1500).await;
                self.servers.mend();
            }
            4 | 5 if self.servers.pause(server, PAUSE) => self.count("paused"),
            6 | 7 => {
                self.count("redis");
                self.redis.kill();
                self.wait(100, 3000).await;
                self.redis.restart();
            }
            _ => {
                self.count("postgres");
                self.cut_connections().await;
            }
        }
        self.wait(500, 2500).await;
    }

    async fn cut_connections(&self) {
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND random() < 0.5";
        let Ok(admin) = Database::connect(self.database.as_str()).await else {
            return;
        };
        let _ = admin.execute_unprepared(cut).await;
        let _ = admin.close().await;
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    async fn wait(&mut self, from: u64, to: u64) {
        let pause = from + self.roll(to - from);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }

    /// Xorshift: the same seed rolls the same numbers.
    fn roll(&mut self, below: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % below
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A JSON value of an answer, where it is one.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::String(text.to_owned()))
}
