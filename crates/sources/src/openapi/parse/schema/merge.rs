//! Two schemas that both hold, as one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::keywords::Part;
use super::slot::Slot;

/// One object cannot say both; nothing was added.
pub(super) struct Contradiction;

/// Adds what a part says to what was said before it.
pub(super) fn add<'d>(
    words: &mut Map<String, Value>,
    children: &mut Vec<(Slot<'d>, Vec<&'d Value>)>,
    part: Part<'d>,
) -> Result<(), Contradiction> {
    if words.is_empty() && children.is_empty() {
        (*words, *children) = (part.words, part.children);
        return Ok(());
    }
    let has = |children: &[(Slot<'_>, _)], slot| children.iter().any(|(own, _)| *own == slot);
    for slot in [Slot::Any, Slot::Prefix] {
        if has(children, slot.clone()) && has(&part.children, slot) {
            return Err(Contradiction);
        }
    }
    let mut merged = Vec::new();
    for (word, new) in part.words {
        match words.get(&word) {
            None => merged.push((word, new)),
            Some(old) => match both(&word, old, new) {
                Both::First => {}
                Both::Now(value) => merged.push((word, value)),
                Both::Neither => return Err(Contradiction),
            },
        }
    }
    words.extend(merged);

    // Where each child is, if there are so many that looking is slow.
    let mut places: HashMap<Slot<'d>, usize> = HashMap::new();
    for (at, (slot, _)) in children.iter().enumerate() {
        places.insert(slot.clone(), at);
    }
    for (slot, sources) in part.children {
        let place = match slot {
            Slot::Any | Slot::All | Slot::Prefix => None,
            Slot::Property(_) | Slot::Pattern(_) | Slot::Additional | Slot::Items => {
                places.get(&slot).and_then(|at| children.get_mut(*at))
            }
        };
        match place {
            Some((_, own)) => own.extend(sources),
            None => children.push((slot, sources)),
        }
    }
    Ok(())
}

enum Both {
    First,
    Now(Value),
    Neither,
}

fn both(word: &str, old: &Value, new: Value) -> Both {
    if *old == new {
        return Both::First;
    }
    match word {
        "type" => match kinds(old, &new) {
            kinds if kinds.is_empty() => Both::Neither,
            mut kinds if kinds.len() == 1 => Both::Now(kinds.remove(0)),
            kinds => Both::Now(Value::Array(kinds)),
        },
        "enum" => match (old, &new) {
            // Of long ones the first stands for both: comparing them all is dear.
            (Value::Array(old), Value::Array(new)) if old.len().max(new.len()) > 100 => Both::First,
            (Value::Array(old), Value::Array(new)) => {
                let common: Vec<Value> = old.iter().filter(|v| new.contains(v)).cloned().collect();
                match common.is_empty() {
                    true => Both::Neither,
                    false => Both::Now(common.into()),
                }
            }
            _ => Both::Neither,
        },
        "required" => match (old, new) {
            (Value::Array(old), Value::Array(new)) => {
                let known: HashSet<&str> = old.iter().filter_map(Value::as_str).collect();
                let is_fresh =
                    |name: &Value| name.as_str().is_some_and(|name| !known.contains(name));
                let fresh = new.into_iter().filter(is_fresh);
                Both::Now(old.iter().cloned().chain(fresh).collect())
            }
            _ => Both::First,
        },
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            let larger = new.as_f64() > old.as_f64();
            if larger { Both::Now(new) } else { Both::First }
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            let smaller = new.as_f64() < old.as_f64();
            if smaller { Both::Now(new) } else { Both::First }
        }
        "const" | "pattern" | "multipleOf" => Both::Neither,
        // What is said about a thing: the outermost knows best.
        _ => Both::First,
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
