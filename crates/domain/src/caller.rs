//! Who wants a tool called.

use std::sync::Arc;

use crate::account::{EntryPoint, KeyScope};
use crate::id::ToolId;
use crate::pattern::Pattern;

/// Whoever wants a tool called. With the settings of the tool it decides what becomes of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// A person, by hand: their call is its own approval.
    Person,
    /// A program with a key. There is nobody to ask.
    Key {
        /// Its `allow` has what it may call although the policy is to ask.
        scope: Arc<KeyScope>,
    },
    /// A model in a chat, with a person who can be asked.
    ChatModel {
        /// What it may call although the policy is to ask.
        allow: Arc<[Pattern]>,
    },
    /// A model with nobody to ask.
    UnattendedModel {
        /// How its request came in, and so where more could be allowed.
        entry: EntryPoint,
        allow: Arc<[Pattern]>,
    },
}

impl Caller {
    /// A model in a chat that has to ask about everything whose policy says so.
    pub fn chat_model() -> Self {
        Self::ChatModel {
            allow: Arc::default(),
        }
    }

    /// Whether it may call a tool although the policy is to ask.
    pub fn allows(&self, tool: &ToolId) -> bool {
        let allow: &[Pattern] = match self {
            Self::Person => &[],
            Self::Key { scope } => &scope.allow,
            Self::ChatModel { allow } | Self::UnattendedModel { allow, .. } => allow,
        };
        allow.iter().any(|pattern| pattern.matches(tool))
    }
}
