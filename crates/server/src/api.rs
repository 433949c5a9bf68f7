//! The handlers of Tenon's own API: what the page and scripts talk to.

pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod blobs;
pub(crate) mod calls;
pub(crate) mod chats;
pub(crate) mod devices;
pub(crate) mod docs;
pub(crate) mod experts;
pub(crate) mod export;
pub(crate) mod info;
pub(crate) mod invites;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod me;
pub(crate) mod models;
pub(crate) mod oidc;
pub(crate) mod prompts;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod share;
pub(crate) mod shell;
pub(crate) mod skills;
pub(crate) mod sources;
pub(crate) mod tools;
pub(crate) mod turns;
pub(crate) mod users;
