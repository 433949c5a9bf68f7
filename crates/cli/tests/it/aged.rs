//! Log-ins that were made some time ago.

use sea_orm::{ConnectionTrait, Database};

use crate::server::Server;

/// Makes every log-in older than a fresh one may be.
pub async fn age_log_ins(server: &Server) {
    let file = server.data().join("tenon.db");
    let database = Database::connect(format!("sqlite://{}", file.display()));
    let database = database.await.unwrap();
    let aged = "UPDATE auth_sessions SET created_at = created_at - 11 * 60 * 1000";
    database.execute_unprepared(aged).await.unwrap();
    database.close().await.unwrap();
}
