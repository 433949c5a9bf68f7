//! What is said in chats, and what is kept for finding and showing it.

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
        /// Who answers in it; null for the general one.
        pub expert_id: Option<String>,
        pub folder_id: Option<String>,
        /// What it is set to, as JSON; null: nothing.
        pub settings: Option<String>,
        /// In no list, and deleted a while after it was last used.
        #[serde(default)]
        pub temporary: bool,
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
        /// The token of the lease that this process has; 0 where there are no leases.
        #[serde(default)]
        pub fence: i64,
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
        #[serde(with = "crate::entity::bytes")]
        pub data: Vec<u8>,
        pub created_at: i64,
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
        /// The files that were attached can be read too.
        #[serde(default)]
        pub with_files: bool,
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

pub(crate) mod folders {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "folders")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub owner: String,
        pub name: String,
        pub instructions: String,
        pub expert_id: Option<String>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod files {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "files")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub owner: String,
        /// Null until a message has it.
        pub chat_id: Option<String>,
        pub name: String,
        pub media_type: String,
        pub kind: String,
        pub size: i64,
        /// What a model can be told of it.
        #[sea_orm(column_type = "Text", nullable)]
        pub text: Option<String>,
        pub truncated: bool,
        #[serde(with = "crate::entity::bytes")]
        pub data: Vec<u8>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
