//! Entities of models and of assigned tool ids.

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
        pub tool_budget: Option<i64>,
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

pub(crate) mod embeddings {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "embeddings")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub model: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub hash: String,
        pub vector: Vec<u8>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
