//! Open connections and their limits by address and key.

use super::Pool;
use super::message_bytes::MessageBytes;
use crate::ApiError;
use axum::http::StatusCode;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// All open connections.
    pub(crate) open: usize,
    /// Those of one address without a signed request.
    pub(crate) of_address: usize,
    /// Those of one key.
    pub(crate) of_key: usize,
    /// Subscriptions of one address on unauthenticated streams.
    pub(crate) address_subscriptions: usize,
}

/// The open connections of a listener.
pub(crate) struct Connections {
    limits: ConnectionLimits,
    table: Mutex<Table>,
    refused: AtomicU64,
}

/// Its size is bounded by the number of open connections.
#[derive(Default)]
struct Table {
    open: usize,
    addresses: HashMap<IpAddr, Share>,
    keys: HashMap<Box<str>, usize>,
}

/// The connections of one address.
#[derive(Default)]
struct Share {
    connections: usize,
    subscriptions: usize,
}

/// The holder that a connection counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// An address, until a request on the connection is signed.
    Address(IpAddr),
    /// The key of the first signed request; empty for the admin key.
    Key(Box<str>),
    /// A trusted proxy, which sends requests of many callers on one connection.
    Proxy,
}

/// A limit of connections is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooMany {
    /// The limit of all.
    Open,
    /// The limit of the address.
    Address,
    /// The limit of the key.
    Key,
}

impl From<TooMany> for ApiError {
    fn from(too_many: TooMany) -> ApiError {
        let message = match too_many {
            TooMany::Open => "The venue has reached its limit of connections; try again later.",
            TooMany::Address => {
                "This address has as many connections without a signed request as it may; close \
                 one, or sign a request on one."
            }
            TooMany::Key => "This key has reached its limit of connections; close one.",
        };
        let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", message);
        ApiError { retry: true, ..error }
    }
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Connections {
        Connections { limits, table: Mutex::default(), refused: AtomicU64::new(0) }
    }

    /// Counts a connection until the returned value is dropped.
    pub(crate) fn open(self: &Arc<Self>, holder: Holder) -> Result<Arc<Open>, TooMany> {
        let counted = self.lock().count_in(&self.limits, &holder);
        counted.inspect_err(|_| self.refuse())?;
        Ok(Arc::new(Open {
            connections: Arc::clone(self),
            holding: Mutex::new(Holding { holder, subscriptions: 0 }),
            is_signed: AtomicBool::new(false),
            requests_left: AtomicU64::new(NOT_NOTED),
            pool: AtomicU8::new(Pool::Orders as u8),
            wanted: AtomicU8::new(Pool::Orders as u8),
            message_bytes: MessageBytes::unlimited(),
        }))
    }

    /// Counts a refused connection.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of open connections, streams included.
    pub(crate) fn count(&self) -> u64 {
        self.lock().open as u64
    }

    /// The number of refused connections since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // No code here panics between two dependent changes.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn count_in(&mut self, limits: &ConnectionLimits, holder: &Holder) -> Result<(), TooMany> {
        if self.open >= limits.open {
            return Err(TooMany::Open);
        }
        self.join(limits, holder)?;
        self.open += 1;
        Ok(())
    }

    fn join(&mut self, limits: &ConnectionLimits, holder: &Holder) -> Result<(), TooMany> {
        match holder {
            Holder::Address(address) => {
                let held = self.addresses.get(address).map_or(0, |share| share.connections);
                if held >= limits.of_address {
                    return Err(TooMany::Address);
                }
                self.addresses.entry(*address).or_default().connections += 1;
            }
            Holder::Key(key) => {
                let held = self.keys.get(key).copied().unwrap_or_default();
                if held >= limits.of_key {
                    return Err(TooMany::Key);
                }
                *self.keys.entry(key.clone()).or_default() += 1;
            }
            Holder::Proxy => {}
        }
        Ok(())
    }

    fn leave(&mut self, holding: &Holding) {
        match &holding.holder {
            Holder::Address(address) => {
                if let Some(share) = self.addresses.get_mut(address) {
                    share.connections -= 1;
                    share.subscriptions -= holding.subscriptions;
                    if share.connections == 0 {
                        self.addresses.remove(address);
                    }
                }
            }
            Holder::Key(key) => {
                if let Some(held) = self.keys.get_mut(key) {
                    *held -= 1;
                    if *held == 0 {
                        self.keys.remove(key);
                    }
                }
            }
            Holder::Proxy => {}
        }
    }
}

/// An open connection: its holder, and the threads that serve it.
pub(crate) struct Open {
    connections: Arc<Connections>,
    holding: Mutex<Holding>,
    /// Whether it counts for a key, so that further requests need no lock.
    is_signed: AtomicBool,
    /// The remaining requests of the current request's key, for its answer.
    requests_left: AtomicU64,
    pub(super) pool: AtomicU8,
    pub(super) wanted: AtomicU8,
    message_bytes: MessageBytes,
}

/// No remaining requests are noted.
const NOT_NOTED: u64 = u64::MAX;

struct Holding {
    holder: Holder,
    /// Subscriptions that count for the address.
    subscriptions: usize,
}

impl Open {
    /// Counts the connection for this key from its first signed request on (empty for the admin
    /// key). A proxy's connection is not counted, because many callers use it.
    ///
    /// # Errors
    /// The limit of the key is reached.
    pub(crate) fn signed_by(&self, key: &str) -> Result<(), TooMany> {
        if self.is_signed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut holding = self.lock();
        if matches!(holding.holder, Holder::Address(_)) {
            self.pass_on(&mut holding, Holder::Key(key.into()))?;
        }
        self.is_signed.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Notes the key's remaining requests for the answer.
    pub(crate) fn note_requests_left(&self, left: u64) {
        self.requests_left.store(left, Ordering::Relaxed);
    }

    /// Takes the noted number.
    pub(crate) fn take_requests_left(&self) -> Option<u64> {
        let left = self.requests_left.swap(NOT_NOTED, Ordering::Relaxed);
        (left != NOT_NOTED).then_some(left)
    }

    /// Counts a proxy's connection for the caller's address, because the proxy named the client or
    /// because the connection became a stream.
    ///
    /// # Errors
    /// The limit of the address is reached.
    pub(crate) fn belongs_to(&self, address: IpAddr) -> Result<(), TooMany> {
        let mut holding = self.lock();
        if holding.holder == Holder::Proxy {
            self.pass_on(&mut holding, Holder::Address(address))?;
            self.is_signed.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    fn pass_on(&self, holding: &mut Holding, holder: Holder) -> Result<(), TooMany> {
        let mut table = self.connections.lock();
        let joined = table.join(&self.connections.limits, &holder);
        joined.inspect_err(|_| self.connections.refuse())?;
        table.leave(holding);
        *holding = Holding { holder, subscriptions: 0 };
        Ok(())
    }

    /// Counts a subscription of the stream while the stream is unauthenticated.
    ///
    /// # Errors
    /// The limit of unauthenticated subscriptions of the address is reached.
    pub(crate) fn subscribe(&self) -> Result<(), ApiError> {
        let mut holding = self.lock();
        let Holder::Address(address) = holding.holder else { return Ok(()) };
        let max = self.connections.limits.address_subscriptions;
        let mut table = self.connections.lock();
        let share = table.addresses.entry(address).or_default();
        if share.subscriptions >= max {
            let message = format!(
                "This address has {max} subscriptions on streams that nobody authenticated on: \
                 send auth first, or unsubscribe."
            );
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(ApiError::new(status, "too_many_subscriptions", message));
        }
        share.subscriptions += 1;
        holding.subscriptions += 1;
        Ok(())
    }

    /// Ends a subscription.
    pub(crate) fn unsubscribe(&self) {
        let mut holding = self.lock();
        // Subscriptions from before the authentication count no more.
        if let (Holder::Address(address), 1..) = (&holding.holder, holding.subscriptions) {
            if let Some(share) = self.connections.lock().addresses.get_mut(address) {
                share.subscriptions -= 1;
            }
            holding.subscriptions -= 1;
        }
    }

    /// Limits the length of messages, because the connection is a stream from now on.
    pub(crate) fn limit_messages(&self, message_bytes_max: usize) {
        self.message_bytes.limit(message_bytes_max);
    }

    /// Resets the count after a complete message.
    pub(crate) fn message_has_come(&self) {
        self.message_bytes.message();
    }

    /// Counts bytes; `false` beyond the limit of a message.
    pub(crate) fn count_read(&self, bytes: usize) -> bool {
        self.message_bytes.count(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Holding> {
        // No code here panics between two dependent changes.
        self.holding.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut table = self.connections.lock();
        table.leave(self.holding.get_mut().unwrap_or_else(PoisonError::into_inner));
        table.open -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(open: usize, of_address: usize, of_key: usize) -> Arc<Connections> {
        let address_subscriptions = 3;
        Arc::new(Connections::new(ConnectionLimits {
            open,
            of_address,
            of_key,
            address_subscriptions,
        }))
    }

    fn from(last: u8) -> Holder {
        Holder::Address([192, 0, 2, last].into())
    }

    #[test]
    fn an_address_holds_only_its_share_until_a_request_is_signed() {
        let all = connections(9, 2, 1);
        let first = all.open(from(1)).ok().unwrap();
        let second = all.open(from(1)).ok().unwrap();
        assert_eq!(all.open(from(1)).err(), Some(TooMany::Address));
        let _other = all.open(from(2)).ok().unwrap();
        first.signed_by("alice").unwrap();
        let _third = all.open(from(1)).ok().unwrap();
        // The key has its limit too, and a connection stays with its first key.
        assert_eq!(second.signed_by("alice"), Err(TooMany::Key));
        second.signed_by("bob").unwrap();
        second.signed_by("alice").unwrap();
        drop(first);
        all.open(from(3)).ok().unwrap().signed_by("alice").unwrap();
        assert_eq!((all.count(), all.refused()), (3, 2));
    }

    #[test]
    fn nothing_is_left_of_connections_that_ended() {
        let all = connections(2, 2, 2);
        let held = [all.open(from(1)).ok().unwrap(), all.open(Holder::Proxy).ok().unwrap()];
        assert_eq!(all.open(from(2)).err(), Some(TooMany::Open));
        held[0].subscribe().unwrap();
        held[1].signed_by("alice").unwrap();
        held[1].belongs_to([192, 0, 2, 7].into()).unwrap();
        held[1].signed_by("alice").unwrap();
        drop(held);
        let table = all.lock();
        assert_eq!((table.open, table.addresses.len(), table.keys.len()), (0, 0, 0));
    }

    #[test]
    fn unauthenticated_subscriptions_of_an_address_are_bounded() {
        let all = connections(9, 9, 9);
        let [first, second] = [1, 1].map(|last| all.open(from(last)).ok().unwrap());
        first.subscribe().unwrap();
        first.subscribe().unwrap();
        second.subscribe().unwrap();
        assert_eq!(second.subscribe().unwrap_err().code, "too_many_subscriptions");
        first.unsubscribe();
        second.subscribe().unwrap();
        second.signed_by("alice").unwrap();
        for _ in 0..9 {
            second.subscribe().unwrap();
        }
        first.subscribe().unwrap();
        first.subscribe().unwrap();
        assert!(first.subscribe().is_err());
    }
}
