//! Logging in at a server, against an authorisation server in this process.

mod flow;
mod hostile;
mod refresh;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use reqwest::redirect::Policy;
use reqwest::{Client, header};
use tenon_sources::Network;
use tenon_sources::mcp::oauth::{
    Asking, Departure, Grant, Grants, Http, Pass, Return, Trouble, begin, end,
};
use url::Url;

use crate::authority::Authority;

pub const REDIRECT: &str = "http://127.0.0.1:8366/api/sources/callback";

/// A place for one grant, which can be looked into.
#[derive(Clone, Default)]
pub struct Drawer {
    pub grant: Arc<Mutex<Option<Grant>>>,
    pub saves: Arc<Mutex<usize>>,
}

#[async_trait]
impl Grants for Drawer {
    async fn load(&self) -> Result<Option<Grant>, String> {
        Ok(self.grant.lock().unwrap().clone())
    }

    async fn save(&self, grant: &Grant) -> Result<(), String> {
        *self.grant.lock().unwrap() = Some(grant.clone());
        *self.saves.lock().unwrap() += 1;
        Ok(())
    }

    async fn remove(&self) -> Result<(), String> {
        *self.grant.lock().unwrap() = None;
        Ok(())
    }
}

impl Drawer {
    pub fn access(&self) -> Option<String> {
        let grant = self.grant.lock().unwrap();
        Some(grant.as_ref()?.access()?.to_owned())
    }
}

pub fn anywhere() -> Http {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Http::new(Network::Anywhere).unwrap()
}

pub fn address(authority: &Authority) -> Url {
    authority.server().parse().unwrap()
}

pub fn asking(server: &Url) -> Asking<'_> {
    Asking {
        server,
        challenge: None,
        redirect: REDIRECT,
        client: None,
        described_at: None,
        held: None,
    }
}

pub async fn depart(authority: &Authority) -> Result<Departure, Trouble> {
    begin(&anywhere(), asking(&address(authority))).await
}

/// What a browser that goes there is sent back with.
pub async fn visit(departure: &Departure) -> Return {
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let response = client.get(&departure.url).send().await.unwrap();
    assert!(response.status().is_redirection(), "{response:?}");
    let back = response.headers()[header::LOCATION].to_str().unwrap();
    assert!(back.starts_with(REDIRECT), "{back}");
    let back = Url::parse(back).unwrap();
    let mut returned = Return::default();
    for (name, value) in back.query_pairs() {
        let value = value.into_owned();
        match name.as_ref() {
            "state" => returned.state = value,
            "code" => returned.code = Some(value),
            "iss" => returned.iss = Some(value),
            other => panic!("{other}"),
        }
    }
    returned
}

/// All of it.
pub async fn log_in(authority: &Authority) -> (Pass, Drawer) {
    let departure = depart(authority).await.unwrap();
    let returned = visit(&departure).await;
    let grant = end(&anywhere(), departure.away, returned).await.unwrap();
    let drawer = Drawer::default();
    let pass = Pass::new(Arc::new(drawer.clone()), anywhere());
    pass.take(grant).await.unwrap();
    (pass, drawer)
}

/// What the server behind the authority answers to this token.
pub async fn status(authority: &Authority, token: &str) -> u16 {
    let request = Client::new().post(authority.server()).bearer_auth(token);
    request.send().await.unwrap().status().as_u16()
}
