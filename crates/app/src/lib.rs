//! What Tenon does, whoever asks for it: accounts and keys, configured sources, models, chats as
//! files, settings and secrets.
//!
//! [`app::App`] puts everything together; the HTTP server and the command line call it. Nothing
//! here knows HTTP handlers or status codes of our own: errors are enums, and the server maps them.

pub mod accounts;
pub mod app;
pub mod auth;
pub mod budget;
pub mod calls;
pub mod chats;
pub mod cluster;
pub mod config;
pub mod error;
pub mod experts;
pub mod files;
pub mod folders;
pub mod instructions;
pub mod json;
pub mod models;
pub mod permissions;
pub mod profile;
pub mod prompts;
pub mod skills;
pub mod sources;
pub mod statistics;
pub mod storage;
pub mod tasks;
pub mod tools;
pub mod traces;
pub mod user_feed;
pub mod web_images;

mod devices;
mod lock;
mod outputs;

pub use error::{Error, Result};
