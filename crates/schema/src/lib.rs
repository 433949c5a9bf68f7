//! JSON Schema that comes from strangers, within bounds.
//!
//! What several readers of such schemas need and do alike: [`reference`] resolves local
//! `$ref`s, [`pattern`] judges regular expressions. Nothing here fetches anything.
//!
//! Deliberately absent: one merge of `allOf` for everybody. Who checks inputs must keep
//! what every part demands, so a contradiction has to be noticed; who describes inputs to a
//! model must end with one object, so the outer schema overrides. The same code could
//! only do one of them.

pub mod pattern;
pub mod reference;
