//! `subscriptions/listen` of the stateless era, renewed whenever it ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use crate::error::Error;
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::session::{RpcRequest, Session};

/// Between two attempts, at first and at most.
const MIN_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(60);

/// How long the first list of tools waits for the subscription to be acknowledged.
pub(crate) const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(2);

/// What a server is asked to notify of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationFilter {
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) tools_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resource_subscriptions: Vec<String>,
}

/// Keeps a subscription while there is anything to be notified of. It is replaced whenever other
/// resources are watched.
pub(crate) async fn subscribe(
    session: Arc<Session>,
    mut filter: NotificationFilter,
    mut watched: watch::Receiver<BTreeSet<String>>,
) {
    let mut retry = MIN_RETRY;
    loop {
        filter.resource_subscriptions = watched.borrow_and_update().iter().cloned().collect();
        if filter == NotificationFilter::default() {
            if watched.changed().await.is_err() {
                return;
            }
            continue;
        }
        let params = ParamsBuilder::new().with("notifications", &filter);
        let begun = tokio::time::Instant::now();
        let listening =
            session.request_without_timeout(RpcRequest::new("subscriptions/listen", params));
        let ended = tokio::select! {
            ended = listening => ended,
            changed = watched.changed() => match changed {
                Ok(()) => continue,
                Err(_closed) => return,
            },
        };
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
        // A subscription that lasted is renewed soon; one that fails at once is retried with
        // growing delays.
        retry = if begun.elapsed() > MAX_RETRY {
            MIN_RETRY
        } else {
            (retry * 2).min(MAX_RETRY)
        };
        tokio::time::sleep(retry).await;
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
