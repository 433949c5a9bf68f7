//! Getting in, staying in, being thrown out.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{ChatId, UserId, UserRole};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Enrollment, NewUserRow};
use tokio::sync::Notify;

use crate::people::{PASSWORD, Person, email};
use crate::server::{Server, answer};

#[tokio::test]
async fn whoever_started_it_becomes_the_admin_and_the_next_one_cannot() {
    let server = Server::with_accounts([]).await;
    let nobody = Person::nobody(&server);
    let (_, state) = nobody.get("/api/auth/state").await;
    assert_eq!(
        state,
        json!({"setup": true, "setupCode": true, "signUp": false, "singleUser": false})
    );
    assert_eq!(nobody.get("/api/auth/me").await.0, 401);

    let ada = Person::set_up(&server, "Ada").await;
    let (_, me) = ada.get("/api/auth/me").await;
    assert_eq!(
        (&me["email"], &me["role"]),
        (&json!("ada@example.org"), &json!("admin"))
    );
    let (_, state) = ada.get("/api/auth/state").await;
    assert_eq!(state["account"]["id"], *ada.id);
    assert_eq!(state["setup"], false);

    let again = json!({"name": "Eve", "email": "eve@x.org", "password": PASSWORD});
    let (status, refused) = nobody.post("/api/auth/setup", again).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("set_up")));
}

#[tokio::test]
async fn of_two_who_set_up_at_once_one_wins() {
    let server = Server::with_accounts([]).await;
    let nobody = Person::nobody(&server);
    let code = server.app.auth.setup.current();
    let set_up = |name: &str| {
        let body = json!({"name": name, "email": email(name), "password": PASSWORD, "code": code});
        nobody.send("POST", "/api/auth/setup", Some(body))
    };
    let (one, two, three) = tokio::join!(set_up("Ada"), set_up("Bob"), set_up("Eve"));
    let mut statuses = [one.0, two.0, three.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409]);
}

#[tokio::test]
async fn nobody_becomes_the_admin_by_signing_up_first() {
    let server = Server::with_accounts([]).await;
    let store = &server.app.store;
    store.set_preference(None, "sign_up", &true).await.unwrap();
    let body = json!({"name": "Eve", "email": "eve@x.org", "password": PASSWORD});
    let nobody = Person::nobody(&server);
    let (status, refused) = nobody.post("/api/auth/sign-up", body.clone()).await;
    let code = &refused["error"]["code"];
    assert_eq!((status, code), (409, &json!("set_up_first")), "{refused}");
    Person::set_up(&server, "Ada").await;
    let (status, eve) = nobody.post("/api/auth/sign-up", body).await;
    assert_eq!((status, &eve["role"]), (201, &json!("user")));
}

#[tokio::test]
async fn who_is_deleted_leaves_no_folder_behind() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let mut folders = Vec::new();
    for _ in 0..2 {
        let (_, chat) = bob.post("/api/chats", json!({})).await;
        let id = chat["id"].as_str().unwrap();
        folders.push(server.app.agent.workspace(&ChatId::new(id)));
        // One of them is deleted already, but not for good.
        if folders.len() == 2 {
            assert_eq!(bob.delete(&format!("/api/chats/{id}")).await, 204);
        }
    }
    folders.push(server.app.tools.workspace(&UserId::new(&bob.id)));
    for folder in &folders {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("file"), "x").unwrap();
    }
    assert_eq!(ada.delete(&format!("/api/users/{}", bob.id)).await, 204);
    let left = folders.iter().filter(|folder| folder.exists());
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn the_cookie_is_not_for_scripts_and_over_https_it_is_bound_to_the_host() {
    let server = Server::with_accounts([]).await;
    Person::set_up(&server, "Ada").await;
    let log_in = async |headers: &[(&'static str, &str)]| {
        let body = json!({"email": "ada@example.org", "password": PASSWORD});
        let mut request = server.request("POST", "/api/auth/login").json(&body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.headers()["set-cookie"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    let plain = log_in(&[]).await;
    let (pair, flags) = plain.split_once(';').unwrap();
    assert!(
        pair.starts_with("tenon=") && pair.len() == 6 + 43,
        "{plain}"
    );
    assert_eq!(flags, " HttpOnly; SameSite=Lax; Path=/; Max-Age=34560000");
    let secure = log_in(&[
        ("host", "tenon.example"),
        ("origin", "https://tenon.example"),
    ])
    .await;
    let (pair, flags) = secure.split_once(';').unwrap();
    assert!(pair.starts_with("__Host-tenon="), "{secure}");
    assert!(
        flags.ends_with("; Secure") && flags.contains("HttpOnly"),
        "{secure}"
    );
    // Either gets in.
    let me = server.request("GET", "/api/auth/me").header("cookie", pair);
    assert_eq!(answer(me.send().await.unwrap()).await.0, 200);
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_address_look_the_same_and_are_counted() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let nobody = Person::nobody(&server);
    let log_in = async |email: &str, password: &str| {
        let body = json!({"email": email, "password": password});
        nobody.post("/api/auth/login", body).await
    };
    let wrong = log_in(" ADA@example.org", "something else").await;
    assert_eq!(wrong.0, 401);
    assert_eq!(log_in("eve@example.org", "something else").await, wrong);
    for _ in 0..4 {
        assert_eq!(log_in("ada@example.org", "x").await.0, 401);
    }
    let body = json!({"email": "ada@example.org", "password": PASSWORD});
    let request = server.request("POST", "/api/auth/login").json(&body);
    let refused = request.send().await.unwrap();
    assert_eq!(refused.status(), 429);
    let wait: u64 = refused.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=31).contains(&wait), "{wait}");

    let (_, entries) = ada.get("/api/audit?action=login.failed&limit=2").await;
    assert_eq!(entries.as_array().unwrap().len(), 2);
    assert_eq!(entries[0]["subject"], "ada@example.org");
    assert_eq!(entries[0]["address"], "127.0.0.1");
}

#[tokio::test]
async fn logging_out_ends_a_session_and_its_sockets() {
    let server = Server::with_accounts([]).await;
    let here = Person::set_up(&server, "Ada").await;
    let there = Person::log_in(&server, "Ada").await;
    let key = here.key("full").await;
    let (_, sessions) = here.get("/api/auth/sessions").await;
    let current: Vec<bool> = sessions
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["current"].as_bool().unwrap())
        .collect();
    assert_eq!(current.iter().filter(|current| **current).count(), 1);
    assert_eq!(current.len(), 2);

    let mut page = here.socket().await.unwrap();
    assert_eq!(here.post("/api/auth/logout", json!({})).await.0, 204);
    assert_eq!(page.closed().await, 4401);
    assert_eq!(here.get("/api/auth/me").await.0, 401);
    assert_eq!(here.socket().await.err(), Some(401));
    assert_eq!(there.get("/api/auth/me").await.0, 200);

    let mut page = there.socket().await.unwrap();
    let mut programs = key.socket().await.unwrap();
    let keep = json!({"keepKeys": true});
    let out = there.post("/api/auth/logout-everywhere", keep).await;
    assert_eq!(out.0, 204);
    assert_eq!(page.closed().await, 4401);
    assert_eq!(there.get("/api/auth/me").await.0, 401);
    // Where they are to stay, programs do until their key goes.
    assert_eq!(key.get("/api/auth/me").await.0, 200);
    let again = Person::log_in(&server, "Ada").await;
    let (_, keys) = again.get("/api/keys").await;
    let id = keys[0]["id"].as_str().unwrap();
    assert_eq!(again.delete(&format!("/api/keys/{id}")).await, 204);
    assert_eq!(programs.closed().await, 4401);
    assert_eq!(key.get("/api/auth/me").await.0, 401);
}

#[tokio::test]
async fn a_disabled_user_is_out_at_once_and_what_runs_for_them_stops() {
    let never = Arc::new(Notify::new());
    let script = vec![
        ScriptStep::text("Thinking "),
        ScriptStep::WaitFor(never),
        ScriptStep::stop(),
    ];
    let server = Server::with_accounts([script]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let key = bob.key("full").await;
    let (_, chat) = bob.post("/api/chats", json!({})).await;
    let chat = chat["id"].as_str().unwrap();
    let mut page = bob.socket().await.unwrap();
    page.subscribe(chat, 0).await;
    let turn = bob
        .post(&format!("/api/chats/{chat}/turns"), json!({"text": "go"}))
        .await;
    assert_eq!(turn.0, 202, "{turn:?}");
    page.until(|frame| frame["type"] == "delta").await;
    let mut programs = key.socket().await.unwrap();

    let path = format!("/api/users/{}", bob.id);
    let (status, changed) = ada.patch(&path, json!({"disabled": true})).await;
    assert_eq!((status, &changed["disabled"]), (200, &json!(true)));
    assert_eq!(page.closed().await, 4401);
    assert_eq!(programs.closed().await, 4401);
    assert_eq!(bob.get("/api/auth/me").await.0, 401);
    assert_eq!(key.get("/api/auth/me").await.0, 401);
    let body = json!({"email": email("Bob"), "password": PASSWORD});
    let nobody = Person::nobody(&server);
    assert_eq!(nobody.post("/api/auth/login", body.clone()).await.0, 401);
    server.app.agent.drain(crate::server::TEST_TIMEOUT).await;
    assert_eq!(server.app.store.open_turns().await.unwrap(), []);

    // Nothing of theirs is lost, but the old log-in stays over.
    ada.patch(&path, json!({"disabled": false})).await;
    assert_eq!(bob.get("/api/auth/me").await.0, 401);
    assert_eq!(key.get("/api/auth/me").await.0, 200);
    let bob = Person::log_in(&server, "Bob").await;
    assert_eq!(bob.get(&format!("/api/chats/{chat}")).await.0, 200);
}

#[tokio::test]
async fn the_last_admin_stays() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let path = format!("/api/users/{}", ada.id);
    let refused = async |answer: (u16, Value)| {
        let code = &answer.1["error"]["code"];
        assert_eq!((answer.0, code), (409, &json!("last_admin")));
    };
    refused(ada.patch(&path, json!({"disabled": true})).await).await;
    refused(ada.patch(&path, json!({"role": "user"})).await).await;
    refused(ada.send("DELETE", &path, None).await).await;
    assert_eq!(ada.get("/api/users").await.0, 200);
    ada.patch(&format!("/api/users/{}", bob.id), json!({"role": "admin"}))
        .await;
    assert_eq!(bob.delete(&path).await, 204);
    assert_eq!(ada.get("/api/auth/me").await.0, 401);
    let (_, users) = bob.get("/api/users").await;
    assert_eq!(users.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_invitation_works_once_and_for_whom_it_is() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let nobody = Person::nobody(&server);
    let sign_up = async |name: &str, invite: Option<&str>| {
        let mut body = json!({"name": name, "email": email(name), "password": PASSWORD});
        if let Some(invite) = invite {
            body["invite"] = invite.into();
        }
        let (status, answer) = nobody.post("/api/auth/sign-up", body).await;
        (status, answer["error"]["code"].as_str().map(str::to_owned))
    };
    let code = |code: &str| Some(code.to_owned());
    assert_eq!(sign_up("Eve", None).await, (403, code("invite_needed")));
    assert_eq!(sign_up("Eve", Some("x")).await, (403, code("wrong_invite")));

    let (_, invite) = ada
        .post("/api/invites", json!({"email": "BOB@example.org"}))
        .await;
    let token = invite["token"].as_str().unwrap();
    let (_, seen) = nobody.get(&format!("/api/auth/invites/{token}")).await;
    assert_eq!(seen["email"], "bob@example.org");
    assert_eq!(
        sign_up("Eve", Some(token)).await,
        (403, code("wrong_email"))
    );
    assert_eq!(sign_up("Bob", Some(token)).await, (201, None));
    assert_eq!(
        sign_up("Bob", Some(token)).await,
        (403, code("wrong_invite"))
    );
    assert_eq!(
        nobody.get(&format!("/api/auth/invites/{token}")).await.0,
        404
    );

    let (_, invite) = ada.post("/api/invites", json!({"role": "admin"})).await;
    let path = format!("/api/invites/{}", invite["id"].as_str().unwrap());
    assert_eq!(ada.delete(&path).await, 204);
    let token = invite["token"].as_str().unwrap();
    let status = nobody.get(&format!("/api/auth/invites/{token}")).await.0;
    assert_eq!(status, 404);

    ada.patch("/api/settings", json!({"signUp": true})).await;
    assert_eq!(sign_up("Eve", None).await, (201, None));
    assert_eq!(sign_up("Eve", None).await, (409, code("email_taken")));
}

#[tokio::test]
async fn another_password_needs_the_old_one_and_ends_the_other_sessions() {
    let server = Server::with_accounts([]).await;
    let here = Person::set_up(&server, "Ada").await;
    let there = Person::log_in(&server, "Ada").await;
    let mut page = there.socket().await.unwrap();
    let change = async |body: Value| here.patch("/api/auth/me", body).await;
    assert_eq!(change(json!({"password": "another one"})).await.0, 403);
    assert_eq!(change(json!({"email": "ada@new.org"})).await.0, 403);
    assert_eq!(
        change(json!({"password": "short", "currentPassword": PASSWORD}))
            .await
            .0,
        400
    );
    let (status, account) = change(
        json!({"password": "another one", "email": "Ada@New.org", "currentPassword": PASSWORD}),
    )
    .await;
    assert_eq!((status, &account["email"]), (200, &json!("ada@new.org")));
    assert_eq!(page.closed().await, 4401);
    assert_eq!(there.get("/api/auth/me").await.0, 401);
    assert_eq!(here.get("/api/auth/me").await.0, 200);
    let body = json!({"email": "ada@new.org", "password": "another one"});
    let nobody = Person::nobody(&server);
    assert_eq!(nobody.post("/api/auth/login", body).await.0, 200);
}

#[tokio::test]
async fn the_first_account_adopts_what_was_there_before_it() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let (_, me) = server.get("/api/auth/me").await;
    assert_eq!((&me["id"], &me["role"]), (&json!("local"), &json!("admin")));
    let mine = server
        .request("PATCH", "/api/auth/me")
        .json(&json!({"name": "x"}));
    for (status, refused) in [
        server.post("/api/keys", json!({"name": "x"})).await,
        answer(mine.send().await.unwrap()).await,
    ] {
        let code = &refused["error"]["code"];
        assert_eq!((status, code), (409, &json!("no_account")));
    }
    // As `tenon user add` makes it.
    let new = NewUserRow {
        email: "ada@x.org",
        name: "Ada",
        role: UserRole::User,
        password_hash: None,
        oidc_subject: None,
    };
    let ada = server
        .app
        .store
        .create_user(new, Enrollment::Any)
        .await
        .unwrap();
    let (_, me) = server.get("/api/auth/me").await;
    assert_eq!(me["id"], ada.id.0, "the one person is the first admin now");
    assert_eq!(server.get(&format!("/api/chats/{chat}")).await.0, 200);
}
