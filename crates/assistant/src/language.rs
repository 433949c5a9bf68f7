//! The language to answer in.

use std::ops::Add;

use tenon_domain::PageLanguage;

use crate::lexer::{TokenKind, tokens};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyLanguage {
    English,
    Simplified,
    Traditional,
}

/// How many messages back the script of a chat is looked for, and how far into each.
const MAX_TEXTS: usize = 20;
const MAX_TEXT_BYTES: usize = 6_000;

/// Frequent characters that are written in one script only, pair by pair.
const SIMPLIFIED_CHARACTERS: &str = "这个们说为时请问对开关东车马门长来国会学发后么还过点经样现让话书写读录间网络错误设置务码账户显询务号帮给谁谢吗气预报实时删创选项单词语义认识计算钟几两周岁师传万与价";
const TRADITIONAL_CHARACTERS: &str = "這個們說為時請問對開關東車馬門長來國會學發後麼還過點經樣現讓話書寫讀錄間網絡錯誤設置務碼賬戶顯詢務號幫給誰謝嗎氣預報實時刪創選項單詞語義認識計算鐘幾兩週歲師傳萬與價";

/// The language of the last of these texts, outside of its quotes. Where its characters are
/// written alike in both scripts of Chinese, those of the texts before it decide, then the page.
pub(crate) fn language<'a>(
    texts: impl DoubleEndedIterator<Item = &'a str>,
    page: Option<PageLanguage>,
) -> ReplyLanguage {
    let mut balances = texts.rev().take(MAX_TEXTS).map(script_balance).peekable();
    let is_chinese = balances.peek().is_some_and(Option::is_some);
    let decided = balances.flatten().find(|balance| *balance != 0);
    match decided.unwrap_or(0) {
        _ if !is_chinese => ReplyLanguage::English,
        ..0 => ReplyLanguage::Traditional,
        0 if page == Some(PageLanguage::Traditional) => ReplyLanguage::Traditional,
        0.. => ReplyLanguage::Simplified,
    }
}

/// How many more characters are simplified than traditional. None without any Chinese.
fn script_balance(text: &str) -> Option<i32> {
    let tokens = tokens(&text[..text.floor_char_boundary(MAX_TEXT_BYTES)]);
    let unquoted = tokens
        .iter()
        .filter(|token| token.kind != TokenKind::Quoted);
    let chars = unquoted.flat_map(|token| token.text.chars());
    let chinese = chars.filter(|char| matches!(char, '\u{4e00}'..='\u{9fff}'));
    // Some of a pair are words of the other script as well, and count for both.
    let balances = chinese.map(|char| {
        i32::from(SIMPLIFIED_CHARACTERS.contains(char))
            - i32::from(TRADITIONAL_CHARACTERS.contains(char))
    });
    balances.reduce(i32::add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_outside_the_quotes() {
        let check = |text: &str, expected| {
            assert_eq!(language([text].into_iter(), None), expected, "{text}");
        };
        check("把“hello”写入 a.txt", ReplyLanguage::Simplified);
        check("把「hello」寫入 a.txt", ReplyLanguage::Traditional);
        check("現在幾點？", ReplyLanguage::Traditional);
        check("现在几点？", ReplyLanguage::Simplified);
        check("write “你好” to a.txt", ReplyLanguage::English);
        check("", ReplyLanguage::English);
    }

    #[test]
    fn where_both_scripts_are_alike_what_was_said_before_decides() {
        let check = |texts: &[&str], expected| {
            assert_eq!(language(texts.iter().copied(), None), expected, "{texts:?}");
        };
        check(&["你好"], ReplyLanguage::Simplified);
        check(&["請問現在幾點", "你好"], ReplyLanguage::Traditional);
        check(
            &["請問現在幾點", "现在几点", "你好"],
            ReplyLanguage::Simplified,
        );
        check(&["請問現在幾點", "hello"], ReplyLanguage::English);
    }

    #[test]
    fn the_page_decides_where_no_text_does() {
        let check = |texts: &[&str], page, expected| {
            let decided = language(texts.iter().copied(), Some(page));
            assert_eq!(decided, expected, "{texts:?} {page:?}");
        };
        use PageLanguage::{Simplified, Traditional};
        check(&["你好"], Traditional, ReplyLanguage::Traditional);
        check(&["你好"], Simplified, ReplyLanguage::Simplified);
        check(&["现在几点"], Traditional, ReplyLanguage::Simplified);
        check(
            &["现在几点", "你好"],
            Traditional,
            ReplyLanguage::Simplified,
        );
        check(&["hello"], Traditional, ReplyLanguage::English);
    }
}
