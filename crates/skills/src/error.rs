//! Why a skill is refused: the file, the line, and what would be right.

use tenon_openapi::request::HeaderNameError;

/// Why a skill or its source is refused; as text it is a place and a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", place(file, *line))]
pub struct SkillError {
    /// A path in the package, or the name of an entry of an archive.
    pub file: String,
    /// Counted from one; none where the file as a whole is meant.
    pub line: Option<u64>,
    pub problem: SkillProblem,
}

/// What is wrong in a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillProblem {
    #[error(
        "A skill begins with a line `---`, then `name: …` and `description: …`, then another line `---`."
    )]
    NoFrontMatter,
    #[error("The front matter has no end: close it with a line `---`.")]
    OpenFrontMatter,
    #[error("This is not valid YAML: {0}.")]
    Syntax(String),
    #[error("A byte is not UTF-8: save the file as UTF-8.")]
    NotUtf8,
    #[error("`{key}` must be {expected}.")]
    WrongType { key: String, expected: &'static str },
    #[error("`{key}` is missing: add {example}.")]
    Missing {
        key: &'static str,
        example: &'static str,
    },
    #[error("`{key}` is too long: at most {max} characters are read.")]
    TooLong { key: String, max: usize },
    #[error("The name `{0}` has no letter or digit: give a name such as `word-count`.")]
    UnusableName(String),
    #[error("At most {max} {what} are read.")]
    TooMany { what: &'static str, max: usize },
    #[error(
        "`{0}` cannot be the name of a variable: use letters, digits and `_`, not beginning with a digit, such as `API_KEY`."
    )]
    VariableName(String),
    #[error("Tools are declared here and in `{other}`: keep one of them.")]
    ToolsTwice { other: String },
    #[error(
        "`{0}` cannot be the name of a tool: use 1 to 64 letters, digits, `_` and `-`, such as `web_search`."
    )]
    ToolName(String),
    #[error("The tool `{name}` is declared twice, first in line {first}: give each its own name.")]
    DuplicateTool { name: String, first: u64 },
    #[error(
        "The tool `{0}` has no schema: add `parameters`, at least `parameters: {{type: object, properties: {{}}}}`."
    )]
    NoParameters(String),
    #[error("The parameters of the tool `{tool}` are no usable JSON Schema: {reason}.")]
    InvalidSchema { tool: String, reason: String },
    #[error(
        "The type of the tool `{tool}` is `{found}`: it must be `http`, `script` or `builtin`."
    )]
    ToolType { tool: String, found: String },
    #[error("The invocation of `{tool}` is of type `{found}`: only `http` can be called.")]
    InvocationType { tool: String, found: String },
    #[error("The capability `{0}` is there twice: give each its own id.")]
    DuplicateCapability(String),
    #[error("The tool `{tool}` needs `{key}`, such as {example}.")]
    ToolNeeds {
        tool: String,
        key: &'static str,
        example: &'static str,
    },
    #[error("The command of the tool `{tool}` cannot be run: {problem}.")]
    Command {
        tool: String,
        problem: CommandProblem,
    },
    #[error("The endpoint of the tool `{tool}` cannot be used: {problem}.")]
    Endpoint {
        tool: String,
        problem: EndpointProblem,
    },
    #[error("`{0}` is no method of HTTP that can be used: GET, POST, PUT, PATCH, DELETE or HEAD.")]
    Method(String),
    #[error("`{parameter}` is mapped, but the tool `{tool}` has no such parameter.")]
    MappedUnknown { tool: String, parameter: String },
    #[error(
        "`{0}` cannot be mapped so: say `path`, `query`, `header` or `body`, or `{{in: query, name: q}}`."
    )]
    Mapping(String),
    #[error(transparent)]
    HeaderName(#[from] HeaderNameError),
    #[error("The header `{0}` must be one line without control characters.")]
    HeaderValue(String),
    #[error(transparent)]
    File(#[from] PackageFileProblem),
}

/// Why a command line cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandProblem {
    #[error("it is empty")]
    Empty,
    #[error("a quotation mark is not closed")]
    Quotes,
    #[error(
        "`{0}` has a meaning in a shell only, and there is none: put the line into a script of the skill and run that"
    )]
    Shell(String),
    #[error("`{0}` leads out of the skill: name a file in its folder")]
    OutsideSkill(String),
    #[error("the skill has no file `{0}`")]
    NoSuchFile(String),
    #[error("`{0}` is neither Python (.py) nor JavaScript (.js, .mjs)")]
    NotAModule(String),
}

/// Why a URL template cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointProblem {
    #[error("it must begin with `https://`, `http://` or a variable such as `${{BASE_URL}}`")]
    NotAbsolute,
    #[error(
        "`{{{0}}}` stands in the host: a call must not choose the server. Use a variable such as `${{HOST}}`"
    )]
    ParameterInHost(String),
    #[error("a user name or password does not belong into it: send a header with a `${{SECRET}}`")]
    UserInfo,
    #[error("a brace is not closed")]
    Braces,
    #[error("`{{{0}}}` is no parameter of the tool: add it to `parameters`")]
    UnknownParameter(String),
    #[error("`${{{0}}}` cannot be the name of a variable")]
    VariableName(String),
    #[error("it has a space or a control character")]
    Characters,
    #[error("{0}")]
    Url(#[from] url::ParseError),
}

/// Why files cannot be a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackageFileProblem {
    #[error("This is neither a folder, a .zip, .skill, .tar.gz or .tgz archive, nor a SKILL.md.")]
    NotASource,
    #[error("There is no SKILL.md in it, at most {max_depth} folders deep.")]
    NoSkill { max_depth: usize },
    #[error("It has no file `{0}`.")]
    NoSuchFile(String),
    #[error("The archive cannot be read: {0}.")]
    BrokenArchive(String),
    #[error("It is encrypted: pack it without a password.")]
    Encrypted,
    #[error("The path is absolute or leads out of the folder: pack with relative paths.")]
    Path,
    #[error("The path is too long or too deep.")]
    PathLength,
    #[error("It is a link: pack the file itself.")]
    Link,
    #[error("It is neither a file nor a folder.")]
    Special,
    #[error("It is there twice.")]
    Duplicate,
    #[error("It is larger than {} MB.", .max_bytes / 1024 / 1024)]
    FileTooLarge { max_bytes: u64 },
    #[error("All files together have more than {} MB.", .max_bytes / 1024 / 1024)]
    TooLarge { max_bytes: u64 },
    #[error("There are more than {max} files.")]
    TooManyFiles { max: usize },
    #[error("There are more than {max} skills in it: choose one of its folders.")]
    TooManySkills { max: usize },
    #[error("The skill in `{folder}` is called `{name}` already: each needs a name of its own.")]
    DuplicateSkill { name: String, folder: String },
    #[error("It unpacks to more than {max} times its size: this is made to fill memory.")]
    Ratio { max: u64 },
    #[error("It cannot be read or written: {0}.")]
    Io(String),
}

impl SkillError {
    pub(crate) fn file(file: impl Into<String>, problem: PackageFileProblem) -> Self {
        Self {
            file: file.into(),
            line: None,
            problem: problem.into(),
        }
    }

    /// `line` as [`crate::yaml::YamlNode`] has it: 0 for none.
    pub(crate) fn at(file: &str, line: u64, problem: impl Into<SkillProblem>) -> Self {
        Self {
            file: file.to_owned(),
            line: (line > 0).then_some(line),
            problem: problem.into(),
        }
    }
}

fn place(file: &str, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{file}, line {line}"),
        None => file.to_owned(),
    }
}
