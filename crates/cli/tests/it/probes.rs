//! `/health` and `/ready`, as supervisors and load balancers ask them.

use sea_orm::{ConnectionTrait, Database};

use tenon_app::config::Config;

use crate::postgres::Postgres;
use crate::program::Served;
use crate::server::Server;

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
async fn a_server_that_was_told_to_stop_is_alive_and_not_ready_until_its_answers_are_given() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    served.ask_and_wait_for_call("sleep for 200 seconds").await;
    assert_eq!(served.get("/ready").await["status"], "ready");
    served.signal("-TERM");
    served
        .until("/ready", |refused| refused["error"]["code"] == "draining")
        .await;
    assert_eq!(served.get("/health").await["status"], "ok");
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

#[tokio::test]
async fn a_server_whose_database_is_gone_is_alive_and_not_ready() {
    let postgres = Postgres::start();
    let config = Config {
        database: Some(postgres.url()),
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    assert_eq!(server.get("/ready").await.0, 200);
    drop(postgres);
    check_not_ready(&server, "database_no_answer").await;
}
