//! OpenAPI servers as everybody calls them: real mcpos and bad sites, through the registry.

mod changing;
mod harness;
mod http_server;

mod bad;
mod call;
mod files;
mod kept;
mod landing;
mod life;
mod mcpo;
