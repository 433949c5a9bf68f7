//! The page a browser sees when it comes back from a log-in: one sentence, in
//! its language, and the way to Tenon.
//!
//! It stands on its own: nothing else is loaded, and nothing runs in it but the
//! few letters below, whose hash the browser is told.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use tenon_domain::PageLanguage;
use tenon_sources::mcp::oauth::LoginError;

/// What came of it.
pub(super) enum LoginOutcome {
    LoggedIn,
    /// Nobody is logged in to Tenon in this browser.
    NobodyHere,
    TooMany,
    Failed(LoginError),
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto 0;padding:0 1.5em;\
text-align:center;color:#1d1d1f;background:#fff}a{color:inherit}small{opacity:.7;overflow-wrap:anywhere}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#161618}}";

/// The window was opened for this; where it may not close itself it goes on to Tenon.
const SCRIPT: &str = "setTimeout(function(){window.close();location.replace('/')},1500)";

pub(super) fn show(headers: &HeaderMap, outcome: &LoginOutcome) -> Response {
    let asked = headers.get(header::ACCEPT_LANGUAGE);
    let asked = asked.and_then(|asked| asked.to_str().ok());
    let language = PageLanguage::of(asked.unwrap_or_default());
    let (status, script) = match outcome {
        LoginOutcome::LoggedIn => (StatusCode::OK, SCRIPT),
        LoginOutcome::TooMany => (StatusCode::TOO_MANY_REQUESTS, ""),
        LoginOutcome::NobodyHere => (StatusCode::UNAUTHORIZED, ""),
        LoginOutcome::Failed(_) => (StatusCode::BAD_REQUEST, ""),
    };
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let policy = HeaderValue::from_str(&policy).expect("a hash is plain letters");
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, Html(page(language, outcome, script))).into_response()
}

fn page(language: PageLanguage, outcome: &LoginOutcome, script: &str) -> String {
    let (code, back) = match language {
        PageLanguage::English => ("en", "Back to Tenon"),
        PageLanguage::Simplified => ("zh-Hans", "返回 Tenon"),
        PageLanguage::Traditional => ("zh-Hant", "返回 Tenon"),
    };
    let sentence = sentence(language, outcome);
    // The details may quote a remote server, so they are shown small and as they are.
    let detail = match outcome {
        LoginOutcome::Failed(error) if !matches!(error, LoginError::Expired) => {
            format!(
                "<p lang=\"en\"><small>{}</small></p>",
                escaped(&error.to_string())
            )
        }
        LoginOutcome::Failed(_)
        | LoginOutcome::LoggedIn
        | LoginOutcome::NobodyHere
        | LoginOutcome::TooMany => String::new(),
    };
    let script = match script {
        "" => String::new(),
        script => format!("<script>{script}</script>"),
    };
    format!(
        "<!doctype html><html lang=\"{code}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Tenon</title>\
         <style>{STYLE}</style></head><body><h1>Tenon</h1><p>{sentence}</p>{detail}\
         <p><a href=\"/\">{back}</a></p>{script}</body></html>"
    )
}

fn sentence(language: PageLanguage, outcome: &LoginOutcome) -> &'static str {
    let [english, simplified, traditional] = match outcome {
        LoginOutcome::LoggedIn => [
            "You are logged in there. Its tools are on their way; you can close this window.",
            "已登录该服务器。它的工具马上就来，您可以关闭此窗口。",
            "已登入該伺服器。它的工具馬上就來，您可以關閉此視窗。",
        ],
        LoginOutcome::NobodyHere => [
            "Nobody is logged in to Tenon in this browser. Log in, then begin again.",
            "此浏览器中没有人登录 Tenon。请先登录，再重新开始。",
            "此瀏覽器中沒有人登入 Tenon。請先登入，再重新開始。",
        ],
        LoginOutcome::TooMany => [
            "This was tried too often. Wait a minute, then begin again.",
            "尝试次数过多。请稍等一分钟再重新开始。",
            "嘗試次數過多。請稍等一分鐘再重新開始。",
        ],
        LoginOutcome::Failed(LoginError::Expired) => [
            "This log-in was not begun here, is too old, or was used already. Begin it again in Tenon.",
            "此次登录并非从这里开始、已过期或已被使用。请在 Tenon 中重新开始。",
            "此次登入並非從這裡開始、已過期或已被使用。請在 Tenon 中重新開始。",
        ],
        LoginOutcome::Failed(LoginError::Unreachable(_) | LoginError::Storage(_)) => [
            "The log-in could not be finished. Try again in a moment.",
            "无法完成登录。请稍后再试。",
            "無法完成登入。請稍後再試。",
        ],
        LoginOutcome::Failed(LoginError::Untrusted(_)) => [
            "The log-in was stopped: what came back cannot be trusted.",
            "登录已中止：返回的内容不可信。",
            "登入已中止：返回的內容不可信。",
        ],
        LoginOutcome::Failed(
            LoginError::Refused(_)
            | LoginError::Ended(_)
            | LoginError::NoLogin
            | LoginError::NotRegistered { .. },
        ) => [
            "The log-in was refused there. Begin it again in Tenon if that was a mistake.",
            "对方拒绝了此次登录。如果有误，请在 Tenon 中重新开始。",
            "對方拒絕了此次登入。如果有誤，請在 Tenon 中重新開始。",
        ],
    };
    match language {
        PageLanguage::English => english,
        PageLanguage::Simplified => simplified,
        PageLanguage::Traditional => traditional,
    }
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut page, char| {
        match char {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            char => page.push(char),
        }
        page
    })
}

#[cfg(test)]
mod tests {
    use tenon_sources::mcp::oauth::RefusedLogin;

    use super::*;

    #[test]
    fn what_a_stranger_says_is_only_text() {
        let error = LoginError::Refused(RefusedLogin::Said("<script>alert('1')</script>&".into()));
        let page = page(PageLanguage::English, &LoginOutcome::Failed(error), "");
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"));
    }
}
