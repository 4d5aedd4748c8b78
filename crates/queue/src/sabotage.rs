//! Deliberate defects, so that tests can show that they are detected.

/// A guarantee that a queue breaks on purpose. It exists only with the feature `sabotage`, which
/// only this crate's own tests enable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "sabotage"), allow(dead_code, unreachable_pub))]
pub enum Sabotage {
    /// Messages are written but not synced.
    SkipSync,
    /// The messages of a transaction reach their topics before its record is durable.
    DeliverBeforeSync,
    /// Progress that an opening clamps is not recorded before lost numbers are assigned again.
    SkipOpeningCheckpoint,
    /// Acknowledgements are not written to the control log.
    ForgetAcks,
    /// Acknowledgements of lost messages are applied to the messages that get their numbers.
    KeepLostProgress,
    /// The numbers of producers are ignored.
    TakeDuplicates,
    /// The numbers of producers are not read when the queue is opened.
    ForgetProducers,
    /// Undelivered transactions are not delivered when the queue is opened.
    ForgetTransactions,
    /// Delivered transactions are delivered again when the queue is opened.
    DeliverTwice,
    /// Delayed messages are moved before they are due.
    MoveEarly,
    /// Delayed messages are moved again when the queue is opened.
    MoveTwice,
    /// A message of a key is delivered while another of that key is outstanding.
    IgnoreKeys,
    /// A message is delivered while it is leased.
    ForgetLeases,
    /// Transactions whose write failed are forgotten when the control log is restarted.
    ReviveWithoutTransactions,
    /// Operations are carried out and confirmed while the control log cannot be written.
    ConfirmWhileFailed,
}

/// Whether something is sabotaged; never, in a build without the feature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Switch {
    #[cfg(feature = "sabotage")]
    pub(crate) thrown: Option<Sabotage>,
}

impl Switch {
    #[inline]
    pub(crate) fn is(self, sabotage: Sabotage) -> bool {
        #[cfg(feature = "sabotage")]
        return self.thrown == Some(sabotage);
        #[cfg(not(feature = "sabotage"))]
        {
            let _ = sabotage;
            false
        }
    }
}
