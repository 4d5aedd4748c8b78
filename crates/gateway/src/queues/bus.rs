//! The bus: the only way from a route to the queue.

use super::dead_letters::{ListDeadLetters, PurgeTopic, RedriveDeadLetters};
use super::keeper::QueueKeeper;
use super::lease::LeaseTexts;
use super::policy::QueuePolicy;
use super::quota::QueueLimits;
use super::request::{
    AckMessages, CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, ExtendLeases, FetchMessages,
    GetTopic, LeaveGroup, ListTopics, NackMessages, PublishMessages, ReadMessages,
    SubscribeMessages,
};
use super::transaction::CommitTransaction;
use rialto_bus::behaviour::{Authorisation, Counters, IsolatePanics, Metrics, Tracing, Validation};
use rialto_bus::{behaviours, bus};
use rialto_desk::Durations;
use rialto_queue::Queue;
use rialto_recorder::{RecordRequests, Recorder};
use std::sync::Arc;
use tokio::sync::watch;

bus! {
    /// Everything that callers with keys can ask of the queue.
    ///
    /// The principal of each request is a [`Caller`](crate::Caller).
    pub(crate) struct QueueBus {
        requests through
            [
                Tracing, Metrics<Arc<Durations>>, Counters, IsolatePanics,
                Option<RecordRequests>, Authorisation<QueuePolicy>, Validation,
            ]
        {
            keeper: QueueKeeper =>
                later CreateTopic, later DeleteTopic, later ListTopics, later GetTopic,
                later CreateGroup, later DeleteGroup, later PublishMessages,
                later FetchMessages, later AckMessages, later NackMessages, later ExtendLeases,
                later LeaveGroup, later ReadMessages, later SubscribeMessages,
                later ListDeadLetters, later RedriveDeadLetters, later PurgeTopic,
                later CommitTransaction;
        }
    }
}

impl QueueBus {
    /// A bus to this queue. Who waits for messages is answered as soon as `stopped` says so. It
    /// must be made, and used, within a Tokio runtime that has timers.
    pub(crate) fn open(
        queue: Queue,
        limits: QueueLimits,
        stopped: watch::Receiver<bool>,
        recorder: Option<Arc<Recorder>>,
    ) -> QueueBus {
        QueueBus {
            requests: behaviours![
                Tracing::default(),
                Metrics::new(Arc::default()),
                Counters::default(),
                IsolatePanics,
                recorder.map(RecordRequests),
                Authorisation(QueuePolicy),
                Validation
            ],
            keeper: QueueKeeper::open(queue, limits, stopped),
        }
    }

    /// How often what was asked, and what came of it.
    pub(crate) fn counters(&self) -> &Counters {
        &self.requests.1.1.0
    }

    /// How long requests took from the bus to their answer, waiting for messages included.
    pub(crate) fn durations(&self) -> &Durations {
        self.requests.1.0.sink()
    }

    /// How clients name leases.
    pub(crate) fn leases(&self) -> LeaseTexts {
        self.keeper.leases()
    }

    /// The queue.
    pub(crate) fn queue(&self) -> &Queue {
        self.keeper.queue()
    }
}
