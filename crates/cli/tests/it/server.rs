//! A server in this process, with a scripted model or the built-in assistant.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_app::app::App;
use tenon_app::config::{Config, OidcConfig};
use tenon_assistant::Assistant;
use tenon_llm::scripted::ScriptStep;
use tenon_llm::{Provider, Scripted};
use tenon_server::serve;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Longer than anything here takes; a test that waits so long has found a bug.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(20);

pub struct Server {
    pub address: SocketAddr,
    pub app: App,
    client: Client,
    /// What the one person of single-user mode shows.
    cookie: Option<String>,
    data: TempDir,
}

impl Server {
    pub async fn start() -> Self {
        Self::with_model(Arc::new(Assistant)).await
    }

    pub async fn scripted(scripts: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self::with_model(Arc::new(Scripted::new(scripts))).await
    }

    pub async fn with_model(model: Arc<dyn Provider>) -> Self {
        let config = Config {
            allowed_hosts: vec!["tenon.example".into()],
            local_models: Some(Vec::new()),
            single_user: true,
            ..Config::default()
        };
        Self::open(config, model).await
    }

    /// For one person, who is in.
    pub async fn with_config(mut config: Config) -> Self {
        config.single_user = true;
        Self::open(config, Arc::new(Assistant)).await
    }

    /// For several, of whom nobody is there yet.
    pub async fn with_accounts(scripts: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self::with_accounts_and_model(Arc::new(Scripted::new(scripts))).await
    }

    pub async fn with_accounts_and_model(model: Arc<dyn Provider>) -> Self {
        let config = Config {
            allowed_hosts: vec!["tenon.example".into()],
            local_models: Some(Vec::new()),
            ..Config::default()
        };
        Self::open(config, model).await
    }

    /// For several, who may log in with an account somewhere else.
    pub async fn with_oidc(oidc: OidcConfig) -> Self {
        let config = Config {
            local_models: Some(Vec::new()),
            oidc: Some(oidc),
            ..Config::default()
        };
        Self::open(config, Arc::new(Assistant)).await
    }

    /// One of several on a database, for several people.
    pub async fn in_cluster(config: Config, model: Arc<dyn Provider>) -> Self {
        Self::open(config, model).await
    }

    /// One that finds what another one left.
    pub async fn in_folder(folder: &Path, mut config: Config) -> Self {
        config.single_user = true;
        let app = App::open(folder, &quiet(config)).await.unwrap();
        Self::serve(app, tempfile::tempdir().unwrap()).await
    }

    async fn open(config: Config, model: Arc<dyn Provider>) -> Self {
        let data = tempfile::tempdir().unwrap();
        let config = quiet(config);
        let app = App::with_model(data.path(), &config, model).await.unwrap();
        Self::serve(app, data).await
    }

    async fn serve(app: App, data: TempDir) -> Self {
        // The first test to come installs it; the others find it there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = serve::listen("127.0.0.1:0".parse().unwrap(), &Config::default()).unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve::serve(app.clone(), listener));
        let client = Client::builder().timeout(TEST_TIMEOUT).build().unwrap();
        let mut server = Self {
            address,
            app,
            client,
            cookie: None,
            data,
        };
        if server.app.auth.single_user {
            let code = server.app.auth.setup.current();
            let asked = server.anonymous("POST", "/api/auth/setup");
            let entered = asked.json(&json!({"code": code})).send().await.unwrap();
            server.cookie = Some(cookie_of(&entered));
        }
        server
    }

    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Waits until nothing runs in a chat any more.
    pub async fn settle(&self, chat: &str) {
        let mut page = Page::open(self).await;
        page.subscribe(chat, 0).await;
        page.until_finished().await;
    }

    /// As the one person of single-user mode; elsewhere as nobody.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let request = self.anonymous(method, path);
        match &self.cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        }
    }

    /// What the one person shows, where there is one.
    pub fn cookie(&self) -> Option<&str> {
        self.cookie.as_deref()
    }

    /// Shows nothing at all.
    pub fn anonymous(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        self.client.request(method.parse().unwrap(), url)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request("GET", path).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.request("POST", path).json(&body).send().await.unwrap()).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.request("PATCH", path).json(&body);
        answer(request.send().await.unwrap()).await
    }

    pub async fn new_chat(&self) -> String {
        let (status, chat) = self.post("/api/chats", json!({})).await;
        assert_eq!(status, 201);
        chat["id"].as_str().unwrap().to_owned()
    }

    /// Says something and tells which turn that began.
    pub async fn say(&self, chat: &str, text: &str) -> String {
        let path = format!("/api/chats/{chat}/turns");
        let (status, started) = self.post(&path, json!({"text": text})).await;
        assert_eq!(status, 202, "{started}");
        started["turnId"].as_str().unwrap().to_owned()
    }

    /// Says something and waits until all of it is over.
    pub async fn ask(&self, chat: &str, text: &str) -> Vec<Value> {
        let mut page = Page::open(self).await;
        page.subscribe(chat, 0).await;
        page.until(|frame| frame["type"] == "caughtUp").await;
        self.say(chat, text).await;
        page.until_finished().await
    }
}

/// A model is asked for a title only where a test says so: the others count what it is asked.
fn quiet(config: Config) -> Config {
    Config {
        model_titles: config.model_titles.or(Some(false)),
        // This process is no program that becomes one.
        sandbox_helper: config
            .sandbox_helper
            .or(Some(env!("CARGO_BIN_EXE_tenon").into())),
        ..config
    }
}

/// The cookie that somebody was given with an answer, as they show it.
pub fn cookie_of(response: &Response) -> String {
    let cookie = response.headers().get("set-cookie").expect("a cookie");
    let pair = cookie.to_str().unwrap().split(';').next().unwrap();
    pair.to_owned()
}

pub async fn answer(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (
        status,
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    )
}

/// A page's socket.
pub struct Page {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Page {
    pub async fn open(server: &Server) -> Self {
        let url = format!("ws://{}/api/ws", server.address);
        let mut request = url.into_client_request().unwrap();
        if let Some(cookie) = &server.cookie {
            let cookie = cookie.parse().unwrap();
            request.headers_mut().insert("cookie", cookie);
        }
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        Self { socket }
    }

    pub async fn send(&mut self, frame: &str) {
        self.socket.send(Message::text(frame)).await.unwrap();
    }

    pub async fn subscribe(&mut self, chat: &str, after: i64) {
        self.send(&json!({"type": "subscribe", "chatId": chat, "after": after}).to_string())
            .await;
    }

    /// The next frame; None when the server closed the socket.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let message = tokio::time::timeout(TEST_TIMEOUT, self.socket.next()).await;
            match message.expect("a frame in time") {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn until(&mut self, passes: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self.next().await.expect("the socket stays open");
            frames.push(frame);
            if passes(&frames[frames.len() - 1]) {
                return frames;
            }
        }
    }

    pub async fn until_finished(&mut self) -> Vec<Value> {
        self.until(|frame| frame["body"]["type"] == "turnFinished")
            .await
    }
}

/// The durable events among frames.
pub fn events(frames: &[Value]) -> Vec<&Value> {
    frames
        .iter()
        .filter(|frame| frame["type"] == "event")
        .collect()
}
