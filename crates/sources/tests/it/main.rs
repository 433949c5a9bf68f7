//! The built-in tools as everybody calls them: through the registry and `Toolset::call`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod desk;

mod catalog;
mod files;
mod flow;
mod math;
mod results;
mod time;
mod web;
