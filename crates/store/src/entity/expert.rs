//! Experts and prompts that people make.

pub(crate) mod experts {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "experts")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        /// Who may change it; empty for one of the team whose owner is gone.
        pub owner: String,
        pub visibility: String,
        pub name: String,
        pub title: String,
        pub description: String,
        pub icon: String,
        pub model_id: Option<String>,
        /// As JSON.
        pub parameters: String,
        pub system_prompt: String,
        /// Patterns, as a JSON array; null for all tools.
        pub tools: Option<String>,
        /// A JSON array.
        pub starters: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod expert_skills {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "expert_skills")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub expert_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub skill_id: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod prompts {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "prompts")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        /// Who may change it; empty for one of the team whose owner is gone.
        pub owner: String,
        pub visibility: String,
        pub command: String,
        pub title: String,
        pub text: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
