//! Tools that are one HTTP request.

use serde_json::Value;
use tenon_domain::{ErrorKind, ToolError};
use tenon_skills::http::{HttpMapping, HttpMappingError};

use super::SkillCall;
use super::call_error::SkillCallError;
use super::reply::SkillReply;
use crate::openapi::credentials::{self, RequestSender};
use crate::openapi::mapping as openapi_mapping;

pub(super) async fn call(
    call: &SkillCall<'_>,
    mapping: &HttpMapping,
    input: &Value,
) -> Result<SkillReply, ToolError> {
    let variables = &call.revision.values.variables;
    let request = mapping
        .request(None, variables, input)
        .map_err(|error| request_error(call, error))?;
    let client = call.host().http_client(call.revision.is_trusted)?;
    // `Toolset::call` keeps the deadline.
    let answer = client.send(request, None).await?;
    Ok(credentials::read(answer).await?.into())
}

fn request_error(call: &SkillCall<'_>, error: HttpMappingError) -> ToolError {
    let title = || call.skill.info.title.as_str().into();
    match error {
        HttpMappingError::MissingVariable(variable) => ToolError::coded(
            ErrorKind::Unavailable,
            SkillCallError::MissingValue {
                name: title(),
                variable: variable.into(),
            },
        ),
        HttpMappingError::InvalidVariable(variable) => ToolError::coded(
            ErrorKind::Unavailable,
            SkillCallError::InvalidValue {
                name: title(),
                variable: variable.into(),
            },
        ),
        HttpMappingError::NoBase => ToolError::failed(error.to_string()),
        HttpMappingError::Build(error) => openapi_mapping::build_error(error),
    }
}
