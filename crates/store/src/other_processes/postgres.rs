//! `LISTEN`: PostgreSQL tells every process what the others have committed.
//!
//! A connection that is lost is made again, and everything counts as changed then; until then
//! nothing is cached. One that the network drops without a word is noticed within 40 s.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::DatabaseConnection;
use sea_orm::sqlx::postgres::PgListener;
use sea_orm::sqlx::{self};
use serde::Deserialize;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::{ChangeWatch, LoggedChange, publish_everything};
use crate::changes::Changes;
use crate::{Result, Store};

const CHANNEL: &str = "tenon_changes";

/// How long to wait before a database that is away is asked again.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);

/// How often a connection on which nothing comes is tried.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// By what a process knows its own changes: a setting of all connections that it writes on.
#[derive(Debug, Clone)]
pub(crate) struct ChangeOrigin(Arc<str>);

impl ChangeOrigin {
    pub(crate) fn fresh() -> Self {
        Self(Uuid::new_v4().to_string().into())
    }

    /// The option of a connection that carries it.
    pub(crate) fn option(&self) -> (&str, &str) {
        ("tenon.origin", &self.0)
    }
}

#[derive(Debug, Deserialize)]
struct ChangeNotification {
    origin: Option<String>,
    #[serde(flatten)]
    change: LoggedChange,
}

impl ChangeWatch {
    /// Takes a pool of its own, for one connection.
    pub(crate) async fn of_postgres(
        store: &Store,
        own: DatabaseConnection,
        origin: ChangeOrigin,
    ) -> Result<Self> {
        let listener = listen(&own).await.map_err(sqlx_error)?;
        let changes = store.changes.clone();
        Ok(Self(tokio::spawn(watch(own, listener, changes, origin))))
    }
}

async fn listen(own: &DatabaseConnection) -> sqlx::Result<PgListener> {
    let pool = own.get_postgres_connection_pool();
    let mut listener = PgListener::connect_with(pool).await?;
    listener.ignore_pool_close_event(true);
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

async fn watch(
    own: DatabaseConnection,
    mut listener: PgListener,
    changes: Arc<Changes>,
    origin: ChangeOrigin,
) {
    loop {
        match timeout(CHECK_INTERVAL, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => take(notification.payload(), &changes, &origin),
            // Nothing came: either nothing changed, or the network dropped the connection.
            Err(_quiet) if is_alive(&mut listener).await => {}
            // It was lost.
            Ok(Ok(None) | Err(_)) | Err(_) => {
                tracing::warn!("what other processes change is not known for now");
                changes.set_connected(false);
                // It may still have the one connection that the pool gives.
                drop(listener);
                listener = reconnect(&own).await;
                tracing::info!("what other processes change is known again");
                publish_everything(&changes);
                changes.set_connected(true);
            }
        }
    }
}

async fn is_alive(listener: &mut PgListener) -> bool {
    let ask = sqlx::query("SELECT 1").execute(listener);
    matches!(timeout(CHECK_TIMEOUT, ask).await, Ok(Ok(_)))
}

/// Nothing counts as known before it listens again.
async fn reconnect(own: &DatabaseConnection) -> PgListener {
    loop {
        sleep(RECONNECT_INTERVAL).await;
        match timeout(CHECK_INTERVAL, listen(own)).await {
            Ok(Ok(listener)) => return listener,
            Ok(Err(error)) => tracing::debug!(%error, "the database is away"),
            Err(_late) => {}
        }
    }
}

fn take(payload: &str, changes: &Changes, origin: &ChangeOrigin) {
    match serde_json::from_str::<ChangeNotification>(payload) {
        Ok(notification) if notification.origin.as_deref() == Some(&*origin.0) => {}
        Ok(notification) => changes.publish_foreign(notification.change.into()),
        // A newer version of Tenon may have more topics, or somebody else uses the channel.
        Err(error) => {
            tracing::debug!(%error, "a notification of the database cannot be read");
            publish_everything(changes);
        }
    }
}

fn sqlx_error(error: sqlx::Error) -> crate::Error {
    sea_orm::DbErr::Conn(sea_orm::RuntimeErr::SqlxError(Arc::new(error))).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChangeTopic;

    #[test]
    fn a_process_does_not_listen_to_itself() {
        let (changes, origin) = (Changes::default(), ChangeOrigin::fresh());
        let version = || changes.version(ChangeTopic::Models);
        let own = format!(r#"{{"origin": "{}", "topic": "models"}}"#, origin.0);
        take(&own, &changes, &origin);
        assert_eq!(version(), Some(0));
        take(r#"{"origin": null, "topic": "models"}"#, &changes, &origin);
        assert_eq!(version(), Some(1));
        take("something else", &changes, &origin);
        assert_eq!(version(), Some(2));
    }
}
