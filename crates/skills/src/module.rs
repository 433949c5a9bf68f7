//! Skills of one module: Python with a class `Tools`, or JavaScript with exported functions.
//!
//! What tools a module has, only its own language can tell: a runner imports it and prints a
//! description, which becomes a package here. The runner is executed by whoever has a sandbox. The
//! README has the protocol.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::SkillError;
use crate::file_tree::FileTree;
use crate::manifest::slug;
use crate::package::MANIFEST_FILE;
use crate::requirements::PACKAGE_FILE;
use crate::script::ModuleLanguage;

const PYTHON_RUNNER: &str = include_str!("../runners/python_runner.py");

const NODE_RUNNER: &str = include_str!("../runners/node_runner.mjs");

/// Prints the description of the module that follows, and ends.
pub const DESCRIBE_FLAG: &str = "--describe";

/// Answers calls of the module that follows until standard input ends.
pub const SERVE_FLAG: &str = "--serve";

/// What tools that were written for Open WebUI import without naming it: the module and its
/// package.
const USUAL_PACKAGES: [(&str, &str); 20] = [
    ("requests", "requests"),
    ("aiohttp", "aiohttp"),
    ("httpx", "httpx"),
    ("pydantic", "pydantic"),
    ("bs4", "beautifulsoup4"),
    ("lxml", "lxml"),
    ("yaml", "pyyaml"),
    ("numpy", "numpy"),
    ("pandas", "pandas"),
    ("PIL", "pillow"),
    ("dateutil", "python-dateutil"),
    ("pytz", "pytz"),
    ("markdown", "markdown"),
    ("openai", "openai"),
    ("tiktoken", "tiktoken"),
    ("fake_useragent", "fake-useragent"),
    ("pypdf", "pypdf"),
    ("docx2txt", "docx2txt"),
    ("openpyxl", "openpyxl"),
    ("validators", "validators"),
];

impl ModuleLanguage {
    /// The program that describes and serves modules, to be written to [`Self::runner_file`].
    pub fn runner(self) -> &'static str {
        match self {
            Self::Python => PYTHON_RUNNER,
            Self::Node => NODE_RUNNER,
        }
    }

    pub fn runner_file(self) -> &'static str {
        match self {
            Self::Python => "python_runner.py",
            Self::Node => "node_runner.mjs",
        }
    }

    /// What the module is called in its package.
    pub fn module_file(self) -> &'static str {
        match self {
            Self::Python => "tools.py",
            Self::Node => "tools.mjs",
        }
    }
}

/// What a runner prints about a module.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModuleDescription {
    /// From the docstring or comment at the top.
    pub title: Option<String>,
    pub description: Option<String>,
    pub author: Option<String>,
    pub version: Option<String>,
    pub license: Option<String>,
    pub requirements: Vec<String>,
    pub tools: Vec<DescribedFunction>,
    /// JSON Schemas of `Valves` and `UserValves`.
    pub settings: Option<Value>,
    pub user_settings: Option<Value>,
    /// What will not work although the module can be used.
    pub warnings: Vec<ModuleWarning>,
    /// Why the module cannot be used; what was found before it failed is there all the same.
    pub error: Option<ModuleFault>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DescribedFunction {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ModuleFault {
    pub kind: ModuleFaultKind,
    /// In the words of the language.
    pub message: String,
    /// In the module.
    pub line: Option<u64>,
    /// Modules that cannot be imported.
    #[serde(default)]
    pub modules: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleFaultKind {
    Syntax,
    /// A package is not installed: one of the requirements, or one that it forgot to name.
    MissingModule,
    /// It needs the inside of Open WebUI, which is not here.
    Internals,
    /// It raised an error when it was loaded.
    Load,
    NoTools,
}

/// What of a module will not work here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ModuleWarning {
    pub kind: ModuleWarningKind,
    /// In the module.
    pub line: Option<u64>,
    /// Modules or parameters.
    pub names: Vec<String>,
    /// The function with such a parameter.
    pub tool: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModuleWarningKind {
    /// A function imports the inside of Open WebUI, or a `try` does.
    Internals,
    /// A function needs an argument that only Open WebUI passes.
    Parameter,
}

/// Why a module is no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    #[error("The runner printed no description: {0}.")]
    NoDescription(String),
    #[error("{0}")]
    Fault(ModuleFault),
    #[error(transparent)]
    Package(#[from] SkillError),
}

impl ModuleDescription {
    /// Of the last line that a runner printed. A fault is part of it.
    pub fn parse(output: &[u8]) -> Result<Self, ModuleError> {
        let text = String::from_utf8_lossy(output);
        let last = text.trim().lines().next_back().unwrap_or_default();
        serde_json::from_str(last).map_err(|error| ModuleError::NoDescription(error.to_string()))
    }

    /// Adds the packages that Open WebUI has installed for all tools, where a module of Python is
    /// missing one of them and does not name it.
    pub fn require_usual_packages(&mut self, language: ModuleLanguage) {
        let Some(fault) = &self.error else { return };
        if fault.kind != ModuleFaultKind::MissingModule || language != ModuleLanguage::Python {
            return;
        }
        let missing = fault.modules.iter();
        let usual = missing.filter_map(|module| {
            let package = USUAL_PACKAGES.iter().find(|(name, _)| name == module)?;
            Some(package.1)
        });
        for package in usual {
            let is_named = |requirement: &String| {
                let end =
                    requirement.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
                requirement[..end.unwrap_or(requirement.len())].eq_ignore_ascii_case(package)
            };
            if !self.requirements.iter().any(is_named) {
                self.requirements.push(package.to_owned());
            }
        }
    }

    /// The files of a skill with this module in it. `name` where a person chose one.
    pub fn package(
        &self,
        language: ModuleLanguage,
        name: Option<&str>,
        source: &str,
    ) -> Result<FileTree, ModuleError> {
        if let Some(fault) = &self.error {
            return Err(ModuleError::Fault(fault.clone()));
        }
        let module = language.module_file();
        let mut files = FileTree::default();
        files.insert(module, source.as_bytes().to_vec(), false)?;
        let python = match language {
            ModuleLanguage::Python => &self.requirements[..],
            ModuleLanguage::Node => {
                if let Some(file) = node_packages(&self.requirements) {
                    files.insert(PACKAGE_FILE, file.into_bytes(), false)?;
                }
                &[]
            }
        };
        let manifest = self.manifest(module, name, python);
        files.insert(MANIFEST_FILE, manifest.into_bytes(), false)?;
        Ok(files)
    }

    fn manifest(&self, module: &str, name: Option<&str>, requirements: &[String]) -> String {
        let first = self
            .tools
            .first()
            .map_or("tools", |tool| tool.name.as_str());
        let title = name.or(self.title.as_deref()).unwrap_or(first);
        let described = self.tools.iter().map(|tool| tool.description.as_str());
        let summary: Vec<&str> = described.filter_map(|text| text.lines().next()).collect();
        let description = self
            .description
            .clone()
            .filter(|text| !text.trim().is_empty());
        let tools = self.tools.iter().map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "type": "script",
                "module": module,
                "function": tool.name,
                "parameters": tool.parameters,
            })
        });
        let fields = json!({
            "name": slug(title),
            "title": title,
            "description": description.unwrap_or_else(|| summary.join(" ")),
            "version": self.version,
            "author": self.author,
            "license": self.license,
            "requirements": (!requirements.is_empty()).then_some(requirements),
            // Code does not say whether it needs it; it is off until an admin agrees.
            "network": true,
            "settings": self.settings,
            "user_settings": self.user_settings,
            "tools": tools.collect::<Vec<_>>(),
        });
        let Value::Object(fields) = fields else {
            return String::new();
        };
        format!("---\n{}---\n", front_matter(fields))
    }
}

/// A `package.json` for packages that are named as in a shell, where there are any.
fn node_packages(requirements: &[String]) -> Option<String> {
    let split = |requirement: &String| {
        // A scope begins with the same character.
        let scope = usize::from(requirement.starts_with('@'));
        match requirement[scope..].split_once('@') {
            Some((name, range)) => (requirement[..scope].to_owned() + name, range.to_owned()),
            None => (requirement.clone(), "*".to_owned()),
        }
    };
    let dependencies: BTreeMap<String, String> = requirements.iter().map(split).collect();
    let file = json!({ "private": true, "dependencies": dependencies });
    (!requirements.is_empty()).then(|| format!("{file:#}\n"))
}

/// One line for each key: what is JSON is YAML, and needs no other quotes.
fn front_matter(fields: Map<String, Value>) -> String {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields
        .map(|(key, value)| format!("{key}: {value}\n"))
        .collect()
}

impl fmt::Display for ModuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.message;
        let modules = self.modules.join(", ");
        let at = self
            .line
            .map_or(String::new(), |line| format!(" in line {line}"));
        match self.kind {
            ModuleFaultKind::Syntax => write!(f, "The code has an error{at}: {message}"),
            ModuleFaultKind::MissingModule => write!(
                f,
                "Packages are not installed: {modules}. Those that `requirements:` at the top of the code names are installed when the tool is tried or saved."
            ),
            ModuleFaultKind::Internals => write!(
                f,
                "The code needs the inside of Open WebUI, which is not here: {modules}{at}. Remove these imports."
            ),
            ModuleFaultKind::Load => write!(f, "The code failed when it was loaded{at}: {message}"),
            ModuleFaultKind::NoTools => write!(f, "The code has no tools: {message}"),
        }
    }
}

impl fmt::Display for ModuleWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.join(", ");
        let at = self
            .line
            .map_or(String::new(), |line| format!(" in line {line}"));
        match self.kind {
            ModuleWarningKind::Internals => write!(
                f,
                "The code imports the inside of Open WebUI, which is not here: {names}{at}. What needs it will fail."
            ),
            ModuleWarningKind::Parameter => write!(
                f,
                "The tool `{}` needs {names}{at}, which only Open WebUI passes. Here it gives None.",
                self.tool.as_deref().unwrap_or_default()
            ),
        }
    }
}
