//! A server that Tenon cannot reach, which came along with a request of somebody who can.
//!
//! Its calls are made by one page of that person, or, where no page is named, by the client itself: then
//! the agent hands them over, and nothing here is called.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{SourceInfo, SourceState, ToolDefinition, ToolResult, UserId};
use tenon_tools::{CallContext, ToolSource};
use url::Url;

use super::cluster_wire::CallTarget;
use super::device::Device;
use super::device_hub::DeviceHub;
use super::error::BrowserError;
use super::local_server::{IDLE_TIMEOUT, order, read_outcome};
use super::local_tools::LocalTools;
use super::page::BrowserPage;
use super::wire::DiscoveredTools;
use super::wire_request::WireRequest;
use crate::call_error::{ServerCallError, failed, unavailable};
use crate::parse_queue;

#[derive(Debug)]
pub struct ClientServer {
    info: SourceInfo,
    url: String,
    tools: LocalTools,
    page: Option<NamedPage>,
}

/// One open page of a user.
#[derive(Debug, Clone)]
pub struct NamedPage {
    device: Arc<Device>,
    page: PageLocation,
}

#[derive(Debug, Clone)]
enum PageLocation {
    Here(Arc<BrowserPage>),
    /// With another server.
    Elsewhere {
        server: Arc<str>,
        page: String,
    },
}

impl DeviceHub {
    /// The open page of a user that goes by this id: the `page` of its registration.
    pub fn page(&self, user: &UserId, id: &str) -> Option<NamedPage> {
        let entries = self.all(user);
        let mut found = entries.iter().filter_map(|entry| {
            let device = entry.device.clone();
            let here = device.open_page(id).map(PageLocation::Here);
            let page = here.or_else(|| {
                let server = device.remote_page(id)?;
                let page = id.to_owned();
                Some(PageLocation::Elsewhere { server, page })
            })?;
            Some(NamedPage { device, page })
        });
        found.next()
    }

    /// Reads the document of a server at `url`.
    pub async fn client_server(
        &self,
        info: SourceInfo,
        url: Url,
        document: String,
        page: Option<NamedPage>,
    ) -> Result<Arc<ClientServer>, BrowserError> {
        let offered = DiscoveredTools::Openapi {
            document,
            url: url.to_string(),
        };
        let at = url.clone();
        let slots = info.owner.as_ref().map(|user| (self.0.parse_slots)(user));
        let tools = match slots {
            Some(slots) => {
                let slot = parse_queue::acquire(&slots).await;
                slot.run(move || LocalTools::read(offered, &at)).await?
            }
            None => LocalTools::read(offered, &at)?,
        };
        Ok(Arc::new(ClientServer {
            info,
            url: url.into(),
            tools,
            page,
        }))
    }
}

impl ClientServer {
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Builds the HTTP request for a call. None if the input does not make a valid request.
    pub fn request(&self, tool: &str, input: &Value) -> Option<WireRequest> {
        let request = self.tools.request(tool, input).ok()?;
        request.map(Into::into)
    }
}

#[async_trait]
impl ToolSource for ClientServer {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.tools.tools.clone()
    }

    fn state(&self) -> SourceState {
        let is_gone = |named: &NamedPage| match &named.page {
            PageLocation::Here(page) => !page.is_up() && !page.is_awaited(),
            PageLocation::Elsewhere { page, .. } => named.device.remote_page(page).is_none(),
        };
        if self.page.as_ref().is_some_and(is_gone) {
            SourceState::Offline
        } else {
            SourceState::Ready
        }
    }

    fn is_run_by_client(&self) -> bool {
        self.page.is_none()
    }

    fn deadline(&self, _tool: &str) -> Option<Duration> {
        Some(IDLE_TIMEOUT)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let Some(NamedPage { device, page }) = &self.page else {
            // The agent hands its calls over instead.
            return Err(failed(ServerCallError::LocalToolGone));
        };
        let request = self.tools.request(tool, &input)?;
        let order = order(tool, input, &self.url, request, context);
        let outcome = match page {
            PageLocation::Here(page) => {
                let outcome = device.execute_on(page, &order, context).await;
                outcome.map_err(unavailable)?
            }
            PageLocation::Elsewhere { server, page } => {
                let target = CallTarget::Page {
                    page: page.clone(),
                    order: Box::new(order),
                };
                device.execute_elsewhere(server, target, context).await?
            }
        };
        read_outcome(outcome).await
    }
}
