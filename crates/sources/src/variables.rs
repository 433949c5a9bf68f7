//! Substitutes the `${NAME}` variables of a server configuration.
//!
//! Understood are `${NAME}`, `${env:NAME}`, `${NAME:-otherwise}`, `${user.NAME}` and
//! `${input:id}`; dotted names such as `${token.key}` are names like others. `$${` stands
//! for `${`, and what is none of these stays as it is written. A value is put in as it is:
//! a `${NAME}` inside a value is only text. In an address it says no more than its place
//! does, and what a person set for themself is no part of the program that is run.

mod address;
mod mentions;
mod resolver;
mod template_fields;

use std::collections::BTreeMap;
use std::fmt;

use tenon_domain::{CodedError, ErrorDetail, ErrorParam, coded_errors};

use crate::fault::ServerFault;

pub use mentions::{is_own, mentioned_in, mentioned_in_host};
pub use resolver::{FillError, LiteralConfig, VariableResolver};
pub use template_fields::TemplateFields;

/// Longer than any name people give, short enough to be shown.
const MAX_NAME_BYTES: usize = 128;

/// How far a `}` is looked for. Without a bound many a `${` would make a long text take for ever.
const MAX_REFERENCE_BYTES: usize = 1024;

/// Something a configuration leaves open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// Everybody's: `${NAME}`.
    Shared(String),
    /// A personal variable, `${user.NAME}`: each user sets their own value.
    Personal(String),
}

/// Why a configuration cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubstitutionError {
    /// These have no value.
    Missing(MissingVariables),
    Misplaced(MisplacedVariable),
}

coded_errors! {
    /// A variable in a place, or with a value, that is not allowed.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum MisplacedVariable {
        InCommand { variable } = "variable_in_command" in "command" => "`{variable}` cannot be used in the command or its arguments, where it could be run as a program: pass it through `env`.",
        InHost { variable } = "variable_in_host" in "url" => "`{variable}` is used in the host of this server's address: set it to a value that contains only letters, digits, `-` and `.`.",
        InPath { variable } = "variable_in_path" in "url" => "The value of `{variable}` cannot be a part of this server's address.",
        LeadsElsewhere = "variables_lead_elsewhere" in "url" => "With the values of its variables, this server's address leads to another site.",
    }
}

/// Variables of a configuration that have no value, each once, in the order in which they are
/// written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingVariables {
    pub variables: Vec<Variable>,
    /// The missing variables that stand in an argument in the syntax of a shell, so they may be
    /// meant for the program itself.
    in_arguments: Vec<Variable>,
}

impl CodedError for SubstitutionError {
    fn detail(&self) -> ErrorDetail {
        match self {
            Self::Missing(missing) => missing.fault().into(),
            Self::Misplaced(why) => why.detail(),
        }
    }
}

impl fmt::Display for SubstitutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.detail().fmt(f)
    }
}

impl std::error::Error for SubstitutionError {}

/// Formats the variable as it is written in a configuration.
impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared(name) => write!(f, "${{{name}}}"),
            Self::Personal(name) => write!(f, "${{user.{name}}}"),
        }
    }
}

/// Whether this is a valid name of a variable and so of a secret.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    name.len() <= MAX_NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(fits)
}

/// Each variable of a configuration once, in the order they are written.
pub fn mentioned(config: &impl TemplateFields) -> Vec<Variable> {
    let texts = config.texts().into_iter();
    dedup(texts.flat_map(mentioned_in).collect())
}

/// The variables without a value and without a default, which a server needs before it starts.
pub fn unset(
    config: &impl TemplateFields,
    value: &dyn Fn(&Variable) -> Option<String>,
) -> Vec<Variable> {
    let mut substitution = Substitution::with(value);
    config.filled(&mut substitution);
    substitution.missing().variables
}

/// Finds a variable in a place where its value could do harm, such as a personal one in a command.
pub fn misplaced(config: &impl TemplateFields) -> Option<MisplacedVariable> {
    config.misplaced()
}

/// The configuration with values in the place of its variables.
///
/// An argument may be for a program that reads its environment itself: what `env` sets stays
/// as it is there. Nothing else is left open.
pub fn fill<C: TemplateFields>(
    config: &C,
    value: &dyn Fn(&Variable) -> Option<String>,
) -> Result<C, SubstitutionError> {
    if let Some(why) = misplaced(config) {
        return Err(SubstitutionError::Misplaced(why));
    }
    let mut substitution = Substitution::with(value);
    let filled = config.filled(&mut substitution);
    if !substitution.missing.is_empty() {
        return Err(SubstitutionError::Missing(substitution.missing()));
    }
    match substitution.refused {
        Some(why) => Err(SubstitutionError::Misplaced(why)),
        None => Ok(filled),
    }
}

impl MissingVariables {
    fn fault(&self) -> ServerFault {
        let is_personal = |variable: &&Variable| matches!(variable, Variable::Personal(_));
        let (personal, shared): (Vec<&Variable>, Vec<&Variable>) =
            self.variables.iter().partition(is_personal);
        let list = |names: Vec<String>| ErrorParam::from(names.join(", "));
        let quoted =
            |names: Vec<&Variable>| list(names.iter().map(|name| format!("`{name}`")).collect());
        ServerFault::Unset {
            shared: quoted(shared),
            personal: quoted(personal),
            // How to write a variable so that it is left to the program.
            escaped: list(
                self.in_arguments
                    .iter()
                    .map(|name| format!("`${name}`"))
                    .collect(),
            ),
        }
    }
}

/// Fills in values and collects what is missing.
pub struct Substitution<'a> {
    value: &'a dyn Fn(&Variable) -> Option<String>,
    missing: Vec<Variable>,
    /// Variables that stand in an argument in the syntax of a shell.
    in_arguments: Vec<Variable>,
    /// The last value that is not allowed in its place.
    refused: Option<MisplacedVariable>,
}

impl<'a> Substitution<'a> {
    fn with(value: &'a dyn Fn(&Variable) -> Option<String>) -> Self {
        Self {
            value,
            missing: Vec::new(),
            in_arguments: Vec::new(),
            refused: None,
        }
    }

    fn missing(self) -> MissingVariables {
        MissingVariables {
            variables: dedup(self.missing),
            in_arguments: dedup(self.in_arguments),
        }
    }

    fn text(&mut self, text: &str) -> String {
        self.replace(text, |_| false)
    }

    /// `env` is what the program is given: shells and programs such as `mcp-remote` look there
    /// themselves for what stands in their arguments.
    fn argument(&mut self, text: &str, env: &BTreeMap<String, String>) -> String {
        let before = self.missing.len();
        let filled = self.replace(text, |reference| {
            let name = reference.shell_name();
            name.is_some_and(|name| env.contains_key(name))
        });
        let unknown = self.missing[before..].iter().cloned();
        self.in_arguments.extend(unknown.filter(could_be_shells));
        filled
    }

    fn map(&mut self, texts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let filled = texts
            .iter()
            .map(|(name, text)| (name.clone(), self.text(text)));
        filled.collect()
    }

    fn replace(&mut self, text: &str, may_stay: impl Fn(&VariableReference<'_>) -> bool) -> String {
        let mut filled = String::with_capacity(text.len());
        for segment in segments(text) {
            match segment {
                TextSegment::Text(text) => filled.push_str(text),
                TextSegment::Variable(reference) => match reference.value(self.value) {
                    Some(value) => filled.push_str(&value),
                    None if may_stay(&reference) => filled.push_str(reference.written),
                    None => self.missing.push(reference.variable),
                },
            }
        }
        filled
    }
}

impl fmt::Debug for Substitution<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Substitution")
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

enum TextSegment<'a> {
    Text(&'a str),
    Variable(VariableReference<'a>),
}

struct VariableReference<'a> {
    variable: Variable,
    otherwise: Option<&'a str>,
    written: &'a str,
}

impl VariableReference<'_> {
    fn is_personal(&self) -> bool {
        matches!(self.variable, Variable::Personal(_))
    }

    /// Its name, where a shell could mean a variable of its own by the same words.
    fn shell_name(&self) -> Option<&str> {
        let inside = self.written.strip_prefix("${")?.strip_suffix('}')?;
        is_shell_name(inside).then_some(inside)
    }

    fn value(&self, value: &dyn Fn(&Variable) -> Option<String>) -> Option<String> {
        match (value(&self.variable), self.otherwise) {
            // As in a shell, `${NAME:-default}` treats an empty value as unset.
            (Some(value), Some(otherwise)) if value.is_empty() => Some(otherwise.to_owned()),
            (Some(value), _) => Some(value),
            (None, otherwise) => otherwise.map(str::to_owned),
        }
    }
}

fn segments(text: &str) -> Vec<TextSegment<'_>> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, tail) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('$') {
            segments.push(TextSegment::Text(before));
            segments.push(TextSegment::Text("${"));
            rest = &tail[2..];
            continue;
        }
        segments.push(TextSegment::Text(before));
        let end = tail
            .bytes()
            .take(MAX_REFERENCE_BYTES)
            .position(|byte| byte == b'}');
        let reference = end.and_then(|end| reference(&tail[..=end]));
        let taken = match reference {
            Some(reference) => {
                let taken = reference.written.len();
                segments.push(TextSegment::Variable(reference));
                taken
            }
            None => {
                segments.push(TextSegment::Text("${"));
                2
            }
        };
        rest = &tail[taken..];
    }
    segments.push(TextSegment::Text(rest));
    segments
}

/// Parses the inside of `${…}`; None if it is not in our syntax and stays as it is.
fn reference(written: &str) -> Option<VariableReference<'_>> {
    let inside = written.strip_prefix("${")?.strip_suffix('}')?;
    if let Some(id) = inside.strip_prefix("input:") {
        let variable = Variable::Shared(format!("input.{}", input_name(id)?));
        return Some(VariableReference {
            variable,
            otherwise: None,
            written,
        });
    }
    let (name, otherwise) = match inside.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (inside, None),
    };
    let variable = match name.strip_prefix("env:") {
        // Personal values never fall back to Tenon's environment.
        Some(name) if name.starts_with("user.") => return None,
        Some(name) => Variable::Shared(name.to_owned()),
        None => match name.strip_prefix("user.") {
            Some(name) => Variable::Personal(name.to_owned()),
            None => Variable::Shared(name.to_owned()),
        },
    };
    let (Variable::Shared(name) | Variable::Personal(name)) = &variable;
    is_name(name).then_some(VariableReference {
        variable,
        otherwise,
        written,
    })
}

/// Whether a shell could have a variable like this.
fn could_be_shells(variable: &Variable) -> bool {
    matches!(variable, Variable::Shared(name) if is_shell_name(name))
}

fn is_shell_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An input may be called anything; a secret may not.
fn input_name(id: &str) -> Option<String> {
    let clean = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') => c,
        _ => '_',
    };
    let name: String = id.trim().chars().map(clean).collect();
    (!name.is_empty() && name.len() <= MAX_NAME_BYTES - "input.".len()).then_some(name)
}

fn dedup(variables: Vec<Variable>) -> Vec<Variable> {
    let mut seen = std::collections::HashSet::new();
    let first = |variable: &Variable| seen.insert(variable.clone());
    variables.into_iter().filter(first).collect()
}

#[cfg(test)]
mod tests;
