//! Text that was asked for by its kind: "a to-do list".
//!
//! Without a language model nothing can be made up, so a list gets honest
//! empty lines, and for a poem the answer is to ask for the words.

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Draft {
    /// The words are what they are.
    Literal,
    /// A skeleton for the user to fill in.
    Outline(String),
    /// Somebody has to write this, and it is not us.
    Unwritten,
}

/// What a phrase in the place of a text asks for.
pub(super) fn of(phrase: &str) -> Draft {
    // A kind is named in a few words; anything longer is the text itself.
    if phrase.chars().count() > 40 {
        return Draft::Literal;
    }
    let plain = phrase
        .trim()
        .trim_end_matches(['.', '!', '。'])
        .to_lowercase();
    let plain = plain.strip_prefix("me ").unwrap_or(&plain);
    let (article, noun) = [
        "a ", "an ", "some ", "my ", "the ", "一个", "一個", "一份", "一张",
    ]
    .iter()
    .find_map(|article| Some((true, plain.strip_prefix(article)?)))
    .unwrap_or((false, plain));
    let noun = ["short ", "simple ", "small ", "new "]
        .iter()
        .find_map(|word| noun.strip_prefix(word))
        .unwrap_or(noun);
    match noun {
        "to-do list" | "todo list" | "to do list" | "to-do" | "todo" | "todos" | "task list"
        | "checklist" => {
            return Draft::Outline(outline(
                "To-do",
                "- [ ] ",
                ["First task", "Second task", "Third task"],
            ));
        }
        "待办" | "待办清单" | "待办事项" | "待办列表" | "待辦" | "待辦清單" | "待辦事項"
        | "任务清单" | "任務清單" => {
            return Draft::Outline(outline(
                "待办",
                "- [ ] ",
                ["第一件事", "第二件事", "第三件事"],
            ));
        }
        "shopping list" | "grocery list" => {
            return Draft::Outline(outline(
                "Shopping list",
                "- [ ] ",
                ["First item", "Second item", "Third item"],
            ));
        }
        "购物清单" | "購物清單" => {
            return Draft::Outline(outline(
                "购物清单",
                "- [ ] ",
                ["第一样", "第二样", "第三样"],
            ));
        }
        _ => {}
    }
    const KINDS: [&str; 15] = [
        "email", "poem", "story", "essay", "letter", "summary", "list", "joke", "haiku", "report",
        "article", "recipe", "plan", "song", "speech",
    ];
    let counted = ["一首", "一篇", "一封", "一段"]
        .iter()
        .any(|measure| plain.starts_with(measure));
    let asks = counted
        || article
            && noun
                .split_whitespace()
                .take(3)
                .any(|word| KINDS.contains(&word));
    if asks {
        Draft::Unwritten
    } else {
        Draft::Literal
    }
}

fn outline(title: &str, bullet: &str, lines: [&str; 3]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("{bullet}{line}\n"))
        .collect();
    format!("# {title}\n\n{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_outlined_and_poems_are_not_invented() {
        let todo = Draft::Outline(
            "# To-do\n\n- [ ] First task\n- [ ] Second task\n- [ ] Third task\n".into(),
        );
        assert_eq!(of("a to-do list"), todo);
        assert_eq!(of("to-do list."), todo);
        assert_eq!(of("a poem about cats"), Draft::Unwritten);
        assert_eq!(of("me a poem"), Draft::Unwritten);
        assert_eq!(of("an email to Bob"), Draft::Unwritten);
        assert_eq!(of("hello world"), Draft::Literal);
        assert_eq!(of("a nice day"), Draft::Literal);
        assert!(matches!(of("待办清单"), Draft::Outline(_)));
    }
}
