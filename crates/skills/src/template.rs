//! New skills to begin with: small, working, and valid as they are.

use crate::error::SkillError;
use crate::file_tree::FileTree;
use crate::manifest::slug;

/// What a new skill is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillTemplate {
    Python,
    Node,
    Http,
    /// No tools: text that a model reads.
    Instructions,
}

impl SkillTemplate {
    pub const ALL: [Self; 4] = [Self::Python, Self::Node, Self::Http, Self::Instructions];

    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Http => "http",
            Self::Instructions => "instructions",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|template| template.name() == name)
    }

    /// The files of a new skill. Its title is the name as it is given.
    pub fn files(self, name: &str) -> Result<FileTree, SkillError> {
        let slug = Some(slug(name)).filter(|slug| !slug.is_empty());
        let slug = slug.unwrap_or_else(|| "new-skill".to_owned());
        let title = serde_json::Value::from(name.trim());
        let manifest = format!("---\nname: {slug}\ntitle: {title}\n{}", self.manifest());
        let mut files = FileTree::default();
        files.insert("SKILL.md", manifest.into_bytes(), false)?;
        if let Some((path, text)) = self.script() {
            files.insert(path, text.as_bytes().to_vec(), false)?;
        }
        Ok(files)
    }

    fn manifest(self) -> &'static str {
        match self {
            Self::Python => include_str!("template/python.md"),
            Self::Node => include_str!("template/node.md"),
            Self::Http => include_str!("template/http.md"),
            Self::Instructions => include_str!("template/instructions.md"),
        }
    }

    fn script(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Python => Some(("main.py", include_str!("template/main.py"))),
            Self::Node => Some(("main.mjs", include_str!("template/main.mjs"))),
            Self::Http | Self::Instructions => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::SkillPackage;

    #[test]
    fn every_template_is_a_valid_skill_under_any_name() {
        for template in SkillTemplate::ALL {
            for name in ["word-count", "My \"Skill\": #1", "字数统计", "???"] {
                let files = template.files(name).unwrap();
                let package = SkillPackage::read(&files, None).unwrap();
                assert_eq!(package.title, name);
                assert_eq!(
                    package.tools.is_empty(),
                    template == SkillTemplate::Instructions
                );
            }
        }
    }
}
