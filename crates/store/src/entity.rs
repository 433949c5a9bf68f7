//! One module per table. Ids and JSON are text: byte-stable on both engines,
//! and free of PostgreSQL's ban on NUL inside `jsonb`.
//!
//! Backups hold these rows as they are written here. A column that comes with
//! a later migration says by `#[serde(default)]` what older backups have in its
//! place, unless it may be null.

pub(crate) mod bytes;
mod conversation;
mod expert;
mod hub;
mod people;
mod servers;
mod skill;
mod trace;

pub(crate) use conversation::{
    blobs, chats, events, files, folders, messages, search_entries, shares, tool_calls, turns,
};
pub(crate) use expert::{expert_skills, experts, prompts};
pub(crate) use hub::{embeddings, models, tools};
pub(crate) use people::{
    api_keys, audit, auth_sessions, invites, preferences, tool_settings, users,
};
pub(crate) use servers::{
    local_servers, secrets, source_documents, source_grants, source_tools, sources,
};
pub(crate) use skill::{skill_tools, skill_user_settings, skill_versions, skills};
pub(crate) use trace::{call_traces, model_calls, model_requests};
