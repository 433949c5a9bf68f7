//! The rows that every request needs, kept in memory: who asks, and which tools are set how.

use std::sync::Arc;

use tenon_domain::{Account, ChatId, ExpertId, KeyId, SessionId, ToolSettings, UserId};

use crate::changes::ChangeTopic;
use crate::keys::KeyEntry;
use crate::sessions::SessionEntry;
use crate::token::TokenHash;
use crate::versioned_cache::VersionedCache;

/// Some hundred people with their browsers and programs. An entry takes about half a KiB.
const MAX_CREDENTIAL_ENTRIES: usize = 2048;

/// Chats with turns that run, and one entry for each user.
const MAX_SETTINGS_ENTRIES: usize = 512;

/// Credentials and users are looked up by hash or id; None: there is no such thing.
#[derive(Debug)]
pub(crate) struct ReadCaches {
    pub(crate) keys: VersionedCache<TokenHash, Option<Arc<KeyEntry>>>,
    pub(crate) live_keys: VersionedCache<KeyId, bool>,
    pub(crate) sessions: VersionedCache<TokenHash, Option<Arc<SessionEntry>>>,
    pub(crate) session_ends: VersionedCache<SessionId, Option<i64>>,
    pub(crate) users: VersionedCache<UserId, Option<Account>>,
    pub(crate) oldest_admin: VersionedCache<(), Option<Account>>,
    pub(crate) tool_settings: VersionedCache<SettingsKey, Arc<ToolSettings>>,
}

/// Whose settings: of a user and, where they are named, an expert and a chat.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SettingsKey {
    pub(crate) user: UserId,
    pub(crate) expert: Option<ExpertId>,
    pub(crate) chat: Option<ChatId>,
}

impl Default for ReadCaches {
    fn default() -> Self {
        let accounts = ChangeTopic::Accounts;
        Self {
            keys: VersionedCache::new(accounts, MAX_CREDENTIAL_ENTRIES),
            live_keys: VersionedCache::new(accounts, MAX_CREDENTIAL_ENTRIES),
            sessions: VersionedCache::new(accounts, MAX_CREDENTIAL_ENTRIES),
            session_ends: VersionedCache::new(accounts, MAX_CREDENTIAL_ENTRIES),
            users: VersionedCache::new(accounts, MAX_CREDENTIAL_ENTRIES),
            oldest_admin: VersionedCache::new(accounts, 1),
            tool_settings: VersionedCache::new(ChangeTopic::ToolSettings, MAX_SETTINGS_ENTRIES),
        }
    }
}
