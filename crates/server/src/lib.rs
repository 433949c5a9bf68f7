//! The front door: HTTP API, embedded page, command line. The only binary.
//!
//! Everything below is put together in [`app`]; everything above it is one of
//! the doors. Only this room knows HTTP status codes.

pub mod app;
mod budget;
pub mod cli;
pub mod config;
mod connections;
mod devices;
mod doctor;
mod expose;

pub mod api;
pub mod auth;
mod guard;
pub mod models;
mod permissions;
pub mod serve;
pub mod sources;
pub mod storage;
mod stored;
mod ui;
