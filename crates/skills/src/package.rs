//! A skill as its files describe it, validated as a whole.

use serde::Serialize;
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::error::{PackageFileProblem, SkillError, SkillProblem};
use crate::fields::Fields;
use crate::file_tree::FileTree;
use crate::front_matter;
use crate::manifest::{Manifest, is_borrowed_tools};
use crate::requirements::Requirements;
use crate::tool::{self, SkillTool, SkillToolRun};
use crate::variable::SkillVariable;
use crate::yaml::{self, YamlNode, YamlValue};

pub const MANIFEST_FILE: &str = "SKILL.md";

/// Where tools can be declared beside the front matter.
const TOOLS_FILES: [&str; 3] = ["tools.yaml", "tools.yml", "tools.json"];

/// Far more than a hundred tools with schemas have.
const MAX_TOOLS_BYTES: usize = 2 * 1024 * 1024;

/// Endings of files that a model may want to run.
const SCRIPT_EXTENSIONS: [&str; 6] = ["py", "js", "mjs", "cjs", "sh", "ts"];

#[derive(Debug, Clone, PartialEq)]
pub struct SkillPackage {
    /// A slug: lowercase letters and digits of any language, with `-` between.
    pub name: String,
    /// For people; the name as it was written where there is none.
    pub title: String,
    pub description: String,
    pub version: Option<String>,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    pub author: Option<String>,
    /// Patterns of other programs' tools, as they are.
    pub allowed_tools: Vec<String>,
    /// `metadata` of the front matter, and keys that nobody knows.
    pub metadata: Map<String, Value>,
    /// The instructions: Markdown behind the front matter.
    pub body: String,
    pub tools: Vec<SkillTool>,
    /// A JSON Schema of settings for everybody (`Valves`).
    pub settings: Option<Value>,
    /// A JSON Schema of settings that each user has (`UserValves`).
    pub user_settings: Option<Value>,
    pub permissions: SkillPermissions,
    /// By path, all of them.
    pub files: Vec<SkillFile>,
    /// SHA-256 of all files: the identity of this version.
    pub hash: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkillFile {
    pub path: String,
    #[ts(type = "number")]
    pub size: u64,
    /// SHA-256 of its content.
    pub hash: String,
    pub is_executable: bool,
}

/// What an administrator agrees to by installing it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkillPermissions {
    /// Whether scripts may use the network.
    pub network: bool,
    /// Command lines of the script tools.
    pub commands: Vec<String>,
    /// Files that a model can run.
    pub scripts: Vec<String>,
    /// Where the http tools send requests.
    pub servers: Vec<String>,
    pub variables: Vec<SkillVariable>,
    pub requirements: Requirements,
}

impl SkillPermissions {
    /// Whether a program of the skill can run on this machine.
    pub fn runs_programs(&self) -> bool {
        !self.commands.is_empty() || !self.scripts.is_empty() || !self.requirements.is_empty()
    }
}

impl SkillPackage {
    /// Reads and validates the package that these files are. `folder` names the skill where its
    /// front matter does not.
    pub fn read(files: &FileTree, folder: Option<&str>) -> Result<Self, SkillError> {
        let Some((path, manifest)) = manifest_file(files) else {
            let problem = PackageFileProblem::NoSuchFile(MANIFEST_FILE.to_owned());
            return Err(SkillError::file(folder.unwrap_or("."), problem));
        };
        let front_matter = front_matter::parse(path, manifest)?;
        let body = front_matter.body.trim();
        let manifest = Manifest::parse(path, &front_matter.node, body, folder)?;
        let tools = read_tools(path, &front_matter.node, files)?;
        let requirements = Requirements::collect(manifest.requirements, files);
        Ok(Self {
            permissions: permissions(
                manifest.network,
                manifest.variables,
                requirements,
                &tools,
                files,
            ),
            name: manifest.name,
            title: manifest.title,
            description: manifest.description,
            version: manifest.version,
            license: manifest.license,
            compatibility: manifest.compatibility,
            author: manifest.author,
            allowed_tools: manifest.allowed_tools,
            metadata: manifest.metadata,
            body: body.to_owned(),
            tools,
            settings: manifest.settings,
            user_settings: manifest.user_settings,
            files: listed(files),
            hash: files.hash(),
        })
    }
}

/// SKILL.md, however its letters are written.
pub(crate) fn is_manifest(name: &str) -> bool {
    name.eq_ignore_ascii_case(MANIFEST_FILE)
}

fn manifest_file(files: &FileTree) -> Option<(&str, &[u8])> {
    let exact = files.iter().find(|(path, _)| *path == MANIFEST_FILE);
    let found = exact.or_else(|| files.iter().find(|(path, _)| is_manifest(path)));
    found.map(|(path, file)| (path, file.bytes.as_slice()))
}

fn read_tools(
    manifest: &str,
    front_matter: &YamlNode,
    files: &FileTree,
) -> Result<Vec<SkillTool>, SkillError> {
    let fields = Fields::of(manifest, "front matter", front_matter)?;
    let declared = fields
        .entry("tools")
        .filter(|entry| !is_borrowed_tools(&entry.node));
    let found = TOOLS_FILES
        .iter()
        .find_map(|path| Some((*path, files.get(path)?)));
    match (declared, found) {
        (None, None) => Ok(Vec::new()),
        (Some(entry), None) => tool::parse_list(manifest, &entry.node, files),
        (Some(entry), Some((other, _))) => {
            let other = other.to_owned();
            Err(fields.error(entry.line, SkillProblem::ToolsTwice { other }))
        }
        (None, Some((path, file))) => {
            let list = tools_file(path, &file.bytes)?;
            tool::parse_list(path, &list, files)
        }
    }
}

/// A list, or a mapping with the list under `tools`.
fn tools_file(path: &str, bytes: &[u8]) -> Result<YamlNode, SkillError> {
    if bytes.len() > MAX_TOOLS_BYTES {
        let key = path.to_owned();
        let problem = SkillProblem::TooLong {
            key,
            max: MAX_TOOLS_BYTES,
        };
        return Err(SkillError::at(path, 0, problem));
    }
    let text = front_matter::text(path, bytes)?;
    let node = yaml::parse(text).map_err(|error| front_matter::syntax(path, error))?;
    if !matches!(node.value, YamlValue::Map(_)) {
        return Ok(node);
    }
    let fields = Fields::of(path, "tools", &node)?;
    match fields.entry("tools") {
        Some(entry) => Ok(entry.node.clone()),
        None => {
            let problem = SkillProblem::Missing {
                key: "tools",
                example: "a list `tools:`",
            };
            Err(fields.error(fields.line, problem))
        }
    }
}

fn permissions(
    network: bool,
    mut variables: Vec<SkillVariable>,
    requirements: Requirements,
    tools: &[SkillTool],
    files: &FileTree,
) -> SkillPermissions {
    let mut commands = Vec::new();
    let mut servers = Vec::new();
    for tool in tools {
        match &tool.run {
            SkillToolRun::Script(script) => commands.push(script.command_line()),
            SkillToolRun::Http(mapping) => {
                servers.push(mapping.server().to_owned());
                for name in mapping.variables() {
                    if !variables.iter().any(|variable| variable.name == name) {
                        variables.push(undeclared(name));
                    }
                }
            }
            SkillToolRun::Builtin { .. } => {}
        }
    }
    for list in [&mut commands, &mut servers] {
        list.sort();
        list.dedup();
    }
    let scripts = files
        .iter()
        .filter(|(path, file)| file.is_executable || is_script(path));
    SkillPermissions {
        network,
        commands,
        scripts: scripts.map(|(path, _)| path.to_owned()).collect(),
        servers,
        variables,
        requirements,
    }
}

/// What nobody declared is taken for a secret.
fn undeclared(name: &str) -> SkillVariable {
    SkillVariable {
        name: name.to_owned(),
        description: None,
        is_secret: true,
        is_required: true,
        default: None,
    }
}

fn is_script(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| SCRIPT_EXTENSIONS.contains(&extension))
}

fn listed(files: &FileTree) -> Vec<SkillFile> {
    let files = files.iter().map(|(path, file)| SkillFile {
        path: path.to_owned(),
        size: file.bytes.len() as u64,
        hash: file.hash(),
        is_executable: file.is_executable,
    });
    files.collect()
}
