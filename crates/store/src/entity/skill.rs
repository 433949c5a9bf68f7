//! Installed skills.

pub(crate) mod skills {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "skills")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        /// Who may change it; empty for one of the team whose owner is gone.
        pub owner: String,
        pub visibility: String,
        pub name: String,
        pub title: String,
        pub enabled: bool,
        /// The version that is used.
        pub hash: String,
        pub network_allowed: bool,
        pub sealed_values: Option<String>,
        /// The folder or archive on this machine that it was installed from.
        pub origin: Option<String>,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod skill_versions {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "skill_versions")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub skill_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub hash: String,
        pub version: Option<String>,
        /// Its files, packed.
        #[serde(with = "crate::entity::bytes")]
        pub archive: Vec<u8>,
        pub installed_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod skill_tools {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "skill_tools")]
    pub(crate) struct Model {
        /// What a model calls.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub skill_id: String,
        pub name: String,
        pub title: Option<String>,
        pub description: String,
        #[sea_orm(column_name = "type")]
        pub kind: String,
        /// A JSON Schema.
        pub parameters: String,
        pub command: Option<String>,
        pub endpoint: Option<String>,
        pub method: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod skill_user_settings {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "skill_user_settings")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub skill_id: String,
        pub user_id: String,
        pub sealed_values: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
