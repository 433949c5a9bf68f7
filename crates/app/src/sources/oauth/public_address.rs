//! The addresses at which browsers and authorization servers reach Tenon.

/// Where a browser comes back to.
const CALLBACK: &str = "/api/sources/callback";

/// Address of Tenon's client metadata document.
const DESCRIPTION: &str = "/api/sources/client";

/// An address of ours, such as `https://tenon.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicAddress {
    /// As one browser sees us.
    FromRequest(String),
    /// As the operator says that everybody does.
    Configured(String),
}

impl PublicAddress {
    pub fn url(&self) -> &str {
        let (Self::FromRequest(url) | Self::Configured(url)) = self;
        url.trim_end_matches('/')
    }

    pub fn callback(&self) -> String {
        format!("{}{CALLBACK}", self.url())
    }

    /// Where a stranger can read what we are. None: they could not, or would not believe it.
    pub fn description(&self) -> Option<String> {
        match self {
            Self::Configured(url) if url.starts_with("https://") => {
                Some(format!("{}{DESCRIPTION}", self.url()))
            }
            Self::Configured(_) | Self::FromRequest(_) => None,
        }
    }
}
