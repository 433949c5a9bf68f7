//! The skills that are published with Tenon.

use std::path::Path;

use tenon_skills::{SkillSource, SkillToolRun};

#[test]
fn the_examples_are_valid_and_of_every_kind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let source = SkillSource::open(&folder).unwrap();
    assert_eq!(source.refused, []);
    let packages = source.skills.iter().map(|skill| {
        let mut kinds: Vec<&str> = skill
            .package
            .tools
            .iter()
            .map(|tool| tool.run.kind())
            .collect();
        kinds.dedup();
        (skill.package.name.as_str(), kinds)
    });
    assert_eq!(
        packages.collect::<Vec<_>>(),
        [
            ("markdown-table", vec!["script"]),
            ("meeting-notes", vec![]),
            ("text-statistics", vec!["script"]),
            ("wikipedia", vec!["http"]),
        ]
    );
    let tools = source.skills.iter().flat_map(|skill| &skill.package.tools);
    for tool in tools {
        assert!(
            tool.title.as_deref().is_some_and(|title| !title.is_ascii()),
            "{}",
            tool.name
        );
        assert!(!matches!(tool.run, SkillToolRun::Builtin { .. }));
    }
}
