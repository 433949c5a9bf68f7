//! Servers that offer tools, and what they are used with.

pub(crate) mod sources {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "sources")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub kind: String,
        pub name: String,
        pub title: String,
        /// Whose it is; empty for everybody's.
        pub owner: String,
        pub enabled: bool,
        pub wants_login: bool,
        // Backups of former versions do not have it.
        #[serde(default)]
        pub trust_hints: bool,
        pub sealed_config: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod source_tools {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "source_tools")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub source_id: String,
        /// A JSON array.
        pub definitions: String,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod source_documents {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "source_documents")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub source_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub url: String,
        pub address: String,
        #[serde(with = "crate::entity::bytes")]
        pub body: Vec<u8>,
        pub etag: Option<String>,
        pub last_modified: Option<String>,
        pub fetched_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod local_servers {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "local_servers")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub source_id: String,
        pub owner: String,
        pub device_id: String,
        pub device_name: String,
        pub name: String,
        pub title: String,
        pub url: String,
        pub via: String,
        pub seen_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {
        #[sea_orm(
            belongs_to = "super::source_tools::Entity",
            from = "Column::SourceId",
            to = "super::source_tools::Column::SourceId"
        )]
        Tools,
    }

    impl Related<super::source_tools::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Tools.def()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod source_grants {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "source_grants")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub source_id: String,
        pub user_id: String,
        pub sealed_grant: String,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod secrets {
    use sea_orm::entity::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Serialize, Deserialize)]
    #[sea_orm(table_name = "secrets")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        /// Whose it is; empty for everybody's.
        pub owner: String,
        pub name: String,
        pub sealed_value: String,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}
