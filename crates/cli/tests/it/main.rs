//! The real server on a port of its own, and the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access;
mod accounts;
mod addresses;
mod aged;
mod api;
mod api_document;
mod approvals;
mod attachments;
#[expect(dead_code, reason = "shared with the tests of the sources")]
#[path = "../../../../tests/peers/authority.rs"]
mod authority;
mod backup;
mod binary;
mod branches;
mod bridge;
mod cached_rights;
mod call_trace;
mod certificate;
mod chats;
mod cluster;
mod connections;
mod disk;
mod doctor;
mod documents;
mod experts;
mod export;
mod folders;
#[path = "../../../agent/tests/it/form_tool.rs"]
mod form_tool;
mod forms;
mod frames;
mod guard;
#[cfg(target_os = "linux")]
mod hostile;
mod hostile_schemas;
mod import;
mod keys;
#[expect(dead_code, reason = "shared with the tests of the sources")]
#[path = "../../../sources/tests/it/mcp/peers.rs"]
mod listening;
mod local;
mod log_lines;
mod login;
mod mcp_door;
mod mend;
mod metrics;
mod models;
mod oidc;
mod openai;
mod outage;
#[expect(dead_code, reason = "other crates start more of them")]
#[path = "../../../../tests/peers/peer.rs"]
mod peer;
mod people;
#[path = "../../../store/tests/it/postgres.rs"]
mod postgres;
mod probes;
mod program;
mod proof;
mod proxy;
#[path = "../../../bus/tests/it/redis.rs"]
mod redis;
mod revoked_work;
mod search;
mod secrets;
mod server;
mod setup;
mod share;
#[cfg(target_os = "linux")]
mod skills;
mod socket;
mod sources;
mod switches;
#[cfg(unix)]
mod task_run;
#[expect(dead_code, reason = "the store tries more faults")]
#[path = "../../../store/tests/it/tcp_proxy.rs"]
mod tcp_proxy;
mod telemetry;
mod tool_list;
mod tool_search;
mod tools_command;
mod torture;
mod trace;
mod turn_ids;
mod user_command;
mod user_feed;
