//! The reader's side: from the stored form to the body of a group.

use super::Cipher;
use super::cipher::Aead;
use super::compression::Decompressor;
use super::keys::{KeyRing, Keys};
use crate::format::{BOUND_BYTES, Flaw, Form, GROUP_HEADER_BYTES, GroupHeader};
use crate::scratch::Scratch;
use std::sync::Arc;

/// Unseals bodies into memory of its own, which is reused for each.
pub(crate) struct Unsealer {
    ring: KeyRing,
    derived: Option<Derived>,
    decompressor: Decompressor,
    /// A body that has been decrypted, but is still compressed.
    packed: Scratch,
    plain: Scratch,
    plain_bytes: usize,
}

/// The last derived key, kept while groups name it and the ring is unchanged.
struct Derived {
    of: Arc<Keys>,
    id: u64,
    cipher: Cipher,
    salt: [u8; 16],
    epoch: u64,
    key: Box<dyn Aead>,
}

impl Unsealer {
    pub(crate) fn new(ring: &KeyRing) -> Self {
        Self {
            ring: ring.clone(),
            derived: None,
            decompressor: Decompressor::default(),
            packed: Scratch::NONE,
            plain: Scratch::NONE,
            plain_bytes: 0,
        }
    }

    /// Unseals the body of a group whose checksums have been checked. `group` is the stored group.
    /// A torn write cannot cause the flaws found here.
    pub(crate) fn unseal(&mut self, header: &GroupHeader, group: &[u8]) -> Result<(), Flaw> {
        let Form { codec, plain_bytes, stored_bytes, .. } = header.form;
        let stored = &group[GROUP_HEADER_BYTES..][..stored_bytes as usize];
        let plain = &mut self.plain.taken()[..plain_bytes as usize];
        self.plain_bytes = plain_bytes as usize;
        let mut open = |cipher, target: &mut [u8]| {
            derive(&mut self.derived, &self.ring, header, cipher)?
                .open_into(header.number, &group[BOUND_BYTES], stored, target)
                .map_err(|_| Flaw::Undecryptable { key: header.form.key })
        };
        let mut decompress = |method, packed: &[u8], plain: &mut [u8]| {
            self.decompressor.decompress(method, packed, plain).ok_or(Flaw::Decompression)
        };
        match (codec.cipher, codec.method) {
            (Some(cipher), None) => open(cipher, plain),
            (None, Some(method)) => decompress(method, stored, plain),
            (Some(cipher), Some(method)) => {
                let packed_bytes = stored.len() - Form::tag_bytes(codec);
                let packed = &mut self.packed.taken()[..packed_bytes];
                open(cipher, packed)?;
                decompress(method, packed, plain)
            }
            (None, None) => {
                plain.copy_from_slice(stored);
                Ok(())
            }
        }
    }

    /// The body that was unsealed last.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.plain[..self.plain_bytes]
    }
}

fn derive<'a>(
    derived: &'a mut Option<Derived>,
    ring: &KeyRing,
    header: &GroupHeader,
    cipher: Cipher,
) -> Result<&'a dyn Aead, Flaw> {
    let (id, salt, epoch) = (header.form.key, header.salt, header.epoch);
    let keys = ring.keys();
    let fits = |it: &Derived| {
        Arc::ptr_eq(&it.of, &keys)
            && (it.id, it.cipher, it.salt, it.epoch) == (id, cipher, salt, epoch)
    };
    if !derived.as_ref().is_some_and(fits) {
        let master = keys.by_id.get(&id).ok_or(Flaw::UnknownKey { key: id })?;
        let key = cipher.key(master, &salt, epoch);
        *derived = Some(Derived { of: keys.clone(), id, cipher, salt, epoch, key });
    }
    let derived = derived.as_ref().expect("it has just been filled where it did not fit");
    Ok(&*derived.key)
}
