//! The prompts of the evaluation, with the calls and the facts that a right answer needs.

use tenon_domain::PromptKind::{
    self, Arguments, Chinese, Choice, Restraint, SeveralCalls, TwoSteps,
};

pub(super) struct EvaluationPrompt {
    pub kind: PromptKind,
    pub text: &'static str,
    /// In this order where one needs the result of another, otherwise in any. None: plain talk.
    pub calls: &'static [ExpectedCall],
    /// The answer has to contain one of each list.
    pub facts: &'static [&'static [&'static str]],
}

pub(super) struct ExpectedCall {
    pub tool: &'static str,
    pub arguments: &'static [(&'static str, ExpectedValue)],
}

pub(super) enum ExpectedValue {
    Number(f64),
    /// A text that contains one of these, in any case.
    Text(&'static [&'static str]),
}

use ExpectedValue::{Number, Text};

const fn prompt(
    kind: PromptKind,
    text: &'static str,
    calls: &'static [ExpectedCall],
    facts: &'static [&'static [&'static str]],
) -> EvaluationPrompt {
    EvaluationPrompt {
        kind,
        text,
        calls,
        facts,
    }
}

const fn call(
    tool: &'static str,
    arguments: &'static [(&'static str, ExpectedValue)],
) -> ExpectedCall {
    ExpectedCall { tool, arguments }
}

/// One of each kind in turn, so that the first few are a fair sample.
#[rustfmt::skip]
pub(super) static PROMPTS: [EvaluationPrompt; 30] = [
    prompt(Choice, "What is the weather like in Oslo right now?",
        &[call("get_weather", &[("city", Text(&["oslo"]))])], &[&["4"]]),
    prompt(Arguments, "Convert 250 US dollars to Japanese yen.",
        &[call("convert_currency", &[("amount", Number(250.0)), ("from", Text(&["usd"])), ("to", Text(&["jpy"]))])],
        &[&["37500"]]),
    prompt(SeveralCalls, "Compare the weather in Cairo and in Lima.",
        &[call("get_weather", &[("city", Text(&["cairo"]))]), call("get_weather", &[("city", Text(&["lima"]))])],
        &[&["31"], &["18"]]),
    prompt(TwoSteps, "Find the invoice from ACME in my files and tell me its total.",
        &[call("search_files", &[("query", Text(&["invoice", "acme"]))]), call("read_file", &[("path", Text(&["invoices/acme-0471.txt"]))])],
        &[&["318.5", "318.50"]]),
    prompt(Restraint, "Good morning! How are you?", &[], &[]),
    prompt(Chinese, "北京现在天气怎么样？",
        &[call("get_weather", &[("city", Text(&["北京", "beijing"]))])], &[&["12"]]),

    prompt(Choice, "What time is it in Nairobi?",
        &[call("get_local_time", &[("city", Text(&["nairobi"]))])], &[&["15:40", "3:40"]]),
    prompt(Arguments, "Set a timer for an hour and a half.",
        &[call("set_timer", &[("minutes", Number(90.0))])], &[&["90", "half", "1.5"]]),
    prompt(SeveralCalls, "How many lamps and how many backpacks are in stock?",
        &[call("check_stock", &[("product", Text(&["lamp"]))]), call("check_stock", &[("product", Text(&["backpack"]))])],
        &[&["42"], &["63"]]),
    prompt(TwoSteps, "Take the temperature in Oslo and multiply it by 12, with the calculator.",
        &[call("get_weather", &[("city", Text(&["oslo"]))]), call("calculate", &[("operation", Text(&["multiply"]))])],
        &[&["48"]]),
    prompt(Restraint, "Thank you, that was very helpful.", &[], &[]),
    prompt(Chinese, "把 100 欧元换成人民币是多少？",
        &[call("convert_currency", &[("amount", Number(100.0)), ("from", Text(&["eur"])), ("to", Text(&["cny"]))])],
        &[&["875"]]),

    prompt(Choice, "How many umbrellas do we have in stock?",
        &[call("check_stock", &[("product", Text(&["umbrella"]))])], &[&["17"]]),
    prompt(Arguments, "Put a dentist appointment into my calendar, on 14 April 2026 at half past three in the afternoon.",
        &[call("create_event", &[("title", Text(&["dentist"])), ("date", Text(&["2026-04-14"])), ("time", Text(&["15:30"]))])],
        &[&["dentist"]]),
    prompt(SeveralCalls, "What time is it in Tokyo and in Toronto?",
        &[call("get_local_time", &[("city", Text(&["tokyo"]))]), call("get_local_time", &[("city", Text(&["toronto"]))])],
        &[&["21:40", "9:40"], &["08:40", "8:40"]]),
    prompt(TwoSteps, "Look up Ben Carter's email address and send him the message \"Lunch at noon\".",
        &[call("find_contact", &[("name", Text(&["ben"]))]), call("send_message", &[("recipient", Text(&["ben.carter@example.com"])), ("text", Text(&["lunch"]))])],
        &[&["ben", "sent", "message"]]),
    prompt(Restraint, "What is the capital of France?", &[], &[&["paris"]]),
    prompt(Chinese, "谢谢你，今天辛苦了！", &[], &[]),

    prompt(Choice, "What is Maria Lopez's email address?",
        &[call("find_contact", &[("name", Text(&["maria", "lopez"]))])], &[&["maria.lopez@example.com"]]),
    prompt(Arguments, "Use the calculator: what is 3847 times 29?",
        &[call("calculate", &[("a", Number(3847.0)), ("operation", Text(&["multiply"])), ("b", Number(29.0))])],
        &[&["111563"]]),
    prompt(SeveralCalls, "Switch on the light in the bedroom and the light in the hall.",
        &[
            call("set_light", &[("room", Text(&["bedroom"])), ("state", Text(&["on"]))]),
            call("set_light", &[("room", Text(&["hall"])), ("state", Text(&["on"]))]),
        ], &[]),
    prompt(TwoSteps, "Find the pancake recipe in my files. How many eggs does it need?",
        &[call("search_files", &[("query", Text(&["pancake", "recipe"]))]), call("read_file", &[("path", Text(&["notes/pancakes.txt"]))])],
        &[&["7", "seven"]]),
    prompt(Restraint, "Write a poem of two lines about autumn.", &[], &[]),
    prompt(Chinese, "帮我设一个二十五分钟的计时器。",
        &[call("set_timer", &[("minutes", Number(25.0))])], &[&["25", "二十五"]]),

    prompt(Choice, "Show me what is in the file config/app.toml.",
        &[call("read_file", &[("path", Text(&["config/app.toml"]))])], &[&["9412"]]),
    prompt(Arguments, "Please switch off the light in the kitchen.",
        &[call("set_light", &[("room", Text(&["kitchen"])), ("state", Text(&["off"]))])], &[]),
    prompt(SeveralCalls, "Start two timers: one of 5 minutes and one of 20 minutes.",
        &[call("set_timer", &[("minutes", Number(5.0))]), call("set_timer", &[("minutes", Number(20.0))])], &[]),
    prompt(TwoSteps, "How many backpacks are in stock, and what are all of them worth at 20 each? Use the calculator.",
        &[call("check_stock", &[("product", Text(&["backpack"]))]), call("calculate", &[("operation", Text(&["multiply"]))])],
        &[&["1260"]]),
    prompt(Restraint, "Explain in one sentence what a hash table is.", &[], &[&["key", "hash"]]),
    prompt(Chinese, "查一下李雷的邮箱地址。",
        &[call("find_contact", &[("name", Text(&["李雷", "li lei", "lilei"]))])], &[&["li.lei@example.com"]]),
];
