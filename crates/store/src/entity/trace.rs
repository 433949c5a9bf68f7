//! What was asked of models, and what calls outside of any chat were.

pub(crate) mod model_calls {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "model_calls")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub user_id: String,
        /// Null for a completion, which belongs to no chat.
        pub turn_id: Option<String>,
        /// The message it was to write.
        pub message_id: Option<String>,
        pub model_id: String,
        pub model_name: String,
        /// 1, 2, 3 … for one message.
        pub attempt: i64,
        pub started_at: i64,
        pub first_token_ms: Option<i64>,
        pub duration_ms: i64,
        /// How long was waited before the next attempt.
        pub wait_ms: Option<i64>,
        pub input_tokens: i64,
        pub output_tokens: i64,
        pub cache_read_tokens: i64,
        pub cache_write_tokens: i64,
        pub cost_micros: Option<i64>,
        pub cost_currency: Option<String>,
        pub stop: Option<String>,
        /// As JSON.
        pub error: Option<String>,
        pub status: Option<i64>,
        pub has_request: bool,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod model_requests {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "model_requests")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub model_call_id: String,
        /// What was sent and how the answer began: JSON, compressed.
        pub content: Vec<u8>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod call_traces {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "call_traces")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub call_id: String,
        pub user_id: String,
        pub sealed_content: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
