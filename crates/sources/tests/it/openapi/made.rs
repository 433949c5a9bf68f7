//! Operations made by hand, and somebody who sends what comes of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tenon_domain::{OpenapiConfig, OpenapiOrigin, SourceCredential, ToolError, ToolResult};
use tenon_openapi::operation::{
    BodyInput, BodyKind, FormField, OpenapiParameter, Operation, ParameterLocation, ParameterStyle,
    RequestBody, SecurityRequirement, SecurityScheme, Serialization,
};
use tenon_openapi::request::{self, OpenapiRequest};
use tenon_openapi::response::OpenapiResponse;
use tenon_sources::openapi::credentials::{CredentialContext, Credentials, RequestSender};
use url::Url;

pub fn operation(method: Method, path: &str, parameters: Vec<OpenapiParameter>) -> Operation {
    Operation {
        name: path.into(),
        title: None,
        description: String::new(),
        input_schema: json!({ "type": "object" }).into(),
        deprecated: false,
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
        body: Some(RequestBody {
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
        security: vec![vec![SecurityRequirement {
            scheme: scheme.into(),
            scopes: Vec::new(),
        }]],
        ..operation(Method::GET, path, vec![])
    }
}

pub fn parameter(
    name: &str,
    location: ParameterLocation,
    style: ParameterStyle,
    explode: bool,
) -> OpenapiParameter {
    OpenapiParameter {
        input: name.into(),
        name: name.into(),
        location,
        serialization: Serialization::Styled {
            style,
            explode,
            reserved: false,
        },
        required: location == ParameterLocation::Path,
    }
}

/// As documents have it that say nothing about it.
pub fn usual(name: &str, location: ParameterLocation) -> OpenapiParameter {
    match location {
        ParameterLocation::Path | ParameterLocation::Header => {
            parameter(name, location, ParameterStyle::Simple, false)
        }
        ParameterLocation::Query | ParameterLocation::Cookie => {
            parameter(name, location, ParameterStyle::Form, true)
        }
    }
}

pub fn file(name: &str) -> FormField {
    FormField {
        name: name.into(),
        serialization: None,
        is_file: true,
        media_type: None,
    }
}

/// A server, what its document asks for, and what is stored for it.
pub struct ApiFixture {
    base: Url,
    credentials: Credentials,
}

impl ApiFixture {
    pub fn open(address: &str) -> Self {
        Self::with(address, &[], BTreeMap::new())
    }

    pub fn with(
        address: &str,
        schemes: &[SecurityScheme],
        credentials: BTreeMap<String, SourceCredential>,
    ) -> Self {
        let base = Url::parse(address).unwrap().join("/openapi.json").unwrap();
        let config = OpenapiConfig {
            credentials,
            ..OpenapiConfig::new(OpenapiOrigin::Url {
                url: base.to_string(),
            })
        };
        let sender = Arc::new(Plain(client()));
        let document = CredentialContext {
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
        let request = request::build(operation, &self.base, &input);
        let request = request.map_err(|error| ToolError::failed(error.to_string()))?;
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
impl RequestSender for Plain {
    async fn send(
        &self,
        request: OpenapiRequest,
        _within: Option<Duration>,
    ) -> Result<OpenapiResponse, ToolError> {
        let sent = self
            .0
            .request(request.method, request.url)
            .headers(request.headers)
            .body(request.body.unwrap_or_default())
            .send()
            .await
            .unwrap();
        Ok(OpenapiResponse {
            status: sent.status(),
            headers: sent.headers().clone(),
            body: sent.bytes().await.unwrap().to_vec(),
        })
    }
}
