//! `make bench`: what a long history costs, on SQLite with a thousand chats of
//! two hundred messages.
//!
//! Times are those of whole requests to the real server, so that nothing on
//! the way is left out.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reqwest::Client;
use tenon_app::app::App;
use tenon_app::config::Config;
use tenon_domain::{
    ChatId, DeltaKind, EntryPoint, EventBody, MessageId, MessageRecord, Part, Role, TitledBy,
    TurnId, TurnOutcome, Usage, UserId,
};
use tenon_server::serve;
use tenon_store::{LOCAL, Store, fresh_id, now};

/// A build that is not optimised only shows that this works.
const CHATS: usize = if cfg!(debug_assertions) { 40 } else { 1_000 };
const MESSAGES: usize = 200;
const ROUNDS: usize = 50;
const WORDS: usize = 1_000;

const ENGLISH: &[&str] = &[
    "the", "of", "and", "to", "in", "is", "that", "for", "you", "with", "server", "window",
    "table", "please", "morning", "compile", "borrow", "garden", "letter", "seven", "question",
    "answer", "river", "database", "travel", "kitchen", "summer", "number", "function", "measure",
    "paint", "quiet", "random", "signal", "thread", "umbrella", "violet", "weather", "yellow",
    "zebra",
];
const CHINESE: &[&str] = &[
    "我们",
    "的",
    "今天",
    "东京",
    "天气",
    "编译",
    "程序",
    "函数",
    "问题",
    "回答",
    "花园",
    "早上",
    "夏天",
    "厨房",
    "数据",
    "旅行",
    "数字",
    "颜色",
    "安静",
    "信号",
    "桌子",
    "窗户",
    "服务器",
    "请",
    "河流",
    "测量",
    "字母",
    "雨伞",
    "线程",
    "斑马",
];

#[tokio::main]
async fn main() {
    // Whoever measures at home may have another one installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().expect("a folder for the database");
    let config = Config {
        local_models: Some(Vec::new()),
        single_user: true,
        ..Config::default()
    };
    let app = App::open(folder.path(), &config)
        .await
        .expect("Tenon opens");
    let started = Instant::now();
    let chat = fill(&app.store, &UserId::new(LOCAL)).await;
    let written = CHATS * MESSAGES;
    println!(
        "{written:>7} messages written        {:>10.2?}   {:.2?} each",
        started.elapsed(),
        started.elapsed() / written as u32
    );

    let listener = "127.0.0.1:0".parse().expect("an address");
    let listener = serve::listen(listener, &config).expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve::serve(app.clone(), listener));
    let client = enter(&app, address).await;
    let request = async |name: &str, path: &str, target: u64| {
        let target = Duration::from_millis(target);
        measure(name, target, async || get(&client, address, path).await).await;
    };
    request("a request that does nothing", "/api/shares", 10).await;
    request("the list, first page", "/api/chats", 10).await;
    request("the list, 500 of it", "/api/chats?limit=500", 10).await;
    let messages = format!("/api/chats/{chat}/messages");
    request("opening a chat, its messages", &messages, 20).await;
    measure(
        "opening a chat, its events",
        Duration::from_millis(20),
        async || {
            let events = app.store.events(&chat, 0, 10_000).await.expect("events");
            serde_json::to_vec(&events).expect("JSON").len()
        },
    )
    .await;
    for (name, question) in [
        ("a rare word", "zyzzyva"),
        ("a common word", "the"),
        ("a common beginning", "t"),
        ("two common words", "the server"),
        ("a Chinese word", "东京"),
        ("a Chinese character", "天"),
        ("a Chinese phrase", "今天天气"),
        ("no hit", "nowhere"),
    ] {
        let path = format!("/api/search?q={question}");
        request(&format!("searching, {name}"), &path, 50).await;
    }
    beside_log_ins(&app, &chat).await;
}

/// Words of an answer on their way to a page, while nobody and while many people log in.
async fn beside_log_ins(app: &App, chat: &ChatId) {
    let alone = stream(app, chat).await;
    let people: Vec<_> = (0..8)
        .map(|_| {
            let passwords = app.auth.passwords.clone();
            tokio::spawn(async move {
                loop {
                    passwords.verify("not the password", None).await.ok();
                }
            })
        })
        .collect();
    let beside = stream(app, chat).await;
    people.iter().for_each(|person| person.abort());
    for (name, [median, slow]) in [
        ("a word, nobody logs in", alone),
        ("a word, eight log in", beside),
    ] {
        println!("{name:<31} {median:>10.2?}   p95 {slow:>9.2?}");
    }
}

/// How long words wait between who says them and who watches: median and p95.
async fn stream(app: &App, chat: &ChatId) -> [Duration; 2] {
    let mut watch = app.agent.feed().watch(chat);
    let (sent, mut said) = tokio::sync::mpsc::unbounded_channel();
    let watcher = tokio::spawn(async move {
        let mut waits = Vec::with_capacity(WORDS);
        while let Some(said) = said.recv().await {
            watch.next().await;
            waits.push(Instant::elapsed(&said));
        }
        waits
    });
    let message = MessageId(fresh_id());
    let mut pace = tokio::time::interval(Duration::from_millis(2));
    for _ in 0..WORDS {
        pace.tick().await;
        sent.send(Instant::now()).expect("somebody watches");
        app.agent
            .feed()
            .delta(chat, &message, 0, DeltaKind::Text, "word ".into());
    }
    drop(sent);
    let mut waits = watcher.await.expect("the watcher ends");
    waits.sort();
    [waits[WORDS / 2], waits[WORDS * 95 / 100]]
}

/// Fills the store; tells one chat of many.
async fn fill(store: &Store, user: &UserId) -> ChatId {
    let mut dice = Dice(7);
    let mut chats = Vec::new();
    for _ in 0..CHATS {
        chats.push(store.create_chat(user, "").await.expect("a chat").id);
    }
    for (number, some) in chats.chunks(20).enumerate() {
        let batch = some.iter().map(|chat| {
            let mut events: Vec<EventBody> = (0..MESSAGES / 2)
                .flat_map(|_| turn(chat, &mut dice))
                .collect();
            events.push(EventBody::ChatTitled {
                title: dice.words(6),
                by: TitledBy::Cut,
            });
            (chat.clone(), events)
        });
        let mut batch: Vec<_> = batch.collect();
        if number == 1
            && let Some((_, events)) = batch.first_mut()
        {
            events.push(EventBody::ChatTitled {
                title: "Zyzzyva".into(),
                by: TitledBy::Person,
            });
        }
        let written = store
            .append_all(batch)
            .await
            .expect("the events are written");
        assert!(written.iter().all(Result::is_ok));
    }
    chats.swap_remove(CHATS / 2)
}

fn turn(chat: &ChatId, dice: &mut Dice) -> Vec<EventBody> {
    let turn_id = TurnId(fresh_id());
    let mut message = |role, words| MessageRecord {
        id: MessageId(fresh_id()),
        chat_id: chat.clone(),
        turn_id: turn_id.clone(),
        role,
        parts: vec![Part::text(dice.words(words))],
        created_at: now(),
    };
    let (question, answer) = (message(Role::User, 20), message(Role::Assistant, 90));
    vec![
        EventBody::TurnStarted {
            turn_id: turn_id.clone(),
            message: question,
            branch: None,
            tools: None,
            door: EntryPoint::Page,
            model: None,
        },
        EventBody::MessageStarted {
            message: answer.clone(),
        },
        EventBody::MessageFinished {
            message_id: answer.id,
            parts: answer.parts,
        },
        EventBody::TurnFinished {
            turn_id,
            outcome: TurnOutcome::Done,
            usage: Usage::default(),
            cost: None,
        },
    ]
}

/// The one person, who is in.
async fn enter(app: &App, address: SocketAddr) -> Client {
    let url = format!("http://{address}/api/auth/setup");
    let code = serde_json::json!({"code": app.auth.setup.current()});
    let entered = Client::new().post(url).json(&code).send().await;
    let entered = entered.expect("an answer");
    let cookie = entered.headers().get("set-cookie").expect("a cookie");
    let shown = [("cookie".parse().expect("a name"), cookie.clone())];
    let client = Client::builder().default_headers(shown.into_iter().collect());
    client.build().expect("a client")
}

async fn get(client: &Client, address: SocketAddr, path: &str) -> usize {
    let answer = client.get(format!("http://{address}{path}")).send().await;
    let answer = answer.expect("an answer");
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    answer.bytes().await.expect("a body").len()
}

async fn measure(name: &str, target: Duration, round: impl AsyncFn() -> usize) {
    let bytes = round().await;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        round().await;
        rounds.push(started.elapsed());
    }
    rounds.sort();
    let (median, slow) = (rounds[ROUNDS / 2], rounds[ROUNDS * 95 / 100]);
    println!(
        "{name:<31} {median:>10.2?}   p95 {slow:>9.2?}, {:.2} of the target {target:?}, {bytes} bytes",
        slow.as_secs_f64() / target.as_secs_f64()
    );
}

/// The same text in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    /// English or Chinese, with some names in it that nothing else has.
    fn words(&mut self, count: usize) -> String {
        let english = self.roll(2) == 0;
        let mut text = String::new();
        for _ in 0..count {
            match (self.roll(12), english) {
                (0, _) => text.push_str(&format!(" n{}x ", self.roll(50_000))),
                (_, true) => {
                    text.push_str(ENGLISH[self.roll(ENGLISH.len())]);
                    text.push(' ');
                }
                (_, false) => text.push_str(CHINESE[self.roll(CHINESE.len())]),
            }
        }
        text
    }
}
