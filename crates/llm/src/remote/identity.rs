//! Maps a model's host to the provider names of OpenTelemetry's semantic conventions for generative
//! AI.

use url::Url;

use super::Remote;
use crate::ModelIdentity;

/// The ends of host names.
const PROVIDERS: [(&str, &str); 14] = [
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure.ai.openai"),
    ("services.ai.azure.com", "azure.ai.inference"),
    ("anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("amazonaws.com", "aws.bedrock"),
    ("cohere.com", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.moonshot.ai", "moonshot_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
];

impl Remote {
    pub(super) fn identity(&self) -> ModelIdentity {
        let url = Url::parse(&self.base_url).ok();
        let host = url.as_ref().and_then(Url::host_str);
        let known = host.and_then(|host| {
            let mut known = PROVIDERS.iter();
            known.find(|(end, _)| host == *end || host.ends_with(&format!(".{end}")))
        });
        // The conventions' advice for a server that is not known: the one whose API it speaks.
        let provider = known.map_or(self.format.as_str(), |(_, provider)| provider);
        let port = url.as_ref().and_then(Url::port_or_known_default);
        ModelIdentity {
            provider,
            model: self.model.clone(),
            server: host.map(str::to_owned).zip(port),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;
    use tenon_domain::{ToolUse, WireFormat};

    use super::*;

    #[test]
    fn a_provider_is_known_by_its_host_and_else_by_its_format() {
        let check = |base_url: &str, format, expected: (&str, &str, u16)| {
            let remote = Remote {
                name: "A model".into(),
                format,
                base_url: base_url.into(),
                key: None,
                model: "m".into(),
                parameters: Map::new(),
                tools: ToolUse::Native,
                context_tokens: None,
                tool_budget: None,
                reports_progress: false,
            };
            let identity = remote.identity();
            let (host, port) = identity.server.unwrap();
            assert_eq!((identity.provider, &*host, port), expected, "{base_url}");
        };
        let (openai, anthropic) = (WireFormat::Openai, WireFormat::Anthropic);
        check(
            "https://api.openai.com/v1",
            openai,
            ("openai", "api.openai.com", 443),
        );
        check(
            "https://a.openai.azure.com/x",
            openai,
            ("azure.ai.openai", "a.openai.azure.com", 443),
        );
        check(
            "http://127.0.0.1:11434/v1",
            openai,
            ("openai", "127.0.0.1", 11434),
        );
        check(
            "http://localhost:1",
            anthropic,
            ("anthropic", "localhost", 1),
        );
        check(
            "https://notapi.x.ai",
            openai,
            ("openai", "notapi.x.ai", 443),
        );
    }
}
