//! Files that the user attached, as part of their words.

use tenon_domain::{Message, UserFile};

/// Puts the text of attached files after the words they came with. Wire formats know text and
/// pictures only, and models read both alike.
pub(crate) fn inline_files(messages: &mut [Message]) {
    for message in messages {
        let Message::User { text, files, .. } = message else {
            continue;
        };
        for file in std::mem::take(files) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&inlined(&file));
        }
    }
}

fn inlined(file: &UserFile) -> String {
    let UserFile { name, text } = file;
    match text {
        Some(text) => {
            format!(
                "[Attached file: {name}]\n{}\n[End of {name}]",
                text.trim_end()
            )
        }
        None => format!("[Attached file: {name}. It is in the workspace, where tools can use it.]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_follow_the_words_they_came_with() {
        let file = |name: &str, text: Option<&str>| UserFile {
            name: name.into(),
            text: text.map(Into::into),
        };
        let check = |words: &str, files: Vec<UserFile>, expected: &str| {
            let mut messages = [Message::User {
                text: words.into(),
                images: Vec::new(),
                files,
            }];
            inline_files(&mut messages);
            assert_eq!(messages, [Message::user(expected)]);
        };
        check("hello", vec![], "hello");
        check(
            "Sum up.",
            vec![file("a.txt", Some("one\n")), file("b.zip", None)],
            "Sum up.\n\n[Attached file: a.txt]\none\n[End of a.txt]\n\n\
             [Attached file: b.zip. It is in the workspace, where tools can use it.]",
        );
        check(
            "",
            vec![file("a.txt", Some("one"))],
            "[Attached file: a.txt]\none\n[End of a.txt]",
        );
    }
}
