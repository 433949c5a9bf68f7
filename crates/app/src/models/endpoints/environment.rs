//! The endpoints that variables of the environment name.

use std::net::Ipv6Addr;

use tenon_domain::WireFormat;
use tenon_llm::discover::{base_url, openai_format};

use super::{Endpoint, home};
use crate::config::Environment;
use crate::models::view::ModelOrigin;

/// The endpoints they name.
pub(super) fn endpoints_of(environment: &Environment) -> Vec<Endpoint> {
    let openai = (environment.openai_base_url.is_some() || environment.openai_api_key.is_some())
        .then(|| {
            let url = environment.openai_base_url.as_deref();
            let url = url.unwrap_or("https://api.openai.com/v1");
            let format = openai_format(url);
            endpoint("openai", format, url, &environment.openai_api_key)
        });
    let anthropic =
        environment.anthropic_base_url.is_some() || environment.anthropic_api_key.is_some();
    let anthropic = anthropic.then(|| {
        let url = environment.anthropic_base_url.as_deref();
        let url = url.unwrap_or("https://api.anthropic.com");
        endpoint(
            "anthropic",
            WireFormat::Anthropic,
            url,
            &environment.anthropic_api_key,
        )
    });
    let ollama = environment.ollama_host.as_deref().map(|host| {
        let named = endpoint("ollama", WireFormat::Openai, &ollama(host), &None)?;
        Some(Endpoint {
            origin: ModelOrigin::Environment,
            ..home("ollama", "Ollama", &named.base_url)
        })
    });
    let named = [openai, anthropic, ollama];
    named.into_iter().flatten().flatten().collect()
}
fn endpoint(id: &str, format: WireFormat, url: &str, key: &Option<String>) -> Option<Endpoint> {
    let Ok(base_url) = base_url(format, url) else {
        // Not the address itself: there may be a password in it, or a key by mistake.
        tracing::warn!(
            endpoint = id,
            "the address that the environment names cannot be used: it has to look like http://HOST:PORT/v1, without user and password"
        );
        return None;
    };
    Some(Endpoint {
        id: id.into(),
        name: known_name(&base_url),
        origin: ModelOrigin::Environment,
        format,
        base_url,
        key: key.clone(),
    })
}

/// `OLLAMA_HOST` is what the server listens on: often without a scheme or a port.
fn ollama(host: &str) -> String {
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return format!("http://[{address}]:11434");
    }
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let has_port = rest
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match (has_port || host.contains("://"), rest.starts_with(':')) {
        (_, true) => format!("{scheme}://127.0.0.1{rest}"),
        (true, _) => format!("{scheme}://{rest}"),
        (false, _) => format!("{scheme}://{rest}:11434"),
    }
}

fn known_name(base: &str) -> String {
    let host = base.split_once("://").map_or(base, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or(host);
    match host {
        "api.openai.com" => "OpenAI".into(),
        "api.anthropic.com" => "Anthropic".into(),
        host => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(environment: &Environment) -> Vec<(String, String)> {
        let list = endpoints_of(environment).into_iter();
        list.map(|endpoint| (endpoint.id, endpoint.base_url))
            .collect()
    }

    #[test]
    fn what_is_set_already_is_used() {
        let set = |text: &str| Some(text.to_owned());
        assert_eq!(urls(&Environment::default()), []);
        let environment = Environment {
            openai_api_key: set("x"),
            anthropic_api_key: set("y"),
            ..Environment::default()
        };
        let expected = [
            ("openai".to_owned(), "https://api.openai.com/v1".to_owned()),
            (
                "anthropic".to_owned(),
                "https://api.anthropic.com".to_owned(),
            ),
        ];
        assert_eq!(urls(&environment), expected);
        let environment = Environment {
            openai_base_url: set("http://127.0.0.1:14010/v1/"),
            anthropic_base_url: set("http://127.0.0.1:14010/v1"),
            ..Environment::default()
        };
        let expected = [
            ("openai".to_owned(), "http://127.0.0.1:14010/v1".to_owned()),
            ("anthropic".to_owned(), "http://127.0.0.1:14010".to_owned()),
        ];
        assert_eq!(urls(&environment), expected);
    }

    #[test]
    fn an_ollama_is_reached_where_it_listens() {
        let check = |host: &str, expected: &str| {
            let environment = Environment {
                ollama_host: Some(host.into()),
                ..Environment::default()
            };
            assert_eq!(
                urls(&environment),
                [("ollama".to_owned(), expected.to_owned())],
                "{host}"
            );
        };
        check("0.0.0.0", "http://127.0.0.1:11434/v1");
        check("127.0.0.1:9999", "http://127.0.0.1:9999/v1");
        check("gpu-box", "http://gpu-box:11434/v1");
        check("::1", "http://[::1]:11434/v1");
        check(":12000", "http://127.0.0.1:12000/v1");
        check("http://gpu-box:11434", "http://gpu-box:11434/v1");
        check(
            "https://ollama.example.com",
            "https://ollama.example.com/v1",
        );
    }
}
