//! What handlers are given: the app, and the counters of HTTP.

use axum::extract::FromRef;
use tenon_app::app::App;

use crate::metrics::HttpMetrics;

#[derive(Debug, Clone)]
pub struct ServerState {
    pub(crate) app: App,
    pub(crate) metrics: HttpMetrics,
}

impl FromRef<ServerState> for HttpMetrics {
    fn from_ref(state: &ServerState) -> Self {
        state.metrics.clone()
    }
}

impl FromRef<ServerState> for App {
    fn from_ref(state: &ServerState) -> Self {
        state.app.clone()
    }
}
