//! What an expert may be: lengths, names, ranges.

use std::collections::HashSet;

use tenon_domain::text::{hex, shorten};
use tenon_domain::{EXPERT_ICONS, ExpertDefinition, ModelParameters};
use tenon_store::random_bytes;

use super::{ExpertError, builtin};

const MAX_NAME_CHARS: usize = 40;
const MAX_TITLE_CHARS: usize = 80;
const MAX_DESCRIPTION_CHARS: usize = 400;
/// About eight thousand tokens, which come with every request.
const MAX_PROMPT_CHARS: usize = 32_000;
const MAX_TOOLS: usize = 500;
const MAX_SKILLS: usize = 50;
const MAX_STARTERS: usize = 8;
const MAX_STARTER_CHARS: usize = 1_000;

pub(super) fn definition(expert: &ExpertDefinition) -> Result<(), ExpertError> {
    if !is_name(&expert.name) {
        let max = MAX_NAME_CHARS;
        return Err(ExpertError::Name { max });
    }
    if builtin::named(&expert.name).is_some() {
        let name = expert.name.clone();
        return Err(ExpertError::NameReserved { name });
    }
    if !is_line(&expert.title, MAX_TITLE_CHARS) {
        let max = MAX_TITLE_CHARS;
        return Err(ExpertError::Title { max });
    }
    if expert.description.chars().count() > MAX_DESCRIPTION_CHARS {
        let max = MAX_DESCRIPTION_CHARS;
        return Err(ExpertError::Description { max });
    }
    if !EXPERT_ICONS.contains(&expert.icon.as_str()) {
        let icons = EXPERT_ICONS.join(", ");
        return Err(ExpertError::Icon { icons });
    }
    if expert.system_prompt.chars().count() > MAX_PROMPT_CHARS {
        let max = MAX_PROMPT_CHARS;
        return Err(ExpertError::SystemPrompt { max });
    }
    parameters(&expert.parameters)?;
    tools(expert)?;
    let is_starter = |text: &String| (1..=MAX_STARTER_CHARS).contains(&text.trim().chars().count());
    if expert.starters.len() > MAX_STARTERS || !expert.starters.iter().all(is_starter) {
        return Err(ExpertError::Starters {
            max: MAX_STARTERS,
            characters: MAX_STARTER_CHARS,
        });
    }
    Ok(())
}

pub(crate) fn parameters(parameters: &ModelParameters) -> Result<(), ExpertError> {
    let is_within =
        |number: Option<f64>, most: f64| number.is_none_or(|number| (0.0..=most).contains(&number));
    if !is_within(parameters.temperature, 2.0) {
        return Err(ExpertError::Temperature);
    }
    if !is_within(parameters.top_p, 1.0) {
        return Err(ExpertError::TopP);
    }
    match parameters.max_tokens {
        Some(0) => Err(ExpertError::MaxTokens),
        Some(_) | None => Ok(()),
    }
}

fn tools(expert: &ExpertDefinition) -> Result<(), ExpertError> {
    let patterns = expert.tools.as_deref().unwrap_or_default();
    if patterns.len() > MAX_TOOLS {
        let max = MAX_TOOLS;
        return Err(ExpertError::Tools { max });
    }
    if let Some(odd) = patterns.iter().find(|pattern| !pattern.is_valid()) {
        let pattern = format!("{:?}", shorten(&odd.0, MAX_NAME_CHARS));
        return Err(ExpertError::Tool { pattern });
    }
    if expert.skills.len() > MAX_SKILLS {
        let max = MAX_SKILLS;
        return Err(ExpertError::Skills { max });
    }
    Ok(())
}

/// Part of an address: `/mcp/experts/NAME`.
fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=MAX_NAME_CHARS).contains(&name.len())
        && name.chars().all(is_allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn is_line(text: &str, max: usize) -> bool {
    let text = text.trim();
    (1..=max).contains(&text.chars().count()) && !text.contains(char::is_control)
}

/// "Tax & law" → "tax-law". A title in another script gets a name that means nothing.
pub(super) fn name_from(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join("-").to_ascii_lowercase();
    let name = name[..name.len().min(MAX_NAME_CHARS)].trim_end_matches('-');
    if is_name(name) && builtin::named(name).is_none() {
        return name.to_owned();
    }
    format!("expert-{}", hex(&random_bytes::<3>()))
}

/// "tax" → "tax-2", or the next number that is free.
pub(super) fn free_name(name: &str, taken: &HashSet<&str>) -> String {
    let stem = &name[..name.len().min(MAX_NAME_CHARS - 5)];
    let stem = stem.trim_end_matches('-');
    let names = (2..).map(|number| format!("{stem}-{number}"));
    let mut free = names.filter(|name| !taken.contains(name.as_str()));
    free.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tenon_domain::pattern::Pattern;

    use super::*;

    fn tax() -> ExpertDefinition {
        ExpertDefinition {
            name: "tax".into(),
            title: "税务".into(),
            icon: "scale".into(),
            ..ExpertDefinition::default()
        }
    }

    #[test]
    fn what_is_wrong_is_said_of_its_field() {
        let check = |change: fn(&mut ExpertDefinition), expected: Option<&str>| {
            use tenon_domain::CodedError;
            let mut expert = tax();
            change(&mut expert);
            let field = definition(&expert).err().map(|error| error.detail().field);
            assert_eq!(field.flatten().as_deref(), expected, "{expert:?}");
        };
        check(|_| {}, None);
        check(|of| of.name = "Tax".into(), Some("name"));
        check(|of| of.name = "general".into(), Some("name"));
        check(|of| of.name = "a".repeat(41), Some("name"));
        check(|of| of.title = "  ".into(), Some("title"));
        check(|of| of.icon = "<svg>".into(), Some("icon"));
        check(
            |of| of.parameters.temperature = Some(2.5),
            Some("temperature"),
        );
        check(|of| of.parameters.top_p = Some(f64::NAN), Some("topP"));
        check(|of| of.parameters.max_tokens = Some(0), Some("maxTokens"));
        check(|of| of.tools = Some(vec![Pattern::new("mcp_git_*")]), None);
        check(
            |of| of.tools = Some(vec![Pattern::new("a b")]),
            Some("tools"),
        );
        check(|of| of.starters = vec![" ".into()], Some("starters"));
        check(|of| of.starters = vec!["x".into(); 9], Some("starters"));
    }

    #[test]
    fn a_name_is_made_from_a_title() {
        let check = |title: &str, expected: &str| assert_eq!(name_from(title), expected);
        check("Tax & law", "tax-law");
        check("  Rust 2024!", "rust-2024");
        check(&"ab ".repeat(40), &"ab-".repeat(14)[..40]);
        for odd in ["税务", "General", "—"] {
            let name = name_from(odd);
            assert!(name.starts_with("expert-") && is_name(&name), "{name}");
        }
    }

    #[test]
    fn a_copy_gets_a_name_that_is_free() {
        let taken = HashSet::from(["tax", "tax-2"]);
        assert_eq!(free_name("tax", &taken), "tax-3");
        assert!(is_name(&free_name(&"a".repeat(40), &taken)));
    }
}
