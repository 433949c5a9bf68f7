//! Dynamic client registration (RFC 7591).

use serde::Deserialize;
use serde_json::json;
use tenon_net::oauth::OAuthClient;
use url::Url;

use super::error::{HostFailure, LoginError, RegistrationRefusal, UnreachableLogin, quote};
use super::http::OAuthHttp;

/// Client metadata for dynamic registration.
pub(super) struct ClientMetadata<'a> {
    pub(super) client_name: &'a str,
    /// Where the browser comes back to.
    pub(super) redirect: &'a str,
    pub(super) scopes: &'a [String],
}

#[derive(Deserialize)]
struct ClientRegistration {
    client_id: String,
    #[serde(default)]
    client_secret: Option<String>,
}

pub(super) async fn register(
    http: &OAuthHttp,
    endpoint: &Url,
    client: ClientMetadata<'_>,
) -> Result<OAuthClient, LoginError> {
    let ClientMetadata {
        client_name,
        redirect,
        scopes,
    } = client;
    let not_registered = |why: RegistrationRefusal| LoginError::NotRegistered {
        client: client_name.to_owned(),
        why,
    };
    // A redirect to a local port is a native application, without https.
    let application_type = if redirect.starts_with("https://") {
        "web"
    } else {
        "native"
    };
    let mut body = json!({
        "client_name": client_name,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
        "response_types": ["code"],
        "application_type": application_type,
    });
    if !scopes.is_empty() {
        body["scope"] = scopes.join(" ").into();
    }
    let unreachable = |why: HostFailure| {
        let client = client_name.to_owned();
        LoginError::Unreachable(UnreachableLogin::Registration { client, why })
    };
    let response = http.post_json(endpoint, &body).await;
    let response = response.map_err(|error| error.or_else(unreachable))?;
    if !response.status.is_success() {
        let status = response.status.as_u16();
        let said = quote(&String::from_utf8_lossy(&response.body));
        let why = if said.is_empty() || said.starts_with('<') {
            HostFailure::Status(status)
        } else {
            HostFailure::Said { status, said }
        };
        return Err(if response.status.is_server_error() {
            unreachable(why)
        } else {
            not_registered(RegistrationRefusal::Answered(why))
        });
    }
    let registration: ClientRegistration = serde_json::from_slice(&response.body)
        .map_err(|_| not_registered(RegistrationRefusal::NoClient))?;
    Ok(OAuthClient::new(
        registration.client_id,
        registration.client_secret,
    ))
}
