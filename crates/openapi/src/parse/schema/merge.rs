//! Two schemas that both hold, as one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::keywords::SchemaPart;
use super::slot::SchemaSlot;

/// One object cannot say both; nothing was added.
pub(super) struct Contradiction;

/// Adds what a part says to what was said before it.
pub(super) fn add<'d>(
    words: &mut Map<String, Value>,
    children: &mut Vec<(SchemaSlot<'d>, Vec<&'d Value>)>,
    part: SchemaPart<'d>,
) -> Result<(), Contradiction> {
    if words.is_empty() && children.is_empty() {
        (*words, *children) = (part.words, part.children);
        return Ok(());
    }
    let has = |children: &[(SchemaSlot<'_>, _)], slot| children.iter().any(|(own, _)| *own == slot);
    for slot in [SchemaSlot::Any, SchemaSlot::Prefix] {
        if has(children, slot.clone()) && has(&part.children, slot) {
            return Err(Contradiction);
        }
    }
    let mut merged = Vec::new();
    for (word, new) in part.words {
        match words.get(&word) {
            None => merged.push((word, new)),
            Some(old) => match both(&word, old, new) {
                MergeOutcome::First => {}
                MergeOutcome::Now(value) => merged.push((word, value)),
                MergeOutcome::Neither => return Err(Contradiction),
            },
        }
    }
    words.extend(merged);

    // Where each child is, if there are so many that looking is slow.
    let mut places: HashMap<SchemaSlot<'d>, usize> = HashMap::new();
    for (at, (slot, _)) in children.iter().enumerate() {
        places.insert(slot.clone(), at);
    }
    for (slot, sources) in part.children {
        let place = match slot {
            SchemaSlot::Any | SchemaSlot::All | SchemaSlot::Prefix => None,
            SchemaSlot::Property(_)
            | SchemaSlot::Pattern(_)
            | SchemaSlot::Additional
            | SchemaSlot::Items => places.get(&slot).and_then(|at| children.get_mut(*at)),
        };
        match place {
            Some((_, own)) => own.extend(sources),
            None => children.push((slot, sources)),
        }
    }
    Ok(())
}

enum MergeOutcome {
    First,
    Now(Value),
    Neither,
}

fn both(word: &str, old: &Value, new: Value) -> MergeOutcome {
    if *old == new {
        return MergeOutcome::First;
    }
    match word {
        "type" => match kinds(old, &new) {
            kinds if kinds.is_empty() => MergeOutcome::Neither,
            mut kinds if kinds.len() == 1 => MergeOutcome::Now(kinds.remove(0)),
            kinds => MergeOutcome::Now(Value::Array(kinds)),
        },
        "enum" => match (old, &new) {
            // For long lists the first stands for both, because comparing all items is slow.
            (Value::Array(old), Value::Array(new)) if old.len().max(new.len()) > 100 => {
                MergeOutcome::First
            }
            (Value::Array(old), Value::Array(new)) => {
                let common: Vec<Value> = old.iter().filter(|v| new.contains(v)).cloned().collect();
                if common.is_empty() {
                    MergeOutcome::Neither
                } else {
                    MergeOutcome::Now(common.into())
                }
            }
            _ => MergeOutcome::Neither,
        },
        "required" => match (old, new) {
            (Value::Array(old), Value::Array(new)) => {
                let known: HashSet<&str> = old.iter().filter_map(Value::as_str).collect();
                let is_fresh =
                    |name: &Value| name.as_str().is_some_and(|name| !known.contains(name));
                let fresh = new.into_iter().filter(is_fresh);
                MergeOutcome::Now(old.iter().cloned().chain(fresh).collect())
            }
            _ => MergeOutcome::First,
        },
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            let larger = new.as_f64() > old.as_f64();
            if larger {
                MergeOutcome::Now(new)
            } else {
                MergeOutcome::First
            }
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            let smaller = new.as_f64() < old.as_f64();
            if smaller {
                MergeOutcome::Now(new)
            } else {
                MergeOutcome::First
            }
        }
        "const" | "pattern" | "multipleOf" => MergeOutcome::Neither,
        // For annotations, the outermost schema wins.
        _ => MergeOutcome::First,
    }
}

/// The types that both allow.
fn kinds(old: &Value, new: &Value) -> Vec<Value> {
    let list = |value: &Value| match value {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let (old, new) = (list(old), list(new));
    let mut common = Vec::new();
    for kind in &old {
        if new.contains(kind) || (kind == "integer" && new.iter().any(|new| new == "number")) {
            common.push(kind.clone());
        } else if kind == "number" && new.iter().any(|new| new == "integer") {
            common.push("integer".into());
        }
    }
    common
}
