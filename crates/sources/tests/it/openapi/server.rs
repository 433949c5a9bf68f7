//! OpenAPI servers as everybody calls them: real mcpos and bad sites, through the registry.

mod desk;
mod site;

mod bad;
mod call;
mod life;
mod mcpo;
