//! The sentences of the assistant: one table per language.

use crate::clause::ReplyLanguage;

pub(super) struct ReplyTexts {
    /// Before and after the name of a tool that lacks an argument, and what asks for one that has
    /// no description.
    pub(super) to_use: &'static str,
    pub(super) i_need: &'static str,
    pub(super) colon: &'static str,
    pub(super) what: &'static str,

    pub(super) cancelled: &'static str,
    pub(super) welcome: &'static str,
    pub(super) hello: &'static str,
    pub(super) all_right: &'static str,
    pub(super) identity: &'static str,
    pub(super) no_tools: &'static str,
    pub(super) some_tools: &'static str,
    pub(super) closing: &'static str,

    pub(super) no_answer: &'static str,
    pub(super) refused: &'static str,
    pub(super) failed: &'static str,
    pub(super) done: &'static str,
}

const ENGLISH: ReplyTexts = ReplyTexts {
    to_use: "To use ",
    i_need: " I need ",
    colon: ": ",
    what: ". What should it be?",
    cancelled: "All right, I leave it.",
    welcome: "You are welcome. ",
    hello: "Hello! ",
    all_right: "All right. ",
    identity: "I am Tenon's built-in assistant: no language model is connected, so I only match \
               your words to tools. ",
    no_tools: "There are no tools at hand right now.",
    some_tools: "Some of what I can do:\n",
    closing: "Free conversation takes a language model.",
    no_answer: "No answer came.",
    refused: "All right, I will not do that.",
    failed: "That did not work: ",
    done: "Done.",
};

const SIMPLIFIED: ReplyTexts = ReplyTexts {
    to_use: "要使用 ",
    i_need: "，我还需要 ",
    colon: "：",
    what: "。请告诉我。",
    cancelled: "好的，那就不做了。",
    welcome: "不客气。",
    hello: "你好！",
    all_right: "好的。",
    identity: "我是 Tenon 的内置助手：目前没有连接语言模型，我只能把你的话对应到工具上。",
    no_tools: "现在没有可用的工具。",
    some_tools: "我可以做的事，例如：\n",
    closing: "自由对话需要连接语言模型。",
    no_answer: "没有得到回答。",
    refused: "好的，不做了。",
    failed: "没有成功：",
    done: "完成。",
};

const TRADITIONAL: ReplyTexts = ReplyTexts {
    to_use: "要使用 ",
    i_need: "，我還需要 ",
    colon: "：",
    what: "。請告訴我。",
    cancelled: "好的，那就不做了。",
    welcome: "不客氣。",
    hello: "你好！",
    all_right: "好的。",
    identity: "我是 Tenon 的內建助手：目前沒有連接語言模型，我只能把你的話對應到工具上。",
    no_tools: "現在沒有可用的工具。",
    some_tools: "我可以做的事，例如：\n",
    closing: "自由對話需要連接語言模型。",
    no_answer: "沒有得到回答。",
    refused: "好的，不做了。",
    failed: "沒有成功：",
    done: "完成。",
};

impl ReplyLanguage {
    pub(super) const ALL: [Self; 3] = [Self::English, Self::Simplified, Self::Traditional];

    pub(super) fn texts(self) -> &'static ReplyTexts {
        match self {
            Self::English => &ENGLISH,
            Self::Simplified => &SIMPLIFIED,
            Self::Traditional => &TRADITIONAL,
        }
    }
}
