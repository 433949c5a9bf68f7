//! Puts credentials into a request, where the server looks for them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderValue};
use tenon_net::percent::{PercentEncodeSet, decode, encode};

use crate::operation::ParameterLocation;
use crate::request::{BuildError, HeaderNameError, OpenapiRequest, add_cookie, header};

/// Why a credential cannot be sent; as text it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    #[error(
        "The key that is stored for this server cannot be sent: it must be one line without control characters."
    )]
    NotAHeaderValue,
    #[error(transparent)]
    HeaderName(#[from] HeaderNameError),
    #[error(transparent)]
    Cookie(#[from] BuildError),
}

pub fn api_key(
    location: ParameterLocation,
    name: &str,
    value: &str,
    request: &mut OpenapiRequest,
) -> Result<(), CredentialError> {
    match location {
        ParameterLocation::Header => {
            let known = header::name(name)?;
            let value = header::value(value).ok_or(CredentialError::NotAHeaderValue)?;
            request.headers.insert(known, sensitive(value));
        }
        ParameterLocation::Query => {
            // An input under this name is not the key.
            let query = request.url.query().unwrap_or_default();
            let others = query.split('&').filter(|pair| {
                let (key, _) = pair.split_once('=').unwrap_or((pair, ""));
                !pair.is_empty() && decode(key) != name.as_bytes()
            });
            let mut pairs: Vec<String> = others.map(str::to_owned).collect();
            let [name, value] =
                [name, value].map(|text| encode(text, PercentEncodeSet::Unreserved));
            pairs.push(format!("{name}={value}"));
            request.url.set_query(Some(&pairs.join("&")));
        }
        ParameterLocation::Cookie => {
            let value = encode(value, PercentEncodeSet::Cookie);
            add_cookie(
                &encode(name, PercentEncodeSet::Unreserved),
                &value,
                &mut request.headers,
            )?;
        }
        // No document can say this and be one.
        ParameterLocation::Path => {}
    }
    Ok(())
}

pub fn bearer(token: &str, request: &mut OpenapiRequest) -> Result<(), CredentialError> {
    let token = token.trim();
    // People store the whole line as well.
    let bare = match token.split_once(' ') {
        Some((word, rest)) if word.eq_ignore_ascii_case("bearer") => rest.trim_start(),
        _ => token,
    };
    authorize(&format!("Bearer {bare}"), request)
}

pub fn basic(
    user: &str,
    password: &str,
    request: &mut OpenapiRequest,
) -> Result<(), CredentialError> {
    let encoded = STANDARD.encode(format!("{user}:{password}"));
    authorize(&format!("Basic {encoded}"), request)
}

fn authorize(line: &str, request: &mut OpenapiRequest) -> Result<(), CredentialError> {
    let value = header::value(line).ok_or(CredentialError::NotAHeaderValue)?;
    request.headers.insert(AUTHORIZATION, sensitive(value));
    Ok(())
}

/// Marked as sensitive, so that it is not logged with the headers.
pub fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}
