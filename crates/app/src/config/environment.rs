//! Variables that people have set already for other programs.

use tenon_domain::source::WebSearchConfig;

#[derive(Clone, Default)]
pub struct Environment {
    pub openai_api_key: Option<String>,
    pub openai_base_url: Option<String>,
    pub anthropic_api_key: Option<String>,
    pub anthropic_base_url: Option<String>,
    pub ollama_host: Option<String>,
    /// `SERPER_API_KEY`, and `SERPER_BASE_URL` for a service with the same API.
    pub web_search: Option<WebSearchConfig>,
}

impl Environment {
    pub fn read() -> Self {
        let variable = |name: &str| {
            let value = std::env::var(name).ok()?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        Self {
            openai_api_key: variable("OPENAI_API_KEY"),
            openai_base_url: variable("OPENAI_BASE_URL").or_else(|| variable("OPENAI_API_BASE")),
            anthropic_api_key: variable("ANTHROPIC_API_KEY")
                .or_else(|| variable("ANTHROPIC_AUTH_TOKEN")),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
            ollama_host: variable("OLLAMA_HOST"),
            web_search: variable("SERPER_API_KEY").map(|key| {
                let mut search = WebSearchConfig::new(key);
                if let Some(url) = variable("SERPER_BASE_URL") {
                    search.url = url;
                }
                search
            }),
        }
    }
}

/// Without the keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}
