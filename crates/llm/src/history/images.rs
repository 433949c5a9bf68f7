//! Pictures that the user showed, for a model that sees none.

use tenon_domain::{Message, UserImage};

/// Whether the message that is to be answered shows pictures. Without them a model would answer
/// another question.
pub(crate) fn asks_about_images(messages: &[Message]) -> bool {
    let mut users = messages.iter().rev().filter_map(|message| match message {
        Message::User { images, .. } => Some(images),
        Message::Assistant { .. } | Message::Tools { .. } => None,
    });
    users.next().is_some_and(|images| !images.is_empty())
}

/// Replaces pictures by text, so that later messages about them still make sense.
pub(crate) fn describe_images(messages: &mut [Message]) {
    for message in messages {
        let Message::User { text, images, .. } = message else {
            continue;
        };
        for image in std::mem::take(images) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&described(&image));
        }
    }
}

fn described(image: &UserImage) -> String {
    match &image.name {
        Some(name) => format!("[picture: {name}]"),
        None => "[picture]".to_owned(),
    }
}
