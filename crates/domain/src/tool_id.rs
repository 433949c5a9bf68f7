//! The making of a [`ToolId`]: pure, and the same on every run.
//!
//! `builtin_<tool>` · `mcp_<server>_<tool>` · `api_<server>_<operation>` ·
//! `local_<server>_<tool>` · `<tool>_<suffix>` of a skill, whose suffix is a hash
//! of the skill's random id and the name. Characters outside `[A-Za-z0-9_-]` become `_`; a
//! name that is too long or taken is cut and gets `_` and six characters of a
//! hash of (source, native name). An id given once is kept for ever, so this
//! runs only for names the id book does not know yet.

use std::collections::HashSet;

use crate::id::ToolId;
use crate::source::{SourceInfo, SourceKind};

/// What OpenAI and Anthropic accept as a function name.
pub const MAX_ID_BYTES: usize = 64;

const HASH_LENGTH: usize = 6;

/// Gives each of a source's new tool names an id that is not in `taken` and
/// adds it there. The ids come in the order of the names and do not depend on
/// it: names that need no change are served first, then the others by name.
/// A name that stands twice gets the same id twice.
pub fn give(source: &SourceInfo, names: &[&str], taken: &mut HashSet<ToolId>) -> Vec<ToolId> {
    give_as(source, names, taken, readable)
}

/// The same as task files write them: `<server>-<tool>`.
pub fn give_for_task(
    source: &SourceInfo,
    names: &[&str],
    taken: &mut HashSet<ToolId>,
) -> Vec<ToolId> {
    let hyphenated = |source: &SourceInfo, name: &str| {
        let id = format!("{}-{name}", source.name);
        id.chars().map(clean_char).collect()
    };
    give_as(source, names, taken, hyphenated)
}

fn give_as(
    source: &SourceInfo,
    names: &[&str],
    taken: &mut HashSet<ToolId>,
    readable: impl Fn(&SourceInfo, &str) -> String,
) -> Vec<ToolId> {
    let mut order: Vec<&str> = names.to_vec();
    order.sort_by_key(|name| (!is_clean(name), *name));
    order.dedup();

    let mut given = std::collections::HashMap::new();
    for name in order {
        let id = make(source, name, readable(source, name), taken);
        taken.insert(id.clone());
        given.insert(name, id);
    }
    names.iter().map(|name| given[name].clone()).collect()
}

/// Whether a text may be a tool id at all.
pub fn is_valid(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len()) && is_clean(id)
}

/// What a model asked for, as something that may be an id. Models invent names
/// of any shape, and a name a provider refuses must not get into a history.
pub fn sanitise(asked: &str) -> ToolId {
    match asked
        .chars()
        .take(MAX_ID_BYTES)
        .map(clean_char)
        .collect::<String>()
    {
        id if id.is_empty() => ToolId::new("unnamed"),
        id => ToolId(id),
    }
}

fn make(source: &SourceInfo, name: &str, readable: String, taken: &HashSet<ToolId>) -> ToolId {
    if readable.len() <= MAX_ID_BYTES && !taken.contains(readable.as_str()) {
        return ToolId(readable);
    }
    // Two names can share six characters of a hash; the round is hashed too.
    (0u32..)
        .map(|round| {
            let mut id = readable.clone();
            id.truncate(MAX_ID_BYTES - HASH_LENGTH - 1);
            id.push('_');
            id.push_str(&hash(source, name, round));
            id
        })
        .find(|id| !taken.contains(id.as_str()))
        .map(ToolId)
        .expect("rounds do not run out before ids do")
}

fn readable(source: &SourceInfo, name: &str) -> String {
    let (prefix, server) = match source.kind {
        SourceKind::Builtin => ("builtin", None),
        SourceKind::Skill => return suffixed(source, name),
        SourceKind::Mcp => ("mcp", Some(&source.name)),
        SourceKind::Openapi => ("api", Some(&source.name)),
        SourceKind::Browser => ("local", Some(&source.name)),
    };
    let mut id = String::from(prefix);
    for word in server.map(String::as_str).into_iter().chain([name]) {
        id.push('_');
        id.extend(word.chars().map(clean_char));
    }
    id
}

/// "count" → "count_k3xw7b".
fn suffixed(source: &SourceInfo, name: &str) -> String {
    let mut id: String = name.chars().map(clean_char).collect();
    id.truncate(MAX_ID_BYTES - HASH_LENGTH - 1);
    format!("{id}_{}", hash(source, name, 0))
}

fn clean_char(c: char) -> char {
    if is_allowed(c) { c } else { '_' }
}

fn is_clean(name: &str) -> bool {
    name.chars().all(is_allowed)
}

pub(crate) fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// FNV-1a, written out so that no library's change of mind changes an id.
fn hash(source: &SourceInfo, name: &str, round: u32) -> String {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes {
            state ^= u64::from(*byte);
            state = state.wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    eat(source.id.as_str().as_bytes());
    eat(&[0xff]); // Not in UTF-8: ("a", "bc") and ("ab", "c") differ.
    eat(name.as_bytes());
    eat(&round.to_le_bytes());

    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    // The high bits of FNV are the well-mixed ones.
    (0..HASH_LENGTH)
        .map(|i| ALPHABET[(state >> (59 - 5 * i)) as usize & 31] as char)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SourceId;
    use proptest::prelude::*;

    fn source(kind: SourceKind, name: &str) -> SourceInfo {
        SourceInfo {
            id: SourceId::new(format!("src-{name}")),
            kind,
            name: name.into(),
            title: name.into(),
            owner: None,
        }
    }

    fn check(kind: SourceKind, server: &str, names: &[&str], expected: &[&str]) {
        let given = give(&source(kind, server), names, &mut HashSet::new());
        let given: Vec<&str> = given.iter().map(ToolId::as_str).collect();
        assert_eq!(given, expected);
    }

    #[test]
    fn ids_read_like_their_tools() {
        use SourceKind::*;
        check(
            Builtin,
            "time",
            &["current_time"],
            &["builtin_current_time"],
        );
        check(
            Mcp,
            "filesystem",
            &["read_file"],
            &["mcp_filesystem_read_file"],
        );
        check(
            Openapi,
            "petstore",
            &["getPetById"],
            &["api_petstore_getPetById"],
        );
        check(Browser, "notes", &["search"], &["local_notes_search"]);
        check(Mcp, "a b", &["x.y/z"], &["mcp_a_b_x_y_z"]);
        check(Mcp, "memory", &[""], &["mcp_memory_"]);
        check(Mcp, "搜索", &["网页搜索"], &["mcp________"]);
    }

    #[test]
    fn tasks_write_the_server_and_its_tool_with_a_hyphen() {
        let local = source(SourceKind::Builtin, "local");
        let names = ["claim_done", "python-execute", "a.b"];
        let given = give_for_task(&local, &names, &mut HashSet::new());
        let given: Vec<&str> = given.iter().map(ToolId::as_str).collect();
        assert_eq!(
            given,
            ["local-claim_done", "local-python-execute", "local-a_b"]
        );
    }

    #[test]
    fn what_is_long_or_taken_gets_a_hash() {
        use SourceKind::*;
        check(
            Mcp,
            "s",
            &["a.b", "a_b"],
            &["mcp_s_a_b_blji63", "mcp_s_a_b"],
        );
        check(
            Mcp,
            "s",
            &["a_b", "a.b", "a b"],
            &["mcp_s_a_b", "mcp_s_a_b_blji63", "mcp_s_a_b_kupriv"],
        );
        check(
            Mcp,
            "s",
            &["x".repeat(300).as_str()],
            &["mcp_s_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_s2hs5f"],
        );
    }

    #[test]
    fn an_id_that_is_taken_by_another_source_is_not_given_again() {
        let mut taken = HashSet::from([ToolId::new("mcp_s_a")]);
        let given = give(&source(SourceKind::Mcp, "s"), &["a"], &mut taken);
        assert_ne!(given[0].as_str(), "mcp_s_a");
        assert!(given[0].as_str().starts_with("mcp_s_a_"));
    }

    proptest! {
        #[test]
        fn ids_are_valid_unique_and_the_same_on_every_run(
            server in any::<String>(),
            names in proptest::collection::hash_set(any::<String>(), 0..40),
            clashing in proptest::collection::hash_set("[ab.]{1,3}", 0..20),
        ) {
            let source = source(SourceKind::Mcp, &server);
            let mut names: Vec<&str> = names.iter().chain(&clashing).map(String::as_str).collect();
            names.sort();
            names.dedup();
            let given = give(&source, &names, &mut HashSet::new());

            prop_assert!(given.iter().all(|id| is_valid(id.as_str())), "{given:?}");
            prop_assert_eq!(given.iter().collect::<HashSet<_>>().len(), names.len());

            names.reverse();
            let mut again = give(&source, &names, &mut HashSet::new());
            again.reverse();
            prop_assert_eq!(given, again);
        }
    }
}
