//! OpenAPI servers as everybody calls them, and their documents.

mod express;
mod fastapi;
mod made;
mod road;
mod server;
mod tool_ids;
