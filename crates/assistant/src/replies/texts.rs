//! The sentences of the assistant, each in English, simplified and traditional Chinese.

use crate::language::ReplyLanguage;

/// In the order of [`ReplyLanguage`].
pub(super) type Translations = [&'static str; 3];

impl ReplyLanguage {
    pub(super) fn choose(self, texts: Translations) -> &'static str {
        texts[self as usize]
    }
}

/// Before and after the name of a tool that lacks an argument.
pub(super) const TO_USE: Translations = ["To use ", "要使用 ", "要使用 "];
pub(super) const I_NEED: Translations = [" I need ", "，我还需要 ", "，我還需要 "];
pub(super) const COLON: Translations = [": ", "：", "："];
/// Asks for an argument that has no description.
pub(super) const WHAT: Translations = [". What should it be?", "。请告诉我。", "。請告訴我。"];
pub(super) const CANCELLED: Translations = [
    "All right, I leave it.",
    "好的，那就不做了。",
    "好的，那就不做了。",
];

pub(super) const WELCOME: Translations = ["You are welcome. ", "不客气。", "不客氣。"];
pub(super) const HELLO: Translations = ["Hello! ", "你好！", "你好！"];
pub(super) const IDENTITY: Translations = [
    "I am Tenon's built-in assistant: no language model is connected, so I only match your words to tools. ",
    "我是 Tenon 的内置助手：目前没有连接语言模型，我只能把你的话对应到工具上。",
    "我是 Tenon 的內建助手：目前沒有連接語言模型，我只能把你的話對應到工具上。",
];
pub(super) const NO_TOOLS: Translations = [
    "There are no tools at hand right now.",
    "现在没有可用的工具。",
    "現在沒有可用的工具。",
];
pub(super) const SOME_TOOLS: Translations = [
    "Some of what I can do:\n",
    "我可以做的事，例如：\n",
    "我可以做的事，例如：\n",
];
pub(super) const CLOSING: Translations = [
    "Free conversation takes a language model.",
    "自由对话需要连接语言模型。",
    "自由對話需要連接語言模型。",
];

pub(super) const NO_ANSWER: Translations = ["No answer came.", "没有得到回答。", "沒有得到回答。"];
pub(super) const REFUSED: Translations = [
    "All right, I will not do that.",
    "好的，不做了。",
    "好的，不做了。",
];
pub(super) const FAILED: Translations = ["That did not work: ", "没有成功：", "沒有成功："];
pub(super) const DONE: Translations = ["Done.", "完成。", "完成。"];
