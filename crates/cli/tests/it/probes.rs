//! `/health` and `/ready`, as supervisors and load balancers ask them.

use sea_orm::{ConnectionTrait, Database};

use crate::server::{Server, TEST_TIMEOUT};

async fn check_not_ready(server: &Server, code: &str) {
    let (status, refused) = server.get("/ready").await;
    assert_eq!(
        (status, refused["error"]["code"].as_str()),
        (503, Some(code))
    );
    // Alive all the same: nobody should restart it for that.
    let (status, health) = server.get("/health").await;
    assert_eq!((status, health["status"].as_str()), (200, Some("ok")));
}

#[tokio::test]
async fn a_server_that_drains_is_alive_and_not_ready() {
    let server = Server::start().await;
    assert_eq!(server.get("/ready").await.0, 200);
    server.app.agent.drain(TEST_TIMEOUT).await;
    check_not_ready(&server, "draining").await;
}

#[tokio::test]
async fn a_server_whose_tables_are_older_than_itself_is_not_ready() {
    let server = Server::start().await;
    let file = server.data().join("tenon.db");
    let database = Database::connect(format!("sqlite://{}", file.display()));
    let database = database.await.unwrap();
    let older =
        "DELETE FROM seaql_migrations WHERE version = (SELECT max(version) FROM seaql_migrations)";
    database.execute_unprepared(older).await.unwrap();
    check_not_ready(&server, "migrations_missing").await;

    let gone = "DROP TABLE seaql_migrations";
    database.execute_unprepared(gone).await.unwrap();
    check_not_ready(&server, "database_no_answer").await;
    database.close().await.unwrap();
}
