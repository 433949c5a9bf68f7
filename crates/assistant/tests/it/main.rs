//! What the built-in assistant makes of what people write.

mod ask;
mod tools;

mod paraphrases;
mod restraint;
mod stream;
mod turns;
