//! Memory for the bodies of requests.

use super::source_of;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest body that may use the reserved memory.
const SMALL_BYTES_MAX: usize = 64 << 10;

/// The limits of memory for bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyLimits {
    /// All bodies.
    pub(crate) total_bytes: usize,
    /// The part that is reserved for bodies of up to 64 KiB of authenticated requests.
    pub(crate) reserve_bytes: usize,
    /// Bodies of one key.
    pub(crate) key_bytes: usize,
    /// Bodies of unauthenticated requests of one address.
    pub(crate) address_bytes: usize,
}

/// The reason why a body gets no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Its owner's limit is reached.
    OfOwner,
    /// The limit of all bodies is reached.
    OfAll,
}

/// The memory of one key's bodies; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share(Arc<AtomicUsize>);

/// The owner of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner<'a> {
    /// An authenticated key.
    Key(&'a Share),
    /// An address, because the request is not authenticated.
    Address(IpAddr),
}

/// The memory of all bodies.
pub(crate) struct Bodies {
    limits: BodyLimits,
    all: AtomicUsize,
    /// The part used by unauthenticated requests.
    unproved: AtomicUsize,
    addresses: Mutex<HashMap<IpAddr, usize>>,
}

/// The memory of one body, released when this is dropped.
pub(crate) struct BodyMemory {
    bodies: Arc<Bodies>,
    payer: Payer,
    bytes: usize,
}

enum Payer {
    Key(Share),
    Address(IpAddr),
}

impl Bodies {
    pub(crate) fn new(limits: BodyLimits) -> Bodies {
        let (all, unproved, addresses) = Default::default();
        Bodies { limits, all, unproved, addresses }
    }

    /// The memory of all bodies now.
    pub(crate) fn held_bytes(&self) -> usize {
        self.all.load(Ordering::Relaxed)
    }

    /// Takes memory for a body.
    pub(crate) fn take(
        self: &Arc<Self>,
        owner: Owner<'_>,
        bytes: usize,
    ) -> Result<BodyMemory, NoRoom> {
        let payer = match owner {
            Owner::Key(share) => Payer::Key(share.clone()),
            Owner::Address(peer) => Payer::Address(source_of(peer)),
        };
        let mut held = BodyMemory { bodies: Arc::clone(self), payer, bytes: 0 };
        held.grow_to(bytes)?;
        Ok(held)
    }

    /// The limit of all memory for a body of this length.
    fn limit_for(&self, payer: &Payer, bytes: usize) -> usize {
        let BodyLimits { total_bytes, reserve_bytes, .. } = self.limits;
        match payer {
            Payer::Key(_) if bytes <= SMALL_BYTES_MAX => total_bytes,
            _ => total_bytes.saturating_sub(reserve_bytes),
        }
    }

    fn take_from_payer(&self, payer: &Payer, bytes: usize) -> Result<(), NoRoom> {
        match payer {
            Payer::Key(share) => match add(&share.0, bytes, self.limits.key_bytes) {
                true => Ok(()),
                false => Err(NoRoom::OfOwner),
            },
            Payer::Address(address) => {
                let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
                let held = addresses.get(address).copied().unwrap_or_default();
                if bytes > self.limits.address_bytes.saturating_sub(held) {
                    return Err(NoRoom::OfOwner);
                }
                // Unauthenticated requests together may use half of the unreserved memory.
                if !add(&self.unproved, bytes, self.limit_for(payer, bytes) / 2) {
                    return Err(NoRoom::OfAll);
                }
                addresses.insert(*address, held + bytes);
                Ok(())
            }
        }
    }

    fn give_back_to_payer(&self, payer: &Payer, bytes: usize) {
        match payer {
            Payer::Key(share) => drop(share.0.fetch_sub(bytes, Ordering::Relaxed)),
            Payer::Address(address) => {
                let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(held) = addresses.get_mut(address) {
                    *held = held.saturating_sub(bytes);
                    if *held == 0 {
                        addresses.remove(address);
                    }
                }
                self.unproved.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
    }
}

/// Adds unless the sum would exceed the limit.
fn add(sum: &AtomicUsize, bytes: usize, limit: usize) -> bool {
    let add = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= limit);
    sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
}

impl BodyMemory {
    /// Takes more memory for a growing body.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        self.bodies.take_from_payer(&self.payer, more)?;
        if !add(&self.bodies.all, more, self.bodies.limit_for(&self.payer, bytes)) {
            self.bodies.give_back_to_payer(&self.payer, more);
            return Err(NoRoom::OfAll);
        }
        self.bytes += more;
        Ok(())
    }

    /// Charges the body to the authenticated key.
    pub(crate) fn pay_from(&mut self, share: &Share) -> Result<(), NoRoom> {
        let payer = Payer::Key(share.clone());
        self.bodies.take_from_payer(&payer, self.bytes)?;
        let before = std::mem::replace(&mut self.payer, payer);
        self.bodies.give_back_to_payer(&before, self.bytes);
        Ok(())
    }
}

impl Drop for BodyMemory {
    fn drop(&mut self) {
        self.bodies.all.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bodies.give_back_to_payer(&self.payer, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    fn bodies() -> Arc<Bodies> {
        Arc::new(Bodies::new(BodyLimits {
            total_bytes: 1_024 * KIB,
            reserve_bytes: 256 * KIB,
            key_bytes: 512 * KIB,
            address_bytes: 128 * KIB,
        }))
    }

    fn address(last: u8) -> Owner<'static> {
        Owner::Address(IpAddr::from([127, 0, 0, last]))
    }

    fn refusal(taken: Result<BodyMemory, NoRoom>) -> Option<NoRoom> {
        taken.err()
    }

    #[test]
    fn an_address_and_a_key_have_a_share_each_and_get_it_back() {
        let bodies = bodies();
        let first = bodies.take(address(1), 128 * KIB).unwrap();
        assert_eq!(refusal(bodies.take(address(1), 1)), Some(NoRoom::OfOwner));
        let other = bodies.take(address(2), KIB).unwrap();
        drop(first);
        drop(bodies.take(address(1), 128 * KIB).unwrap());
        drop(other);
        let (alice, bob) = (Share::default(), Share::default());
        let _held = bodies.take(Owner::Key(&alice), 512 * KIB).unwrap();
        assert_eq!(refusal(bodies.take(Owner::Key(&alice), 1)), Some(NoRoom::OfOwner));
        drop(bodies.take(Owner::Key(&bob), 1).unwrap());
        assert_eq!(bodies.held_bytes(), 512 * KIB);
        assert!(bodies.addresses.lock().unwrap().is_empty());
    }

    #[test]
    fn the_reserve_is_for_small_bodies_of_proved_senders() {
        let bodies = bodies();
        let (alice, bob) = (Share::default(), Share::default());
        let _first = bodies.take(Owner::Key(&alice), 512 * KIB).unwrap();
        let _second = bodies.take(Owner::Key(&bob), 256 * KIB).unwrap();
        assert_eq!(refusal(bodies.take(Owner::Key(&bob), 65 * KIB)), Some(NoRoom::OfAll));
        assert_eq!(refusal(bodies.take(address(1), 1)), Some(NoRoom::OfAll));
        let _small: Vec<_> =
            (0..4).map(|_| bodies.take(Owner::Key(&bob), 64 * KIB).unwrap()).collect();
        assert_eq!(refusal(bodies.take(Owner::Key(&Share::default()), 1)), Some(NoRoom::OfAll));
    }

    #[test]
    fn strangers_leave_half_of_what_is_not_reserved() {
        let bodies = bodies();
        let _held: Vec<_> =
            (1..=3).map(|last| bodies.take(address(last), 128 * KIB).unwrap()).collect();
        assert_eq!(refusal(bodies.take(address(4), 1)), Some(NoRoom::OfAll));
        drop(bodies.take(Owner::Key(&Share::default()), 384 * KIB).unwrap());
    }

    #[test]
    fn a_body_is_charged_to_its_key_after_authentication() {
        let bodies = bodies();
        let mut held = bodies.take(address(1), 128 * KIB).unwrap();
        let key = Share::default();
        held.pay_from(&key).unwrap();
        drop(bodies.take(address(1), 128 * KIB).unwrap());
        assert_eq!(refusal(bodies.take(Owner::Key(&key), 400 * KIB)), Some(NoRoom::OfOwner));
        drop(held);
        assert_eq!(bodies.held_bytes(), 0);
    }

    #[test]
    fn a_body_that_grows_past_a_limit_keeps_what_it_has() {
        let bodies = bodies();
        let mut held = bodies.take(address(1), 0).unwrap();
        held.grow_to(128 * KIB).unwrap();
        assert_eq!(held.grow_to(128 * KIB + 1), Err(NoRoom::OfOwner));
        assert_eq!(bodies.held_bytes(), 128 * KIB);
        drop(held);
        assert_eq!(bodies.held_bytes(), 0);
    }
}
