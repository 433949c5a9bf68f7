//! The tools of a skill as they are offered: those it declares, and those every skill has.

use tenon_domain::{Annotations, ToolDefinition};
use tenon_skills::SkillToolRun;

use super::revision::SkillRevision;
use super::{instructions, scripts};
use crate::builtin::READS_ONLY;
use crate::openapi::mapping;

impl SkillRevision {
    /// `builtin` knows how built-in tools behave.
    pub(super) fn definitions(
        &self,
        builtin: impl Fn(&str) -> Option<Annotations>,
    ) -> Vec<ToolDefinition> {
        let declared = self.package.tools.iter();
        let mut definitions: Vec<ToolDefinition> = declared
            .map(|tool| ToolDefinition {
                name: tool.name.clone(),
                title: tool.title.clone(),
                description: tool.description.clone(),
                input_schema: tool.parameters.clone().into(),
                annotations: self.annotations(&tool.run, &builtin),
            })
            .collect();
        if let Some(name) = self.instructions_tool() {
            definitions.push(instructions::definition(name, &self.package));
        }
        if let Some(name) = self.runner_tool() {
            let annotations = self.program_annotations();
            definitions.push(scripts::definition(name, &self.package, annotations));
        }
        definitions
    }

    fn annotations(
        &self,
        run: &SkillToolRun,
        builtin: impl Fn(&str) -> Option<Annotations>,
    ) -> Annotations {
        match run {
            SkillToolRun::Http(http) => mapping::tool_definition(http.operation()).annotations,
            SkillToolRun::Script(_) => self.program_annotations(),
            SkillToolRun::Builtin { tool, .. } => builtin(tool).unwrap_or(READS_ONLY),
        }
    }

    /// Without a network it reaches nothing but the folder of its chat.
    fn program_annotations(&self) -> Annotations {
        Annotations {
            open_world: self.network,
            ..Annotations::default()
        }
    }
}
