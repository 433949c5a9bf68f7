//! Several messages at once: up to 2025-03-26.

use serde_json::value::RawValue;

use crate::jsonrpc::RpcError;

/// Limit of messages in a batch, against abuse.
const MAX_BATCH_MESSAGES: usize = 100;

pub(super) fn read_batch(text: &[u8], is_allowed: bool) -> Result<Vec<&RawValue>, RpcError> {
    let refuse = |why: &str| Err(RpcError::new(RpcError::INVALID_REQUEST, why));
    if !is_allowed {
        return refuse("This protocol version has no batches.");
    }
    match serde_json::from_slice::<Vec<&RawValue>>(text) {
        Ok(messages) if messages.is_empty() || messages.len() > MAX_BATCH_MESSAGES => {
            refuse("A batch has 1 to 100 messages.")
        }
        Ok(messages) => Ok(messages),
        Err(_) => refuse("Not a JSON-RPC batch."),
    }
}
