//! Bodies that are longer than one message: their receiver fetches them, part after part.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use crate::envelope::{BodyOf, MessageKind};
use crate::lock::lock;
use crate::{Inner, MAX_BODY_BYTES, MAX_NOTE_BYTES};

const PART_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a part is asked for: half a minute together.
const MAX_ATTEMPTS: u32 = 15;

/// How many are fetched at once; each may take [`MAX_BODY_BYTES`].
const MAX_FETCHES: usize = 16;

pub(super) type BodyKey = (Uuid, BodyOf);

/// A part of a body and where it begins.
type BodyPart = (usize, Bytes);

#[derive(Debug, Clone, Default)]
pub(super) struct BodyFetches(Arc<Mutex<HashMap<BodyKey, mpsc::Sender<BodyPart>>>>);

/// A body that is being fetched; dropped, it makes room for another one.
pub(super) struct BodyFetch {
    fetches: BodyFetches,
    key: BodyKey,
    parts: mpsc::Receiver<BodyPart>,
}

impl BodyFetches {
    /// None: it is being fetched, or there are too many.
    pub(super) fn begin(&self, key: BodyKey) -> Option<BodyFetch> {
        let mut fetches = lock(&self.0);
        if fetches.len() >= MAX_FETCHES || fetches.contains_key(&key) {
            return None;
        }
        let (sender, parts) = mpsc::channel(2);
        fetches.insert(key, sender);
        Some(BodyFetch {
            fetches: self.clone(),
            key,
            parts,
        })
    }

    pub(super) fn receive(&self, key: BodyKey, offset: usize, part: Bytes) {
        if let Some(fetch) = lock(&self.0).get(&key) {
            let _ = fetch.try_send((offset, part));
        }
    }
}

impl BodyFetch {
    pub(super) async fn run(mut self, inner: &Inner, from: &str, length: usize) -> Option<Bytes> {
        if length > MAX_BODY_BYTES {
            return None;
        }
        let (id, of) = self.key;
        let mut body = BytesMut::with_capacity(length.min(2 * MAX_NOTE_BYTES));
        let mut attempts = 0;
        while body.len() < length {
            let offset = body.len();
            if attempts == MAX_ATTEMPTS {
                return None;
            }
            attempts += 1;
            inner.answer(from, MessageKind::Fetch { id, of, offset }, Bytes::new());
            let wanted = async {
                loop {
                    let (at, part) = self.parts.recv().await?;
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
}

impl Drop for BodyFetch {
    fn drop(&mut self) {
        lock(&self.fetches.0).remove(&self.key);
    }
}
