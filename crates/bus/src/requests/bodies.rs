//! Bodies that are longer than one message: their receiver fetches them, part after part.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use super::{is_connected, lock};
use crate::envelope::{BodyOf, MessageKind};
use crate::{Inner, MAX_BODY_BYTES, MAX_NOTE_BYTES};

const PART_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a part is asked for: half a minute together.
const MAX_ATTEMPTS: u32 = 15;

/// How many are fetched at once; each may take [`MAX_BODY_BYTES`].
const MAX_FETCHES: usize = 16;

pub(super) type BodyKey = (Uuid, BodyOf);

/// A part of a body and where it begins.
type BodyPart = (usize, Bytes);

/// None: the fetch begins in a moment.
#[derive(Debug, Default)]
pub(super) struct BodyFetches(Mutex<HashMap<BodyKey, Option<mpsc::Sender<BodyPart>>>>);

impl BodyFetches {
    /// False: it is being fetched, or there are too many.
    pub(super) fn begin(&self, key: BodyKey) -> bool {
        let mut fetches = lock(&self.0);
        if fetches.len() >= MAX_FETCHES || fetches.contains_key(&key) {
            return false;
        }
        fetches.insert(key, None);
        true
    }

    pub(super) fn receive(&self, key: BodyKey, offset: usize, part: Bytes) {
        if let Some(Some(fetch)) = lock(&self.0).get(&key) {
            let _ = fetch.try_send((offset, part));
        }
    }

    /// Whoever calls it was told by [`BodyFetches::begin`] that it may.
    pub(super) async fn fetch(
        &self,
        inner: &Inner,
        from: &str,
        key: BodyKey,
        length: usize,
    ) -> Option<Bytes> {
        let (sender, parts) = mpsc::channel(2);
        lock(&self.0).insert(key, Some(sender));
        let body = if length <= MAX_BODY_BYTES {
            collect(inner, from, key, length, parts).await
        } else {
            None
        };
        lock(&self.0).remove(&key);
        body
    }
}

async fn collect(
    inner: &Inner,
    from: &str,
    (id, of): BodyKey,
    length: usize,
    mut parts: mpsc::Receiver<BodyPart>,
) -> Option<Bytes> {
    let mut body = BytesMut::with_capacity(length.min(2 * MAX_NOTE_BYTES));
    let mut attempts = 0;
    while body.len() < length {
        let offset = body.len();
        if attempts == MAX_ATTEMPTS {
            return None;
        }
        attempts += 1;
        if is_connected(inner) {
            inner.answer(from, MessageKind::Fetch { id, of, offset }, Bytes::new());
        }
        let wanted = async {
            loop {
                let (at, part) = parts.recv().await?;
                if at == offset && !part.is_empty() && offset + part.len() <= length {
                    return Some(part);
                }
            }
        };
        if let Ok(part) = timeout(PART_TIMEOUT, wanted).await {
            body.put_slice(&part?);
            attempts = 0;
        }
    }
    Some(body.freeze())
}
