//! One module per table. Ids and JSON are text: byte-stable on both engines,
//! and free of PostgreSQL's ban on NUL inside `jsonb`.

pub(crate) mod chats {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod turns {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod messages {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod models {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
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

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "blobs")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub owner: String,
        /// The call whose output it is. Calls made by hand have no row.
        pub call_id: String,
        pub media_type: String,
        pub data: Vec<u8>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
