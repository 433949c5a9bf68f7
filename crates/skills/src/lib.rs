//! Skill packages: what a skill is, as files.
//!
//! A skill is a folder with `SKILL.md` (the open Agent Skills convention) and tools that are
//! declared in its front matter or in `tools.yaml`. [`source`] reads folders and archives,
//! [`package`] validates what is in them, [`diff`] compares two versions, [`template`] makes new
//! ones, and [`module`] makes one of a Python or JavaScript module. [`http`] turns the arguments
//! of a call into a request, and [`capabilities`] reads tools from the description of a server.
//!
//! Nothing is executed or sent here, and nothing is known of Tenon. Packages are untrusted input:
//! everything is bounded, and a refusal names the file, the line and what would be right.

pub mod error;
mod fields;
pub mod file_tree;
mod front_matter;
mod yaml;

pub mod http;
pub mod requirements;
pub mod script;
pub mod tool;
pub mod variable;

mod manifest;
pub mod package;

pub mod source;

pub mod capabilities;
pub mod diff;
pub mod module;
pub mod template;

pub use error::{PackageFileProblem, SkillError, SkillProblem};
pub use file_tree::FileTree;
pub use package::{SkillPackage, SkillPermissions};
pub use source::SkillSource;
pub use tool::{SkillTool, SkillToolRun};
pub use variable::SkillVariable;
