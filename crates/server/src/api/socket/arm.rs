//! A page that runs tools on its own machine: where it sits, and what it says of them.

use std::sync::Arc;

use tenon_domain::{KeyAccess, UserId};
use tenon_sources::browser::{Answered, Desk, Frame, Registered, Registration, Seat, Sign};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::api::wire::ServerFrame;
use crate::auth::{Credential, CurrentUser};
use crate::budget::BudgetShare;

/// How many calls may wait for a page to take them.
const ORDERS: usize = 256;

/// How much of what it offers may wait to be taken in: a page of ours waits for the answer.
const OFFERS: usize = 8;

pub(super) struct Arm {
    desk: Desk,
    user: UserId,
    may_run: bool,
    /// Where it sits, once it has offered something.
    seat: Option<Arc<Seat>>,
    orders: mpsc::Sender<Frame>,
    offers: mpsc::Sender<Offer>,
    taking: AbortHandle,
}

enum Offer {
    /// With the memory that it takes.
    Register(Arc<Seat>, Registration, Option<BudgetShare>),
    Unregister(Arc<Seat>, String),
}

impl Arm {
    /// What it is told comes out of the other end.
    pub(super) fn new(
        desk: Desk,
        user: &CurrentUser,
        outbox: mpsc::Sender<ServerFrame>,
    ) -> (Self, mpsc::Receiver<Frame>) {
        let (orders, hears_orders) = mpsc::channel(ORDERS);
        let (offers, hears_offers) = mpsc::channel(OFFERS);
        // One after the other, as they were said.
        let taking = tokio::spawn(take_in(hears_offers, outbox)).abort_handle();
        // Whoever runs a tool reads what it is called with, and says what it gave.
        let may_run = match &user.credential {
            Credential::Key(_, scope) => scope.access == KeyAccess::Full,
            Credential::Session(_) | Credential::Shell => true,
        };
        let arm = Self {
            desk,
            user: user.id.clone(),
            may_run,
            seat: None,
            orders,
            offers,
            taking,
        };
        (arm, hears_orders)
    }

    /// Whether it may have anything to offer.
    pub(super) fn may_run(&self) -> bool {
        self.may_run
    }

    /// Takes in what a page offers, without keeping the page waiting meanwhile. The error is
    /// a sentence.
    pub(super) fn register(
        &mut self,
        registration: Registration,
        memory: Option<BudgetShare>,
    ) -> Result<(), String> {
        if !self.may_run {
            return Err("This key may not run tools. Use one with full access.".into());
        }
        let seat = match &self.seat {
            Some(seat) if seat.is_for(&registration) => seat.clone(),
            former => {
                if let Some(former) = former {
                    former.leave();
                }
                let orders = self.orders.clone();
                Arc::new(self.desk.sit(&self.user, &registration, orders)?)
            }
        };
        self.seat = Some(seat.clone());
        self.offer(Offer::Register(seat, registration, memory))
    }

    pub(super) fn unregister(&self, url: String) -> Result<(), String> {
        match self.seat.clone() {
            None => Ok(()),
            Some(seat) => self.offer(Offer::Unregister(seat, url)),
        }
    }

    pub(super) fn sign(&self, sign: Sign) {
        if let Some(seat) = &self.seat {
            seat.sign(sign);
        }
    }

    pub(super) fn end(&self, answered: Answered) {
        if let Some(seat) = &self.seat {
            seat.end(answered);
        }
    }

    /// The page says goodbye: it does not come back to what it owes.
    pub(super) fn leave(&mut self) {
        if let Some(seat) = self.seat.take() {
            seat.leave();
        }
    }

    fn offer(&self, offer: Offer) -> Result<(), String> {
        let offered = self.offers.try_send(offer);
        offered.map_err(|_| "This page says more than Tenon can take in. Look again later.".into())
    }
}

async fn take_in(mut offers: mpsc::Receiver<Offer>, outbox: mpsc::Sender<ServerFrame>) {
    while let Some(offer) = offers.recv().await {
        match offer {
            Offer::Register(seat, registration, memory) => {
                let registered = seat.register(registration).await;
                drop(memory);
                let registered = registered.unwrap_or_else(Registered::refused);
                // A page that is gone hears nothing.
                let _ = outbox.send(ServerFrame::Registered(registered)).await;
            }
            Offer::Unregister(seat, url) => {
                if let Err(why) = seat.unregister(&url).await {
                    tracing::warn!(why, "what a page no longer offers is still kept");
                }
            }
        }
    }
}

impl Drop for Arm {
    fn drop(&mut self) {
        self.taking.abort();
        if let Some(seat) = &self.seat {
            seat.lose();
        }
    }
}
