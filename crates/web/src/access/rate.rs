//! How much one client may ask for: requests a second, and streams at once.
//!
//! Promises bounded memory whoever asks: clients that are quiet are forgotten, and when too many are loud at once they
//! share what is left.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use governor::clock::DefaultClock;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock>;

/// Clients remembered at once.
const MOST: usize = 10_000;
/// Buckets that the others share.
const SHARED: u64 = 64;

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// A token's.
    Token(String),
    /// An address's; of IPv6 the network of 64 bits, which one machine can use up at will.
    Address(IpAddr),
    /// One of the buckets for all that there is no room for.
    Shared(u64),
}

impl Client {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self::Address(match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
                Some(v4) => IpAddr::V4(v4),
                None => IpAddr::V6((v6.to_bits() >> 64 << 64).into()),
            },
        })
    }
}

struct Account {
    limiter: Limiter,
    streams: usize,
}

/// See the module.
pub(crate) struct Rates {
    quota: Quota,
    streams: usize,
    accounts: Mutex<HashMap<Client, Account>>,
    hasher: RandomState,
}

impl Rates {
    pub(crate) fn new(per_second: u32, streams: usize) -> Self {
        let rate = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
        let quota =
            Quota::per_second(rate).allow_burst(rate.saturating_mul(NonZeroU32::MIN.saturating_add(1)));
        Self { quota, streams, accounts: Mutex::default(), hasher: RandomState::new() }
    }

    fn account<T>(&self, client: Client, act: impl FnOnce(&mut Account) -> T) -> (Client, T) {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut client = client;
        if accounts.len() >= MOST && !accounts.contains_key(&client) {
            accounts.retain(|_, account| account.streams > 0 || account.limiter.check().is_err());
            if accounts.len() >= MOST {
                client = Client::Shared(self.hasher.hash_one(&client) % SHARED);
            }
        }
        let quota = self.quota;
        let fresh = || Account { limiter: RateLimiter::direct(quota), streams: 0 };
        let account = accounts.entry(client.clone()).or_insert_with(fresh);
        let done = act(account);
        (client, done)
    }

    /// Whether one more request may be made.
    pub(crate) fn take(&self, client: Client) -> bool {
        self.account(client, |account| account.limiter.check().is_ok()).1
    }

    /// A place for one more stream, held until it is dropped.
    pub(crate) fn stream(self: &Arc<Self>, client: Client) -> Option<StreamPlace> {
        let most = self.streams;
        let (client, taken) = self.account(client, |account| {
            let free = account.streams < most;
            account.streams += usize::from(free);
            free
        });
        taken.then(|| StreamPlace { rates: Arc::clone(self), client })
    }
}

/// A place for a stream.
pub(crate) struct StreamPlace {
    rates: Arc<Rates>,
    client: Client,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut accounts = self.rates.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get_mut(&self.client) {
            account.streams = account.streams.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_ask_so_much_and_others_are_not_hurt() {
        let rates = Rates::new(3, 1);
        let (one, two) = (Client::Token("one".into()), Client::of("10.0.0.1".parse().unwrap()));
        assert_eq!((0..10).filter(|_| rates.take(one.clone())).count(), 6);
        assert!(rates.take(two));
    }

    #[test]
    fn a_streams_place_is_given_back() {
        let rates = Arc::new(Rates::new(3, 1));
        let client = Client::of("::1".parse().unwrap());
        let place = rates.stream(client.clone()).unwrap();
        assert!(rates.stream(client.clone()).is_none());
        drop(place);
        assert!(rates.stream(client).is_some());
    }

    #[test]
    fn any_number_of_clients_takes_bounded_memory() {
        let rates = Rates::new(1, 1);
        for number in 0..MOST * 2 {
            let client = Client::Token(number.to_string());
            while rates.take(client.clone()) {}
        }
        let kept = rates.accounts.lock().unwrap().len();
        assert!(kept <= MOST + usize::try_from(SHARED).unwrap(), "{kept}");
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let of = |text: &str| Client::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
