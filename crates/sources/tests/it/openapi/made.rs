//! Operations made by hand, and somebody who sends what comes of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tenon_domain::{
    Annotations, Credential, OpenapiConfig, OpenapiOrigin, ToolDefinition, ToolError, ToolResult,
};
use tenon_sources::import::reached;
use tenon_sources::openapi::credentials::{Credentials, Document, Sender};
use tenon_sources::openapi::operation::{
    Body, BodyInput, BodyKind, Field, Need, Operation, Parameter, Place, Scheme, Style, Written,
};
use tenon_sources::openapi::request::{self, Request};
use tenon_sources::openapi::response::Answer;
use url::Url;

pub fn operation(method: Method, path: &str, parameters: Vec<Parameter>) -> Operation {
    Operation {
        tool: ToolDefinition {
            name: path.into(),
            title: None,
            description: String::new(),
            input_schema: json!({ "type": "object" }).into(),
            annotations: Annotations::default(),
        },
        method,
        path: path.into(),
        servers: vec!["/".into()],
        parameters,
        headers: Vec::new(),
        body: None,
        security: Vec::new(),
    }
}

pub fn post(path: &str, media_type: &str, kind: BodyKind) -> Operation {
    Operation {
        body: Some(Body {
            media_type: media_type.into(),
            kind,
            required: true,
            input: BodyInput::Whole("body".into()),
        }),
        ..operation(Method::POST, path, vec![])
    }
}

pub fn secured(path: &str, scheme: &str) -> Operation {
    Operation {
        security: vec![vec![Need {
            scheme: scheme.into(),
            scopes: Vec::new(),
        }]],
        ..operation(Method::GET, path, vec![])
    }
}

pub fn parameter(name: &str, place: Place, style: Style, explode: bool) -> Parameter {
    Parameter {
        input: name.into(),
        name: name.into(),
        place,
        written: Written::As {
            style,
            explode,
            reserved: false,
        },
        required: place == Place::Path,
    }
}

/// As documents have it that say nothing about it.
pub fn usual(name: &str, place: Place) -> Parameter {
    match place {
        Place::Path | Place::Header => parameter(name, place, Style::Simple, false),
        Place::Query | Place::Cookie => parameter(name, place, Style::Form, true),
    }
}

pub fn file(name: &str) -> Field {
    Field {
        name: name.into(),
        written: None,
        is_file: true,
        media_type: None,
    }
}

/// A server, what its document asks for, and what is stored for it.
pub struct Site {
    base: Url,
    credentials: Credentials,
}

impl Site {
    pub fn open(address: &str) -> Self {
        Self::with(address, &[], BTreeMap::new())
    }

    pub fn with(
        address: &str,
        schemes: &[Scheme],
        credentials: BTreeMap<String, Credential>,
    ) -> Self {
        let base = Url::parse(address).unwrap().join("/openapi.json").unwrap();
        let config = OpenapiConfig {
            credentials,
            ..reached(OpenapiOrigin::Url {
                url: base.to_string(),
            })
        };
        let sender = Arc::new(Plain(client()));
        let document = Document {
            schemes,
            found_at: Some(&base),
            base: &base,
        };
        Self {
            credentials: Credentials::new(&config, &document, sender).unwrap(),
            base,
        }
    }

    pub async fn call(&self, operation: &Operation, input: Value) -> ToolResult {
        let request = request::build(operation, &self.base, &input)?;
        self.credentials.call(operation, request).await
    }

    /// What a call gives that cannot fail.
    pub async fn value(&self, operation: &Operation, input: Value) -> Value {
        let output = self.call(operation, input.clone()).await;
        let output = output.unwrap_or_else(|error| panic!("{} {input}: {error}", operation.path));
        output.structured().unwrap().clone()
    }
}

pub fn client() -> Client {
    // Whoever is first wins; the others find it installed.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    Client::new()
}

struct Plain(Client);

#[async_trait]
impl Sender for Plain {
    async fn send(&self, request: Request, _within: Option<Duration>) -> Result<Answer, ToolError> {
        let sent = self
            .0
            .request(request.method, request.url)
            .headers(request.headers)
            .body(request.body.unwrap_or_default())
            .send()
            .await
            .unwrap();
        Ok(Answer {
            status: sent.status(),
            headers: sent.headers().clone(),
            body: sent.bytes().await.unwrap().to_vec(),
        })
    }
}
