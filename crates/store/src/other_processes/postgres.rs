//! `LISTEN`: PostgreSQL tells every process what the others have committed.
//!
//! A connection that is lost is made again, and everything counts as changed then; until then
//! nothing is cached. One that the network drops without a word is noticed within 15 s.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::postgres::PgListener;
use sea_orm::sqlx::{self};
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use super::{ChangeWatch, LoggedChange, publish_everything};
use crate::changes::Changes;
use crate::postgres_address::{ChangeOrigin, PostgresAddress};
use crate::{Result, Store};

const CHANNEL: &str = "tenon_changes";

/// How long to wait before a database that is away is asked again.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);

/// How often a connection on which nothing comes is tried.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize)]
struct ChangeNotification {
    origin: Option<String>,
    #[serde(flatten)]
    change: LoggedChange,
}

impl ChangeWatch {
    pub(crate) async fn of_postgres(store: &Store, address: PostgresAddress) -> Result<Self> {
        let listener = listen(&address).await?;
        let changes = store.changes.clone();
        Ok(Self(tokio::spawn(watch(address, listener, changes))))
    }
}

/// On a connection of its own, which no dead one can keep from it.
async fn listen(address: &PostgresAddress) -> Result<PgListener> {
    let own = address.connect_later().await?;
    let listening = async {
        let pool = own.get_postgres_connection_pool();
        let mut listener = PgListener::connect_with(pool).await?;
        listener.ignore_pool_close_event(true);
        // A lost connection is reported and reopened here, because notifications may have been
        // missed.
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        Ok(listener)
    };
    listening.await.map_err(sqlx_error)
}

async fn watch(address: PostgresAddress, mut listener: PgListener, changes: Arc<Changes>) {
    loop {
        match timeout(CHECK_INTERVAL, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => {
                take(notification.payload(), &changes, &address.origin);
            }
            // Nothing came: either nothing changed, or the network dropped the connection.
            Err(_quiet) if is_alive(&mut listener).await => {}
            // It was lost.
            Ok(Ok(None) | Err(_)) | Err(_) => {
                tracing::warn!("what other processes change is not known for now");
                changes.set_connected(false);
                drop(listener);
                listener = reconnect(&address).await;
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
async fn reconnect(address: &PostgresAddress) -> PgListener {
    loop {
        sleep(RECONNECT_INTERVAL).await;
        match timeout(CHECK_TIMEOUT, listen(address)).await {
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
