//! `subscriptions/listen` of the stateless era, renewed whenever it ends.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::error::Error;
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::session::{RpcRequest, Session};

/// Between two attempts, at first and at most.
const MIN_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(60);

/// How long the first list of tools waits for the subscription to be acknowledged.
pub(crate) const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn subscribe(session: Arc<Session>) {
    let mut retry = MIN_RETRY;
    loop {
        let params =
            ParamsBuilder::new().with("notifications", &json!({ "toolsListChanged": true }));
        let begun = tokio::time::Instant::now();
        let ended = session
            .request_without_timeout(RpcRequest::new("subscriptions/listen", params))
            .await;
        session.pending.set_stream_open(false);
        match ended {
            Err(Error::Rpc(error))
                if matches!(
                    error.code,
                    RpcError::METHOD_NOT_FOUND | RpcError::INVALID_PARAMS
                ) =>
            {
                return;
            }
            Err(
                Error::LoginRequired { .. }
                | Error::HttpStatus {
                    status: 400..=499, ..
                },
            ) => return,
            Ok(_) | Err(_) => {}
        }
        // One that lasted is renewed soon, one that fails at once ever later.
        retry = if begun.elapsed() > MAX_RETRY {
            MIN_RETRY
        } else {
            (retry * 2).min(MAX_RETRY)
        };
        tokio::time::sleep(retry).await;
    }
}
