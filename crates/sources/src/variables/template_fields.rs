//! The texts of a configuration that may hold variables.

use tenon_domain::{
    McpClient, McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig,
    SourceCredential,
};

use super::{MisplacedVariable, Substitution, TextSegment, segments};

/// A configuration with texts in it that may hold variables.
pub trait TemplateFields: Sized {
    fn texts(&self) -> Vec<&str>;

    fn filled(&self, substitution: &mut Substitution<'_>) -> Self;

    /// What is wrong with where a variable stands, as a sentence.
    fn misplaced(&self) -> Option<MisplacedVariable> {
        None
    }
}

impl TemplateFields for SourceConfig {
    fn texts(&self) -> Vec<&str> {
        match self {
            Self::Mcp(config) => config.texts(),
            Self::Openapi(config) => config.texts(),
        }
    }

    fn filled(&self, substitution: &mut Substitution<'_>) -> Self {
        match self {
            Self::Mcp(config) => Self::Mcp(config.filled(substitution)),
            Self::Openapi(config) => Self::Openapi(config.filled(substitution)),
        }
    }

    fn misplaced(&self) -> Option<MisplacedVariable> {
        match self {
            Self::Mcp(config) => config.misplaced(),
            Self::Openapi(config) => config.misplaced(),
        }
    }
}

impl TemplateFields for McpConfig {
    fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&String> = match &self.transport {
            McpTransport::Stdio {
                command,
                args,
                env,
                cwd,
            } => [command]
                .into_iter()
                .chain(args)
                .chain(env.values())
                .chain(cwd)
                .collect(),
            McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } => {
                [url].into_iter().chain(headers.values()).collect()
            }
        };
        if let Some(client) = &self.client {
            texts.extend([&client.id].into_iter().chain(&client.secret));
        }
        texts.into_iter().map(String::as_str).collect()
    }

    fn filled(&self, substitution: &mut Substitution<'_>) -> Self {
        let transport = match &self.transport {
            McpTransport::Stdio {
                command,
                args,
                env,
                cwd,
            } => McpTransport::Stdio {
                command: substitution.text(command),
                args: args
                    .iter()
                    .map(|arg| substitution.argument(arg, env))
                    .collect(),
                env: substitution.map(env),
                cwd: cwd.as_ref().map(|cwd| substitution.text(cwd)),
            },
            McpTransport::Http { url, headers } => McpTransport::Http {
                url: substitution.address(url),
                headers: substitution.map(headers),
            },
            McpTransport::Sse { url, headers } => McpTransport::Sse {
                url: substitution.address(url),
                headers: substitution.map(headers),
            },
        };
        let client = self.client.as_ref().map(|client| McpClient {
            id: substitution.text(&client.id),
            secret: client
                .secret
                .as_ref()
                .map(|secret| substitution.text(secret)),
        });
        Self {
            transport,
            client,
            ..self.clone()
        }
    }

    /// Arguments of shells and interpreters are programs: a user value in one could run anything.
    fn misplaced(&self) -> Option<MisplacedVariable> {
        let McpTransport::Stdio { command, args, .. } = &self.transport else {
            return None;
        };
        let words = [command].into_iter().chain(args);
        let personal = words
            .flat_map(|word| segments(word))
            .find_map(|segment| match segment {
                TextSegment::Variable(reference) if reference.is_personal() => {
                    Some(reference.variable)
                }
                TextSegment::Variable(_) | TextSegment::Text(_) => None,
            })?;
        let variable = personal.to_string().into();
        Some(MisplacedVariable::InCommand { variable })
    }
}

impl TemplateFields for OpenapiConfig {
    fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&String> = Vec::new();
        if let OpenapiOrigin::Url { url } = &self.origin {
            texts.push(url);
        }
        texts.extend(&self.base_url);
        texts.extend(self.headers.values());
        for credential in self.credentials.values() {
            texts.extend(credential.texts());
            texts.extend(credential.token_url());
        }
        texts.into_iter().map(String::as_str).collect()
    }

    fn filled(&self, substitution: &mut Substitution<'_>) -> Self {
        let origin = match &self.origin {
            OpenapiOrigin::Url { url } => OpenapiOrigin::Url {
                url: substitution.address(url),
            },
            given @ OpenapiOrigin::Uploaded { .. } => given.clone(),
        };
        let credentials = self.credentials.iter().map(|(name, credential)| {
            let filled = match credential {
                SourceCredential::Key { value } => SourceCredential::Key {
                    value: substitution.text(value),
                },
                SourceCredential::Basic { user, password } => SourceCredential::Basic {
                    user: substitution.text(user),
                    password: substitution.text(password),
                },
                SourceCredential::Client {
                    id,
                    secret,
                    token_url,
                    scopes,
                } => SourceCredential::Client {
                    id: substitution.text(id),
                    secret: substitution.text(secret),
                    token_url: token_url.as_ref().map(|url| substitution.address(url)),
                    scopes: scopes.as_ref().map(|scopes| substitution.text(scopes)),
                },
            };
            (name.clone(), filled)
        });
        Self {
            origin,
            credentials: credentials.collect(),
            base_url: self.base_url.as_ref().map(|url| substitution.address(url)),
            headers: substitution.map(&self.headers),
            ..self.clone()
        }
    }
}
