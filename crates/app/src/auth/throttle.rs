//! Throttling of log-in attempts: token buckets.
//!
//! Three buckets limit guesses of a password: one for this account from this
//! address, one for the address, one for the account from everywhere. The last
//! one does not stop an address that has logged in to the account before, so
//! that strangers cannot lock somebody out of their own. The code of set-up is
//! guessed at from everywhere like an account.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::lock::lock;

/// How many buckets of a kind are remembered. Beyond it the fullest are forgotten.
const MAX_BUCKETS: usize = 20_000;

const PAIR: Rate = Rate::new(5, Duration::from_secs(30));
const ADDRESS: Rate = Rate::new(30, Duration::from_secs(10));
const ACCOUNT: Rate = Rate::new(100, Duration::from_secs(36));
const SET_UP: Rate = Rate::new(50, Duration::from_secs(72));

/// What somebody tries to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt<'a> {
    /// To this account, by its e-mail address.
    LogIn(&'a str),
    SetUp,
    SignUp,
    Invitation,
    /// Through an issuer.
    Elsewhere,
}

#[derive(Debug, Default)]
pub struct LoginThrottle {
    buckets: Mutex<Buckets>,
}

#[derive(Debug, Default)]
struct Buckets {
    pairs: Map<(String, ClientNetwork)>,
    addresses: Map<ClientNetwork>,
    accounts: Map<String>,
    /// Accounts and networks with a successful log-in, and when it was.
    known: HashMap<(String, ClientNetwork), Instant>,
}

/// Where somebody is: an IPv4 address, or the network that an IPv6 address is in,
/// which one household has all of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ClientNetwork(u128);

/// A burst, then one each `every`.
#[derive(Debug, Clone, Copy)]
struct Rate {
    burst: u32,
    every: Duration,
}

/// When a bucket will be as good as new. This moves on with each attempt.
type Map<K> = HashMap<K, Instant>;

impl LoginThrottle {
    /// Counts an attempt; an error is how long to wait before the next one.
    pub fn try_now(
        &self,
        attempt: Attempt<'_>,
        from: IpAddr,
        now: Instant,
    ) -> Result<(), Duration> {
        let place = ClientNetwork::of(from);
        let (name, everywhere) = attempt.subject();
        let pair = (name, place);
        let mut buckets = self.buckets();
        let everywhere = everywhere.filter(|_| !buckets.known.contains_key(&pair));
        let waits = [
            PAIR.wait(buckets.pairs.get(&pair), now),
            ADDRESS.wait(buckets.addresses.get(&place), now),
            everywhere.map_or(Duration::ZERO, |rate| {
                rate.wait(buckets.accounts.get(&pair.0), now)
            }),
        ];
        let wait = waits.into_iter().max().unwrap_or_default();
        if !wait.is_zero() {
            return Err(wait);
        }
        ADDRESS.take(&mut buckets.addresses, place, now);
        if let Some(rate) = everywhere {
            rate.take(&mut buckets.accounts, pair.0.clone(), now);
        }
        PAIR.take(&mut buckets.pairs, pair, now);
        Ok(())
    }

    /// Refunds a successful attempt. A sign-up still costs its network an attempt.
    pub fn succeeded(&self, attempt: Attempt<'_>, from: IpAddr, now: Instant) {
        let place = ClientNetwork::of(from);
        let (name, everywhere) = attempt.subject();
        let pair = (name, place);
        let mut buckets = self.buckets();
        if !matches!(attempt, Attempt::SignUp) {
            ADDRESS.give_back(&mut buckets.addresses, &place);
        }
        buckets.pairs.remove(&pair);
        if let Some(rate) = everywhere {
            rate.give_back(&mut buckets.accounts, &pair.0);
            make_room(&mut buckets.known);
            buckets.known.insert(pair, now);
        }
    }

    fn buckets(&self) -> MutexGuard<'_, Buckets> {
        lock(&self.buckets)
    }
}

impl Attempt<'_> {
    /// By what it is counted, and how often it may be tried from everywhere. No
    /// word here has an `@`, as every address has.
    fn subject(self) -> (String, Option<Rate>) {
        match self {
            Self::LogIn(email) => (
                tenon_store::normal_email(email).chars().take(320).collect(),
                Some(ACCOUNT),
            ),
            Self::SetUp => ("set-up".into(), Some(SET_UP)),
            Self::SignUp => ("sign-up".into(), None),
            Self::Invitation => ("invitation".into(), None),
            Self::Elsewhere => ("elsewhere".into(), None),
        }
    }
}

impl ClientNetwork {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(u128::from(address.to_bits())),
            IpAddr::V6(address) => Self(address.to_bits() >> 64 << 64 | 1 << 32),
        }
    }
}

impl Rate {
    const fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every }
    }

    /// How long until one more fits.
    fn wait(self, full_at: Option<&Instant>, now: Instant) -> Duration {
        let missing = full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        (missing + self.every).saturating_sub(self.every * self.burst)
    }

    fn take<K: Hash + Eq>(self, map: &mut Map<K>, key: K, now: Instant) {
        make_room(map);
        let full_at = map.entry(key).or_insert(now);
        *full_at = (*full_at).max(now) + self.every;
    }

    fn give_back<K: Hash + Eq>(self, map: &mut Map<K>, key: &K) {
        if let Some(full_at) = map.get_mut(key)
            && let Some(earlier) = full_at.checked_sub(self.every)
        {
            *full_at = earlier;
        }
    }
}

/// Forgets the half that is nearest to being as good as new, or was known the longest ago.
fn make_room<K: Hash + Eq>(map: &mut Map<K>) {
    if map.len() < MAX_BUCKETS {
        return;
    }
    let mut times: Vec<Instant> = map.values().copied().collect();
    let (_, middle, _) = times.select_nth_unstable(MAX_BUCKETS / 2);
    let middle = *middle;
    map.retain(|_, at| *at > middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "192.0.2.1";

    struct ThrottleClock {
        limiter: LoginThrottle,
        now: Instant,
    }

    impl ThrottleClock {
        fn new() -> Self {
            Self {
                limiter: LoginThrottle::default(),
                now: Instant::now(),
            }
        }

        fn pass(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }

        /// How many of these attempts were let through.
        fn tries(&self, count: usize, email: &str, from: &str) -> usize {
            let from = from.parse().unwrap();
            let tried = (0..count).map(|_| {
                let attempt = Attempt::LogIn(email);
                self.limiter.try_now(attempt, from, self.now)
            });
            tried.filter(Result::is_ok).count()
        }

        fn succeeds(&self, email: &str, from: &str) {
            let from = from.parse().unwrap();
            let attempt = Attempt::LogIn(email);
            self.limiter.succeeded(attempt, from, self.now);
        }
    }

    #[test]
    fn after_five_guesses_there_is_one_every_half_minute() {
        let mut clock = ThrottleClock::new();
        assert_eq!(clock.tries(10, "ada@x.org", HOME), 5);
        let home = HOME.parse().unwrap();
        let refused = clock
            .limiter
            .try_now(Attempt::LogIn(" ADA@x.org"), home, clock.now);
        assert_eq!(refused, Err(Duration::from_secs(30)));
        clock.pass(29);
        assert_eq!(clock.tries(1, "ada@x.org", HOME), 0);
        clock.pass(1);
        assert_eq!(clock.tries(2, "ada@x.org", HOME), 1);
        // Others are not touched by it, neither there nor elsewhere.
        assert_eq!(clock.tries(9, "bob@x.org", HOME), 5);
        assert_eq!(clock.tries(9, "ada@x.org", "192.0.2.2"), 5);
    }

    #[test]
    fn a_success_clears_the_count() {
        let clock = ThrottleClock::new();
        for _ in 0..50 {
            assert_eq!(clock.tries(4, "ada@x.org", HOME).min(4), 4);
            for _ in 0..4 {
                clock.succeeds("ada@x.org", HOME);
            }
        }
    }

    #[test]
    fn an_address_guesses_thirty_times_in_five_minutes_whoever_it_guesses_at() {
        let mut clock = ThrottleClock::new();
        let tries = |clock: &ThrottleClock, from: &str| -> usize {
            let names = (0..50).map(|n| format!("{n}@x.org"));
            names.map(|name| clock.tries(1, &name, from)).sum()
        };
        assert_eq!(tries(&clock, HOME), 30);
        assert_eq!(tries(&clock, "192.0.2.2"), 30);
        clock.pass(300);
        assert_eq!(tries(&clock, HOME), 30);
        // A household has a whole network of them.
        assert_eq!(tries(&clock, "2001:db8::1"), 30);
        assert_eq!(tries(&clock, "2001:db8::2"), 0);
        assert_eq!(tries(&clock, "2001:db8:0:1::2"), 30);
        assert_eq!(tries(&clock, "::ffff:192.0.2.1"), 0);
    }

    #[test]
    fn an_account_is_guessed_at_a_hundred_times_an_hour_from_everywhere() {
        let mut clock = ThrottleClock::new();
        clock.succeeds("ada@x.org", HOME);
        let tries = |clock: &ThrottleClock| -> usize {
            let places = (0..200).map(|n| format!("198.51.100.{n}"));
            places.map(|from| clock.tries(1, "ada@x.org", &from)).sum()
        };
        assert_eq!(tries(&clock), 100);
        // Where its owner has been before they are not locked out.
        assert_eq!(clock.tries(1, "ada@x.org", HOME), 1);
        clock.pass(3600);
        assert_eq!(tries(&clock), 100);
    }

    #[test]
    fn strangers_do_not_keep_others_from_signing_up() {
        let limiter = LoginThrottle::default();
        let now = Instant::now();
        let mut passed = 0;
        for place in 0..200_u32 {
            let from = IpAddr::V4(place.into());
            passed += usize::from(limiter.try_now(Attempt::SignUp, from, now).is_ok());
        }
        assert_eq!(passed, 200);
        // Nor does one address make accounts without end.
        let made = (0..50).filter(|_| {
            let tried = limiter.try_now(Attempt::SignUp, HOME.parse().unwrap(), now);
            limiter.succeeded(Attempt::SignUp, HOME.parse().unwrap(), now);
            tried.is_ok()
        });
        assert_eq!(made.count(), 30);
    }

    #[test]
    fn the_set_up_code_is_guessed_at_fifty_times_an_hour_from_everywhere() {
        let limiter = LoginThrottle::default();
        let now = Instant::now();
        let tries = |now: Instant| {
            let places = (0..200_u32).map(|place| IpAddr::V4(place.into()));
            let tried = places.map(|from| limiter.try_now(Attempt::SetUp, from, now));
            tried.filter(Result::is_ok).count()
        };
        assert_eq!(tries(now), 50);
        assert_eq!(tries(now + Duration::from_secs(3600)), 50);
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let limiter = LoginThrottle::default();
        let now = Instant::now();
        let home: IpAddr = HOME.parse().unwrap();
        for _ in 0..5 {
            let _ = limiter.try_now(Attempt::LogIn("ada@x.org"), home, now);
        }
        for n in 0..50_000_u32 {
            let from = IpAddr::V4((n + 0x0A00_0000).into());
            let _ = limiter.try_now(Attempt::LogIn(&format!("{n}@x.org")), from, now);
            limiter.succeeded(Attempt::LogIn(&format!("{n}@y.org")), from, now);
        }
        let buckets = limiter.buckets();
        let lengths = [
            buckets.pairs.len(),
            buckets.addresses.len(),
            buckets.accounts.len(),
            buckets.known.len(),
        ];
        assert!(
            lengths.iter().all(|length| *length <= MAX_BUCKETS),
            "{lengths:?}"
        );
        drop(buckets);
        // Those who guess most are remembered longest.
        let again = limiter.try_now(Attempt::LogIn("ada@x.org"), home, now);
        assert!(again.is_err());
    }
}
