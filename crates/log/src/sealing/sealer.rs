//! The writer's side: from the body of a group to its stored form.

use super::cipher::Aead;
use super::compression::Compressor;
use super::keys::{KeyRing, Keys};
use super::{Cipher, Sealing};
use crate::error::WriteError;
use crate::format::{
    BLOCK, BOUND_BYTES, Codec, Form, GROUP_HEADER_BYTES, GroupHeader, PLAIN_BYTES_MAX,
};
use crate::group::Group;
use crate::scratch::{SCRATCH_BYTES, Scratch};
use rialto_disk::BLOCK_BYTES;
use std::sync::Arc;

/// The log and epoch that keys are derived for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) salt: [u8; 16],
    pub(crate) number: u64,
}

/// Compresses and encrypts groups into memory of its own, which is reused for each. The group itself
/// stays as it is, for readers in memory.
pub(crate) struct Sealer {
    compressor: Option<Compressor>,
    encryption: Option<Encryption>,
    sealing: Sealing,
    /// The group as it will be stored.
    buf: Scratch,
    prepared: Prepared,
}

/// The prepared state of the next group.
struct Prepared {
    form: Form,
    /// Whether the compressed body is in the buffer.
    compressed: bool,
}

struct Encryption {
    cipher: Cipher,
    ring: KeyRing,
    epoch: Epoch,
    derived: Option<Derived>,
}

/// The derived key, kept until the ring changes.
struct Derived {
    of: Arc<Keys>,
    id: u64,
    key: Box<dyn Aead>,
}

impl Sealer {
    /// `None` without sealing.
    pub(crate) fn new(sealing: Sealing, ring: &KeyRing, epoch: Epoch) -> Option<Self> {
        if sealing == Sealing::NONE {
            return None;
        }
        let tag_bytes = Form::tag_bytes(Codec { method: None, cipher: sealing.encryption });
        let body_bytes = match sealing.compression.method() {
            Some(_) => Compressor::output_bytes_max(),
            None => PLAIN_BYTES_MAX,
        };
        let needed = (GROUP_HEADER_BYTES + body_bytes + tag_bytes).next_multiple_of(BLOCK_BYTES);
        assert!(needed <= SCRATCH_BYTES, "{needed} bytes are needed to seal the greatest group");
        Some(Self {
            compressor: Compressor::new(sealing.compression),
            encryption: sealing.encryption.map(|cipher| Encryption {
                cipher,
                ring: ring.clone(),
                epoch,
                derived: None,
            }),
            sealing,
            buf: Scratch::NONE,
            prepared: Prepared { form: Form::plain(0), compressed: false },
        })
    }

    /// Compresses a group if that pays, and chooses the key. Returns its bytes on disk. A failure
    /// changes nothing.
    pub(crate) fn prepare(&mut self, group: &Group) -> Result<u64, WriteError> {
        let key = match &mut self.encryption {
            Some(encryption) => encryption.settle_key()?,
            None => 0,
        };
        let plain = group.body();
        let mut codec = Codec { method: None, cipher: self.sealing.encryption };
        let tag_bytes = Form::tag_bytes(codec);
        // It must save a block, or decompression would be wasted work at every reading.
        let as_it_is = (GROUP_HEADER_BYTES + plain.len() + tag_bytes).next_multiple_of(BLOCK_BYTES);
        let limit = (as_it_is - BLOCK_BYTES).checked_sub(GROUP_HEADER_BYTES + tag_bytes);
        let compressed = match (&mut self.compressor, limit) {
            (Some(compressor), Some(limit)) => {
                compressor.compress(plain, &mut self.buf.taken()[GROUP_HEADER_BYTES..], limit)
            }
            _ => None,
        };
        if compressed.is_some() {
            codec.method = self.sealing.compression.method();
        }
        let form = Form {
            codec,
            key,
            plain_bytes: plain.len() as u32,
            stored_bytes: (compressed.unwrap_or(plain.len()) + tag_bytes) as u32,
        };
        self.prepared = Prepared { form, compressed: compressed.is_some() };
        Ok(stored_bytes(&form))
    }

    /// The id of the key that the prepared group is encrypted with; 0 for none.
    pub(crate) fn key(&self) -> u64 {
        self.prepared.form.key
    }

    pub(crate) fn encrypts(&self) -> bool {
        self.sealing.encryption.is_some()
    }

    /// Completes the group that was prepared. `place` makes its header, of a body with the checksum
    /// given. After a failure the group's number must not be used again.
    pub(crate) fn seal(
        &mut self,
        group: &Group,
        place: impl Fn(Form, u32) -> GroupHeader,
    ) -> Result<(GroupHeader, u32), WriteError> {
        let Prepared { form, compressed } = self.prepared;
        let stored = stored_bytes(&form) as usize;
        let body_end = GROUP_HEADER_BYTES + form.stored_bytes as usize;
        let buf = &mut self.buf.taken()[..stored];
        let (header_bytes, rest) = buf.split_at_mut(GROUP_HEADER_BYTES);
        let (body, padding) = rest.split_at_mut(body_end - GROUP_HEADER_BYTES);
        padding.fill(0);
        match &self.encryption {
            None if !compressed => body.copy_from_slice(group.body()),
            None => {}
            Some(encryption) => {
                let header = place(form, 0);
                header.encode(header_bytes);
                let bound = &header_bytes[BOUND_BYTES];
                let (body, tag) = body.split_at_mut(body.len() - Form::tag_bytes(form.codec));
                let key = encryption.key();
                let sealed = match compressed {
                    true => key.seal_in_place(header.number, bound, body),
                    false => key.seal_into(header.number, bound, group.body(), body),
                };
                tag.copy_from_slice(&sealed.map_err(|_| WriteError::Encryption)?);
            }
        }
        let header = place(form, crc32c::crc32c(body));
        let checksum = header.encode(header_bytes);
        Ok((header, checksum))
    }

    /// The group that was sealed last, whole blocks.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.buf[..stored_bytes(&self.prepared.form) as usize]
    }

    /// Breaks the cipher, as nothing outside can.
    #[cfg(test)]
    pub(crate) fn break_cipher(&mut self, broken: Box<dyn Aead>) {
        let derived = self.encryption.as_mut().and_then(|it| it.derived.as_mut());
        derived.expect("a group was sealed before").key = broken;
    }
}

impl Encryption {
    fn settle_key(&mut self) -> Result<u64, WriteError> {
        let keys = self.ring.keys();
        if let Some(derived) = self.derived.as_ref().filter(|it| Arc::ptr_eq(&it.of, &keys)) {
            return Ok(derived.id);
        }
        let current = keys.current.and_then(|id| Some((id, keys.by_id.get(&id)?)));
        let (id, master) = current.ok_or(WriteError::NoKey)?;
        let key = self.cipher.key(master, &self.epoch.salt, self.epoch.number);
        self.derived = Some(Derived { of: keys, id, key });
        Ok(id)
    }

    fn key(&self) -> &dyn Aead {
        let derived = self.derived.as_ref();
        &*derived.expect("a group is prepared, which settles the key, before it is sealed").key
    }
}

fn stored_bytes(form: &Form) -> u64 {
    (GROUP_HEADER_BYTES as u64 + u64::from(form.stored_bytes)).next_multiple_of(BLOCK)
}
