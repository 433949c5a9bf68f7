//! The words this assistant knows: what to pass over, what means the same,
//! what points back, what counts time.
//!
//! Nothing here names a tool: synonyms lead to the plain English words that
//! tools of any source are called by.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that are in every sentence and choose nothing.
const STOP: &str = "
    a an the this that these those it its is are was were be been being am do does did doing done can could
    would should will shall may might must have has had having i me my mine we us our you your yours he she
    they them their his her him what which who whom whose where when why how please pls kindly thanks thank
    thx hello hi hey ok okay yes yeah no not of in on at to for from by with into onto and or but if so as
    than then there here now right just also too very really some any all much many give gives tell say says
    want wants need needs like would let lets know need's help about up down out off over again back one ones
    what's whats it's that's there's i'm i'd i'll you're let's where's who's how's don't can't come go going
    goes went good great nice fine well morning evening night today currently moment call use using run tool
    tools assistant able ask question something anything everything thing things dear sir bye goodbye cool
    wow sure hmm lol me? best kind same exactly local mine via per today's";

/// The same in Chinese, simplified and traditional.
const STOP_CHINESE: &str = "
    的 了 吗 嗎 呢 吧 啊 呀 在 是 把 到 请 請 我 你 您 他 她 们 我们 我們 你们 你們 帮 幫 帮我 幫我 请问 請問 麻烦 麻煩
    一下 一个 一個 一些 现在 現在 目前 当前 當前 什么 什麼 怎么 怎麼 怎么样 怎麼樣 如何 哪 哪个 哪個 谁 誰 为什么 為什麼
    多少 是多少 等于 等於 可以 可不可以 能 能不能 能否 想 要 想要 需要 知道 告诉 告訴 告诉我 告訴我 给 給 给我 給我 和 与
    與 跟 以及 或 还是 還是 也 都 就 很 非常 你好 您好 谢谢 謝謝 感谢 感謝 多谢 多謝 好的 好 再见 再見 早上好 晚上好
    晚安 算了 取消 不用了 不 没 沒 有 这 這 那 这个 這個 那个 那個 这里 這裡 那里 那裡 里的 里面 裡面 中的 上的 我的 你的
    然后 然後 再 接着 接著 并 并且 並 並且 之后 之後 最后 最後 今天 今日 使用 调用 調用 用 助手 工具 帮忙 幫忙 对 對 将 將
    叫 叫做 名为 名為 关于 關於 内容 內容 标题 標題 为 為 入 进 進 成 出来 出來 给我看 給我看 内容是 内容为 內容是 內容為
    标题是 标题为 標題是 標題為 写着 寫著 里有 的内容 的內容 回来 回來 是不是 睡觉 睡覺 完了 做完 做完了 我做完了 完成了";

/// Single characters that are grammar when they stand alone and part of a name when not.
const PARTICLES: &str = "里裡中上下去来來吗会會得地着著过過个個些号號";

/// Words, and what tools call the same.
struct Group {
    said: &'static str,
    meant: &'static str,
    sense: Sense,
}

/// How much a word says about the tool that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// What it is about.
    Thing,
    /// What is to be done: a tool that does something else is not meant.
    Deed,
    /// A verb so general ("show", "打开") that it may not choose a tool by itself.
    Hint,
}

const fn means(said: &'static str, meant: &'static str) -> Group {
    Group {
        said,
        meant,
        sense: Sense::Thing,
    }
}

const fn does(said: &'static str, meant: &'static str) -> Group {
    Group {
        said,
        meant,
        sense: Sense::Deed,
    }
}

const fn hints(said: &'static str, meant: &'static str) -> Group {
    Group {
        said,
        meant,
        sense: Sense::Hint,
    }
}

const GROUPS: &[Group] = &[
    means(
        "time clock o'clock 时间 時間 几点 幾點 几点钟 幾點鐘 几点了 幾點了 时刻 時刻 钟 鐘",
        "time clock",
    ),
    means(
        "date day weekday 日期 几号 幾號 星期几 星期幾 周几 週幾 礼拜几",
        "date time day",
    ),
    means("timezone 时区 時區 时差 時差", "timezone time zone"),
    does("convert 换算 換算 转换 轉換 换成 換成", "convert"),
    does(
        "calculate calculator compute evaluate solve math maths sum multiply divide subtract \
         计算 計算 算 算算 算一下 求 计算器 計算機 等于几 等於幾",
        "calculate compute evaluate math",
    ),
    means("file files document 文件 文档 檔案 文檔", "file"),
    means(FOLDERS, "directory folder file"),
    does(
        "read reading cat 读 讀 读取 讀取 阅读 閱讀 读出 讀出 读出来 讀出來 念 唸",
        "read",
    ),
    does(
        "write save store put jot note record 写 寫 写入 寫入 写到 寫到 写进 寫進 保存 存 存到 存入 储存 儲存 记下 記下 记录 記錄",
        "write save",
    ),
    does(
        "make create generate 创建 創建 建立 新建 新增 建 建一个 生成",
        "create make write add new",
    ),
    does("append 追加 附加", "append write add"),
    does("add 添加 加到 加入", "add append create write"),
    does(
        "edit change update modify 修改 编辑 編輯 更新 更改",
        "edit update change modify",
    ),
    does(
        "delete remove erase 删除 刪除 移除 删掉 刪掉 清除",
        "delete remove",
    ),
    does("move rename 移动 移動 重命名 改名", "move rename"),
    does("copy duplicate 复制 複製 拷贝", "copy"),
    does("send post publish 发送 發送 发 發 发布 發布", "send post"),
    does(
        "list ls dir enumerate 列出 列 列表 有哪些 哪些 有什么 有什麼 清单 清單",
        "list",
    ),
    does(
        "search find grep 搜索 搜尋 查找 搜 找 查询 查詢 寻找 尋找 找一下 搜一下",
        "search find query",
    ),
    does(
        "fetch download scrape browse crawl 抓取 下载 下載 爬取 抓",
        "fetch url download get",
    ),
    means(
        "webpage website url link site 网页 網頁 网址 網址 网站 網站 链接 連結",
        "url web page fetch website",
    ),
    means(
        "web internet online google 网上 網上 上网 互联网 網路 网络",
        "web internet",
    ),
    means(
        "weather forecast temperature rain 天气 天氣 气温 氣溫 下雨 天气预报 天氣預報",
        "weather forecast",
    ),
    does(
        "sleep wait pause delay 等待 等 睡 睡眠 休息 暂停 暫停 等一下",
        "sleep wait pause delay",
    ),
    means("light lights lamp 灯 燈 电灯 電燈", "light lamp"),
    does("translate translation 翻译 翻譯", "translate"),
    means("issue ticket bug 问题单 工单 議題", "issue ticket"),
    means("email mail 邮件 郵件 电子邮件 電子郵件", "email mail"),
    means("image picture photo 图片 圖片 照片", "image picture"),
    does("remember memorize 记住 記住", "remember memory"),
    means("result results 结果 結果", "result"),
    hints(
        "show display see view look print get 看 看看 查看 显示 顯示 展示",
        "read list get show",
    ),
    hints("open launch 打开 打開 开 開", "open fetch read"),
    hints(
        "turn switch 关 關 关闭 關閉 关掉 關掉 开启 開啟",
        "turn switch set",
    ),
    hints("check lookup 查 查一下 检查 檢查", "search check get"),
];

const FOLDERS: &str = "folder folders directory directories 文件夹 文件夾 資料夾 资料夹 目录 目錄";

/// Deeds whose object is a text: "write hello", where "make hello" is a thing.
const TAKES_TEXT: [&str; 6] = [
    "write save",
    "append write add",
    "add append create write",
    "send post",
    "translate",
    "remember memory",
];

/// Days other than this one: no places, and not what a clock tells.
const DAYS: &str = "tomorrow yesterday tonight 明天 昨天 后天 後天 前天 大后天 大後天 大前天 明日 昨日 明年 去年 \
    下周 下週 上周 上週 下星期 上星期 下礼拜 上礼拜 下个月 下個月 上个月 上個月";

/// How many seconds a unit has.
const SECONDS: &[(&str, f64)] = &[
    ("ms millisecond milliseconds 毫秒", 0.001),
    ("s sec secs second seconds 秒 秒钟 秒鐘", 1.0),
    ("m min mins minute minutes 分 分钟 分鐘", 60.0),
    (
        "h hr hrs hour hours 小时 小時 个小时 個小時 钟头 鐘頭",
        3600.0,
    ),
    ("d days 天", 86400.0),
];

/// Words that point at what was just spoken of.
const PRONOUNS: &str =
    "it that this them those result 它 它们 它們 这个 這個 那个 那個 其 结果 結果 该文件";

/// What tools are named with that says nothing about them.
const NEUTRAL: &str =
    "get current do run the by id for of a to in tool execute perform with my all and";

/// Phrases that only sound like a wish.
const PLEASANTRIES: &str = "have a nice|have a good|have a great|good day|good time|nice day|long time no see|\
    take your time|this time|next time|last time|sleep well|sleep tight|good night|time flies|any time|all the time|\
    some time ago|once upon a time|nice to meet|how are you|how do you do|i am done|i'm done|we are done|well done|\
    all done|read you|see you|what can i|what can you|好久不见|晚安|辛苦了|\
    浪费时间|浪費時間|节省时间|節省時間|没时间|沒時間|没有时间|沒有時間|有时间|有時間|花时间|长时间|时间过得|時間過得";

/// What asks for nothing when nothing else is said.
const SMALL_TALK: &str = "save me|help me|wait, what|wait what|wait a moment|wait a minute|wait a second|\
    wait a sec|hold on|等一下|等等|等会|等一会|等会儿|稍等|稍等一下|请等一下|請等一下";

static STOPS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    STOP.split_whitespace()
        .chain(STOP_CHINESE.split_whitespace())
        .collect()
});

static SYNONYMS: LazyLock<HashMap<&str, &Group>> = LazyLock::new(|| {
    let pairs = GROUPS
        .iter()
        .flat_map(|group| group.said.split_whitespace().map(move |said| (said, group)));
    pairs.collect()
});

static UNITS: LazyLock<HashMap<&str, f64>> = LazyLock::new(|| {
    let pairs = SECONDS
        .iter()
        .flat_map(|(names, seconds)| names.split_whitespace().map(|name| (name, *seconds)));
    pairs.collect()
});

/// Every word of a script without spaces, and how many characters the longest has.
static KNOWN: LazyLock<(HashSet<&str>, usize)> = LazyLock::new(|| {
    let words: HashSet<&str> = STOP_CHINESE
        .split_whitespace()
        .chain(PRONOUNS.split_whitespace())
        .chain(SYNONYMS.keys().copied())
        .chain(UNITS.keys().copied())
        .chain(DAYS.split_whitespace())
        .filter(|word| !word.is_ascii())
        .collect();
    let longest = words
        .iter()
        .map(|word| word.chars().count())
        .max()
        .unwrap_or(0);
    (words, longest)
});

/// Whether a word, in lower case, says nothing about what is wanted.
pub(super) fn is_stop(word: &str) -> bool {
    let particle = || {
        let mut chars = word.chars();
        matches!((chars.next(), chars.next()), (Some(c), None) if PARTICLES.contains(c))
    };
    STOPS.contains(word) || particle()
}

/// What tools call a word, in lower case, and how much that says.
pub(super) fn synonyms(word: &str) -> Option<(&'static str, Sense)> {
    SYNONYMS.get(word).map(|group| (group.meant, group.sense))
}

/// A small number written out.
pub(super) fn numeral(word: &str) -> Option<f64> {
    const NUMERALS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let tens = match word {
        "fifteen" => Some(15.0),
        "twenty" => Some(20.0),
        "thirty" => Some(30.0),
        "sixty" => Some(60.0),
        _ => None,
    };
    tens.or_else(|| {
        NUMERALS
            .iter()
            .position(|numeral| *numeral == word)
            .map(|number| number as f64)
    })
}

pub(super) fn seconds_in(unit: &str) -> Option<f64> {
    UNITS.get(unit).copied()
}

pub(super) fn is_pronoun(word: &str) -> bool {
    PRONOUNS.split_whitespace().any(|pronoun| pronoun == word)
}

/// Whether a word, in lower case, names a day other than this one.
pub(super) fn is_other_day(word: &str) -> bool {
    DAYS.split_whitespace().any(|day| day == word)
}

pub(super) fn is_folder(word: &str) -> bool {
    FOLDERS.split_whitespace().any(|folder| folder == word)
}

/// Whether a verb, in lower case, has a text for its object.
pub(super) fn takes_text(word: &str) -> bool {
    synonyms(word).is_some_and(|(meant, _)| TAKES_TEXT.contains(&meant))
}

/// Whether a whole message, in lower case, is one that asks for nothing.
pub(super) fn is_small_talk(text: &str) -> bool {
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric());
    SMALL_TALK.split('|').any(|phrase| phrase == plain)
}

/// Whether a word, as a stem, says nothing about the tool that is named with it.
pub(super) fn is_neutral(word: &str) -> bool {
    NEUTRAL
        .split_whitespace()
        .any(|neutral| stem(neutral) == word)
}

/// Whether a text, in lower case, has one of the phrases that only sound like a wish.
pub(super) fn has_pleasantry(text: &str) -> bool {
    PLEASANTRIES.split('|').any(|phrase| text.contains(phrase))
}

/// The length in bytes of the longest known word a run of ideograms begins with.
pub(super) fn longest_known(run: &str) -> Option<usize> {
    let (words, longest) = &*KNOWN;
    let mut ends: Vec<usize> = run
        .char_indices()
        .skip(1)
        .take(*longest)
        .map(|(at, _)| at)
        .collect();
    if ends.len() < *longest {
        ends.push(run.len());
    }
    ends.into_iter()
        .rev()
        .find(|end| words.contains(&run[..*end]))
}

/// A word without its ending, so that "files" finds "file" and "creating" finds "create".
pub(super) fn stem(word: &str) -> String {
    let cut = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 3);
    let base = match () {
        () if word.ends_with("ss") || !word.is_ascii() => word,
        () => cut("ies")
            .or_else(|| cut("ing"))
            .or_else(|| cut("ed"))
            .or_else(|| cut("s"))
            .unwrap_or(word),
    };
    let base = if base.is_ascii() && base.len() > 3 {
        base.trim_end_matches(['e', 'y'])
    } else {
        base
    };
    base.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        let check = |left: &str, right: &str| assert_eq!(stem(left), stem(right), "{left} {right}");
        check("files", "file");
        check("creating", "create");
        check("listed", "lists");
        check("directories", "directory");
        check("文件", "文件");
        assert_ne!(stem("time"), stem("timer"));
    }

    #[test]
    fn the_longest_known_word_wins() {
        let check = |run: &str, expected: Option<&str>| {
            assert_eq!(
                longest_known(run).map(|length| &run[..length]),
                expected,
                "{run}"
            );
        };
        check("现在几点", Some("现在"));
        check("几点了", Some("几点了"));
        check("东京", None);
        check("算了", Some("算了"));
    }
}
