//! What a server turned out not to take. It is found out by its refusals, once.

use std::collections::BTreeMap;

use tenon_domain::ToolId;

use super::Plan;

/// Refusals after which a request is not mended any further.
const MAX_LESSONS: usize = 12;

#[derive(Debug, Clone)]
pub(crate) struct Quirks {
    /// Knows `stream_options`.
    pub counts_tokens: bool,
    /// Knows `cache_control`.
    pub caches: bool,
    pub sees_images: bool,
    /// Lets the user speak right after a tool has.
    pub takes_users_after_tools: bool,
    /// Writes no more than this.
    pub max_tokens: Option<u64>,
    /// Reads no more than about this.
    pub budget: Option<usize>,
    /// Tools whose schema it refuses, and what it said.
    pub quarantine: BTreeMap<ToolId, String>,
    lessons: usize,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            counts_tokens: true,
            caches: true,
            sees_images: true,
            takes_users_after_tools: true,
            max_tokens: None,
            budget: None,
            quarantine: BTreeMap::new(),
            lessons: 0,
        }
    }
}

impl Quirks {
    /// Learns from a refusal. False: there is nothing to learn, the refusal stands.
    pub(crate) fn learn(&mut self, said: &str, plan: &Plan) -> bool {
        self.lessons += 1;
        if self.lessons > MAX_LESSONS {
            return false;
        }
        let lower = said.to_lowercase();
        let turn_off = |switch: &mut bool| std::mem::replace(switch, false);
        if lower.contains("stream_options") || lower.contains("include_usage") {
            return turn_off(&mut self.counts_tokens);
        }
        if lower.contains("cache_control") {
            return turn_off(&mut self.caches);
        }
        if lower.contains("after role 'tool'") {
            return turn_off(&mut self.takes_users_after_tools);
        }
        if let Some(most) = most_tokens(&lower) {
            return self.max_tokens.replace(most) != Some(most);
        }
        if let Some(tool) = culprit(said, plan) {
            let why = format!("its description was refused: {}", shorten(said));
            return self.quarantine.insert(tool, why).is_none();
        }
        if ["image", "vision", "multimodal", "multi-modal"]
            .iter()
            .any(|word| lower.contains(word))
        {
            return turn_off(&mut self.sees_images);
        }
        false
    }

    /// The chat was too long: less of it next time. False: it cannot get much shorter.
    pub(crate) fn shrink(&mut self, weight: usize) -> bool {
        self.lessons += 1;
        let less = weight * 6 / 10;
        let is_less = self.budget.is_none_or(|budget| less < budget);
        if self.lessons > MAX_LESSONS || less < 500 || !is_less {
            return false;
        }
        self.budget = Some(less);
        true
    }

    /// A request went through: what was learned is right.
    pub(crate) fn proven(&mut self) {
        self.lessons = 0;
    }
}

/// "max_tokens: 8192 > 4096, which is the maximum…"
fn most_tokens(said: &str) -> Option<u64> {
    let rest = &said[said.find("max_tokens")?..];
    let (_, most) = rest.split_once('>')?;
    let digits: String = most
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|most| *most > 0)
}

/// The tool a refusal is about: named in it, or numbered as `tools[3]` or `tools.3`.
fn culprit(said: &str, plan: &Plan) -> Option<ToolId> {
    let lower = said.to_lowercase();
    if !["schema", "tool", "function", "parameters"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return None;
    }
    let numbered = ["tools[", "tools.", "tools/", "functions["]
        .iter()
        .find_map(|before| {
            let (_, rest) = lower.split_once(before)?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().ok()
        });
    if let Some(tool) = numbered.and_then(|number| plan.tools.get(number)) {
        return Some(tool.id.clone());
    }
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let words: Vec<&str> = said.split(|char| !is_word(char)).collect();
    let named = |id: &ToolId| words.contains(&id.as_str());
    let tool = plan.tools.iter().find(|tool| named(&tool.id));
    tool.map(|tool| tool.id.clone())
}

fn shorten(said: &str) -> String {
    crate::schema::shorten(said.trim(), 200).into_owned()
}
