//! Listening, background tasks, and graceful shutdown.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use tenon_sources::heap;
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;

use crate::connections::{self, Connections};
use crate::metrics::ServerMetrics;
use crate::router::router;
use tenon_app::app::App;
use tenon_app::config::Config;
use tenon_app::sources::RunMode;
use tenon_store::ChangeTopic;

/// How long it then waits for connections to close.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often deleted chats are looked for, and how long ago they must have been
/// deleted: a little longer than that can be undone.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);
const DELETED_MIN_AGE: Duration = Duration::from_secs(65);

/// How often lost servers are looked for.
const LEASE_CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// How many sweeps follow after the last change: by then the last deleted item is old enough to
/// erase.
const QUIET_SWEEPS: u32 = 2;

/// How often expired data is swept.
const TIDY_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// How many connections may wait to be accepted. The usual 128 makes a burst of a few hundred wait
/// a second.
const MAX_PENDING_CONNECTIONS: u32 = 1024;

/// Serves until told to stop, then lets running turns finish.
pub fn serve(app: App, listener: TcpListener) -> BoxFuture<'static, Result<()>> {
    let metrics = ServerMetrics::new(app.clone());
    serve_measured(app, listener, metrics)
}

/// The same, counted where somebody else reads it as well.
pub fn serve_measured(
    app: App,
    listener: TcpListener,
    metrics: ServerMetrics,
) -> BoxFuture<'static, Result<()>> {
    Box::pin(async move {
        app.recover()
            .await
            .context("chats that wait for a person cannot go on")?;
        let folder = app.watch_files().await;
        app.start_embedding();
        app.sources.open(RunMode::Serving).await;
        let watching = AbortOnDropHandle::new(tokio::spawn(folder.watch(app.sources.clone())));
        let router = router(app.clone(), metrics.http);
        let connections = Connections::new(app.max_connections);
        let sweeping = AbortOnDropHandle::new(tokio::spawn(sweep(app.clone())));
        let watching_servers =
            AbortOnDropHandle::new(tokio::spawn(app.cluster.clone().watch_servers()));
        let taking_over = AbortOnDropHandle::new(tokio::spawn(take_over(app.clone())));
        let watching_storage =
            AbortOnDropHandle::new(tokio::spawn(app.storage.clone().watch_writes()));
        let closing = app.closing.clone();
        heap::release_when_quiet();
        connections::serve(
            (listener, None),
            router,
            connections,
            closing,
            CLOSE_TIMEOUT,
        )
        .await;
        drop((
            sweeping,
            watching,
            watching_storage,
            taking_over,
            watching_servers,
        ));
        app.sources.close().await;
        app.store.drain().await;
        app.cluster.bus.leave().await;
        if let Err(error) = app.store.release().await {
            tracing::warn!(%error, "other servers take over what waits here a little later");
        }
        Ok(())
    })
}

/// Takes over from servers that are gone.
async fn take_over(app: App) {
    if !app.store.has_leases() {
        return;
    }
    let mut check = tokio::time::interval(LEASE_CHECK_INTERVAL);
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        check.tick().await;
        if app.agent.is_draining() {
            return;
        }
        let has_own = app.agent.has_adopted_turns();
        let recovered = match app.store.has_abandoned_turns().await {
            Ok(has_abandoned) if has_abandoned || has_own => app.recover().await,
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = recovered {
            tracing::warn!(%error, "what another server left open could not be taken over yet");
        }
    }
}

/// Erases deleted data and recovers the work of lost servers, periodically.
async fn sweep(app: App) {
    let mut minute = tokio::time::interval(SWEEP_INTERVAL);
    // The first time was at the start.
    let mut tidied = Instant::now();
    let (mut seen, mut quiet) = (None, 0);
    loop {
        minute.tick().await;
        if tidied.elapsed() >= TIDY_INTERVAL {
            tidied = Instant::now();
            if let Err(error) = tidy(&app).await {
                tracing::warn!(%error, "what was kept long enough could not be removed yet");
            }
        }
        // An idle server asks its database nothing.
        let versions =
            [ChangeTopic::Chats, ChangeTopic::Accounts].map(|topic| app.store.version(topic));
        quiet = if seen == Some(versions) { quiet + 1 } else { 0 };
        seen = Some(versions);
        if quiet > QUIET_SWEEPS && !app.store.may_have_other_runners() {
            continue;
        }
        if let Err(error) = app.agent.purge(DELETED_MIN_AGE).await {
            tracing::warn!(%error, "deleted chats could not be removed for good yet");
        }
        // A shell that was killed in the middle of an answer must not block its chat.
        if let Err(error) = app.recover().await {
            tracing::warn!(%error, "what others left open could not be tied up yet");
        }
        if let Err(error) = retire_setup_code(&app).await {
            tracing::warn!(%error, "whether there is an account by now could not be found out");
        }
    }
}

/// A shell can make the first account too: then the link leads nowhere any more.
async fn retire_setup_code(app: &App) -> tenon_store::Result<()> {
    if !app.auth.single_user && app.auth.setup.is_published() && app.store.has_users().await? {
        app.auth.setup.retire().await;
    }
    Ok(())
}

async fn tidy(app: &App) -> tenon_store::Result<()> {
    app.store.sweep_blobs().await?;
    app.store.sweep_audit().await?;
    app.files.sweep().await?;
    app.agent.delete_stale_temporary_chats().await?;
    app.store.sweep_model_calls().await?;
    app.store.sweep_call_traces().await?;
    app.store.sweep_embeddings().await?;
    app.skills.delete_unused_packages().await;
    if let Err(error) = app.devices.forget_unseen().await {
        tracing::warn!(%error, "tools of computers that were not seen for long are still listed");
    }
    Ok(())
}

/// Waits for the operator's signal, then for the turns that run, then closes. A second signal ends
/// at once.
pub async fn close_on_signal(app: App) {
    signal().await;
    tokio::spawn(async {
        signal().await;
        std::process::exit(130);
    });
    tracing::info!("stopping: waiting for running answers; once more stops at once");
    app.agent.drain(app.drain_timeout).await;
    app.closing.cancel();
}

/// A server for one person is on their own machine: the cookie that it knows them by would
/// cross a network in the clear.
pub fn listen(address: SocketAddr, config: &Config) -> Result<TcpListener> {
    if config.single_user && !address.ip().to_canonical().is_loopback() {
        bail!(
            "with --single-user Tenon is for one person at this machine: \
             it listens on 127.0.0.1 or [::1] only, not on {address}; leave it out and make accounts instead"
        );
    }
    bind(address, "--listen 127.0.0.1:PORT")
        .with_context(|| format!("Tenon cannot listen on {address}"))
}

/// `flag` is how another port is chosen.
pub(crate) fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    let bound = socket
        .bind(address)
        .and_then(|()| socket.listen(MAX_PENDING_CONNECTIONS));
    bound.map_err(|error: io::Error| match error.kind() {
        ErrorKind::AddrInUse => anyhow::anyhow!(
            "the port is taken, perhaps by another Tenon; choose another with {flag}"
        ),
        _ => error.into(),
    })
}

/// Waits until the operator wants it to end.
pub(crate) async fn signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            let _ = interrupt.await;
            return;
        };
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupt.await;
}
