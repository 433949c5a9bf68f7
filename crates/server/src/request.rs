//! Extractors for handlers: user, client address, ids, parameters and body.

mod body;
mod caller;
pub(crate) mod cookie;
mod current_user;
mod id;
mod params;

pub(crate) use body::{
    BodyLimit, FileBody, JsonBody, ReceiveError, ReceivedBody, RequestMemory, collect,
    declared_length, is_json, read, read_with, receive, receive_body,
};
pub(crate) use caller::HttpCaller;
pub(crate) use current_user::{authenticate, bearer};
pub(crate) use id::Id;
pub(crate) use params::QueryParams;
