//! What Tenon looks like to clients that were made for something else.

pub(crate) mod openai;
