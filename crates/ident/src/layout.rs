//! The layout of the bits of an id.

use crate::id::Id;
use std::fmt;

/// The moment that an id's time counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(u64);

impl Epoch {
    /// 1970-01-01 UTC.
    pub const UNIX: Epoch = Epoch(0);
    /// 2025-01-01 UTC, which the presets count from.
    pub const Y2025: Epoch = Epoch(1_735_689_600_000);

    /// The epoch `ms` milliseconds after 1970-01-01 UTC.
    #[must_use]
    pub const fn from_unix_ms(ms: u64) -> Epoch {
        Epoch(ms)
    }

    /// Milliseconds between 1970-01-01 UTC and this epoch.
    #[must_use]
    pub const fn unix_ms(self) -> u64 {
        self.0
    }
}

/// The layout of the 63 bits of an id: time in milliseconds since an epoch, then datacenter, then
/// worker, then sequence, from the highest bit to the lowest.
///
/// The sequence is what is counted within a millisecond, so its bits are the ceiling of ids a
/// second ([`Layout::ceiling`]); no generator is faster than its layout for long.
///
/// ```
/// use rialto_ident::{Epoch, Layout};
///
/// // A layout of one's own is checked when the program is compiled.
/// const OURS: Layout = match Layout::new(42, 3, 6, 12) {
///     Ok(layout) => layout.with_epoch(Epoch::UNIX),
///     Err(_) => panic!("the bits of an id do not add up"),
/// };
/// assert_eq!(OURS.ceiling(), 4_096_000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    epoch: Epoch,
    time: u32,
    datacenter: u32,
    worker: u32,
    sequence: u32,
}

/// All bits of an id; the sign bit of a 64-bit integer stays clear.
const BITS: u32 = 63;
/// Less is used up within 50 days.
const TIME_BITS_MIN: u32 = 32;

impl Layout {
    /// 41 bits of time (69 years), 10 of worker (1,024), 12 of sequence: 4,096,000 ids a second.
    /// The layout that most systems mean by Snowflake.
    pub const CLASSIC: Layout = Layout::preset(41, 0, 10, 12);
    /// The same with the ten bits of place halved between datacenter and worker.
    pub const CLASSIC_DATACENTERS: Layout = Layout::preset(41, 5, 5, 12);
    /// 40 bits of time (34 years), 5 of worker (32), 18 of sequence: 262,144,000 ids a second. For
    /// few processes that make many ids.
    pub const WIDE: Layout = Layout::preset(40, 0, 5, 18);
    /// 44 bits of time (557 years), 8 of worker (256), 11 of sequence: 2,048,000 ids a second.
    pub const LONG_LIVED: Layout = Layout::preset(44, 0, 8, 11);
    /// 38 bits of time (8 years), 13 of worker (8,192), 12 of sequence: 4,096,000 ids a second.
    pub const MANY_WORKERS: Layout = Layout::preset(38, 0, 13, 12);

    /// Every preset, with its name.
    pub const PRESETS: [(&'static str, Layout); 5] = [
        ("CLASSIC", Layout::CLASSIC),
        ("CLASSIC_DATACENTERS", Layout::CLASSIC_DATACENTERS),
        ("WIDE", Layout::WIDE),
        ("LONG_LIVED", Layout::LONG_LIVED),
        ("MANY_WORKERS", Layout::MANY_WORKERS),
    ];

    /// A layout of these bits, counting from [`Epoch::Y2025`].
    ///
    /// # Errors
    /// The bits make more than 63, time has fewer than 32, or there is no sequence.
    pub const fn new(
        time: u32,
        datacenter: u32,
        worker: u32,
        sequence: u32,
    ) -> Result<Layout, LayoutError> {
        if time < TIME_BITS_MIN {
            return Err(LayoutError::TimeTooShort { bits: time });
        }
        if sequence == 0 {
            return Err(LayoutError::NoSequence);
        }
        // Each is looked at alone first, so that no sum overflows.
        if time > BITS || datacenter > BITS || worker > BITS || sequence > BITS {
            return Err(LayoutError::TooManyBits);
        }
        if time + datacenter + worker + sequence > BITS {
            return Err(LayoutError::TooManyBits);
        }
        Ok(Layout { epoch: Epoch::Y2025, time, datacenter, worker, sequence })
    }

    const fn preset(time: u32, datacenter: u32, worker: u32, sequence: u32) -> Layout {
        match Layout::new(time, datacenter, worker, sequence) {
            Ok(layout) => layout,
            Err(_) => panic!("the bits of a preset do not add up"),
        }
    }

    /// The same layout, counting from another epoch.
    #[must_use]
    pub const fn with_epoch(self, epoch: Epoch) -> Layout {
        Layout { epoch, ..self }
    }

    /// Its epoch.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The most ids a second of one generator.
    #[must_use]
    pub const fn ceiling(&self) -> u64 {
        (1_u64 << self.sequence).saturating_mul(1_000)
    }

    /// The greatest value of a part.
    #[must_use]
    pub const fn max(&self, part: Part) -> u64 {
        let bits = match part {
            Part::Time => self.time,
            Part::Datacenter => self.datacenter,
            Part::Worker => self.worker,
            Part::Sequence => self.sequence,
        };
        (1 << bits) - 1
    }

    /// The last millisecond since 1970 that an id can hold.
    #[must_use]
    pub const fn last_ms(&self) -> u64 {
        self.epoch.0.saturating_add(self.max(Part::Time))
    }

    /// Splits an id into its parts. The layout must be the one that the id was made with. Bits
    /// above those of the layout are ignored.
    #[must_use]
    pub const fn parts(&self, id: Id) -> Parts {
        let number = id.get();
        let sequence = number & self.max(Part::Sequence);
        let worker = (number >> self.sequence) & self.max(Part::Worker);
        let datacenter = (number >> (self.sequence + self.worker)) & self.max(Part::Datacenter);
        let time = (number >> self.time_shift()) & self.max(Part::Time);
        Parts { unix_ms: self.epoch.0.saturating_add(time), datacenter, worker, sequence }
    }

    /// Puts an id together.
    ///
    /// # Errors
    /// A part does not fit.
    pub const fn id(&self, parts: Parts) -> Result<Id, LayoutError> {
        let Some(time) = parts.unix_ms.checked_sub(self.epoch.0) else {
            return Err(LayoutError::PartTooLarge {
                part: Part::Time,
                value: parts.unix_ms,
                max: self.last_ms(),
            });
        };
        if time > self.max(Part::Time) {
            return Err(LayoutError::PartTooLarge {
                part: Part::Time,
                value: parts.unix_ms,
                max: self.last_ms(),
            });
        }
        if parts.sequence > self.max(Part::Sequence) {
            return Err(self.too_large(Part::Sequence, parts.sequence));
        }
        match self.place(parts.datacenter, parts.worker) {
            Ok(place) => Ok(Id::of_parts((time << self.time_shift()) | place | parts.sequence)),
            Err(error) => Err(error),
        }
    }

    /// The bits of datacenter and worker where they stand in an id.
    pub(crate) const fn place(&self, datacenter: u64, worker: u64) -> Result<u64, LayoutError> {
        if datacenter > self.max(Part::Datacenter) {
            return Err(self.too_large(Part::Datacenter, datacenter));
        }
        if worker > self.max(Part::Worker) {
            return Err(self.too_large(Part::Worker, worker));
        }
        Ok((datacenter << (self.sequence + self.worker)) | (worker << self.sequence))
    }

    const fn too_large(&self, part: Part, value: u64) -> LayoutError {
        LayoutError::PartTooLarge { part, value, max: self.max(part) }
    }

    pub(crate) const fn sequence_bits(&self) -> u32 {
        self.sequence
    }

    pub(crate) const fn time_shift(&self) -> u32 {
        self.datacenter + self.worker + self.sequence
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self} since {} ms)", self.epoch.0)
    }
}

/// The bits from the highest to the lowest: time, datacenter if there is one, worker, sequence.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.time)?;
        if self.datacenter > 0 {
            write!(f, "{}-", self.datacenter)?;
        }
        write!(f, "{}-{}", self.worker, self.sequence)
    }
}

/// The parts of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The time: milliseconds since 1970. A borrowed id is a little ahead of the clock (see
    /// [`Policy`](crate::Policy)).
    pub unix_ms: u64,
    /// In which datacenter; 0 where the layout has none.
    pub datacenter: u64,
    /// The worker.
    pub worker: u64,
    /// The sequence within the millisecond.
    pub sequence: u64,
}

/// The name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Milliseconds since the epoch.
    Time,
    /// The datacenter.
    Datacenter,
    /// The worker.
    Worker,
    /// The sequence within a millisecond.
    Sequence,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Time => "time",
            Part::Datacenter => "datacenter",
            Part::Worker => "worker",
            Part::Sequence => "sequence",
        })
    }
}

/// The error of a layout, or of a value that does not fit into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The bits do not fit.
    #[error("time, datacenter, worker and sequence have more than 63 bits together")]
    TooManyBits,
    /// Ids would run out soon.
    #[error("{bits} bits of time are fewer than 32, and so last for less than 50 days")]
    TimeTooShort {
        /// The number of bits.
        bits: u32,
    },
    /// Nothing would tell the ids of a millisecond apart.
    #[error("there is no bit for the sequence")]
    NoSequence,
    /// A part is out of its range.
    #[error("{part} {value} does not fit into the layout, which ends at {max}")]
    PartTooLarge {
        /// The part.
        part: Part,
        /// The value.
        value: u64,
        /// The largest value.
        max: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn presets_use_every_bit_and_have_their_documented_ceilings() {
        for (name, layout) in Layout::PRESETS {
            let bits = layout.time_shift() + layout.time;
            assert_eq!(bits, BITS, "{name}");
        }
        let ceilings = Layout::PRESETS.map(|(_, layout)| layout.ceiling());
        assert_eq!(ceilings, [4_096_000, 4_096_000, 262_144_000, 2_048_000, 4_096_000]);
    }

    #[test]
    fn bits_that_do_not_add_up_are_refused() {
        assert_eq!(Layout::new(41, 1, 10, 12), Err(LayoutError::TooManyBits));
        assert_eq!(Layout::new(u32::MAX, 1, 10, 12), Err(LayoutError::TooManyBits));
        assert_eq!(Layout::new(31, 0, 10, 12), Err(LayoutError::TimeTooShort { bits: 31 }));
        assert_eq!(Layout::new(41, 0, 10, 0), Err(LayoutError::NoSequence));
    }

    #[test]
    fn parts_out_of_range_are_refused_by_name() {
        let layout = Layout::CLASSIC_DATACENTERS;
        let ms = Epoch::Y2025.unix_ms();
        let good = Parts { unix_ms: ms, datacenter: 31, worker: 31, sequence: 4_095 };
        assert!(layout.id(good).is_ok());
        let refused = |parts: Parts| match layout.id(parts) {
            Err(LayoutError::PartTooLarge { part, .. }) => Some(part),
            _ => None,
        };
        assert_eq!(refused(Parts { datacenter: 32, ..good }), Some(Part::Datacenter));
        assert_eq!(refused(Parts { worker: 32, ..good }), Some(Part::Worker));
        assert_eq!(refused(Parts { sequence: 4_096, ..good }), Some(Part::Sequence));
        assert_eq!(refused(Parts { unix_ms: ms - 1, ..good }), Some(Part::Time));
        assert_eq!(refused(Parts { unix_ms: layout.last_ms() + 1, ..good }), Some(Part::Time));
    }

    proptest! {
        #[test]
        fn parts_come_back_from_an_id_and_ids_sort_by_time(
            bits in (32_u32..=50, 0_u32..=6, 0_u32..=7),
            seeds in prop::array::uniform4(any::<u64>()),
        ) {
            let (time, datacenter, worker) = bits;
            let Ok(layout) = Layout::new(time, datacenter, worker, BITS - time - datacenter - worker) else {
                return Err(TestCaseError::reject("more than 63 bits"));
            };
            let part = |seed: u64, part| seed % (layout.max(part) + 1);
            let parts = Parts {
                unix_ms: layout.epoch().unix_ms() + part(seeds[0], Part::Time),
                datacenter: part(seeds[1], Part::Datacenter),
                worker: part(seeds[2], Part::Worker),
                sequence: part(seeds[3], Part::Sequence),
            };
            let id = layout.id(parts).unwrap();
            prop_assert_eq!(layout.parts(id), parts);
            if parts.unix_ms < layout.last_ms() {
                let later = Parts { unix_ms: parts.unix_ms + 1, datacenter: 0, worker: 0, sequence: 0 };
                prop_assert!(layout.id(later).unwrap() > id);
            }
        }
    }
}
