//! How much of what is sent to Tenon may be in memory at once: of one user, and of all.
//!
//! Everything that comes in is received, then parsed; what goes out waits for a page to
//! take it. Each of these has a pool of its own, so that nobody who holds a share of one
//! waits for another share of it. What is small needs no share. Guards give back what they
//! stand for when dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tenon_domain::{UserId, coded_errors};
use tenon_net::json_weight::parsed_bytes;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};
use tokio::time::timeout;

use crate::lock::lock;

/// Bodies and frames up to this length are received without a share of the pool.
pub const SMALL_BYTES: usize = 64 * 1024;

/// Room for the longest body, twice: a document that is sent along.
const RECEIVING_BYTES: usize = 2 * USER_RECEIVING_BYTES;
const USER_RECEIVING_BYTES: usize = 48 * 1024 * 1024;

/// Limits of parsed texts in memory, of all users together and of one. One user may have a single
/// text of that size, which fits the largest API descriptions in use.
const PARSED_BYTES: usize = 128 * 1024 * 1024;
const USER_PARSED_BYTES: usize = 96 * 1024 * 1024;

/// Texts whose parsed form is smaller than this need no share of the budget.
const SMALL_PARSED_BYTES: usize = 1024 * 1024;

/// Longer texts are parsed on a blocking thread, because that takes a millisecond or more.
const PARSE_APART_BYTES: usize = 256 * 1024;

/// How many long texts are parsed at a time. More would only take turns at the processor.
const PARSERS: usize = 2;

/// How many sockets one user may have: each tab of each browser has one.
const USER_SOCKETS: usize = 64;

/// Limit of frames queued for slow pages. A single frame may be longer.
const SENDING_BYTES: usize = 32 * 1024 * 1024;
const USER_SENDING_BYTES: usize = 8 * 1024 * 1024;

/// How many chats are read from the store at a time, for pages that follow them.
const REPLAYS: usize = 4;

/// How long frames wait for a share: longer than a page that takes nothing is kept.
const SEND_WAIT: Duration = Duration::from_secs(60);

/// How long anybody else waits for one.
const WAIT: Duration = Duration::from_secs(15);

/// Semaphores count in this unit, as they cannot count all bytes.
const UNIT_BYTES: usize = 1024;

/// The shares of one process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Pools>);

#[derive(Debug)]
struct Pools {
    receiving: Arc<Semaphore>,
    parsing: Arc<Semaphore>,
    parsers: Arc<Semaphore>,
    sending: Arc<Semaphore>,
    replays: Semaphore,
    users: Mutex<HashMap<UserId, Weak<UserPools>>>,
}

#[derive(Debug)]
struct UserPools {
    receiving: Arc<Semaphore>,
    parsing: Arc<Semaphore>,
    /// One long text of each user is parsed at a time.
    parsers: Arc<Semaphore>,
    sending: Arc<Semaphore>,
    sockets: Arc<Semaphore>,
}

/// A share of a pool, or of several.
#[derive(Debug)]
pub struct BudgetShare {
    _permits: Vec<OwnedSemaphorePermit>,
    /// Keeps the user's pools in the map as long as something of them is taken.
    _user: Arc<UserPools>,
}

coded_errors! {
    /// Why there is no share.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BudgetError {
        Sockets { max: usize } = "too_many_sockets" => "You have {max} pages connected, which is the limit. Close some.",
        User = "too_much_at_once" => "You are sending too much data at once. Try again in a few seconds.",
        All = "overloaded" => "Tenon is receiving too much data at the moment. Try again in a few seconds.",
        Values = "too_many_values" => "The request contains more values than Tenon can process at once. Send less, or send the address of the document instead of the document.",
    }
}

impl Budget {
    pub fn new() -> Self {
        Self(Arc::new(Pools {
            receiving: pool(RECEIVING_BYTES),
            parsing: pool(PARSED_BYTES),
            parsers: Arc::new(Semaphore::new(PARSERS)),
            sending: pool(SENDING_BYTES),
            replays: Semaphore::new(REPLAYS),
            users: Mutex::default(),
        }))
    }

    /// A place for one more socket of a user.
    pub fn socket(&self, user: &UserId) -> Result<BudgetShare, BudgetError> {
        let user = self.user(user);
        let permit = user.sockets.clone().try_acquire_owned();
        Ok(BudgetShare {
            _permits: vec![permit.map_err(|_| BudgetError::Sockets { max: USER_SOCKETS })?],
            _user: user,
        })
    }

    /// Room for something that is about to be received.
    pub async fn receive(&self, user: &UserId, bytes: usize) -> Result<BudgetShare, BudgetError> {
        let user = self.user(user);
        let theirs = share(&user.receiving, bytes, BudgetError::User).await?;
        let all = share(&self.0.receiving, bytes, BudgetError::All).await?;
        Ok(BudgetShare {
            _permits: vec![theirs, all],
            _user: user,
        })
    }

    /// What `work` makes of a JSON text, and the memory that this may take.
    pub async fn parse<T: Send + 'static>(
        &self,
        user: &UserId,
        text: impl AsRef<[u8]> + Send + 'static,
        work: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<(T, Option<BudgetShare>), BudgetError> {
        let is_long = text.as_ref().len() > PARSE_APART_BYTES;
        if !is_long {
            let weight = parsed_bytes(text.as_ref());
            if weight <= SMALL_PARSED_BYTES {
                return Ok((work(text.as_ref()), None));
            }
        }
        let user = self.user(user);
        let turn = share(&user.parsers, UNIT_BYTES, BudgetError::User).await?;
        let parser = share(&self.0.parsers, UNIT_BYTES, BudgetError::All).await?;
        let weighing = run_blocking(move || (parsed_bytes(text.as_ref()), text));
        let (weight, text) = weighing.await?;
        if weight > USER_PARSED_BYTES {
            return Err(BudgetError::Values);
        }
        let theirs = share(&user.parsing, weight, BudgetError::User).await?;
        let all = share(&self.0.parsing, weight, BudgetError::All).await?;
        let reservation = BudgetShare {
            _permits: vec![theirs, all],
            _user: user,
        };
        // A parse that has begun continues after its request is gone, and keeps its share of the
        // budget until it ends.
        let parsing = run_blocking(move || {
            let made = work(text.as_ref());
            drop((text, turn, parser));
            (made, reservation)
        });
        let (made, reservation) = parsing.await?;
        Ok((made, Some(reservation)))
    }

    /// Room for a long frame that waits for a page, if there is some.
    pub fn try_send(&self, user: &UserId, bytes: usize) -> Option<BudgetShare> {
        let units = units(bytes.min(USER_SENDING_BYTES))?;
        let user = self.user(user);
        let theirs = user.sending.clone().try_acquire_many_owned(units).ok()?;
        let all = self.0.sending.clone().try_acquire_many_owned(units).ok()?;
        Some(BudgetShare {
            _permits: vec![theirs, all],
            _user: user,
        })
    }

    /// The same, once there is some.
    pub async fn send(&self, user: &UserId, bytes: usize) -> Result<BudgetShare, BudgetError> {
        let bytes = bytes.min(USER_SENDING_BYTES);
        let user = self.user(user);
        let theirs = share_within(SEND_WAIT, &user.sending, bytes, BudgetError::User).await?;
        let all = share_within(SEND_WAIT, &self.0.sending, bytes, BudgetError::All).await?;
        Ok(BudgetShare {
            _permits: vec![theirs, all],
            _user: user,
        })
    }

    /// A permit to read a chat's history. Held briefly: its holder waits for nothing but the store.
    pub async fn replay(&self) -> Option<SemaphorePermit<'_>> {
        self.0.replays.acquire().await.ok()
    }

    fn user(&self, user: &UserId) -> Arc<UserPools> {
        let mut users = lock(&self.0.users);
        if let Some(known) = users.get(user).and_then(Weak::upgrade) {
            return known;
        }
        users.retain(|_, pools| pools.strong_count() > 0);
        let pools = Arc::new(UserPools {
            receiving: pool(USER_RECEIVING_BYTES),
            parsing: pool(USER_PARSED_BYTES),
            parsers: Arc::new(Semaphore::new(1)),
            sending: pool(USER_SENDING_BYTES),
            sockets: Arc::new(Semaphore::new(USER_SOCKETS)),
        });
        users.insert(user.clone(), Arc::downgrade(&pools));
        pools
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

fn pool(bytes: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(bytes / UNIT_BYTES))
}

fn units(bytes: usize) -> Option<u32> {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).ok()
}

async fn share(
    pool: &Arc<Semaphore>,
    bytes: usize,
    exceeded: BudgetError,
) -> Result<OwnedSemaphorePermit, BudgetError> {
    share_within(WAIT, pool, bytes, exceeded).await
}

async fn share_within(
    wait: Duration,
    pool: &Arc<Semaphore>,
    bytes: usize,
    exceeded: BudgetError,
) -> Result<OwnedSemaphorePermit, BudgetError> {
    let units = units(bytes).ok_or(exceeded)?;
    let permit = timeout(wait, pool.clone().acquire_many_owned(units)).await;
    let permit = permit.map_err(|_late| exceeded)?;
    permit.map_err(|_: AcquireError| exceeded)
}

/// Runs CPU-bound work on a blocking thread.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BudgetError> {
    let (sender, result) = oneshot::channel();
    // A trait object, so that what the runtime needs for a task is compiled once and not for every
    // kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || {
        // An error only means that the caller is gone.
        let _ = sender.send(work());
    });
    let running = tokio::task::spawn_blocking(work);
    match result.await {
        Ok(made) => Ok(made),
        Err(_gone) => {
            let error = running.await.err();
            tracing::error!(?error, "blocking work was given up");
            Err(BudgetError::All)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada() -> UserId {
        UserId::new("ada")
    }

    #[tokio::test(start_paused = true)]
    async fn one_user_takes_a_share_and_leaves_the_rest_to_others() {
        let budget = Budget::new();
        let hers = budget.receive(&ada(), USER_RECEIVING_BYTES).await.unwrap();
        let more = budget.receive(&ada(), SMALL_BYTES).await;
        assert_eq!(more.unwrap_err(), BudgetError::User);
        let his = budget
            .receive(&UserId::new("bob"), USER_RECEIVING_BYTES)
            .await;
        let third = budget.receive(&UserId::new("eve"), SMALL_BYTES).await;
        assert_eq!(third.unwrap_err(), BudgetError::All);
        drop((hers, his));
        budget.receive(&ada(), USER_RECEIVING_BYTES).await.unwrap();
    }

    #[tokio::test]
    async fn sockets_are_counted_and_given_back() {
        let budget = Budget::new();
        let open: Vec<_> = (0..USER_SOCKETS).map(|_| budget.socket(&ada())).collect();
        assert!(open.iter().all(Result::is_ok));
        assert_eq!(
            budget.socket(&ada()).unwrap_err(),
            BudgetError::Sockets { max: USER_SOCKETS }
        );
        assert!(budget.socket(&UserId::new("bob")).is_ok());
        drop(open);
        assert!(budget.socket(&ada()).is_ok());
    }

    #[tokio::test]
    async fn what_would_take_too_much_memory_is_not_parsed() {
        let budget = Budget::new();
        let text = format!("[0{}]", ",0".repeat(2_000_000));
        let parsed = budget.parse(&ada(), text, |_| panic!("it is parsed")).await;
        assert_eq!(
            parsed.map(|_: ((), _)| ()).unwrap_err(),
            BudgetError::Values
        );
        let long = format!("\"{}\"", "x".repeat(1_000_000));
        let (length, share) = budget.parse(&ada(), long, <[u8]>::len).await.unwrap();
        assert_eq!((length, share.is_some()), (1_000_002, true));
        drop(share);
        let (length, share) = budget.parse(&ada(), "[0,0]", <[u8]>::len).await.unwrap();
        assert_eq!((length, share.is_none()), (5, true));
    }
}
