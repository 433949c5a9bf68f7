//! What handlers are given: the app.

use axum::extract::FromRef;
use tenon_app::app::App;

#[derive(Debug, Clone)]
pub struct ServerState {
    pub(crate) app: App,
}

impl FromRef<ServerState> for App {
    fn from_ref(state: &ServerState) -> Self {
        state.app.clone()
    }
}
