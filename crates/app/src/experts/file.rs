//! An expert as a file: YAML that a person can read, or JSON.

use serde_json::Value;
use tenon_domain::{ExpertDefinition, SourceId};

use super::ExpertError;
use crate::skills::SkillView;

/// Longer than any expert that could be stored.
const MAX_FILE_BYTES: usize = 1024 * 1024;

/// What is written, read back, is the same expert.
pub fn write_expert(expert: &ExpertDefinition) -> String {
    let fields = serde_json::to_value(expert).unwrap_or_default();
    let fields = fields.as_object().into_iter().flatten();
    let lines = fields.map(|(name, value)| match value.as_str() {
        Some(text) if is_block(text) => {
            let lines = text.lines().map(|line| format!("  {line}\n"));
            format!(
                "{name}: |-\n{}",
                lines.collect::<String>().replace("  \n", "\n")
            )
        }
        _ => format!("{name}: {value}\n"),
    });
    lines.collect()
}

/// Whether YAML can show it line by line. Anything else is written as JSON, which is YAML as well.
fn is_block(text: &str) -> bool {
    let is_odd = |c: char| (c.is_control() && c != '\n') || c == '\u{feff}';
    let is_clean = !text.contains(is_odd) && !text.contains(['\u{85}', '\u{2028}', '\u{2029}']);
    let is_flush = text.trim() == text && !text.lines().any(|line| line.ends_with(' '));
    text.contains('\n') && is_clean && is_flush
}

pub fn read_expert(text: &str) -> Result<ExpertDefinition, ExpertError> {
    let unreadable = |why: String| ExpertError::Unreadable { why };
    if text.len() > MAX_FILE_BYTES {
        return Err(unreadable(format!(
            "it is longer than {MAX_FILE_BYTES} bytes"
        )));
    }
    let fields: Value =
        serde_saphyr::from_str(text).map_err(|error| unreadable(error.to_string()))?;
    if !fields.is_object() {
        return Err(unreadable(
            "it has no fields such as `name` and `title`".into(),
        ));
    }
    serde_json::from_value(fields).map_err(|error| unreadable(error.to_string()))
}

/// Ids of skills mean nothing elsewhere; their names do.
pub fn with_skill_names(mut expert: ExpertDefinition, skills: &[SkillView]) -> ExpertDefinition {
    for id in &mut expert.skills {
        if let Some(skill) = skills.iter().find(|skill| skill.id == *id) {
            *id = SourceId::new(&skill.name);
        }
    }
    expert
}

/// The other way round.
pub fn with_skill_ids(
    mut expert: ExpertDefinition,
    skills: &[SkillView],
) -> Result<ExpertDefinition, ExpertError> {
    for named in &mut expert.skills {
        let is_it = |skill: &&SkillView| skill.name == named.as_str() || skill.id == *named;
        let skill = skills.iter().find(is_it);
        let skill = skill.ok_or_else(|| ExpertError::NoSuchSkill {
            skill: named.as_str().to_owned(),
        })?;
        *named = skill.id.clone();
    }
    Ok(expert)
}

#[cfg(test)]
mod tests {
    use tenon_domain::ModelId;
    use tenon_domain::ModelParameters;
    use tenon_domain::pattern::Pattern;

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let prompts = [
            "",
            "One line: with a colon # and no comment",
            "Two\n\n  lines, one indented\n- and a dash",
            "ends with a newline\n",
            " begins with a space\nand goes on",
            "a tab\there\nand a return\r\n",
            "税务\n法律",
            "trailing \nspace",
        ];
        for prompt in prompts {
            let expert = ExpertDefinition {
                name: "tax".into(),
                title: "Tax: \"law\" & 税务".into(),
                description: "yes".into(),
                icon: "scale".into(),
                model: Some(ModelId::new("ollama:llama3.2")),
                parameters: ModelParameters {
                    temperature: Some(0.2),
                    top_p: None,
                    max_tokens: Some(1000),
                    effort: None,
                },
                system_prompt: prompt.into(),
                tools: Some(vec![Pattern::new("mcp_git_*")]),
                skills: vec![SourceId::new("skill-tax")],
                starters: vec!["How\nmuch?".into()],
            };
            let written = write_expert(&expert);
            assert_eq!(read_expert(&written).unwrap(), expert, "{written}");
            let json = serde_json::to_string_pretty(&expert).unwrap();
            assert_eq!(read_expert(&json).unwrap(), expert);
        }
    }

    #[test]
    fn a_file_that_is_no_expert_is_refused_with_the_reason() {
        let check = |text: &str, expected: &str| {
            let why = read_expert(text).unwrap_err().to_string();
            assert!(why.contains(expected), "{text:?}: {why}");
        };
        check("- a\n- b", "no fields");
        check("name: tax\ncolour: red", "colour");
        check("name: [", "");
        check(&"x".repeat(2 << 20), "longer");
    }
}
