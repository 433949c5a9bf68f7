//! A skill in a registry, without a store.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_domain::{Account, SourceId, SourceInfo, SourceKind, UserId};
use tenon_sources::skill::package::{FileTree, SkillPackage};
use tenon_sources::skill::{
    InstalledSkill, Sandbox, SetupStatus, SkillHost, SkillRevision, SkillUsers, SkillValues,
};
use tenon_tools::Quota;
use tokio::sync::watch;

/// Files of a skill, by path.
pub type SkillFiles<'a> = &'a [(&'a str, &'a str)];

/// Its programs run in a sandbox whose helper is this bench.
pub async fn skill(folder: &Path, files: SkillFiles<'_>) -> Arc<InstalledSkill> {
    let mut tree = FileTree::default();
    for (path, text) in files {
        tree.insert(path, text.as_bytes().to_vec(), false)
            .expect("a path");
    }
    let package = SkillPackage::read(&tree, None).expect("a skill");
    let inside = folder.join("files");
    std::fs::create_dir_all(&inside).expect("a folder");
    tree.write_to(&inside).expect("files");
    let sandbox = Sandbox::current_exe();
    let host = SkillHost::new(
        sandbox,
        folder.join("runners"),
        Vec::new(),
        Arc::new(NoSettings),
        Quota::unlimited(),
        None,
    );
    host.support().await.expect("walls");
    let info = SourceInfo {
        id: SourceId::new("skill"),
        kind: SourceKind::Skill,
        name: package.name.clone(),
        title: package.title.clone(),
        owner: None,
    };
    let revision = SkillRevision {
        package: Arc::new(package),
        folder: folder.to_owned(),
        values: SkillValues::default(),
        network: false,
        is_trusted: true,
        setup: Arc::new(watch::Sender::new(SetupStatus::Ready)),
    };
    Arc::new(InstalledSkill::new(
        info,
        Arc::new(host),
        Arc::new(revision),
    ))
}

struct NoSettings;

#[async_trait]
impl SkillUsers for NoSettings {
    async fn settings(&self, _: &SourceId, _: &UserId) -> Map<String, Value> {
        Map::new()
    }

    async fn account(&self, _: &UserId) -> Option<Account> {
        None
    }
}
