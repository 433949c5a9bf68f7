//! A network between a process and its database, with the faults that networks have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes on what both sides say.
pub struct TcpProxy {
    /// The address of the database by way of this.
    pub url: String,
    faults: Arc<Faults>,
}

struct Faults {
    /// How many messages of clients get through before a connection breaks.
    left: AtomicI64,
    /// The connection on which the next commit is asked for breaks before its answer.
    swallows_commit: AtomicBool,
    network: watch::Sender<Network>,
}

#[derive(Clone, Copy, Default)]
struct Network {
    is_silent: bool,
    /// Of connections that were made before its latest silence nothing is heard any more, and they
    /// do not end: a router has forgotten them.
    silences: u64,
}

impl TcpProxy {
    pub async fn before(url: &str) -> Self {
        let (before, rest) = url.split_once("127.0.0.1:").unwrap();
        let (port, after) = rest.split_once('/').unwrap();
        let server = format!("127.0.0.1:{port}");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let faults = Arc::new(Faults {
            left: AtomicI64::new(i64::MAX),
            swallows_commit: AtomicBool::new(false),
            network: watch::Sender::default(),
        });
        let met = faults.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, met) = (server.clone(), met.clone());
                tokio::spawn(async move {
                    met.until_heard(None).await;
                    let made = met.network.borrow().silences;
                    let server = TcpStream::connect(&server).await.unwrap();
                    Box::pin(carry(client, server, &met, made)).await;
                });
            }
        });
        Self {
            url: format!("{before}{here}/{after}"),
            faults,
        }
    }

    /// Breaks connections once so many messages of clients got through.
    pub fn break_after(&self, messages: i64) {
        self.faults.left.store(messages, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.faults.left.store(i64::MAX, Ordering::SeqCst);
    }

    /// The next commit is made, and its client does not hear of it.
    pub fn swallow_next_commit(&self) {
        self.faults.swallows_commit.store(true, Ordering::SeqCst);
    }

    pub fn has_swallowed(&self) -> bool {
        !self.faults.swallows_commit.load(Ordering::SeqCst)
    }

    /// Nothing is heard any more, and no connection ends.
    pub fn silence(&self) {
        self.faults.network.send_modify(|network| {
            network.is_silent = true;
            network.silences += 1;
        });
    }

    /// New connections are heard again.
    pub fn end_silence(&self) {
        let network = &self.faults.network;
        network.send_modify(|network| network.is_silent = false);
    }
}

impl Faults {
    /// Waits while the network is silent, and for ever with a connection that it has forgotten.
    async fn until_heard(&self, made: Option<u64>) {
        let mut network = self.network.subscribe();
        let heard = network.wait_for(|network| {
            !network.is_silent && made.is_none_or(|made| made == network.silences)
        });
        let _ = heard.await;
    }

    fn swallows(&self, said: &[u8]) -> bool {
        said.windows(6).any(|word| word == b"COMMIT")
            && self.swallows_commit.swap(false, Ordering::SeqCst)
    }
}

/// Both ways, until the connection breaks.
async fn carry(mut client: TcpStream, mut server: TcpStream, faults: &Faults, made: u64) {
    let (mut from_client, mut from_server) = ([0; 8192], [0; 8192]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => match read {
                Ok(bytes) if bytes > 0 && faults.left.fetch_sub(1, Ordering::SeqCst) > 0 => {
                    faults.until_heard(Some(made)).await;
                    let said = &from_client[..bytes];
                    if server.write_all(said).await.is_err() {
                        return;
                    }
                    if faults.swallows(said) {
                        // The answer shows that it is committed.
                        let _ = server.read(&mut from_server).await;
                        return;
                    }
                }
                _ => return,
            },
            read = server.read(&mut from_server) => match read {
                Ok(bytes) if bytes > 0 => {
                    faults.until_heard(Some(made)).await;
                    if client.write_all(&from_server[..bytes]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
