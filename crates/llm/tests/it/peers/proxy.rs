//! Stands between a client and a peer, and remembers what the client said.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::Peer;

pub struct Proxy {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    running: JoinHandle<()>,
}

/// One request, as it came over the wire.
#[derive(Debug)]
pub struct Seen {
    /// "POST /v1/messages"
    pub line: String,
    /// By their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Proxy {
    pub async fn before(peer: &Peer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let upstream = peer.url.trim_start_matches("http://").to_owned();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let running = tokio::spawn({
            let seen = seen.clone();
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    let server = TcpStream::connect(&upstream).await.unwrap();
                    // A client that goes away in the middle is no concern of the proxy.
                    tokio::spawn(pass(client, server, seen.clone()));
                }
            }
        });
        Self { url, seen, running }
    }

    /// What came since the last time.
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// One request and its answer. Both sides are told that the connection ends with it.
async fn pass(
    client: TcpStream,
    server: TcpStream,
    seen: Arc<Mutex<Vec<Seen>>>,
) -> std::io::Result<()> {
    let (mut client, mut server) = (BufReader::new(client), BufReader::new(server));
    let head = read_head(&mut client).await?;
    let headers: BTreeMap<String, String> = head[1..]
        .iter()
        .filter_map(|header| header.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length");
    let length = length.expect("clients of JSON say how long it is").parse();
    let mut body = vec![0; length.unwrap()];
    client.read_exact(&mut body).await?;
    server.write_all(last_of(&head).as_bytes()).await?;
    server.write_all(&body).await?;
    seen.lock().unwrap().push(Seen {
        line: head[0].trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    });

    let head = read_head(&mut server).await?;
    client.write_all(last_of(&head).as_bytes()).await?;
    let mut more = [0];
    let (mut hears, mut says) = tokio::io::split(client);
    tokio::select! {
        copied = tokio::io::copy(&mut server, &mut says) => copied.map(drop),
        gone = hears.read(&mut more) => gone.map(drop),
    }
}

/// The first line and the headers.
async fn read_head(stream: &mut BufReader<TcpStream>) -> std::io::Result<Vec<String>> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        match line.trim_end() {
            "" => return Ok(head),
            line => head.push(line.to_owned()),
        }
    }
}

/// The same head, with nothing to come after its body.
fn last_of(head: &[String]) -> String {
    let mut told = String::new();
    for line in head {
        let lower = line.to_lowercase();
        if !lower.starts_with("connection:") && !lower.starts_with("keep-alive:") {
            told = told + line + "\r\n";
        }
    }
    told + "connection: close\r\n\r\n"
}
