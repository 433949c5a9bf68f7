//! Tools that a page runs on its own machine: registration, calls, results.

use std::sync::Arc;

use tenon_domain::{CodedError, KeyAccess, UserId};
use tenon_sources::browser::{
    BrowserError, DeviceHub, LocalCallResult, PageCommand, PageConnection, Registration,
    RegistrationFault, RegistrationResult, RemoteCallProgress,
};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::wire::ServerFrame;
use tenon_app::auth::{AuthMethod, CurrentUser};
use tenon_app::budget::BudgetShare;

/// How many calls may wait for a page to take them.
const MAX_QUEUED_CALLS: usize = 256;

/// How much of what it offers may wait to be taken in: a page of ours waits for the answer.
const MAX_QUEUED_OFFERS: usize = 8;

pub(super) struct SocketTools {
    devices: DeviceHub,
    user: UserId,
    may_run: bool,
    /// Set at the first registration.
    connection: Option<Arc<PageConnection>>,
    orders: mpsc::Sender<PageCommand>,
    offers: mpsc::Sender<SocketOffer>,
    taking: AbortHandle,
}

enum SocketOffer {
    /// With the memory that it takes.
    Register(Arc<PageConnection>, Registration, Option<BudgetShare>),
    Unregister(Arc<PageConnection>, String),
}

impl SocketTools {
    /// Messages for the page come out of the receiver.
    pub(super) fn new(
        devices: DeviceHub,
        user: &CurrentUser,
        outbox: mpsc::Sender<ServerFrame>,
    ) -> (Self, mpsc::Receiver<PageCommand>) {
        let (orders, orders_receiver) = mpsc::channel(MAX_QUEUED_CALLS);
        let (offers, offers_receiver) = mpsc::channel(MAX_QUEUED_OFFERS);
        // One after the other, as they were said.
        let taking = tokio::spawn(process_offers(offers_receiver, outbox)).abort_handle();
        // A key that runs tools could read inputs and write outputs of calls, so it needs full
        // access.
        let may_run = match &user.credential {
            AuthMethod::Key(_, scope) => scope.access == KeyAccess::Full,
            AuthMethod::Session(_) | AuthMethod::Shell => true,
        };
        let tools = Self {
            devices,
            user: user.id.clone(),
            may_run,
            connection: None,
            orders,
            offers,
            taking,
        };
        (tools, orders_receiver)
    }

    /// Whether it may have anything to offer.
    pub(super) fn may_run(&self) -> bool {
        self.may_run
    }

    /// Takes in what a page offers, without keeping the page waiting meanwhile.
    pub(super) fn register(
        &mut self,
        registration: Registration,
        memory: Option<BudgetShare>,
    ) -> Result<(), BrowserError> {
        if !self.may_run {
            return Err(RegistrationFault::KeyDenied.into());
        }
        let connection = match &self.connection {
            Some(connection) if connection.is_for(&registration) => connection.clone(),
            former => {
                if let Some(former) = former {
                    former.close();
                }
                let orders = self.orders.clone();
                let connected = self.devices.connect(&self.user, &registration, orders);
                Arc::new(connected?)
            }
        };
        self.connection = Some(connection.clone());
        self.offer(SocketOffer::Register(connection, registration, memory))
    }

    pub(super) fn unregister(&self, url: String) -> Result<(), BrowserError> {
        match self.connection.clone() {
            None => Ok(()),
            Some(connection) => self.offer(SocketOffer::Unregister(connection, url)),
        }
    }

    pub(super) fn progress(&self, progress: RemoteCallProgress) {
        if let Some(connection) = &self.connection {
            connection.progress(progress);
        }
    }

    pub(super) fn end(&self, result: LocalCallResult) {
        if let Some(connection) = &self.connection {
            connection.finish(result);
        }
    }

    /// The page closes the connection: it does not come back to its pending calls.
    pub(super) fn leave(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close();
        }
    }

    fn offer(&self, offer: SocketOffer) -> Result<(), BrowserError> {
        let offered = self.offers.try_send(offer);
        offered.map_err(|_| RegistrationFault::Busy.into())
    }
}

async fn process_offers(
    mut offers: mpsc::Receiver<SocketOffer>,
    outbox: mpsc::Sender<ServerFrame>,
) {
    while let Some(offer) = offers.recv().await {
        match offer {
            SocketOffer::Register(connection, registration, memory) => {
                let registered = connection.register(registration).await;
                drop(memory);
                let registered = registered.unwrap_or_else(|error| {
                    tracing::debug!(%error, "what a page offers is not taken in");
                    RegistrationResult::refused(error.detail())
                });
                // The page may be gone.
                let _ = outbox.send(ServerFrame::Registered(registered)).await;
            }
            SocketOffer::Unregister(connection, url) => {
                if let Err(error) = connection.unregister(&url).await {
                    tracing::warn!(%error, "what a page no longer offers is still kept");
                }
            }
        }
    }
}

impl Drop for SocketTools {
    fn drop(&mut self) {
        self.taking.abort();
        if let Some(connection) = &self.connection {
            connection.connection_lost();
        }
    }
}
