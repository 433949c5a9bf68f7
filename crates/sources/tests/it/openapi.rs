//! OpenAPI servers as everybody calls them, and their documents.

mod anything;
mod corpus;
mod express;
mod fastapi;
mod made;
mod road;
mod server;
