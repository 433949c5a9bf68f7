//! Accounts, and what is set and done.

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
        /// It began at the issuer.
        pub by_oidc: bool,
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
