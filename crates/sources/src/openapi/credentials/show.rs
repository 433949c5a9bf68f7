//! Puts a key where a server looks for it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tenon_domain::ToolError;

use crate::openapi::operation::Place;
use crate::openapi::request::{Request, add_cookie, header};
use tenon_net::percent::{Keep, decode, encode};

pub(super) fn key(
    place: Place,
    name: &str,
    value: &str,
    request: &mut Request,
) -> Result<(), ToolError> {
    match place {
        Place::Header => {
            let known = header::name(name)?;
            let value = header::value(value).ok_or_else(unusable)?;
            request.headers.insert(known, secret(value));
        }
        Place::Query => {
            // What a model gave under this name is not the key.
            let query = request.url.query().unwrap_or_default();
            let others = query.split('&').filter(|pair| {
                let (key, _) = pair.split_once('=').unwrap_or((pair, ""));
                !pair.is_empty() && decode(key) != name.as_bytes()
            });
            let mut pairs: Vec<String> = others.map(str::to_owned).collect();
            let [name, value] = [name, value].map(|text| encode(text, Keep::Unreserved));
            pairs.push(format!("{name}={value}"));
            request.url.set_query(Some(&pairs.join("&")));
        }
        Place::Cookie => {
            let value = encode(value, Keep::Cookie);
            add_cookie(
                &encode(name, Keep::Unreserved),
                &value,
                &mut request.headers,
            )?;
        }
        // No document can say this and be one.
        Place::Path => {}
    }
    Ok(())
}

pub(super) fn bearer(token: &str, request: &mut Request) -> Result<(), ToolError> {
    let token = token.trim();
    // People store the whole line as well.
    let bare = match token.split_once(' ') {
        Some((word, rest)) if word.eq_ignore_ascii_case("bearer") => rest.trim_start(),
        _ => token,
    };
    authorize(&format!("Bearer {bare}"), request)
}

pub(super) fn basic(user: &str, password: &str, request: &mut Request) -> Result<(), ToolError> {
    let encoded = STANDARD.encode(format!("{user}:{password}"));
    authorize(&format!("Basic {encoded}"), request)
}

fn authorize(line: &str, request: &mut Request) -> Result<(), ToolError> {
    let value = header::value(line).ok_or_else(unusable)?;
    request.headers.insert(AUTHORIZATION, secret(value));
    Ok(())
}

/// Not shown where headers are.
pub(super) fn secret(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

pub(super) fn place(place: Place) -> &'static str {
    match place {
        Place::Path => "path",
        Place::Query => "query parameter",
        Place::Header => "header",
        Place::Cookie => "cookie",
    }
}

fn unusable() -> ToolError {
    ToolError::failed(
        "The key that is stored for this server cannot be sent: it must be one line without control characters.",
    )
}
