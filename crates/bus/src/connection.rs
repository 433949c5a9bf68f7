//! The connection to Redis: one that publishes, one that listens, made again with backoff.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use redis::AsyncConnectionConfig;
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{interval, sleep, timeout};

use crate::address::BusAddress;
use crate::envelope::{self, MessageKind};
use crate::{BusState, Inner};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that the network dropped without a word is noticed after both.
const PING_INTERVAL: Duration = Duration::from_secs(5);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(3);

/// How many messages go out with one write.
const MAX_TOGETHER: usize = 128;

#[derive(Debug)]
pub(crate) enum OutgoingMessage {
    Publish {
        channel: String,
        message: Bytes,
        /// Its share of the outbox, released when it was sent or dropped.
        room: OwnedSemaphorePermit,
    },
    /// All before it were sent.
    Flush(oneshot::Sender<()>),
}

struct BusConnection {
    publisher: MultiplexedConnection,
    sink: PubSubSink,
    stream: PubSubStream,
}

/// Runs until the last handle of the bus is gone.
pub(crate) async fn run(
    address: BusAddress,
    bus: Weak<Inner>,
    mut outgoing: mpsc::Receiver<OutgoingMessage>,
) {
    let mut backoff = FIRST_BACKOFF;
    let mut is_told = false;
    loop {
        let Some(inner) = bus.upgrade() else { return };
        match connect(&address, &inner).await {
            Ok(connection) => {
                backoff = FIRST_BACKOFF;
                is_told = false;
                // Drop messages queued before the connection: their receivers have given up.
                while outgoing.try_recv().is_ok() {}
                inner.state.send_replace(BusState::Connected);
                tracing::info!("connected to the bus");
                inner.peers.send_heartbeat(&inner, true);
                drop(inner);
                let why = pump(connection, &bus, &mut outgoing).await;
                let Some(inner) = bus.upgrade() else { return };
                inner.state.send_replace(BusState::Away);
                tracing::warn!(why, "the bus is away: what happens elsewhere is seen later");
            }
            Err(why) => {
                if !is_told {
                    tracing::warn!(
                        why,
                        "the bus cannot be reached; it is tried again and again"
                    );
                }
                is_told = true;
            }
        }
        sleep(backoff).await;
        backoff = (backoff * 2).min(MAX_BACKOFF);
    }
}

/// Waits, for a second at most, until all queued messages are sent.
pub(crate) async fn flush(inner: &Arc<Inner>) {
    let (done, sent) = oneshot::channel();
    if inner.outbox.try_send(OutgoingMessage::Flush(done)).is_ok() {
        let _ = timeout(Duration::from_secs(1), sent).await;
    }
}

async fn connect(address: &BusAddress, inner: &Inner) -> Result<BusConnection, String> {
    let connecting = async {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(PUBLISH_TIMEOUT));
        let publisher = address
            .0
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        let mut listener = address.0.get_async_pubsub().await?;
        listener.subscribe(inner.channels.all()).await?;
        listener.subscribe(inner.channels.of(&inner.name)).await?;
        let (sink, stream) = listener.split();
        Ok(BusConnection {
            publisher,
            sink,
            stream,
        })
    };
    match timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(connected) => connected.map_err(|error: redis::RedisError| cause(&error)),
        Err(_late) => Err("it does not answer".into()),
    }
}

/// The category alone: the full text may quote the address, with its password.
fn cause(error: &redis::RedisError) -> String {
    error.category().to_owned()
}

/// Until the connection is lost; says why.
async fn pump(
    connection: BusConnection,
    bus: &Weak<Inner>,
    outgoing: &mut mpsc::Receiver<OutgoingMessage>,
) -> String {
    let BusConnection {
        publisher,
        sink,
        stream,
    } = connection;
    tokio::select! {
        why = publish(publisher, outgoing) => why,
        why = listen(stream, bus) => why,
        why = ping(sink) => why,
    }
}

async fn publish(
    mut publisher: MultiplexedConnection,
    outgoing: &mut mpsc::Receiver<OutgoingMessage>,
) -> String {
    let mut together = Vec::with_capacity(MAX_TOGETHER);
    while outgoing.recv_many(&mut together, MAX_TOGETHER).await > 0 {
        let mut pipeline = redis::pipe();
        let mut flushed = Vec::new();
        let mut rooms = Vec::new();
        for outgoing in together.drain(..) {
            match outgoing {
                OutgoingMessage::Publish {
                    channel,
                    message,
                    room,
                } => {
                    let publish = pipeline.cmd("PUBLISH").arg(channel).arg(&message[..]);
                    publish.ignore();
                    rooms.push(room);
                }
                OutgoingMessage::Flush(done) => flushed.push(done),
            }
        }
        if !rooms.is_empty() {
            let sent: redis::RedisResult<()> = pipeline.query_async(&mut publisher).await;
            if let Err(error) = sent {
                return cause(&error);
            }
        }
        for done in flushed {
            // An error only means that nobody waits for it.
            let _ = done.send(());
        }
    }
    "nobody uses it any more".into()
}

async fn listen(mut stream: PubSubStream, bus: &Weak<Inner>) -> String {
    while let Some(message) = stream.next().await {
        let Some(inner) = bus.upgrade() else { break };
        let payload = Bytes::copy_from_slice(message.get_payload_bytes());
        let Some((header, body)) = envelope::read(payload) else {
            tracing::debug!("a message of the bus cannot be read");
            continue;
        };
        if header.from == inner.name {
            continue;
        }
        receive(&inner, header, body);
    }
    "the connection was closed".into()
}

/// Never waits: one slow receiver must not delay the others.
fn receive(inner: &Arc<Inner>, header: envelope::Header, body: Bytes) {
    inner.peers.record_message(inner, &header);
    match header.kind {
        MessageKind::Note => inner.inbox.deliver(&header, body),
        MessageKind::Hello { .. } | MessageKind::Goodbye => {}
        kind => inner.requests.receive(inner, &header, kind, body),
    }
}

async fn ping(mut sink: PubSubSink) -> String {
    let mut ticks = interval(PING_INTERVAL);
    loop {
        ticks.tick().await;
        match timeout(PING_TIMEOUT, sink.ping::<redis::Value>()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return cause(&error),
            Err(_late) => return "it does not answer".into(),
        }
    }
}
