//! How much of the server's disk the files and outputs of one chat and of one user may take.
//!
//! Room is reserved before something is written, so that a hundred calls at once cannot
//! each find that there is some. What is there is measured now and then, and always before
//! somebody is refused. What is written during a measurement may count twice in it, never
//! not at all: then it is measured again once that is written, so that nobody is refused for it.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tenon_domain::{ErrorKind, ToolError, UserId, coded_errors};
use tokio::sync::Notify;

use crate::{Error, FreeSpace, NoSpace};

/// Age limit of a measurement, because others remove files and chats are deleted.
const MEASUREMENT_TTL: Duration = Duration::from_secs(60);

/// How often it is measured again because something was being written, and how long that may
/// take each time.
const MAX_MEASUREMENTS: usize = 3;
const WRITE_WAIT: Duration = Duration::from_secs(2);

/// How often it is looked how much a program has written.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// The least that a file takes on a disk, whatever is in it.
const BLOCK_BYTES: u64 = 4096;

/// How many users and chats are cached before idle ones are dropped.
const MAX_CACHED_SCOPES: usize = 1024;

const MEGABYTE: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct QuotaLimits {
    /// For the work folder of one chat.
    pub chat_bytes: u64,
    /// For all folders and outputs of one user.
    pub user_bytes: u64,
}

/// What a user has stored.
#[async_trait]
pub trait StorageInventory: Send + Sync {
    /// The folders that their chats work in, which need not exist, and how many bytes of
    /// outputs are kept for them.
    async fn of(&self, user: &UserId) -> Result<(Vec<PathBuf>, u64), Error>;
}

pub struct Quota {
    limits: QuotaLimits,
    free_space: FreeSpace,
    inventory: Arc<dyn StorageInventory>,
    accounts: Mutex<HashMap<QuotaScope, DiskUse>>,
    /// A reservation has ended.
    released: Notify,
}

coded_errors! {
    /// Why something may not be written.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OverQuota {
        Chat { mb: u64 } = "quota_of_chat" => "The files of this chat would take more than {mb} MB, which is its limit. Remove some of them, or ask for less.",
        User { mb: u64 } = "quota_of_user" => "The files and outputs of this user's chats would take more than {mb} MB, which is their limit. Delete chats that are no longer needed, or ask an admin for more.",
        Disk { why: NoSpace } = "quota_of_disk" => "Nothing can be written. {why}",
    }
}

impl From<OverQuota> for ToolError {
    fn from(over: OverQuota) -> Self {
        Self::coded(ErrorKind::Failed, over)
    }
}

impl From<NoSpace> for OverQuota {
    fn from(why: NoSpace) -> Self {
        Self::Disk { why }
    }
}

/// Room for something that is being written. It counts as written once this is dropped.
#[must_use = "the room is only kept for as long as this is"]
#[derive(Debug)]
pub struct Reservation {
    quota: Arc<Quota>,
    scopes: Vec<QuotaScope>,
    bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum QuotaScope {
    Chat(PathBuf),
    User(UserId),
}

#[derive(Debug, Default)]
struct DiskUse {
    /// When it was last measured, and what there was, with what was written since.
    used: Option<(Instant, u64)>,
    /// Total bytes ever reserved, and how many of them have been written.
    reserved: u64,
    written: u64,
}

impl DiskUse {
    fn in_flight(&self) -> u64 {
        self.reserved - self.written
    }
}

/// The accuracy of a measurement.
#[derive(Debug, PartialEq, Eq)]
enum Measurement {
    Exactly,
    /// Something was being written, and may count twice.
    Generously,
}

impl Quota {
    pub fn new(
        limits: QuotaLimits,
        free_space: FreeSpace,
        inventory: Arc<dyn StorageInventory>,
    ) -> Arc<Self> {
        Arc::new(Self {
            limits,
            free_space,
            inventory,
            accounts: Mutex::default(),
            released: Notify::new(),
        })
    }

    /// For tests and benchmarks.
    pub fn unlimited() -> Arc<Self> {
        let limits = QuotaLimits {
            chat_bytes: u64::MAX,
            user_bytes: u64::MAX,
        };
        Self::new(limits, FreeSpace::new("", 0), Arc::new(EmptyInventory))
    }

    /// Room for a file of so many bytes in the folder of a chat.
    pub async fn reserve_file(
        self: &Arc<Self>,
        user: &UserId,
        folder: &Path,
        bytes: u64,
    ) -> Result<Reservation, OverQuota> {
        let mut reserved = self.reservation(on_disk(bytes))?;
        let chat = QuotaScope::Chat(folder.to_owned());
        self.take(&mut reserved, chat).await?;
        self.take(&mut reserved, QuotaScope::User(user.clone()))
            .await?;
        Ok(reserved)
    }

    /// Room for an output that is kept for a user.
    pub async fn reserve_output(
        self: &Arc<Self>,
        user: &UserId,
        bytes: u64,
    ) -> Result<Reservation, OverQuota> {
        let mut reserved = self.reservation(on_disk(bytes))?;
        self.take(&mut reserved, QuotaScope::User(user.clone()))
            .await?;
        Ok(reserved)
    }

    /// Does what writes into the folder of a chat without asking, as programs do: not where there is
    /// no room, and no longer than there is some.
    pub async fn within<T>(
        self: &Arc<Self>,
        user: &UserId,
        folder: &Path,
        work: impl Future<Output = T>,
    ) -> Result<T, OverQuota> {
        drop(self.reserve_file(user, folder, 0).await?);
        let chat = QuotaScope::Chat(folder.to_owned());
        let owner = QuotaScope::User(user.clone());
        let done = tokio::select! {
            biased;
            done = work => Ok(done),
            over = self.outgrown(&owner, folder) => Err(over),
        };
        // A file was written without a reservation, so the next writer measures again. All folders
        // of the user are measured again within a minute: not after every short program.
        if let Some(account) = self.lock().get_mut(&chat) {
            account.used = None;
        }
        done
    }

    /// Waits until what a program writes into the folder of a chat is too much for the chat, its
    /// user or the disk.
    async fn outgrown(&self, owner: &QuotaScope, folder: &Path) -> OverQuota {
        let chat = QuotaScope::Chat(folder.to_owned());
        let mut before = self.used(&chat).unwrap_or(0);
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            if self.is_over(&chat).await {
                return self.over(&chat);
            }
            if let Err(why) = self.free_space.check() {
                return why.into();
            }
            let now = self.used(&chat).unwrap_or(before);
            self.add(owner, now.saturating_sub(before));
            before = now;
            // Only then is it worth measuring all folders of the user, which other programs write
            // into as well.
            let is_within = self
                .used(owner)
                .is_some_and(|used| used <= self.limit(owner));
            if !is_within && self.is_over(owner).await {
                return self.over(owner);
            }
        }
    }

    /// Counts what was written without a reservation, until the scope is measured again.
    fn add(&self, scope: &QuotaScope, bytes: u64) {
        let mut accounts = self.lock();
        let account = accounts.get_mut(scope);
        if let Some((_, used)) = account.and_then(|account| account.used.as_mut()) {
            *used = used.saturating_add(bytes);
        }
    }

    /// What a scope was last measured to have, with what was written since.
    fn used(&self, scope: &QuotaScope) -> Option<u64> {
        let accounts = self.lock();
        let used = accounts.get(scope)?.used;
        used.map(|(_, bytes)| bytes)
    }

    /// Whether the folder of a chat takes more than it may, as measured now. Where a file that is
    /// being written may have been counted twice, nobody can say.
    pub async fn is_outgrown(&self, folder: &Path) -> bool {
        self.is_over(&QuotaScope::Chat(folder.to_owned())).await
    }

    async fn is_over(&self, scope: &QuotaScope) -> bool {
        let measured = self.update(scope).await;
        measured == Measurement::Exactly && self.used(scope) > Some(self.limit(scope))
    }

    fn reservation(self: &Arc<Self>, bytes: u64) -> Result<Reservation, NoSpace> {
        let in_flight: u64 = self
            .lock()
            .values()
            .map(|account| account.in_flight())
            .sum();
        self.free_space
            .check_with(in_flight.saturating_add(bytes))?;
        Ok(Reservation {
            quota: self.clone(),
            scopes: Vec::new(),
            bytes,
        })
    }

    async fn take(&self, reserved: &mut Reservation, scope: QuotaScope) -> Result<(), OverQuota> {
        let limit = self.limit(&scope);
        let mut is_admitted = self.fits(&scope, reserved.bytes, limit);
        for _ in 0..MAX_MEASUREMENTS {
            if is_admitted {
                break;
            }
            // What was removed meanwhile counts.
            let measured = self.update(&scope).await;
            is_admitted = self.fits(&scope, reserved.bytes, limit);
            if measured == Measurement::Exactly {
                break;
            }
            if !is_admitted {
                self.until_written(&scope).await;
            }
        }
        if !is_admitted {
            return Err(self.over(&scope));
        }
        reserved.scopes.push(scope);
        Ok(())
    }

    fn limit(&self, scope: &QuotaScope) -> u64 {
        match scope {
            QuotaScope::Chat(_) => self.limits.chat_bytes,
            QuotaScope::User(_) => self.limits.user_bytes,
        }
    }

    fn over(&self, scope: &QuotaScope) -> OverQuota {
        let mb = self.limit(scope) / MEGABYTE;
        match scope {
            QuotaScope::Chat(_) => OverQuota::Chat { mb },
            QuotaScope::User(_) => OverQuota::User { mb },
        }
    }

    /// Takes the room if there is some, as far as is known.
    fn fits(&self, scope: &QuotaScope, bytes: u64, limit: u64) -> bool {
        let mut accounts = self.lock();
        let Some(account) = accounts.get_mut(scope) else {
            return false;
        };
        let fits = account.used.is_some_and(|(measured, used)| {
            let taken = used
                .saturating_add(account.in_flight())
                .saturating_add(bytes);
            measured.elapsed() < MEASUREMENT_TTL && taken <= limit
        });
        if fits {
            account.reserved += bytes;
        }
        fits
    }

    /// Measures what a scope has.
    async fn update(&self, scope: &QuotaScope) -> Measurement {
        let (reserved, written) = self.progress(scope);
        let measured = self.measure(scope).await;
        let mut accounts = self.lock();
        if accounts.len() >= MAX_CACHED_SCOPES {
            accounts.retain(|_, account| account.in_flight() > 0);
        }
        let account = accounts.entry(scope.clone()).or_default();
        // Bytes written during the measurement may or may not be in it, so they are added.
        let since = account.written.saturating_sub(written);
        account.used = Some((Instant::now(), measured.saturating_add(since)));
        if reserved == written && account.reserved == reserved {
            Measurement::Exactly
        } else {
            Measurement::Generously
        }
    }

    /// Waits until nothing of a scope is being written, within a bound.
    async fn until_written(&self, scope: &QuotaScope) {
        let written = async {
            loop {
                let released = self.released.notified();
                tokio::pin!(released);
                // From here on it hears of what ends.
                released.as_mut().enable();
                let (reserved, written) = self.progress(scope);
                if reserved == written {
                    return;
                }
                released.await;
            }
        };
        let _ = tokio::time::timeout(WRITE_WAIT, written).await;
    }

    /// How much was ever reserved, and how much of that is not in flight any more.
    fn progress(&self, scope: &QuotaScope) -> (u64, u64) {
        let accounts = self.lock();
        accounts
            .get(scope)
            .map_or((0, 0), |account| (account.reserved, account.written))
    }

    async fn measure(&self, scope: &QuotaScope) -> u64 {
        let (folders, outputs) = match scope {
            QuotaScope::Chat(folder) => (vec![folder.clone()], 0),
            QuotaScope::User(user) => match self.inventory.of(user).await {
                Ok(found) => found,
                Err(error) => {
                    // The floor of the disk holds all the same.
                    tracing::warn!(%error, %user, "what a user has could not be measured");
                    (Vec::new(), 0)
                }
            },
        };
        let walking = tokio::task::spawn_blocking(move || {
            let sizes = folders.iter().map(|folder| folder_size(folder));
            sizes.fold(0, u64::saturating_add)
        });
        walking.await.unwrap_or(0).saturating_add(outputs)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<QuotaScope, DiskUse>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut accounts = self.quota.lock();
        for scope in &self.scopes {
            if let Some(account) = accounts.get_mut(scope) {
                account.written += self.bytes;
                if let Some((_, used)) = &mut account.used {
                    *used = used.saturating_add(self.bytes);
                }
            }
        }
        drop(accounts);
        self.quota.released.notify_waiters();
    }
}

struct EmptyInventory;

#[async_trait]
impl StorageInventory for EmptyInventory {
    async fn of(&self, _user: &UserId) -> Result<(Vec<PathBuf>, u64), Error> {
        Ok((Vec::new(), 0))
    }
}

/// A disk gives whole blocks, and a name takes one as well.
fn on_disk(bytes: u64) -> u64 {
    bytes
        .div_ceil(BLOCK_BYTES)
        .saturating_add(1)
        .saturating_mul(BLOCK_BYTES)
}

/// What is in a folder and the folders in it. Links are not followed.
fn folder_size(folder: &Path) -> u64 {
    let mut size = 0_u64;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let bytes = entry.metadata().as_ref().map_or(0, Metadata::len);
            size = size.saturating_add(on_disk(if is_folder { 0 } else { bytes }));
            if is_folder {
                open.push(entry.path());
            }
        }
    }
    size
}

impl std::fmt::Debug for Quota {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Quota")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders of one user.
    struct FixedInventory(Vec<PathBuf>);

    #[async_trait]
    impl StorageInventory for FixedInventory {
        async fn of(&self, _user: &UserId) -> Result<(Vec<PathBuf>, u64), Error> {
            Ok((self.0.clone(), BLOCK_BYTES))
        }
    }

    fn quota(folders: &[PathBuf], chat_blocks: u64, user_blocks: u64) -> Arc<Quota> {
        let limits = QuotaLimits {
            chat_bytes: chat_blocks * BLOCK_BYTES,
            user_bytes: user_blocks * BLOCK_BYTES,
        };
        let folders = Arc::new(FixedInventory(folders.to_vec()));
        Quota::new(limits, FreeSpace::new("", 0), folders)
    }

    #[tokio::test]
    async fn room_that_is_reserved_is_nobody_elses() {
        let home = tempfile::tempdir().unwrap();
        let (one, two) = (home.path().join("one"), home.path().join("two"));
        let ada = UserId::new("ada");
        let quota = quota(&[one.clone(), two.clone()], 5, 8);

        // Two blocks each: one for the bytes, one for the name.
        let first = quota.reserve_file(&ada, &one, 1).await.unwrap();
        let second = quota.reserve_file(&ada, &one, 1).await.unwrap();
        let third = quota.reserve_file(&ada, &one, 1).await;
        assert_eq!(third.unwrap_err(), OverQuota::Chat { mb: 0 });
        let other = quota.reserve_file(&ada, &two, 1).await.unwrap();
        let too_much = quota.reserve_file(&ada, &two, 1).await;
        assert_eq!(too_much.unwrap_err(), OverQuota::User { mb: 0 });
        // What was refused takes nothing.
        let too_much = quota.reserve_output(&ada, 1).await;
        assert_eq!(too_much.unwrap_err(), OverQuota::User { mb: 0 });

        // Nothing was written in the end, which is found before anybody is refused.
        drop((first, second, other));
        for _ in 0..2 {
            drop(quota.reserve_file(&ada, &one, 1).await.unwrap());
        }
    }

    #[tokio::test]
    async fn a_program_that_takes_the_room_of_its_user_is_stopped() {
        let home = tempfile::tempdir().unwrap();
        let (one, two) = (home.path().join("one"), home.path().join("two"));
        for folder in [&one, &two] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(one.join("file"), [0; 5 * BLOCK_BYTES as usize]).unwrap();
        let ada = UserId::new("ada");
        let quota = quota(&[one, two.clone()], 100, 12);
        let writes = async {
            std::fs::write(two.join("file"), [0; 5 * BLOCK_BYTES as usize]).unwrap();
            std::future::pending::<()>().await;
        };
        let ended = tokio::time::timeout(WATCH_INTERVAL * 20, quota.within(&ada, &two, writes));
        assert_eq!(ended.await.unwrap(), Err(OverQuota::User { mb: 0 }));
        let short = quota.within(&ada, &two, async {}).await;
        assert_eq!(short, Err(OverQuota::User { mb: 0 }), "it is still there");
        std::fs::remove_file(two.join("file")).unwrap();
        assert_eq!(quota.within(&ada, &two, async {}).await, Ok(()));
    }

    #[tokio::test]
    async fn what_is_there_counts_and_what_is_removed_does_not() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep/er");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("file"), [0; 10]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", folder.join("link")).unwrap();
        let ada = UserId::new("ada");
        // Two folders, a file and a link: less than nine blocks with what is asked for.
        let quota = quota(&[], 7, u64::MAX / BLOCK_BYTES);
        let refused = quota.reserve_file(&ada, home.path(), 1).await;
        assert_eq!(refused.unwrap_err(), OverQuota::Chat { mb: 0 });
        std::fs::remove_file(folder.join("file")).unwrap();
        std::fs::remove_file(folder.join("link")).unwrap();
        drop(quota.reserve_file(&ada, home.path(), 1).await.unwrap());
    }
}
