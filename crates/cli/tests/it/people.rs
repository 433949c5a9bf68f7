//! Several people at one server, each with a cookie or a key of their own.

use futures::StreamExt;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tenon_store::LOCAL;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::server::{Page, Server, TEST_TIMEOUT, answer, cookie_of};

pub const PASSWORD: &str = "correct horse battery";

/// Somebody who shows the same with every request.
#[derive(Clone)]
pub struct Person<'a> {
    server: &'a Server,
    pub id: String,
    pub shows: Option<(&'static str, String)>,
}

impl<'a> Person<'a> {
    /// Shows nothing at all.
    pub fn nobody(server: &'a Server) -> Self {
        Self {
            server,
            id: String::new(),
            shows: None,
        }
    }

    /// The one person of single-user mode.
    pub fn alone(server: &'a Server) -> Self {
        let cookie = server.cookie().expect("a server for one person");
        Self {
            server,
            id: LOCAL.to_owned(),
            shows: Some(("cookie", cookie.to_owned())),
        }
    }

    /// The same person at another server of the cluster.
    pub fn at(&self, server: &'a Server) -> Self {
        Self {
            server,
            ..self.clone()
        }
    }

    /// Makes the first account.
    pub async fn set_up(server: &'a Server, name: &str) -> Self {
        let code = server.app.auth.setup.current();
        let body = json!({"name": name, "email": email(name), "password": PASSWORD, "code": code});
        Self::enter(server, "/api/auth/setup", body).await
    }

    pub async fn log_in(server: &'a Server, name: &str) -> Self {
        let body = json!({"email": email(name), "password": PASSWORD});
        Self::enter(server, "/api/auth/login", body).await
    }

    /// An account that this admin makes, logged in.
    pub async fn add(&self, name: &str) -> Self {
        let body = json!({"name": name, "email": email(name), "password": PASSWORD});
        let (status, account) = self.post("/api/users", body).await;
        assert_eq!(status, 201, "{account}");
        Self::log_in(self.server, name).await
    }

    /// Says something in a new chat and waits for the answer: the ids of the chat and of the turn.
    pub async fn ask(&self, text: &str) -> (String, Value) {
        let (_, chat) = self.post("/api/chats", json!({})).await;
        let chat = chat["id"].as_str().unwrap().to_owned();
        let mut page = self.socket().await.unwrap();
        page.subscribe(&chat, 0).await;
        let turns = format!("/api/chats/{chat}/turns");
        let (status, started) = self.post(&turns, json!({"text": text})).await;
        assert_eq!(status, 202, "{started}");
        page.until_finished().await;
        (chat, started["turnId"].clone())
    }

    async fn enter(server: &'a Server, path: &str, body: Value) -> Self {
        let sent = server.anonymous("POST", path).json(&body).send().await;
        let response = sent.unwrap();
        let is_in = response.status().is_success();
        let cookie = is_in.then(|| cookie_of(&response));
        let (status, account) = answer(response).await;
        assert!(status == 200 || status == 201, "{status} {account}");
        Self {
            server,
            id: account["id"].as_str().unwrap().to_owned(),
            shows: Some(("cookie", cookie.unwrap())),
        }
    }

    /// A program that acts for them.
    pub async fn key(&self, access: &str) -> Self {
        let body = json!({"name": format!("{access} key"), "scope": {"access": access}});
        let (status, created) = self.post("/api/keys", body).await;
        assert_eq!(status, 201, "{created}");
        let key = created["key"].as_str().unwrap();
        Self {
            shows: Some(("authorization", format!("Bearer {key}"))),
            ..self.clone()
        }
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let request = self.server.anonymous(method, path);
        match &self.shows {
            Some((name, value)) => request.header(*name, value),
            None => request,
        }
    }

    pub async fn send(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        answer(request.send().await.unwrap()).await
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send("POST", path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        self.send("PATCH", path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> u16 {
        self.send("DELETE", path, None).await.0
    }

    /// Their page's socket; an error is the status it was refused with.
    pub async fn socket(&self) -> Result<Page, u16> {
        let url = format!("ws://{}/api/ws", self.server.address);
        let mut request = url.into_client_request().unwrap();
        if let Some((name, value)) = &self.shows {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((socket, _)) => Ok(Page { socket }),
            Err(tokio_tungstenite::tungstenite::Error::Http(refused)) => {
                Err(refused.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

impl Page {
    /// Why the server closed the socket.
    pub async fn closed(&mut self) -> u16 {
        loop {
            let message = tokio::time::timeout(TEST_TIMEOUT, self.socket.next()).await;
            match message.expect("it is closed in time") {
                Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
                Some(Ok(_)) => {}
                other => panic!("closed without a word: {other:?}"),
            }
        }
    }
}

pub fn email(name: &str) -> String {
    format!("{}@example.org", name.to_lowercase())
}
