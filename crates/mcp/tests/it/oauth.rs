//! Logging in at a server, against an authorisation server in this process.

mod flow;
mod hostile;
mod refresh;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use reqwest::redirect::Policy;
use reqwest::{Client, header};
use tenon_mcp::oauth::{
    AuthorizationRedirect, Grant, GrantStorage, GrantStorageError, LoginCallback, LoginError,
    LoginRequest, OAuthHttp, TokenManager, finish_login, start_login,
};
use tenon_net::Network;
use url::Url;

use crate::authority::Authority;

pub const REDIRECT: &str = "http://127.0.0.1:8366/api/sources/callback";

/// A place for one grant, which can be looked into.
#[derive(Clone, Default)]
pub struct MemoryGrantStorage {
    pub grant: Arc<Mutex<Option<Grant>>>,
    pub saves: Arc<Mutex<usize>>,
}

#[async_trait]
impl GrantStorage for MemoryGrantStorage {
    async fn load(&self) -> Result<Option<Grant>, GrantStorageError> {
        Ok(self.grant.lock().unwrap().clone())
    }

    async fn save(&self, grant: &Grant) -> Result<(), GrantStorageError> {
        *self.grant.lock().unwrap() = Some(grant.clone());
        *self.saves.lock().unwrap() += 1;
        Ok(())
    }

    async fn remove(&self) -> Result<(), GrantStorageError> {
        *self.grant.lock().unwrap() = None;
        Ok(())
    }
}

impl MemoryGrantStorage {
    pub fn access(&self) -> Option<String> {
        let grant = self.grant.lock().unwrap();
        Some(grant.as_ref()?.access()?.to_owned())
    }
}

pub fn anywhere() -> OAuthHttp {
    let _ = rustls::crypto::ring::default_provider().install_default();
    OAuthHttp::new(Network::Anywhere).unwrap()
}

pub fn address(authority: &Authority) -> Url {
    authority.server().parse().unwrap()
}

pub fn request(server: &Url) -> LoginRequest<'_> {
    LoginRequest {
        server,
        challenge: None,
        redirect: REDIRECT,
        client_name: "Tenon",
        client: None,
        client_metadata_url: None,
        grant: None,
    }
}

pub async fn start(authority: &Authority) -> Result<AuthorizationRedirect, LoginError> {
    start_login(&anywhere(), request(&address(authority))).await
}

/// What a browser that goes there is sent back with.
pub async fn visit(redirect: &AuthorizationRedirect) -> LoginCallback {
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let response = client.get(&redirect.url).send().await.unwrap();
    assert!(response.status().is_redirection(), "{response:?}");
    let back = response.headers()[header::LOCATION].to_str().unwrap();
    assert!(back.starts_with(REDIRECT), "{back}");
    let back = Url::parse(back).unwrap();
    let mut callback = LoginCallback::default();
    for (name, value) in back.query_pairs() {
        let value = value.into_owned();
        match name.as_ref() {
            "state" => callback.state = value,
            "code" => callback.code = Some(value),
            "iss" => callback.iss = Some(value),
            other => panic!("{other}"),
        }
    }
    callback
}

/// All of it.
pub async fn log_in(authority: &Authority) -> (TokenManager, MemoryGrantStorage) {
    let redirect = start(authority).await.unwrap();
    let callback = visit(&redirect).await;
    let grant = finish_login(&anywhere(), redirect.pending, callback)
        .await
        .unwrap();
    let store = MemoryGrantStorage::default();
    let manager = TokenManager::new(Arc::new(store.clone()), anywhere(), "Tenon");
    manager.set_grant(grant).await.unwrap();
    (manager, store)
}

/// What the server behind the authority answers to this token.
pub async fn status(authority: &Authority, token: &str) -> u16 {
    let request = Client::new().post(authority.server()).bearer_auth(token);
    request.send().await.unwrap().status().as_u16()
}
