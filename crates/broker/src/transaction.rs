//! Transactions: publish on several topics and acknowledge messages of several groups atomically.

use crate::error::{AtPath, bus_error};
use crate::policy::{NeedsRight, Requirement};
use crate::request::{ConsumerId, DeliveredLease, NewMessage, check_count};
use crate::service::{QueueService, principal};
use rialto_api::QueueRight;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, Handler, Request, Result};
use rialto_desk::AtField;
use rialto_queue::{Committed, MessageId, Name, QueueError};

/// Publishes messages and acknowledges others atomically. The answer comes when the transaction
/// survives a power failure, unless all its topics are in memory.
pub struct CommitTransaction {
    /// The messages to publish, by topic.
    pub publish: Vec<(Name, Vec<NewMessage>)>,
    /// The messages to acknowledge, by consumer.
    pub ack: Vec<(ConsumerId, Vec<DeliveredLease>)>,
    /// A producer, whose name belongs to the client, and its number for this transaction.
    pub number: Option<(Name, u64)>,
}

impl Request for CommitTransaction {
    type Response = Committed;
    const NAME: &'static str = "commit_transaction";
}

impl Command for CommitTransaction {}

impl NeedsRight for CommitTransaction {
    fn needs(&self) -> Requirement<'_> {
        Requirement::Nothing
    }

    fn also_needs(&self) -> Vec<Requirement<'_>> {
        let publish = self.publish.iter();
        let produce = publish.map(|(topic, _)| Requirement::Right(QueueRight::Produce, topic));
        let ack = self.ack.iter();
        let consume =
            ack.map(|(consumer, _)| Requirement::Right(QueueRight::Consume, &consumer.topic));
        produce.chain(consume).collect()
    }
}

impl Validate for CommitTransaction {
    fn validate(&self) -> Result<()> {
        if self.publish.is_empty() && self.ack.is_empty() {
            let message = "A transaction publishes or acknowledges something.";
            return Err(AtField("body").invalid(message));
        }
        // Each list is counted as well: an empty one is a mistake of the client.
        for (_, messages) in &self.publish {
            check_count("publish", messages.len())?;
        }
        for (_, leases) in &self.ack {
            check_count("ack", leases.len())?;
        }
        let published = self.publish.iter().map(|(_, messages)| messages.len()).sum::<usize>();
        let acked = self.ack.iter().map(|(_, leases)| leases.len()).sum::<usize>();
        check_count("publish", published.max(1))?;
        check_count("ack", acked.max(1))
    }
}

impl CommitTransaction {
    /// The path of a message in the request; `ack` if it occurs there more than once.
    fn path_of(&self, lost: MessageId) -> String {
        let mut paths = self.ack.iter().enumerate().flat_map(|(nth, (_, leases))| {
            let named = leases.iter().enumerate().filter(move |(_, (id, _))| *id == lost);
            named.map(move |(place, _)| format!("ack[{nth}].messages[{place}]"))
        });
        match (paths.next(), paths.next()) {
            (Some(path), None) => path,
            _ => "ack".to_owned(),
        }
    }
}

impl Handler<CommitTransaction> for QueueService {
    async fn handle(&self, commit: CommitTransaction, cx: &Context<'_>) -> Result<Committed> {
        let mut transaction = self.queue().begin();
        if let Some((producer, number)) = &commit.number {
            // Producers' names are separate for each client. If there are too many, the queue
            // forgets those of one client, by the part before the `/`.
            let producer = format!("{}/{producer}", principal(cx)?.id());
            transaction.numbered(&producer, *number).map_err(bus_error)?;
            if transaction.is_known() {
                // It was committed, even if its topics or groups have been deleted since.
                return transaction.committed().await.map_err(bus_error);
            }
        }
        for (nth, (topic, messages)) in commit.publish.iter().enumerate() {
            let bytes = messages.iter().map(|message| message.as_publish().bytes()).sum::<usize>();
            self.take_bytes(principal(cx)?, topic, bytes as u64)
                .map_err(|error| error.with_source(AtPath(format!("publish[{nth}].topic"))))?;
            for (place, message) in messages.iter().enumerate() {
                let published = transaction.publish(topic.as_str(), &message.as_publish());
                published.map_err(|error| {
                    let place = match error {
                        QueueError::Message(_) => format!("publish[{nth}].messages[{place}]"),
                        QueueError::TransactionTooLarge { .. } => "body".to_owned(),
                        _ => format!("publish[{nth}].topic"),
                    };
                    bus_error(error).with_source(AtPath(place))
                })?;
            }
        }
        // A call in progress keeps its consumer from being removed as idle.
        let mut calls = Vec::with_capacity(commit.ack.len());
        for (nth, (consumer, leases)) in commit.ack.iter().enumerate() {
            let call = self.call(cx, consumer).map_err(|error| within_ack(nth, error))?;
            for (id, lease) in leases {
                transaction.ack_lease(&call, *id, *lease).map_err(bus_error)?;
            }
            calls.push(call);
        }
        transaction.committed().await.map_err(|error| {
            self.remove_deleted(&error);
            match error {
                QueueError::LeaseLost(id) => {
                    let error = bus_error(error);
                    let message = format!("{} Nothing was done.", error.message());
                    Error::new(error.kind(), error.code(), message)
                        .with_source(AtPath(commit.path_of(id)))
                }
                error => bus_error(error),
            }
        })
    }
}

/// The same error, with the path of the field within one of the acknowledgements.
fn within_ack(nth: usize, error: Error) -> Error {
    match error.source_as::<AtField>() {
        Some(AtField(field)) => {
            let path = AtPath(format!("ack[{nth}].{field}"));
            error.with_source(path)
        }
        None => error,
    }
}
