//! The code that lets in whoever started Tenon, and nobody else.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_domain::UserRole;
use tenon_store::{Enrollment, NewUserRow};

use crate::people::{PASSWORD, Person};
use crate::program::{Served, code_in, ended, lines, tenon};
use crate::proxy::Proxy;
use crate::server::{Server, TEST_TIMEOUT, answer, cookie_of};

fn account(code: &str) -> Value {
    json!({"name": "Eve", "email": "eve@x.org", "password": PASSWORD, "code": code})
}

async fn sent(request: RequestBuilder) -> (u16, Value) {
    answer(request.send().await.unwrap()).await
}

#[tokio::test]
async fn the_first_admin_is_not_made_without_the_code_wherever_one_comes_from() {
    let server = Server::with_accounts([]).await;
    let proxy = Proxy::start(&server.address.to_string());
    let set_up = async |request: RequestBuilder, body: Value| sent(request.json(&body)).await;
    let bare = json!({"name": "Eve", "email": "eve@x.org", "password": PASSWORD});
    let code = server.app.auth.setup.current();
    for body in [bare, account(""), account("AAAA"), account(&code[1..])] {
        for request in [
            server.anonymous("POST", "/api/auth/setup"),
            proxy.request("POST", "/api/auth/setup"),
        ] {
            let (status, refused) = set_up(request, body.clone()).await;
            let found = (status, refused["error"]["code"].as_str());
            assert!(
                matches!(found, (403, Some("wrong_code")) | (429, Some("too_many"))),
                "{refused}"
            );
        }
    }
    let (_, state) = sent(proxy.request("GET", "/api/auth/state")).await;
    assert_eq!(
        (&state["setup"], &state["setupCode"]),
        (&json!(true), &json!(true))
    );
    assert!(!server.app.store.has_users().await.unwrap());

    // What is wrong with the rest of it does not use the code up.
    let request = || server.anonymous("POST", "/api/auth/setup");
    for (name, wrong) in [("name", ""), ("email", "eve"), ("password", "short")] {
        let mut body = account(&code);
        body[name] = wrong.into();
        assert_eq!(set_up(request(), body).await.0, 400, "{name}");
    }
    let (status, made) = set_up(request(), account(&code.to_lowercase())).await;
    assert_eq!((status, &made["role"]), (201, &json!("admin")));
    assert_eq!(set_up(request(), account(&code)).await.0, 409);
}

#[tokio::test]
async fn strangers_who_guess_do_not_lock_out_whoever_has_the_code() {
    for server in [Server::with_accounts([]).await, Server::start().await] {
        let proxy = Proxy::start(&server.address.to_string());
        let mut refusals = Vec::new();
        for _ in 0..60 {
            let guess = proxy.request("POST", "/api/auth/setup");
            refusals.push(sent(guess.json(&account("GUESS"))).await.0);
        }
        assert_eq!(&refusals[..5], [403; 5]);
        assert_eq!(refusals.last(), Some(&429), "guessing has a bound");
        // The same address: all that come through the proxy have it.
        let code = server.app.auth.setup.current();
        let right = proxy.request("POST", "/api/auth/setup");
        assert_eq!(sent(right.json(&account(&code))).await.0, 201);
    }
}

#[tokio::test]
async fn a_program_added_by_nobody_does_not_run() {
    let server = Server::start().await;
    let proxy = Proxy::start(&server.address.to_string());
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ran");
    let new = json!({"kind": "mcp", "name": "theirs", "command": "touch", "args": [trace]});
    for request in [
        server.anonymous("POST", "/api/sources"),
        proxy.request("POST", "/api/sources"),
    ] {
        assert_eq!(sent(request.json(&new)).await.0, 401);
    }
    assert_eq!(server.get("/api/sources").await.1, json!([]));
    assert!(!trace.exists());
    // It was not for a mistake in the request.
    assert_eq!(server.post("/api/sources", new).await.0, 201);
    let started = Instant::now();
    while !trace.exists() {
        assert!(started.elapsed() < TEST_TIMEOUT, "it was never run");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn in_single_user_mode_a_code_lets_in_once_and_the_session_stays() {
    let server = Server::start().await;
    let nobody = Person::nobody(&server);
    let (_, state) = nobody.get("/api/auth/state").await;
    assert_eq!(
        state,
        json!({"setup": false, "setupCode": true, "signUp": false, "singleUser": true})
    );
    let code = server.app.auth.setup.current();
    let enter = async |code: &str| {
        let request = server.anonymous("POST", "/api/auth/setup");
        request.json(&json!({"code": code})).send().await.unwrap()
    };
    let entered = enter(&code).await;
    assert_eq!(entered.status(), 201);
    let cookie = cookie_of(&entered);
    assert_eq!(answer(entered).await.1["id"], "local");
    assert_eq!(enter(&code).await.status(), 403, "it was used up");

    let me = async || {
        sent(
            server
                .anonymous("GET", "/api/auth/me")
                .header("cookie", &cookie),
        )
        .await
    };
    assert_eq!(me().await.0, 200);
    let (_, state) = sent(
        server
            .anonymous("GET", "/api/auth/state")
            .header("cookie", &cookie),
    )
    .await;
    assert_eq!(
        (&state["setupCode"], &state["account"]["id"]),
        (&json!(false), &json!("local"))
    );

    // Who makes accounts does not throw anybody out, nor does an account let anybody in here.
    let hash = server.app.auth.passwords.hash(PASSWORD).await.unwrap();
    for (name, role) in [
        ("ada@x.org", UserRole::Admin),
        ("bob@x.org", UserRole::User),
    ] {
        let new = NewUserRow {
            email: name,
            name,
            role,
            password_hash: Some(&hash),
            oidc_subject: None,
        };
        server
            .app
            .store
            .create_user(new, Enrollment::Any)
            .await
            .unwrap();
        assert_eq!(me().await.1["email"], "ada@x.org");
        let logs_in = server.anonymous("POST", "/api/auth/login");
        let logged_in = logs_in.json(&json!({"email": name, "password": PASSWORD}));
        let theirs = cookie_of(&logged_in.send().await.unwrap());
        let chats = server
            .anonymous("GET", "/api/chats")
            .header("cookie", theirs);
        assert_eq!(sent(chats).await.0, 401);
    }

    let (_, sessions) = server.get("/api/auth/sessions").await;
    assert_eq!(sessions.as_array().unwrap().len(), 2, "{sessions}");
    let out = server.anonymous("POST", "/api/auth/logout");
    assert_eq!(sent(out.header("cookie", &cookie)).await.0, 204);
    assert_eq!(me().await.0, 401);
    assert_eq!(server.get("/api/auth/me").await.0, 200);
    assert_eq!(
        sent(server.request("POST", "/api/auth/logout-everywhere"))
            .await
            .0,
        204
    );
    assert_eq!(server.get("/api/auth/me").await.0, 401);
}

#[tokio::test]
async fn a_socket_closes_when_its_single_user_session_ends() {
    let server = Server::start().await;
    let code = server.app.auth.setup.current();
    let request = server.anonymous("POST", "/api/auth/setup");
    let entered = request.json(&json!({"code": code})).send().await.unwrap();
    let mut person = Person::nobody(&server);
    person.shows = Some(("cookie", cookie_of(&entered)));
    let mut page = person.socket().await.unwrap();
    assert_eq!(person.post("/api/auth/logout", json!({})).await.0, 204);
    assert_eq!(page.closed().await, 4401);
}

fn link(data: &TempDir) -> Output {
    tenon(data, &["link"]).output().unwrap()
}

fn said(output: &Output) -> String {
    let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", of(&output.stdout), of(&output.stderr))
}

#[tokio::test]
async fn a_shell_gets_a_link_that_works_while_a_server_runs() {
    let data = tempfile::tempdir().unwrap();
    let refused = link(&data);
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("start it with `tenon serve`"),
        "{refused:?}"
    );

    let mut served = Served::start(&data);
    let file = data.path().join("setup-link");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = code_in(&data).unwrap();
    let printed = said(&link(&data));
    assert_eq!(printed, format!("{}/#setup={first}\n", served.address));
    let used = json!({"code": first});
    assert_eq!(served.status("/api/auth/setup", used.clone()).await, 201);
    assert_eq!(served.status("/api/auth/setup", used).await, 403);
    let next = code_in(&data).unwrap();
    assert_ne!(next, first);
    let used = json!({"code": next});
    assert_eq!(served.status("/api/auth/setup", used).await, 201);

    served.signal("-TERM");
    assert!(ended(&mut served.child).success());
    assert!(!file.exists(), "nothing is left of a server that has ended");
    // The session outlives the server that began it.
    let client = served.client.clone();
    let served = Served::start(&data);
    let chats = client.get(format!("{}/api/chats", served.address));
    assert_eq!(chats.send().await.unwrap().status(), 200);
    // One that was killed could not remove its link.
    drop(served);
    assert!(file.exists());
    let refused = link(&data);
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("does not run any more"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn there_is_no_link_once_there_are_accounts() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("setup-link");
    fs::write(&file, "http://127.0.0.1:9/#setup=OLD\n").unwrap();
    let start = || Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
    let served = start();
    let code = code_in(&data).unwrap();
    assert_eq!(
        said(&link(&data)),
        format!("{}/#setup={code}\n", served.address)
    );
    assert_eq!(served.status("/api/auth/setup", account("OLD")).await, 403);
    assert_eq!(served.status("/api/auth/setup", account(&code)).await, 201);
    assert!(!file.exists());
    let refused = link(&data);
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("log in on Tenon's page"),
        "{refused:?}"
    );
    assert!(said(&refused).contains("tenon user passwd"), "{refused:?}");
    drop(served);
    // Another one removes what one that was killed may have left.
    fs::write(&file, "http://127.0.0.1:9/#setup=OLD\n").unwrap();
    let _served = start();
    assert!(!file.exists());
}

#[tokio::test]
async fn the_first_account_can_be_made_in_a_shell_and_ends_the_code() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
    let code = code_in(&data).unwrap();
    let add = ["user", "add", "--email", "a@x.org", "--name", "Ada"];
    let mut add = tenon(&data, &add);
    add.arg("--password-stdin").stdin(Stdio::piped());
    let mut child = add.stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(PASSWORD.as_bytes()).unwrap();
    drop(input);
    assert!(ended(&mut child).success());
    assert_eq!(served.status("/api/auth/setup", account(&code)).await, 409);
    let refused = link(&data);
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("log in on Tenon's page"),
        "{refused:?}"
    );
}

#[test]
fn the_second_line_has_the_link_and_the_log_does_not() {
    for single_user in ["", "1"] {
        let data = tempfile::tempdir().unwrap();
        let log = data.path().join("log");
        let mut serve = tenon(&data, &["serve", "--listen", "127.0.0.1:0"]);
        let mut child = serve
            .env("TENON_SINGLE_USER", single_user)
            .env("TENON_LOG", "trace")
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let lines = lines(child.stdout.take().unwrap(), 2);
        let code = code_in(&data).unwrap();
        let _ = child.kill();
        child.wait().unwrap();
        let address = lines[0].strip_prefix("Tenon is ready at ").unwrap();
        let link = format!("{address}/#setup={code}");
        assert!(lines[1].ends_with(&link), "{lines:?}");
        let log = fs::read_to_string(log).unwrap();
        assert!(!log.is_empty() && !log.contains(&code), "{log}");
    }
}

/// A desktop whose browser writes down what it is opened with.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_is_opened_without_telling_the_code_to_the_whole_machine() {
    let data = tempfile::tempdir().unwrap();
    let desktop = tempfile::tempdir().unwrap();
    let opened = desktop.path().join("opened");
    let opener = desktop.path().join("xdg-open");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.new && mv {0}.new {0}\n",
        opened.display()
    );
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        desktop.path().display(),
        std::env::var("PATH").unwrap()
    );
    let serve = |display: &str| {
        let mut command = tenon(&data, &["serve", "--open", "--listen", "127.0.0.1:0"]);
        command.env("PATH", &path).env("DISPLAY", display);
        command.env_remove("WAYLAND_DISPLAY");
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = lines(child.stdout.take().unwrap(), 2);
        (child, lines)
    };
    let (mut child, lines) = serve(":99");
    let started = Instant::now();
    while !opened.exists() {
        assert!(started.elapsed() < TEST_TIMEOUT, "nothing was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    let code = code_in(&data).unwrap();
    let with = fs::read_to_string(&opened).unwrap();
    assert!(!with.contains(&code), "{with}");
    let page = with.trim();
    let mode = fs::metadata(page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{page}");
    let (_, link) = lines[1].rsplit_once(' ').unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert!(
        page.contains(&format!("content=\"0; url={link}\"")),
        "{page}"
    );
    let _ = child.kill();
    child.wait().unwrap();

    // Where there is no desktop nothing is opened, and nothing is said about it.
    fs::remove_file(&opened).unwrap();
    let (mut child, lines) = serve("");
    assert_eq!(lines.len(), 2, "{lines:?}");
    let _ = child.kill();
    child.wait().unwrap();
    assert!(!opened.exists() && !data.path().join("setup.html").exists());
}
