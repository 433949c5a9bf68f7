//! Opening the page in a browser, where there is a desktop.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::Stdio;

use tokio::process::Command;

use tenon_app::app::App;
use tenon_app::auth::setup::page_address;

/// Nobody needs this to work: what it would have opened is printed as well.
pub(super) fn open(app: &App, listening: SocketAddr) {
    let Some(opener) = opener() else {
        return;
    };
    // Everybody on the machine can read what a program is started with, and would have used
    // the code before a browser is up: so it stands in a file that only its owner can read.
    let target = match app.auth.setup.redirect_page() {
        Ok(Some(page)) => page.into_os_string(),
        Ok(None) => OsString::from(page_address(listening)),
        Err(error) => {
            tracing::debug!(%error, "no page to open could be written");
            return;
        }
    };
    let mut command = Command::new(opener);
    command
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C ends Tenon and not the browser.
    #[cfg(unix)]
    command.process_group(0);
    match command.spawn() {
        // The runtime collects it when it has ended.
        Ok(child) => drop(child),
        Err(error) => tracing::debug!(%error, "no browser could be opened"),
    }
}

#[cfg(target_os = "macos")]
fn opener() -> Option<&'static str> {
    Some("open")
}

#[cfg(all(unix, not(target_os = "macos")))]
fn opener() -> Option<&'static str> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")).then_some("xdg-open")
}

#[cfg(not(unix))]
fn opener() -> Option<&'static str> {
    None
}
