//! All of it at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client::{Connection, Host, Text, body_of_zeros, frame_header, frame_of_zeros};

const CLIENTS: usize = 64;
const ATTACKS_PER_CLIENT: usize = 2;
const ASKED_EVERY: Duration = Duration::from_millis(50);
const MAX_MIB: u64 = 400;

/// What an attack sends, and as whom.
struct AttackInputs {
    host: Host,
    read: Vec<String>,
    full: Vec<String>,
    frame: Vec<u8>,
    body: String,
}

impl AttackInputs {
    fn head(&self, key: &str, declared: usize) -> String {
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {declared}\r\n\r\n"
        )
    }

    /// One attack; what is still open at its end.
    async fn attack(&self, number: usize) -> Vec<Connection> {
        let (read, full) = (&self.read[number % 2], &self.full[number % 2]);
        let mut open = Vec::new();
        match number % 8 {
            // A long frame, by one who may not send any.
            0 => {
                let Ok(mut socket) = self.host.socket(read).await else {
                    return open;
                };
                let _ = socket.send_frame(&self.frame).await;
                let _ = socket.closed_within(5).await;
            }
            // The same by one who may.
            1 => {
                let Ok(mut socket) = self.host.socket(full).await else {
                    return open;
                };
                let _ = socket.send_frame(&self.frame).await;
                let _ = socket.next_json().await;
            }
            // Long frames that are never finished.
            2 => {
                for _ in 0..3 {
                    if let Ok(mut socket) = self.host.socket(full).await {
                        let _ = socket.send(&frame_header(Text::FRAME)).await;
                        let most = &self.frame[..Text::FRAME - 100];
                        let _ = timeout(Duration::from_secs(1), socket.send(most)).await;
                        open.push(socket);
                    }
                }
            }
            // A body of small values.
            3 => {
                let mut connection = self.host.connect().await;
                let head = self.head(full, self.body.len());
                let _ = connection.send(head.as_bytes()).await;
                let _ = connection.send(self.body.as_bytes()).await;
                open.push(connection);
            }
            // Bodies that are never finished.
            4 => {
                for _ in 0..3 {
                    let mut connection = self.host.connect().await;
                    let head = self.head(full, self.body.len() + 1);
                    let _ = connection.send(head.as_bytes()).await;
                    let sending = connection.send(self.body.as_bytes());
                    let _ = timeout(Duration::from_secs(1), sending).await;
                    open.push(connection);
                }
            }
            // Sockets, and nothing said.
            5 => {
                for _ in 0..50 {
                    open.extend(self.host.socket(read).await);
                }
            }
            // Requests that never come.
            6 => {
                for _ in 0..50 {
                    let mut connection = self.host.connect().await;
                    let _ = connection.send(b"GET /health HTTP/1.1\r\nHost: ").await;
                    open.push(connection);
                }
            }
            // Questions, asked again and again, whose answers nobody reads.
            _ => {
                let mut connection = self.host.connect().await;
                let asked = "GET /api/tools HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ";
                let asked = format!("{asked}{read}\r\n\r\n").repeat(2_000);
                let sending = connection.send(asked.as_bytes());
                let _ = timeout(Duration::from_secs(2), sending).await;
                open.push(connection);
            }
        }
        open
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_hostile_clients_take_little_memory_and_others_are_answered() {
    let host = Host::start("");
    let ada = host.key("ada", "full");
    let inputs = Arc::new(AttackInputs {
        read: vec![host.key("eve", "read"), host.key("mallory", "read")],
        full: vec![host.key("eve", "full"), host.key("mallory", "full")],
        frame: frame_of_zeros(Text::FRAME),
        body: body_of_zeros(24_000_000),
        host,
    });
    eprintln!("before: {:?}", inputs.host.memory());
    let mut attacking = JoinSet::new();
    for number in 0..CLIENTS {
        let inputs = inputs.clone();
        attacking.spawn(async move {
            // What one round left open stays open until the next has begun.
            let mut left = Vec::new();
            for _ in 0..ATTACKS_PER_CLIENT {
                let open = inputs.attack(number).await;
                let stays = !open.is_empty();
                left.push(open);
                if stays && left.len() > 1 {
                    left.remove(0);
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        });
    }

    let host = &inputs.host;
    let over = CancellationToken::new();
    let attacks = async {
        while let Some(attacked) = attacking.join_next().await {
            attacked.unwrap();
        }
        over.cancel();
    };
    let health = async {
        let mut answers = Vec::new();
        while !over.is_cancelled() {
            let asked = Instant::now();
            let (status, said) = host.get("/health", None).await;
            assert_eq!(status, 200, "{said}");
            answers.push(asked.elapsed());
            tokio::time::sleep(ASKED_EVERY).await;
        }
        answers
    };
    let work = async {
        let mut answers = Vec::new();
        while !over.is_cancelled() {
            let asked = Instant::now();
            let (status, chat) = host.post("/api/chats", &ada, "{}".into()).await;
            assert_eq!(status, 201, "{chat}");
            let path = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
            let said = json!({"text": "6*7"}).to_string();
            let (status, started) = host.post(&path, &ada, said).await;
            assert_eq!(status, 202, "{started}");
            let (status, _) = host.get("/api/tools", Some(&ada)).await;
            assert_eq!(status, 200);
            assert!(host.socket(&ada).await.is_ok());
            answers.push(asked.elapsed());
            tokio::time::sleep(ASKED_EVERY).await;
        }
        answers
    };
    let most = async {
        let mut most = 0;
        while !over.is_cancelled() {
            most = most.max(host.memory().now);
            tokio::time::sleep(ASKED_EVERY).await;
        }
        most
    };
    // Each answer has come, and come in time, or this would not end.
    let ((), mut health, mut work, most) = tokio::join!(attacks, health, work, most);
    let memory = host.memory();
    eprintln!("{memory:?}, at most {most} MiB seen");
    for (what, answers) in [("/health", &mut health), ("a user", &mut work)] {
        answers.sort();
        let (median, max) = (answers[answers.len() / 2], answers[answers.len() - 1]);
        eprintln!(
            "{what}: {} times, median {median:?}, max {max:?}",
            answers.len()
        );
    }
    assert!(memory.peak < MAX_MIB, "{memory:?}");

    // And when they are gone, all is as it was.
    let sockets = join_all((0..10).map(|_| host.socket(&inputs.read[0]))).await;
    drop(sockets);
    assert_eq!(host.get("/health", None).await.0, 200);
}
