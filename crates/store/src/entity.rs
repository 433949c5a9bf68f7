//! One module per table. Ids and JSON are text: byte-stable on both engines,
//! and free of PostgreSQL's ban on NUL inside `jsonb`.
//!
//! Backups hold these rows as they are written here. A column that comes with
//! a later migration says by `#[serde(default)]` what older backups have in its
//! place, unless it may be null.

pub(crate) mod chats {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "chats")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub user_id: String,
        pub title: String,
        /// The number of its newest event.
        pub last_seq: i64,
        pub created_at: i64,
        pub updated_at: i64,
        pub pinned_at: Option<i64>,
        pub archived_at: Option<i64>,
        /// Gone for everybody; really so once it can no longer be undone.
        pub deleted_at: Option<i64>,
        pub titled_by: String,
        /// The last turn of the branch on show.
        pub head: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod turns {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "turns")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub chat_id: String,
        /// The process that runs it.
        pub runner: String,
        /// Who was asked, by the name it had then. Turns of the first tables have none.
        pub model_id: Option<String>,
        pub model_name: Option<String>,
        /// The outcome as JSON; null while it runs.
        pub outcome: Option<String>,
        pub input_tokens: i64,
        pub output_tokens: i64,
        pub cache_read_tokens: i64,
        pub cache_write_tokens: i64,
        pub cost_micros: Option<i64>,
        pub cost_currency: Option<String>,
        pub started_at: i64,
        pub ended_at: Option<i64>,
        /// The turn before it on its branch.
        pub parent_id: Option<String>,
        pub door: String,
        /// These tools alone, as JSON.
        pub tool_ids: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod messages {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "messages")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub chat_id: String,
        pub turn_id: String,
        /// The number of the event that began it: the order of the transcript.
        pub seq: i64,
        pub role: String,
        pub parts: String,
        /// Still being spoken.
        pub open: bool,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod tool_calls {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "tool_calls")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub chat_id: String,
        pub message_id: String,
        pub seq: i64,
        pub tool_id: String,
        pub display_name: String,
        pub runs_on: String,
        pub input: String,
        pub status: String,
        pub output: Option<String>,
        pub error: Option<String>,
        pub requested_at: i64,
        pub started_at: Option<i64>,
        pub ended_at: Option<i64>,
        pub duration_ms: Option<i64>,
        /// Since when it waits for a person, or waited.
        pub asked_at: Option<i64>,
        pub verdict: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod models {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "models")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub name: String,
        pub provider: String,
        pub base_url: String,
        pub endpoint: Option<String>,
        pub model: String,
        pub sealed_key: Option<String>,
        /// A JSON object.
        pub parameters: String,
        pub tool_mode: String,
        pub tools_seen: Option<String>,
        pub context_tokens: Option<i64>,
        /// As JSON.
        pub prices: Option<String>,
        pub is_default: bool,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod events {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "events")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub chat_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub seq: i64,
        pub at: i64,
        pub body: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod tools {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "tools")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub source_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub tool_id: String,
        /// Whose tool it is; empty for everybody's.
        pub owner: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod blobs {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "blobs")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub owner: String,
        /// The call whose output it is. Calls made by hand have no row.
        pub call_id: String,
        pub media_type: String,
        #[serde(with = "crate::backup::bytes")]
        pub data: Vec<u8>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod users {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "users")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        /// In small letters: one person writes it in many ways.
        pub email: String,
        pub name: String,
        pub role: String,
        pub password_hash: Option<String>,
        /// Who they are at the issuer they log in with.
        pub oidc_subject: Option<String>,
        pub disabled: bool,
        pub created_at: i64,
        pub last_login_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod auth_sessions {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "auth_sessions")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub token_hash: String,
        pub user_id: String,
        pub agent: String,
        pub address: String,
        pub created_at: i64,
        pub last_seen_at: i64,
        pub expires_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod api_keys {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "api_keys")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub token_hash: String,
        pub user_id: String,
        pub name: String,
        /// How it begins, to know it by.
        pub hint: String,
        /// As JSON.
        pub scope: String,
        pub created_at: i64,
        pub last_used_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod invites {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "invites")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub token_hash: String,
        pub email: Option<String>,
        pub role: String,
        pub created_by: String,
        pub created_at: i64,
        pub expires_at: i64,
        pub used_by: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod preferences {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "preferences")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        /// A user; empty for everybody.
        pub owner: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        /// As JSON.
        pub value: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod tool_settings {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "tool_settings")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub layer: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub owner: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub tool_id: String,
        pub enabled: Option<bool>,
        pub policy: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod shares {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "shares")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub token: String,
        pub chat_id: String,
        /// The last turn that is shown.
        pub head: String,
        /// Of the chat, when it was shared.
        pub title: String,
        pub with_tools: bool,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {
        #[sea_orm(
            belongs_to = "super::chats::Entity",
            from = "Column::ChatId",
            to = "super::chats::Column::Id"
        )]
        Chat,
    }

    impl Related<super::chats::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Chat.def()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod search_entries {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "search_entries")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub chat_id: String,
        pub kind: String,
        /// The message or call it is about; the chat for its title.
        pub subject: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod audit {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "audit")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub at: i64,
        pub user_id: Option<String>,
        pub door: String,
        pub action: String,
        pub subject: String,
        /// As JSON.
        pub detail: String,
        pub address: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
