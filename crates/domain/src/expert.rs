//! Experts: a model with its parameters and a system prompt, and the tools it may use.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{ModelId, SourceId, ToolId};
use crate::parameters::ModelParameters;
use crate::pattern::Pattern;
use crate::source::SourceInfo;

/// Who sees what somebody made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Its owner alone.
    #[default]
    Private,
    /// Everybody with an account.
    Team,
}

/// What an expert is made of: as it is stored, exported and imported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExpertDefinition {
    /// What programs call it by: `expert/NAME`.
    pub name: String,
    pub title: String,
    pub description: String,
    /// One of [`EXPERT_ICONS`].
    pub icon: String,
    /// None: the default one.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    pub parameters: ModelParameters,
    /// Follows Tenon's own.
    pub system_prompt: String,
    /// These tools alone. None: all that are switched on.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Pattern>>,
    /// The skills whose tools it has beside these.
    pub skills: Vec<SourceId>,
    /// Messages to begin a chat with.
    pub starters: Vec<String>,
}

/// The icons that an expert can have, by their names at Lucide. The page has these.
pub const EXPERT_ICONS: [&str; 12] = [
    "bot",
    "book-open",
    "briefcase",
    "calculator",
    "chart-line",
    "code",
    "file-text",
    "flask-conical",
    "globe",
    "languages",
    "pen-line",
    "scale",
];

/// Which tools an expert may use, whatever else its user sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// None: all.
    pub patterns: Option<Vec<Pattern>>,
    /// Its skills, all tools of which its model is told of.
    pub sources: Vec<SourceId>,
}

impl ExpertDefinition {
    /// None: it may use everything, and nothing before the rest.
    pub fn tool_filter(&self) -> Option<ToolFilter> {
        let filter = ToolFilter {
            patterns: self.tools.clone(),
            sources: self.skills.clone(),
        };
        (filter != ToolFilter::default()).then_some(filter)
    }
}

impl ToolFilter {
    pub fn matches(&self, source: &SourceInfo, tool: &ToolId) -> bool {
        let patterns = self.patterns.as_deref();
        self.sources.contains(&source.id)
            || patterns.is_none_or(|all| all.iter().any(|pattern| pattern.matches(tool)))
    }
}
