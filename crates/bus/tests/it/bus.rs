//! Notes and requests, also while the bus goes away and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tenon_bus::{Bus, BusAddress, BusError, BusState, IncomingRequest, Note};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::redis::Redis;

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_note_reaches_whom_it_is_for() {
    let redis = Redis::start(&[]);
    let [a, b, c] = servers(&redis.url(), ["a", "b", "c"]).await;
    let (mut to_a, mut to_b, mut to_c) = (a.notes("t", 8), b.notes("t", 8), c.notes("t", 8));
    assert!(a.notify("b", "t", b"for b".to_vec()));
    assert_eq!(text(&mut to_b).await, ("a".into(), "for b".into()));
    assert!(b.broadcast("t", b"for all".to_vec()));
    assert_eq!(text(&mut to_a).await, ("b".into(), "for all".into()));
    assert_eq!(text(&mut to_c).await, ("b".into(), "for all".into()));
    assert!(to_b.try_recv().is_err(), "nobody hears themselves");
    assert!(!a.notify("b", "t", vec![0; 300 * 1024]), "it is too long");

    // Another cluster on the same Redis hears nothing.
    let other = Bus::start(&address(&redis.url()), "other", "a");
    connected(&other).await;
    let mut heard = other.notes("t", 8);
    assert!(c.broadcast("t", b"ours".to_vec()));
    assert_eq!(text(&mut to_a).await, ("c".into(), "ours".into()));
    assert!(heard.try_recv().is_err());

    let mut peers = a.peers();
    let both = peers.wait_for(|peers| peers.len() == 2);
    let both = timeout(TEST_TIMEOUT, both).await.unwrap().unwrap();
    let names: Vec<String> = both.iter().map(|name| name.to_string()).collect();
    assert_eq!(names, ["b", "c"]);
    drop(both);
    c.leave().await;
    let one = peers.wait_for(|peers| peers.len() == 1);
    drop(timeout(TEST_TIMEOUT, one).await.unwrap().unwrap());
}

#[tokio::test]
async fn a_request_is_answered_once_however_long_it_is() {
    let redis = Redis::start(&["--requirepass", "secret"]);
    let url = redis.url().replace("redis://", "redis://:secret@");
    let [a, b] = servers(&url, ["a", "b"]).await;
    b.serve("reverse", |request: IncomingRequest| async move {
        request.body.iter().rev().copied().collect()
    });
    let ask = async |body: Vec<u8>| a.request("b", "reverse", body, TEST_TIMEOUT).await;
    assert_eq!(ask(b"abc".to_vec()).await.unwrap().as_ref(), b"cba");
    // In parts, there and back.
    let long: Vec<u8> = (0..3_000_000u32).map(|number| number as u8).collect();
    let reversed: Vec<u8> = long.iter().rev().copied().collect();
    assert_eq!(ask(long).await.unwrap().as_ref(), reversed);

    let unknown = a.request("b", "nothing", Vec::new(), TEST_TIMEOUT).await;
    assert_eq!(unknown.unwrap_err(), BusError::Refused);
    let nobody = a
        .request("nobody", "reverse", Vec::new(), TEST_TIMEOUT)
        .await;
    assert_eq!(nobody.unwrap_err(), BusError::Gone);
    let alone = Bus::alone();
    let asked = alone.request("b", "reverse", Vec::new(), TEST_TIMEOUT);
    assert_eq!(asked.await.unwrap_err(), BusError::Away);
}

#[tokio::test]
async fn a_request_survives_the_bus_and_is_never_executed_twice() {
    let mut redis = Redis::start(&[]);
    let [a, b] = servers(&redis.url(), ["a", "b"]).await;
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, (begun, mut begins)) = (count.clone(), mpsc::channel(8));
    b.serve("slow", move |request: IncomingRequest| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let begun = begun.clone();
        async move {
            begun.send(()).await.unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
            [request.body.to_vec(), number.to_string().into_bytes()].concat()
        }
    });
    let asking = a.clone();
    let asked = tokio::spawn(async move {
        let asked = asking.request("b", "slow", b"number ".to_vec(), TEST_TIMEOUT);
        asked.await
    });
    begins.recv().await.unwrap();
    // The reply falls into the time without a bus.
    redis.kill();
    let mut state = a.state();
    let away = state.wait_for(|state| *state == BusState::Away);
    drop(timeout(TEST_TIMEOUT, away).await.unwrap().unwrap());
    assert!(!a.notify("b", "t", Vec::new()));
    tokio::time::sleep(Duration::from_secs(3)).await;
    redis.restart();
    assert_eq!(asked.await.unwrap().unwrap().as_ref(), b"number 0");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn who_waits_no_longer_ends_what_was_asked() {
    let redis = Redis::start(&[]);
    let [a, b] = servers(&redis.url(), ["a", "b"]).await;
    let (events, mut seen) = mpsc::channel(8);
    b.serve("forever", move |_| {
        let events = events.clone();
        async move {
            events.send("begun").await.unwrap();
            let _guard = TellsItsEnd(events);
            std::future::pending().await
        }
    });
    let asked = a.request("b", "forever", Vec::new(), Duration::from_millis(500));
    assert_eq!(asked.await.unwrap_err(), BusError::TimedOut);
    for expected in ["begun", "ended"] {
        let event = timeout(TEST_TIMEOUT, seen.recv()).await.unwrap();
        assert_eq!(event, Some(expected));
    }
}

#[tokio::test]
async fn what_is_given_up_or_fails_makes_room_for_the_next() {
    let redis = Redis::start(&[]);
    let [a, b] = servers(&redis.url(), ["a", "b"]).await;
    b.serve("fails", |_| async move { panic!("as a handler may") });
    let failed = a.request("b", "fails", Vec::new(), TEST_TIMEOUT).await;
    assert_eq!(failed.unwrap_err(), BusError::TimedOut);

    // More of them than are fetched at once, each given up while its parts come.
    b.serve("length", |request: IncomingRequest| async move {
        request.body.len().to_string().into_bytes()
    });
    let long = vec![0; 5_000_000];
    for _ in 0..20 {
        let asked = a.request("b", "length", long.clone(), Duration::from_millis(5));
        let _ = asked.await;
    }
    let reply = a.request("b", "length", long, TEST_TIMEOUT).await.unwrap();
    assert_eq!(reply.as_ref(), b"5000000");
}

struct TellsItsEnd(mpsc::Sender<&'static str>);

impl Drop for TellsItsEnd {
    fn drop(&mut self) {
        let _ = self.0.try_send("ended");
    }
}

async fn servers<const N: usize>(url: &str, names: [&str; N]) -> [Bus; N] {
    let servers = names.map(|name| Bus::start(&address(url), "test", name));
    for server in &servers {
        connected(server).await;
    }
    servers
}

async fn connected(bus: &Bus) {
    let mut state = bus.state();
    let connected = state.wait_for(|state| *state == BusState::Connected);
    drop(timeout(TEST_TIMEOUT, connected).await.unwrap().unwrap());
}

fn address(url: &str) -> BusAddress {
    BusAddress::parse(url).unwrap()
}

async fn text(notes: &mut mpsc::Receiver<Note>) -> (String, String) {
    let note = timeout(TEST_TIMEOUT, notes.recv()).await.unwrap().unwrap();
    let body = String::from_utf8(note.body.to_vec()).unwrap();
    (note.from.to_string(), body)
}
