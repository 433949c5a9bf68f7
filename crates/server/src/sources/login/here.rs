//! Where browsers and strangers find us.

/// Where a browser comes back to.
const CALLBACK: &str = "/api/sources/callback";

/// Where Tenon tells strangers what it is.
const DESCRIPTION: &str = "/api/sources/client";

/// An address of ours, such as `https://tenon.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Here {
    /// As one browser sees us.
    Seen(String),
    /// As the operator says that everybody does.
    Known(String),
}

impl Here {
    pub fn url(&self) -> &str {
        let (Self::Seen(url) | Self::Known(url)) = self;
        url.trim_end_matches('/')
    }

    pub fn callback(&self) -> String {
        format!("{}{CALLBACK}", self.url())
    }

    /// Where a stranger can read what we are. None: they could not, or would not believe it.
    pub fn description(&self) -> Option<String> {
        match self {
            Self::Known(url) if url.starts_with("https://") => {
                Some(format!("{}{DESCRIPTION}", self.url()))
            }
            Self::Known(_) | Self::Seen(_) => None,
        }
    }
}
