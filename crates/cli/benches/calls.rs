//! `make bench`: what a call over HTTP costs, and what a server costs that has nothing to do.
//!
//! The server is the program itself, in a process of its own with a stdio server behind it. The
//! floor is a bare axum route with the same child. Who calls is the bench; what counts is the
//! ratio to the floor of the same run.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/echo.rs"]
#[expect(dead_code, reason = "nothing is written by hand here")]
mod echo;
#[path = "shared/floor.rs"]
mod floor;
#[path = "shared/http_client.rs"]
mod http_client;
#[path = "shared/process.rs"]
mod process;
#[path = "shared/round.rs"]
#[expect(dead_code, reason = "rounds are printed in another way here")]
mod round;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use http_client::HttpClient;
use process::ProcessUse;
use round::{Round, measured, side_by_side};
use serde_json::json;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::config::Config;
use tenon_app::tools::ToolCaller;
use tenon_domain::pattern::Pattern;
use tenon_domain::{EntryPoint, KeyAccess, KeyScope, ToolId, UserId, UserRole};
use tenon_store::{AuditEntry, Enrollment, NewUserRow};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_util::sync::CancellationToken;

const TOOL: &str = "mcp_echo_echo_0";
const BODY: &str = r#"{"arguments":{"text":"somebody or something"}}"#;
const CONNECTIONS: [u32; 3] = [1, 32, 256];
const ROUNDS: usize = 5;

/// What a burst of work left behind is released after some seconds.
const RELEASED_AFTER: Duration = Duration::from_secs(8);

/// A build that is not optimised only shows that this works.
const CALLS: u32 = if cfg!(debug_assertions) {
    1_024
} else {
    16_384
};

fn main() {
    echo::serve_if_asked();
    floor::serve_if_asked();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a folder for the data");
        let (user, key) = prepare(folder.path()).await;
        let each = calls(folder.path(), &key).await;
        idle(folder.path(), &key).await;
        steps(folder.path(), &user, &key, each).await;
    });
}

/// An account with a key, five hundred chats, and the stdio server in a file.
async fn prepare(data: &Path) -> (UserId, String) {
    let app = App::open(data, &config()).await.expect("Tenon opens");
    let new = NewUserRow {
        email: "ada@example.org",
        name: "Ada",
        role: UserRole::Admin,
        password_hash: None,
        oidc_subject: None,
    };
    let made = app.store.create_user(new, Enrollment::First).await;
    let user = made.expect("an account").id;
    let scope = KeyScope {
        access: KeyAccess::Use,
        allow: vec![Pattern::new("mcp_echo_*")],
    };
    let key = app.store.create_key(&user, "bench", &scope).await;
    for number in 0..500 {
        let title = format!("Chat {number}");
        let made = app.store.create_chat(&user, &title).await;
        made.expect("a chat");
    }
    let (command, args) = echo::command(1);
    let servers = json!({"mcpServers": {"echo": {"command": command, "args": args}}});
    let file = data.join("mcp_servers");
    std::fs::create_dir_all(&file).expect("a folder for servers");
    std::fs::write(file.join("echo.json"), servers.to_string()).expect("a file");
    (user, key.expect("a key").0.0)
}

fn config() -> Config {
    Config {
        local_models: Some(Vec::new()),
        ..Config::default()
    }
}

/// Calls over HTTP beside the floor; what one costs our process.
async fn calls(data: &Path, key: &str) -> Duration {
    let bare = ServerProcess::start(Command::new(this_program()).arg(floor::FLOOR));
    let ours = ServerProcess::tenon(data);
    let path = format!("/api/tools/{TOOL}/call");
    let (ours_request, bare_request) = (
        request(&path, &format!("authorization: Bearer {key}\r\n")),
        request("/call", ""),
    );
    until_answered(&ours.address, &ours_request).await;
    until_answered(&bare.address, &bare_request).await;
    tokio::time::sleep(RELEASED_AFTER).await;
    let started = ours.used.resident();
    let mut each = Duration::ZERO;
    for connections in CONNECTIONS {
        let mut rounds: Vec<(f64, f64)> = Vec::new();
        let before = ours.used.on_processor();
        for _ in 0..ROUNDS {
            let floor = load(&bare.address, &bare_request, connections).await;
            let called = load(&ours.address, &ours_request, connections).await;
            rounds.push((floor, called));
        }
        let calls = ROUNDS as u32 * calls_of(connections);
        each = (ours.used.on_processor() - before) / calls;
        let median = |pick: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(pick).collect();
            all.sort_by(f64::total_cmp);
            all[ROUNDS / 2]
        };
        let (floor, called) = (median(|round| round.0), median(|round| round.1));
        println!(
            "{connections:>3} connections: {floor:>7.0} calls/s bare, {called:>7.0} ours: {:.2} of it (target: 0.5), \
             {each:.1?} of CPU a call (target: 60 µs)",
            called / floor
        );
    }
    let loaded = ours.used.resident();
    tokio::time::sleep(RELEASED_AFTER).await;
    let [started, loaded, rested] =
        [started, loaded, ours.used.resident()].map(|kib| kib as f64 / 1024.0);
    println!(
        "resident: {started:.1} MB after the start (target: 25), {loaded:.1} MB as the load ends, \
         {rested:.1} MB after it (target: 40)"
    );
    each
}

/// Twenty pages that look on while nothing happens.
async fn idle(data: &Path, key: &str) {
    const PAGES: usize = 20;
    const WATCHED: Duration = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 20 });
    const WINDOWS: usize = 3;
    let ours = ServerProcess::tenon(data);
    let path = format!("/api/tools/{TOOL}/call");
    let call = request(&path, &format!("authorization: Bearer {key}\r\n"));
    until_answered(&ours.address, &call).await;
    let mut pages = Vec::new();
    for _ in 0..PAGES {
        let url = format!("ws://{}/api/ws", ours.address);
        let mut request = url.into_client_request().expect("an address");
        let bearer = format!("Bearer {key}").parse().expect("a header");
        request.headers_mut().insert("authorization", bearer);
        let connected = tokio_tungstenite::connect_async(request).await;
        let (mut page, _) = connected.expect("a socket");
        let subscribe = Message::text(r#"{"type":"subscribe:user"}"#);
        page.send(subscribe).await.expect("an open socket");
        // Reads, and answers pings by that.
        pages.push(tokio::spawn(
            async move { while page.next().await.is_some() {} },
        ));
    }
    // The start is over.
    tokio::time::sleep(WATCHED).await;
    let (mut busy_times, mut wakes) = (Vec::new(), Vec::new());
    for _ in 0..WINDOWS {
        let (before, queries) = (ours.used.on_processor(), ours.used.database_wakes());
        tokio::time::sleep(WATCHED).await;
        let busy = ours.used.on_processor() - before;
        busy_times.push(busy);
        wakes.push(ours.used.database_wakes() - queries);
    }
    // In its first minutes it tidies up once a minute: that is in one of them at most.
    busy_times.sort();
    wakes.sort();
    let (busy, wakes) = (busy_times[WINDOWS / 2], wakes[WINDOWS / 2]);
    println!(
        "{PAGES} idle pages for {WATCHED:?}: {:.3} % of a processor (target: 0.1), {wakes} wakes of the database (target: 0)",
        100.0 * busy.as_secs_f64() / WATCHED.as_secs_f64(),
    );
    pages.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Where the time of one call goes. The steps are called one by one, in this process; what is left
/// of a call over HTTP is reading, routing and answering it.
async fn steps(data: &Path, user: &UserId, key: &str, whole: Duration) {
    let app = App::open(data, &config()).await.expect("Tenon opens");
    let user_of = |id: &UserId| CurrentUser {
        id: id.clone(),
        role: UserRole::Admin,
        credential: tenon_app::auth::AuthMethod::Shell,
    };
    let caller = Arc::new(user_of(user));
    app.open_sources(&caller).await;
    let per_call = async |name: &str, step: Round| {
        let each = step.on_processor / CALLS;
        let share = 100.0 * each.as_secs_f64() / whole.as_secs_f64();
        println!("  {name:<8} {each:>9.2?} {share:>6.1} %");
        each
    };
    println!("of {whole:.1?} a call at {} connections:", CONNECTIONS[2]);
    let auth = measured(async || {
        for _ in 0..CALLS {
            let user = CurrentUser::by_key(&app.store, key, false).await;
            assert!(user.expect("the store answers").is_some());
        }
    });
    let auth = per_call("auth", auth.await).await;
    let access = measured(async || {
        for _ in 0..CALLS {
            app.tools.access(&caller, None).await.expect("settings");
        }
    });
    let access = per_call("access", access.await).await;
    let audit = measured(async || {
        for _ in 0..CALLS {
            app.store.audit_behind(entry(user));
            tokio::task::yield_now().await;
        }
        app.store.flush().await;
    });
    let audit = per_call("audit", audit.await).await;
    let (tools, by) = (app.tools.clone(), caller.clone());
    let call = move |_number| {
        let (tools, by) = (tools.clone(), by.clone());
        async move {
            let input = json!({"text": "somebody or something"});
            let cancel = CancellationToken::new();
            let caller = ToolCaller::new(&by, "127.0.0.1");
            let answer = tools.call(caller, ToolId::new(TOOL), input, cancel);
            let answer = answer.await.expect("the store answers");
            assert!(answer.expect("the tool is there").ok);
        }
    };
    let all = measured(async || {
        side_by_side(CALLS, 32, call).await;
        app.store.flush().await;
    });
    let all = all.await.on_processor / CALLS;
    let road = all.saturating_sub(access + audit);
    let rest = whole.saturating_sub(auth + all);
    for (name, each) in [("road", road), ("HTTP", rest)] {
        let share = 100.0 * each.as_secs_f64() / whole.as_secs_f64();
        println!("  {name:<8} {each:>9.2?} {share:>6.1} %");
    }
    app.sources.close().await;
}

fn entry(user: &UserId) -> AuditEntry {
    AuditEntry {
        user: Some(user.clone()),
        door: EntryPoint::Shell,
        action: "tool.called",
        subject: TOOL.into(),
        detail: json!({"callId": "01a1e53c-9993-7739-9138-07476d4147d2", "ok": true}),
        address: "127.0.0.1".into(),
    }
}

/// A server in a process of its own, until this is dropped.
struct ServerProcess {
    child: Child,
    address: String,
    used: ProcessUse,
}

impl ServerProcess {
    fn tenon(data: &Path) -> Self {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_tenon"));
        serve
            .args(["serve", "--listen", "127.0.0.1:0", "--local-models", ""])
            .arg("--data")
            .arg(data);
        Self::start(&mut serve)
    }

    /// The address ends the first line that it prints.
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says where it is");
        let address = line.trim().rsplit([' ', '/']).next().unwrap_or_default();
        Self {
            used: ProcessUse(child.id()),
            address: address.to_owned(),
            child,
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("a bench knows where it lies")
}

fn request(path: &str, headers: &str) -> Arc<[u8]> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    head.into_bytes().into()
}

/// As few as one connection makes in a moment, as many as all of them do.
fn calls_of(connections: u32) -> u32 {
    if connections == 1 { CALLS / 4 } else { CALLS }
}

/// Calls per second.
async fn load(address: &str, request: &Arc<[u8]>, connections: u32) -> f64 {
    let calls = calls_of(connections);
    let mut clients = Vec::new();
    for _ in 0..connections {
        clients.push(HttpClient::connect(address).await);
    }
    let started = Instant::now();
    let running = clients.into_iter().map(|mut client| {
        let request = request.clone();
        tokio::spawn(async move {
            for _ in 0..calls / connections {
                let status = client.call(&request).await;
                assert_eq!(status, Some(200));
            }
        })
    });
    let running: Vec<_> = running.collect();
    for client in running {
        client.await.expect("every call is answered");
    }
    f64::from(calls) / started.elapsed().as_secs_f64()
}

async fn until_answered(address: &str, request: &Arc<[u8]>) {
    let answered = async {
        while HttpClient::connect(address).await.call(request).await != Some(200) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let answered = tokio::time::timeout(Duration::from_secs(30), answered).await;
    answered.expect("the server is ready in time");
}
