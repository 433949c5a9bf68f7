//! Tools that are one HTTP request: a URL template and where each argument goes.
//!
//! The request itself is built by `tenon-openapi`: a mapping is one of its operations, so values
//! are encoded, and kept in their segment, in one place.

mod endpoint;
mod mapping;

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::{Map, Value};
use tenon_openapi::operation::{
    BodyInput, BodyKind, OpenapiParameter, Operation, ParameterLocation, ParameterStyle,
    RequestBody, Serialization,
};
use tenon_openapi::request::{self, OpenapiRequest, header};
use tenon_openapi::{BuildError, operation::OperationSchema};
use url::Url;

use crate::error::{EndpointProblem, SkillError, SkillProblem};
use crate::fields::{Fields, scalar};
use endpoint::{MissingVariable, UrlTemplate, expand, variables_of};
use mapping::{ArgumentLocation, ArgumentTarget};

const METHODS: [Method; 6] = [
    Method::GET,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::HEAD,
];

/// Values of variables and secrets, by name.
pub type Variables = BTreeMap<String, String>;

/// How the arguments of a call become a request.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpMapping {
    endpoint: String,
    server: String,
    operation: Operation,
    /// Templates, in which `${NAME}` stands for a variable.
    headers: Vec<(String, String)>,
    variables: BTreeSet<String>,
}

/// Why no request can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpMappingError {
    #[error(
        "The tool needs the setting `{0}`, which has no value yet. Ask an administrator to set it."
    )]
    MissingVariable(String),
    #[error(
        "The setting `{0}` cannot be sent in a header: it must be one line without control characters."
    )]
    InvalidVariable(String),
    /// The description of a server has endpoints that are relative to it.
    #[error("The tool's address is relative, and nothing says to which server.")]
    NoBase,
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl From<MissingVariable> for HttpMappingError {
    fn from(MissingVariable(name): MissingVariable) -> Self {
        Self::MissingVariable(name)
    }
}

impl HttpMapping {
    pub fn method(&self) -> &Method {
        &self.operation.method
    }

    /// The template as it was written.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Where requests go: "https://api.example.com", or with the variables that decide it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Names of the variables that a request needs.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    /// What of its behaviour follows from the method.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The request of one call. `base` is for relative endpoints.
    pub fn request(
        &self,
        base: Option<&Url>,
        variables: &Variables,
        arguments: &Value,
    ) -> Result<OpenapiRequest, HttpMappingError> {
        let server = self.server_url(base, variables)?;
        let Value::Object(arguments) = arguments else {
            return Err(BuildError::NotAnObject.into());
        };
        let input = self.input(variables, arguments)?;
        let mut request = match self.with_undeclared(arguments) {
            Some(operation) => request::build_at(&operation, server, &input)?,
            None => request::build_at(&self.operation, server, &input)?,
        };
        for (name, template) in &self.headers {
            let text = expand(template, variables)?;
            let name = header::name(name).map_err(BuildError::from)?;
            let mut value = header::value(&text)
                .ok_or_else(|| HttpMappingError::InvalidVariable(name.to_string()))?;
            value.set_sensitive(text != *template);
            request.headers.insert(name, value);
        }
        Ok(request)
    }

    fn server_url(
        &self,
        base: Option<&Url>,
        variables: &Variables,
    ) -> Result<Url, HttpMappingError> {
        if self.server.is_empty() {
            let base = base.ok_or(HttpMappingError::NoBase)?;
            let root = request::server_url("/", base).map_err(BuildError::from)?;
            return Ok(root);
        }
        let server = expand(&self.server, variables)?;
        let url = Url::parse(&server)
            .map_err(|error| request::ServerUrlError {
                server: self.server.clone(),
                problem: error.into(),
            })
            .map_err(BuildError::from)?;
        Ok(request::server_url(url.as_str(), &url).map_err(BuildError::from)?)
    }

    /// The arguments with the variables that stand in the address; nobody passes those as
    /// arguments.
    fn input(
        &self,
        variables: &Variables,
        arguments: &Map<String, Value>,
    ) -> Result<Value, HttpMappingError> {
        let mut input = arguments.clone();
        for parameter in &self.operation.parameters {
            let Some(name) = parameter.name.strip_prefix('$') else {
                continue;
            };
            let value = variables.get(name);
            let value = value.ok_or_else(|| HttpMappingError::MissingVariable(name.to_owned()))?;
            input.insert(parameter.input.clone(), value.as_str().into());
        }
        Ok(Value::Object(input))
    }

    /// Arguments that the schema allows without naming them go where the others go by default: with
    /// a body they do already.
    fn with_undeclared(&self, arguments: &Map<String, Value>) -> Option<Operation> {
        if self.operation.body.is_some() {
            return None;
        }
        let parameters = &self.operation.parameters;
        let is_declared = |name: &String| parameters.iter().any(|one| one.input == *name);
        let mut undeclared = arguments
            .keys()
            .filter(|name| !is_declared(name))
            .peekable();
        undeclared.peek()?;
        let mut operation = self.operation.clone();
        for name in undeclared {
            operation
                .parameters
                .push(parameter(name, name, ParameterLocation::Query));
        }
        Some(operation)
    }
}

/// Reads `method`, `endpoint`, `mapping` and `headers`. A relative endpoint is for the
/// description of a server.
pub(crate) fn parse(
    tool: &str,
    fields: Fields<'_>,
    parameters: &Value,
    allow_relative: bool,
) -> Result<HttpMapping, SkillError> {
    let method = method(fields)?;
    let Some(entry) = fields.any(&["endpoint", "url"]) else {
        let problem = SkillProblem::ToolNeeds {
            tool: tool.to_owned(),
            key: "endpoint",
            example: "`endpoint: https://api.example.com/items/{id}`",
        };
        return Err(fields.error(fields.line, problem));
    };
    let refuse = |problem: EndpointProblem| {
        let tool = tool.to_owned();
        fields.error(entry.line, SkillProblem::Endpoint { tool, problem })
    };
    let template = scalar(&entry.node).unwrap_or_default();
    let endpoint = UrlTemplate::parse(template.trim(), allow_relative).map_err(refuse)?;
    let properties = parameters.get("properties").and_then(Value::as_object);
    let properties: Vec<&str> = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    if let Some(unknown) = endpoint
        .placeholders
        .iter()
        .find(|name| !properties.contains(&name.as_str()))
    {
        return Err(refuse(EndpointProblem::UnknownParameter(unknown.clone())));
    }
    let targets = mapping::parse(tool, fields, &properties)?;
    let headers = fixed_headers(fields)?;
    let mut variables: BTreeSet<String> = endpoint.variables.iter().cloned().collect();
    for (_, template) in &headers {
        variables.extend(variables_of(template).map(str::to_owned));
    }
    Ok(HttpMapping {
        operation: operation(tool, method, &endpoint, parameters, &properties, &targets),
        endpoint: template.trim().to_owned(),
        server: endpoint.server,
        headers,
        variables,
    })
}

fn method(fields: Fields<'_>) -> Result<Method, SkillError> {
    let Some(entry) = fields.entry("method") else {
        return Ok(Method::GET);
    };
    let text = scalar(&entry.node).unwrap_or_default();
    let method = METHODS
        .into_iter()
        .find(|method| method.as_str().eq_ignore_ascii_case(text.trim()));
    method.ok_or_else(|| fields.error(entry.line, SkillProblem::Method(text)))
}

fn fixed_headers(fields: Fields<'_>) -> Result<Vec<(String, String)>, SkillError> {
    let Some(entry) = fields.entry("headers") else {
        return Ok(Vec::new());
    };
    let headers = Fields::of(fields.file, "headers", &entry.node)?;
    let headers = headers.entries().iter().map(|entry| {
        let name = header::name(&entry.key).map_err(|error| fields.error(entry.line, error))?;
        let value = scalar(&entry.node).filter(|value| header::value(value).is_some());
        let value = value.ok_or_else(|| {
            fields.error(entry.line, SkillProblem::HeaderValue(entry.key.clone()))
        })?;
        Ok((name.to_string(), value))
    });
    headers.collect()
}

fn operation(
    tool: &str,
    method: Method,
    endpoint: &UrlTemplate,
    schema: &Value,
    properties: &[&str],
    targets: &BTreeMap<String, ArgumentTarget>,
) -> Operation {
    let has_body = ![Method::GET, Method::DELETE, Method::HEAD].contains(&method);
    let mut parameters: Vec<OpenapiParameter> = endpoint
        .variables
        .iter()
        .map(|name| {
            let name = format!("${name}");
            parameter(&name, &name, ParameterLocation::Path)
        })
        .collect();
    let mut body = Vec::new();
    for property in properties {
        if endpoint.placeholders.iter().any(|name| name == property) {
            parameters.push(parameter(property, property, ParameterLocation::Path));
            continue;
        }
        let target = targets.get(*property);
        let name = target
            .and_then(|target| target.name.as_deref())
            .unwrap_or(property);
        let location = target.map(|target| target.location);
        match location {
            Some(ArgumentLocation::Header) => {
                parameters.push(parameter(property, name, ParameterLocation::Header))
            }
            Some(ArgumentLocation::Body) => body.push(((*property).to_owned(), name.to_owned())),
            None if has_body => body.push(((*property).to_owned(), name.to_owned())),
            Some(ArgumentLocation::Query | ArgumentLocation::Path) | None => {
                parameters.push(parameter(property, name, ParameterLocation::Query));
            }
        }
    }
    let is_sent = has_body || !body.is_empty();
    Operation {
        name: tool.to_owned(),
        title: None,
        description: String::new(),
        input_schema: OperationSchema::from(schema.clone()),
        deprecated: false,
        method,
        path: endpoint.path.clone(),
        servers: vec![endpoint.server.clone()],
        parameters,
        headers: Vec::new(),
        body: is_sent.then(|| RequestBody {
            media_type: "application/json".to_owned(),
            kind: BodyKind::Json,
            required: !body.is_empty(),
            input: BodyInput::Merged(body),
        }),
        security: Vec::new(),
    }
}

fn parameter(input: &str, name: &str, location: ParameterLocation) -> OpenapiParameter {
    let style = match location {
        ParameterLocation::Query | ParameterLocation::Cookie => ParameterStyle::Form,
        ParameterLocation::Path | ParameterLocation::Header => ParameterStyle::Simple,
    };
    OpenapiParameter {
        input: input.to_owned(),
        name: name.to_owned(),
        location,
        serialization: Serialization::Styled {
            style,
            explode: location == ParameterLocation::Query,
            reserved: false,
        },
        // Whether it must be there says the schema, which is checked before.
        required: false,
    }
}
