//! How something is said: in which language, and whether it asks for anything.

use super::clause::Clause;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Chinese,
}

/// What a message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Asks or commands, as far as one can tell.
    Wish,
    /// Tells something: a tool needs more than a word in common with it.
    Statement,
    Thanks,
    Greeting,
    /// Takes back what was asked before, or says what not to do.
    Cancel,
}

/// The language to answer in: the one outside the quotes.
pub(super) fn language(text: &str) -> Language {
    let head: &str = text
        .char_indices()
        .nth(2_000)
        .map_or(text, |(at, _)| &text[..at]);
    let (mut chinese, mut quote) = (false, None);
    for c in head.chars() {
        match quote {
            Some(close) if c == close => quote = None,
            Some(_) => {}
            None => {
                quote = match c {
                    '"' | '`' => Some(c),
                    '“' => Some('”'),
                    '「' => Some('」'),
                    '『' => Some('』'),
                    _ => None,
                };
                chinese |= matches!(c, '\u{4e00}'..='\u{9fff}');
            }
        }
    }
    if chinese {
        Language::Chinese
    } else {
        Language::English
    }
}

pub(super) fn manner(clause: &Clause<'_>) -> Manner {
    const CANCEL: [&str; 12] = [
        "cancel",
        "never mind",
        "nevermind",
        "forget it",
        "stop",
        "no",
        "no thanks",
        "算了",
        "取消",
        "不用了",
        "不用",
        "不要了",
    ];
    let head = clause
        .text
        .trim()
        .trim_end_matches(['.', '!', '。', '！', '~'])
        .trim();
    let short = if head.len() < 40 {
        head.to_lowercase()
    } else {
        String::new()
    };
    if CANCEL.contains(&short.as_str()) {
        return Manner::Cancel;
    }
    let refuses = matches!(
        (clause.lower(0), clause.lower(1)),
        ("do", "not") | ("不", "要")
    ) || matches!(clause.lower(0), "don't" | "never" | "别" | "別");
    if refuses {
        return Manner::Cancel;
    }
    match clause.lower(0) {
        "thanks" | "thank" | "thx" | "谢谢" | "謝謝" | "感谢" | "感謝" | "多谢" | "多謝" => {
            Manner::Thanks
        }
        "hello" | "hi" | "hey" | "你好" | "您好" | "早上好" | "晚上好"
            if clause.tokens.len() <= 3 =>
        {
            Manner::Greeting
        }
        _ if is_statement(clause) => Manner::Statement,
        _ => Manner::Wish,
    }
}

fn is_statement(clause: &Clause<'_>) -> bool {
    let asks = clause
        .tokens
        .iter()
        .take(200)
        .any(|token| token.is_mark("?？"));
    if asks {
        return false;
    }
    let second = clause.lower(1);
    let tells = || {
        (0..clause.tokens.len().min(12))
            .any(|at| matches!(clause.lower(at), "is" | "are" | "was" | "were" | "has"))
    };
    match clause.lower(0) {
        "i" | "we" => !matches!(
            second,
            "want" | "need" | "would" | "wish" | "must" | "have" | "should"
        ),
        "i'm" | "i've" | "he" | "she" | "they" | "you" | "you're" | "it" | "it's" | "that's" => {
            true
        }
        "the" | "this" | "that" | "my" | "our" | "these" => tells(),
        "time" => matches!(second, "is" | "was"),
        "我" | "我们" | "我們" => {
            !matches!(second, "想" | "要" | "想要" | "需要")
                || clause.text.trim_end_matches(['。', '！']).ends_with('了')
        }
        "我做完了" | "做完了" | "完成了" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_outside_the_quotes() {
        let check = |text: &str, expected| assert_eq!(language(text), expected, "{text}");
        check("把“hello”写入 a.txt", Language::Chinese);
        check("write “你好” to a.txt", Language::English);
        check("", Language::English);
    }

    #[test]
    fn telling_is_not_asking() {
        let check =
            |text: &str, expected| assert_eq!(manner(&Clause::new(text)), expected, "{text}");
        check("I am done", Manner::Statement);
        check("I want to know the time", Manner::Wish);
        check("the weather is lovely", Manner::Statement);
        check("the weather in Oslo", Manner::Wish);
        check("Time is money", Manner::Statement);
        check("time in Oslo", Manner::Wish);
        check("谢谢！", Manner::Thanks);
        check("我要睡了", Manner::Statement);
        check("never mind.", Manner::Cancel);
        check("don't read notes.md", Manner::Cancel);
        check("别读 notes.md", Manner::Cancel);
    }
}
