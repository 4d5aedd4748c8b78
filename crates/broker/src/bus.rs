//! The queue's bus: the only way from a gateway to the queue.

use crate::dead_letters::{ListDeadLetters, PurgeTopic, RedriveDeadLetters};
use crate::group_leases::ListLeases;
use crate::lease::LeaseTokens;
use crate::policy::QueuePolicy;
use crate::quota::QueueLimits;
use crate::request::{
    AckMessages, CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, ExtendLeases, FetchMessages,
    GetTopic, LeaveGroup, ListTopics, NackMessages, PublishMessages, ReadMessages,
    SubscribeMessages,
};
use crate::service::QueueService;
use crate::transaction::CommitTransaction;
use rialto_bus::behaviour::{Authorisation, Counters};
use rialto_bus::bus;
use rialto_desk::{Durations, VenueBehaviours};
use rialto_queue::Queue;
use rialto_recorder::Recorder;
use std::sync::Arc;
use tokio::sync::watch;

bus! {
    /// All requests to the queue.
    ///
    /// The [`Context`](rialto_bus::Context) of each has a [`Principal`](crate::Principal).
    pub struct QueueBus {
        requests through VenueBehaviours<Authorisation<QueuePolicy>> {
            service: QueueService =>
                later CreateTopic, later DeleteTopic, later ListTopics, later GetTopic,
                later CreateGroup, later DeleteGroup, later PublishMessages,
                later FetchMessages, later AckMessages, later NackMessages, later ExtendLeases,
                later LeaveGroup, later ReadMessages, later SubscribeMessages,
                later ListDeadLetters, later RedriveDeadLetters, later PurgeTopic,
                later ListLeases, later CommitTransaction;
        }
    }
}

impl QueueBus {
    /// The bus of this queue. Waiting requests are answered as soon as `stopped` is true. The bus
    /// must be opened and used within a Tokio runtime that has a timer.
    #[must_use]
    pub fn open(
        queue: Queue,
        limits: QueueLimits,
        stopped: watch::Receiver<bool>,
        recorder: Option<Arc<Recorder>>,
    ) -> QueueBus {
        QueueBus {
            requests: VenueBehaviours::new(Authorisation(QueuePolicy)).recorded_by(recorder),
            service: QueueService::open(queue, limits, stopped),
        }
    }

    /// The number of requests by name and outcome.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The durations of requests, from the bus to the answer, including the wait for messages.
    #[must_use]
    pub fn durations(&self) -> &Durations {
        self.requests.durations()
    }

    /// The encoding of leases for clients.
    #[must_use]
    pub fn leases(&self) -> LeaseTokens {
        self.service.leases()
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &Queue {
        self.service.queue()
    }
}
