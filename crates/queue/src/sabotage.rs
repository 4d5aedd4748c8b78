//! Deliberate defects, so that tests can show that they would be caught.

/// A promise that a queue is made to break. Exists with the `sabotage` feature alone, which only this
/// crate's own tests switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "sabotage"), allow(dead_code, unreachable_pub))]
pub enum Sabotage {
    /// Messages are only written where they should be synced.
    SkipSync,
    /// The messages of a transaction reach their topics before its record is durable.
    DeliverBeforeSync,
    /// What an opening finds is not written down before lost numbers are given anew.
    SkipOpeningCheckpoint,
    /// Acknowledgements are not written to the control log.
    ForgetAcks,
    /// Acknowledgements of messages that were lost are applied to the messages that get their numbers.
    KeepLostProgress,
    /// The numbers of producers are not looked at.
    TakeDuplicates,
    /// The numbers of producers are not read when the queue is opened.
    ForgetProducers,
    /// Transactions that were not delivered are not when the queue is opened.
    ForgetTransactions,
    /// Transactions that were delivered are again when the queue is opened.
    DeliverTwice,
    /// Delayed messages are moved before they are due.
    MoveEarly,
    /// Delayed messages are moved again when the queue is opened.
    MoveTwice,
    /// A message of a key is delivered while another of that key is.
    IgnoreKeys,
    /// A message is delivered while it is leased.
    ForgetLeases,
    /// Transactions that failed on their way to the disk are forgotten when the control log is begun anew.
    ReviveWithoutTransactions,
    /// What is to be done is done while the control log cannot be written, and confirmed.
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
