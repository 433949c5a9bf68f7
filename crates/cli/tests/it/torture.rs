//! `kill -9` at any moment, again and again, while people write.
//!
//! What the server acknowledged is there exactly once and in order after every
//! restart, and every chat goes on. `TORTURE_RESTARTS` says how often (`make
//! torture` a thousand times), `TORTURE_SEED` repeats a run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_domain::{CallId, CallStatus, ChatId, EventBody, MessageId, Part};
use tenon_store::Store;

use crate::program::{Served, tenon};

const RESTARTS: usize = 15;
const CLIENTS: u64 = 4;
/// How long people write before the server dies, at most.
const LIFE: Duration = Duration::from_millis(400);
/// Chats that are tried once more when all is over.
const TRIED: usize = 40;
const ALL: u64 = u32::MAX as u64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_at_any_moment_loses_nothing_and_doubles_nothing() {
    let restarts = number("TORTURE_RESTARTS").map_or(RESTARTS, |number| number as usize);
    let seed = number("TORTURE_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap().as_nanos() as u64
    });
    eprintln!("TORTURE_SEED={seed} TORTURE_RESTARTS={restarts}");
    let mut dice = Dice(seed | 1);
    let data = tempfile::tempdir().unwrap();
    let memory = Memory::default();
    let mut starting = Duration::ZERO;

    for round in 0..restarts {
        // Now and then it dies before it has come up.
        if dice.roll(5) == 0 {
            die_while_starting(&data, Duration::from_millis(dice.roll(60)));
        }
        let begun = Instant::now();
        let mut served = Served::start(&data);
        starting += begun.elapsed();
        check(&served, &data, &memory, &memory.take_touched()).await;

        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let (client, address) = (served.client.clone(), served.address.clone());
                tokio::spawn(write(
                    client,
                    address,
                    memory.clone(),
                    Dice(dice.next() | 1),
                ))
            })
            .collect();
        let life = dice.roll(LIFE.as_micros() as u64);
        tokio::time::sleep(Duration::from_micros(life)).await;
        served.child.kill().unwrap();
        served.child.wait().unwrap();
        for client in clients {
            client.await.unwrap();
        }
        if round % 100 == 99 {
            eprintln!("{} restarts, {}", round + 1, memory.sizes());
        }
    }

    let served = Served::start(&data);
    let chats: Vec<String> = memory.chats().into_keys().collect();
    check(&served, &data, &memory, &chats).await;
    eprintln!(
        "{}; a start took {:?}",
        memory.sizes(),
        starting / restarts.max(1) as u32
    );
    for chat in chats.iter().rev().take(TRIED) {
        go_on(&served, chat).await;
    }
}

/// What was said in a chat, and whether the server said that it had it.
#[derive(Debug, Clone, PartialEq)]
struct Said {
    text: String,
    turn: Option<String>,
}

/// What the clients remember.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Remembered>>);

#[derive(Default)]
struct Remembered {
    chats: BTreeMap<String, Vec<Said>>,
    touched: HashSet<String>,
    number: u64,
}

impl Memory {
    fn chats(&self) -> BTreeMap<String, Vec<Said>> {
        self.0.lock().unwrap().chats.clone()
    }

    fn of(&self, chat: &str) -> Vec<Said> {
        self.0.lock().unwrap().chats[chat].clone()
    }

    fn take_touched(&self) -> Vec<String> {
        self.0.lock().unwrap().touched.drain().collect()
    }

    fn created(&self, chat: &str) {
        let mut remembered = self.0.lock().unwrap();
        remembered.touched.insert(chat.to_owned());
        remembered.chats.insert(chat.to_owned(), Vec::new());
    }

    fn some_chat(&self, dice: &mut Dice) -> Option<String> {
        let remembered = self.0.lock().unwrap();
        // The newest: the long form would drag every chat along otherwise.
        let newest: Vec<&String> = remembered.chats.keys().rev().take(12).collect();
        let place = dice.roll(newest.len().max(1) as u64) as usize;
        newest.get(place).map(|chat| (*chat).clone())
    }

    /// Something that nobody said before.
    fn say(&self, chat: &str, dice: &mut Dice) -> String {
        let mut remembered = self.0.lock().unwrap();
        remembered.number += 1;
        let number = remembered.number;
        let text = match dice.roll(4) {
            0 => format!("what time is it in Tokyo? {number}"),
            1 => format!("write \"{number}\" to the file note-{number}.txt"),
            2 => format!("sleep for 0.05 seconds, {number}"),
            _ => format!("{number} * 7 + 1"),
        };
        remembered.touched.insert(chat.to_owned());
        let unsure = Said {
            text: text.clone(),
            turn: None,
        };
        remembered.chats.get_mut(chat).unwrap().push(unsure);
        text
    }

    fn acknowledged(&self, chat: &str, text: &str, turn: &str) {
        let mut remembered = self.0.lock().unwrap();
        let said = remembered.chats.get_mut(chat).unwrap();
        let said = said.iter_mut().find(|said| said.text == text).unwrap();
        said.turn = Some(turn.to_owned());
    }

    fn refused(&self, chat: &str, text: &str) {
        let mut remembered = self.0.lock().unwrap();
        let said = remembered.chats.get_mut(chat).unwrap();
        said.retain(|said| said.text != text);
    }

    fn sizes(&self) -> String {
        let chats = self.chats();
        let said = || chats.values().flatten();
        let sure = said().filter(|said| said.turn.is_some()).count();
        let unsure = said().count() - sure;
        format!(
            "{} chats, {sure} messages acknowledged, {unsure} sent without an answer",
            chats.len()
        )
    }
}

/// One person, who writes until the server is gone.
async fn write(client: reqwest::Client, address: String, memory: Memory, mut dice: Dice) {
    let post = async |path: &str, body: Value| {
        let request = client.post(format!("{address}{path}")).json(&body);
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        Some((status, response.json::<Value>().await.ok()?))
    };
    loop {
        let chat = match memory.some_chat(&mut dice) {
            Some(chat) if dice.roll(8) > 0 => chat,
            _ => {
                let Some((status, created)) = post("/api/chats", json!({})).await else {
                    return;
                };
                assert_eq!(status, 201, "{created}");
                let chat = created["id"].as_str().unwrap().to_owned();
                memory.created(&chat);
                chat
            }
        };
        let text = memory.say(&chat, &mut dice);
        let path = format!("/api/chats/{chat}/turns");
        match post(&path, json!({"text": text})).await {
            Some((202, started)) => {
                memory.acknowledged(&chat, &text, started["turnId"].as_str().unwrap());
            }
            // Somebody else's turn runs there.
            Some((409, _)) => memory.refused(&chat, &text),
            Some((status, refused)) => panic!("{status} {refused}"),
            None => return,
        }
        tokio::time::sleep(Duration::from_millis(dice.roll(20))).await;
    }
}

async fn check(served: &Served, data: &TempDir, memory: &Memory, chats: &[String]) {
    if chats.is_empty() {
        return;
    }
    let store = Store::open_file(&data.path().join("tenon.db"))
        .await
        .unwrap();
    for chat in chats {
        let shown = served.get(&format!("/api/chats/{chat}/messages")).await;
        check_said(&memory.of(chat), &shown);
        check_events(&store, &ChatId(chat.clone())).await;
        let chat = served.get(&format!("/api/chats/{chat}")).await;
        assert!(chat["running"].is_null(), "{chat}");
    }
}

/// What was acknowledged is there once; what was not may be there, and not twice.
fn check_said(said: &[Said], shown: &Value) {
    let shown = shown.as_array().unwrap();
    let of_user = shown.iter().filter(|message| message["role"] == "user");
    let shown: Vec<&str> = of_user.map(|m| m["text"].as_str().unwrap()).collect();
    let once: HashSet<&str> = shown.iter().copied().collect();
    assert_eq!(
        once.len(),
        shown.len(),
        "something is there twice: {shown:?}"
    );
    let known: HashMap<&str, &Said> = said.iter().map(|s| (s.text.as_str(), s)).collect();
    for text in &shown {
        assert!(known.contains_key(text), "nobody said {text:?}");
    }
    for said in said.iter().filter(|said| said.turn.is_some()) {
        let text = said.text.as_str();
        assert!(once.contains(text), "lost: {said:?} of {shown:?}");
    }
}

/// The numbers have no gap, nothing happened twice, and the tables tell what the events tell.
async fn check_events(store: &Store, chat: &ChatId) {
    let events = store.events(chat, 0, ALL).await.unwrap();
    let numbers: Vec<i64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as i64).collect::<Vec<_>>());

    let mut messages: Vec<(MessageId, Vec<Part>)> = Vec::new();
    let mut calls: Vec<(CallId, CallStatus)> = Vec::new();
    let mut open = HashSet::new();
    for event in events {
        match event.body {
            EventBody::TurnStarted {
                turn_id, message, ..
            } => {
                assert!(open.insert(turn_id));
                messages.push((message.id, message.parts));
            }
            EventBody::TurnFinished { turn_id, .. } => assert!(open.remove(&turn_id)),
            EventBody::MessageStarted { message } => messages.push((message.id, message.parts)),
            EventBody::MessageFinished { message_id, parts } => {
                let message = messages.iter_mut().find(|(id, _)| *id == message_id);
                message.unwrap().1 = parts;
            }
            EventBody::CallRequested { call } => calls.push((call.id, call.status)),
            EventBody::CallFinished {
                call_id, status, ..
            } => {
                let call = calls.iter_mut().find(|(id, _)| *id == call_id).unwrap();
                assert!(call.1.is_open(), "{call_id} ended twice");
                call.1 = status;
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "a turn has no end in {chat}");
    let kept = store.messages(chat).await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|m| (m.id, m.parts)).collect();
    assert_eq!(kept, messages);
    let kept = store.calls(chat).await.unwrap();
    let kept: Vec<_> = kept
        .into_iter()
        .map(|call| (call.id, call.status))
        .collect();
    assert_eq!(kept, calls);
}

async fn go_on(served: &Served, chat: &str) {
    let path = format!("/api/chats/{chat}/turns");
    served.post(&path, json!({"text": "6*7"})).await;
    served
        .wait(chat, |messages| {
            let last = messages.as_array().unwrap().last().unwrap();
            last["role"] == "assistant" && last["text"].as_str().unwrap().contains("42")
        })
        .await;
}

fn die_while_starting(data: &TempDir, after: Duration) {
    let mut child = tenon(data, &["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Xorshift: the same seed rolls the same numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.next() % sides.max(1)
    }
}
