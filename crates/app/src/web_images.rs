//! Pictures on the web that a person wants to see: fetched here, so that no page tells a stranger
//! who reads it, and within the address policy.

use std::time::Duration;

use tenon_domain::coded_errors;
use tenon_net::body::{self, BodyError};
use tenon_net::media_type::image_type;
use tenon_net::{Network, RequestError, WebClient};
use tokio::sync::Semaphore;
use url::Url;

const MAX_IMAGE_BYTES: usize = 10 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(20);

/// At once, for everybody: each is held in memory. Others wait their turn, within their time.
const MAX_FETCHES: usize = 16;

coded_errors! {
    /// Why a picture is not shown.
    #[derive(Debug)]
    pub enum WebImageError {
        Address { why: String } = "image_address" => "This picture is not fetched: {why}",
        Unreachable { why: String } = "image_unreachable" => "The picture cannot be fetched: {why}",
        Status { status: u16 } = "image_status" => "Its server answered {status} instead of a picture.",
        NoImage = "image_unknown_type" => "What is at this address is no PNG, JPEG, GIF or WebP picture.",
        TooLarge { mb: usize } = "image_too_large" => "The picture has more than {mb} MB.",
    }
}

#[derive(Debug)]
pub struct WebImages {
    client: WebClient,
    fetches: Semaphore,
}

#[derive(Debug)]
pub struct WebImage {
    pub media_type: &'static str,
    pub data: Vec<u8>,
}

impl WebImages {
    pub(crate) fn new(network: Network) -> Self {
        Self {
            client: WebClient::new(network),
            fetches: Semaphore::new(MAX_FETCHES),
        }
    }

    pub async fn fetch(&self, address: &str) -> Result<WebImage, WebImageError> {
        let url = self.client.parse_url(address);
        let url = url.map_err(|error| WebImageError::Address {
            why: error.to_string(),
        })?;
        let fetched = tokio::time::timeout(TIMEOUT, self.fetch_from(url)).await;
        fetched.unwrap_or_else(|_elapsed| {
            let why = format!("it took longer than {} s", TIMEOUT.as_secs());
            Err(WebImageError::Unreachable { why })
        })
    }

    async fn fetch_from(&self, url: Url) -> Result<WebImage, WebImageError> {
        // Never closed.
        let _permit = self.fetches.acquire().await;
        let unreachable = |error: reqwest::Error| WebImageError::Unreachable {
            why: RequestError::new(&error, &url).to_string(),
        };
        let client = self.client.get().map_err(unreachable)?;
        let mut response = client.get(url.clone()).send().await.map_err(unreachable)?;
        let status = response.status();
        if !status.is_success() {
            let status = status.as_u16();
            return Err(WebImageError::Status { status });
        }
        let data = body::read(&mut response, MAX_IMAGE_BYTES).await;
        let data = data.map_err(|error| match error {
            BodyError::TooLong { max_bytes } => WebImageError::TooLarge {
                mb: max_bytes / (1024 * 1024),
            },
            BodyError::Broken(error) => unreachable(error),
        })?;
        // By its bytes: a header is only what a stranger says.
        let media_type = image_type(&data).ok_or(WebImageError::NoImage)?;
        Ok(WebImage { media_type, data })
    }
}
