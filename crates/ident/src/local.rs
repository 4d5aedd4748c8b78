//! Ids in blocks for one thread.

use crate::clock::BlockingTimer;
use crate::error::IdError;
use crate::generator::{Generator, Reserved};
use crate::id::Id;

/// Takes ids of a generator in blocks. It is faster if several threads make many ids at the same
/// time, because they contend once a block instead of once an id.
///
/// Its ids are distinct from all others of the generator and ascend. What a block gives up is the
/// order *between* threads within a millisecond: an id that is asked for here may be less than one
/// that another thread got before, unless the clock has moved on in between. A block ends with the
/// millisecond that it was taken in, so no id is older than the clock of the generator says; what
/// is left of it is thrown away. A whole block may wait or be refused where one id would not be.
///
/// ```
/// use rialto_ident::{Config, Generator, Layout, SystemClock, Worker};
///
/// let ids = Generator::new(Config::new(Layout::WIDE, Worker::explicit(7)), SystemClock)?;
/// let mut own = ids.local(64);
/// assert!(own.next()? < own.next()?);
/// # Ok::<(), rialto_ident::IdError>(())
/// ```
#[derive(Debug)]
pub struct LocalGenerator<'a, C> {
    all: &'a Generator<C>,
    block: u32,
    left: Reserved,
    /// What the clock says for as long as the block may be used.
    now_ms: u64,
}

impl<'a, C: BlockingTimer> LocalGenerator<'a, C> {
    pub(crate) fn new(all: &'a Generator<C>, block: u32) -> LocalGenerator<'a, C> {
        LocalGenerator { all, block: block.max(1), left: all.none(), now_ms: 0 }
    }

    /// The next id.
    ///
    /// # Errors
    /// As [`Generator::reserve`] of a block.
    #[allow(
        clippy::should_implement_trait,
        reason = "the word of the generator, with an answer that no iterator gives"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Id, IdError> {
        // Any other reading ends the block: a later one because its ids would be old, an earlier
        // one because the policy decides about a step back.
        if self.all.clock().now_ms() == self.now_ms
            && let Some(id) = self.left.next()
        {
            return Ok(id);
        }
        self.next_of_another()
    }

    #[inline(never)]
    fn next_of_another(&mut self) -> Result<Id, IdError> {
        self.left = self.all.none();
        let mut block = self.all.reserve(self.block)?;
        let first = block.next().expect("a block has at least one id");
        let now_ms = self.all.clock().now_ms();
        // The clock may have moved on since, for instance while this thread had no processor. Then
        // others may be ahead of the block already, and only this id, which was asked for before,
        // is handed out.
        if self.all.unix_ms(block.greatest().unwrap_or(first)) >= now_ms {
            (self.left, self.now_ms) = (block, now_ms);
        }
        Ok(first)
    }
}
