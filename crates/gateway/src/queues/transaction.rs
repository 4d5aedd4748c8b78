//! Publishing on several topics and acknowledging messages of several groups, together or not at
//! all.

use super::error::{AtPlace, told};
use super::grant::QueueRight;
use super::keeper::{QueueKeeper, caller};
use super::policy::{Needed, NeedsRight};
use super::request::{Leased, NewMessage, Seat, counted};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, Handler, Request, Result};
use rialto_desk::AtField;
use rialto_queue::{Committed, MessageId, Name, QueueError};

/// Messages to be published, and messages that were worked on. Answers when no loss of power can undo
/// it, unless all its topics are of memory.
pub(crate) struct CommitTransaction {
    /// What is to be published on which topics.
    pub(crate) publish: Vec<(Name, Vec<NewMessage>)>,
    /// What which consumers were given and have worked on.
    pub(crate) ack: Vec<(Seat, Vec<Leased>)>,
    /// A producer, whose name is the caller's own, and the number that it gave the transaction.
    pub(crate) number: Option<(Name, u64)>,
}

impl Request for CommitTransaction {
    type Response = Committed;
    const NAME: &'static str = "commit_transaction";
}

impl Command for CommitTransaction {}

impl NeedsRight for CommitTransaction {
    fn needs(&self) -> Needed<'_> {
        Needed::Nothing
    }

    fn also_needs(&self) -> Vec<Needed<'_>> {
        let publish = self.publish.iter();
        let produce = publish.map(|(topic, _)| Needed::Right(QueueRight::Produce, topic));
        let ack = self.ack.iter();
        let consume = ack.map(|(seat, _)| Needed::Right(QueueRight::Consume, &seat.topic));
        produce.chain(consume).collect()
    }
}

impl Validate for CommitTransaction {
    fn validate(&self) -> Result<()> {
        if self.publish.is_empty() && self.ack.is_empty() {
            let message = "A transaction publishes or acknowledges something.";
            return Err(AtField("body").invalid(message));
        }
        // The lists are counted one by one as well: an empty one would be a mistake.
        for (_, messages) in &self.publish {
            counted("publish", messages.len())?;
        }
        for (_, leases) in &self.ack {
            counted("ack", leases.len())?;
        }
        let published = self.publish.iter().map(|(_, messages)| messages.len()).sum::<usize>();
        let acked = self.ack.iter().map(|(_, leases)| leases.len()).sum::<usize>();
        counted("publish", published.max(1))?;
        counted("ack", acked.max(1))
    }
}

impl CommitTransaction {
    /// Where the request names a message; only that it does, if it does so more than once.
    fn place_of(&self, lost: MessageId) -> String {
        let mut places = self.ack.iter().enumerate().flat_map(|(nth, (_, leases))| {
            let named = leases.iter().enumerate().filter(move |(_, (id, _))| *id == lost);
            named.map(move |(place, _)| format!("ack[{nth}].messages[{place}]"))
        });
        match (places.next(), places.next()) {
            (Some(place), None) => place,
            _ => "ack".to_owned(),
        }
    }
}

impl Handler<CommitTransaction> for QueueKeeper {
    async fn handle(&self, commit: CommitTransaction, cx: &Context<'_>) -> Result<Committed> {
        let mut transaction = self.queue().begin();
        if let Some((producer, number)) = &commit.number {
            // Keys share no producers, and what is before the `/` says whose numbers are forgotten
            // when there are too many.
            let producer = format!("{}/{producer}", caller(cx)?.id());
            transaction.numbered(&producer, *number).map_err(told)?;
            if transaction.is_known() {
                // Whatever became of its topics, groups and consumers since, it happened.
                return transaction.committed().await.map_err(told);
            }
        }
        for (nth, (topic, messages)) in commit.publish.iter().enumerate() {
            let bytes = messages.iter().map(|message| message.as_publish().bytes()).sum::<usize>();
            self.take_bytes(caller(cx)?, topic, bytes as u64)
                .map_err(|error| error.with_source(AtPlace(format!("publish[{nth}].topic"))))?;
            for (place, message) in messages.iter().enumerate() {
                let published = transaction.publish(topic.as_str(), &message.as_publish());
                published.map_err(|error| {
                    let place = match error {
                        QueueError::Message(_) => format!("publish[{nth}].messages[{place}]"),
                        QueueError::TransactionTooLarge { .. } => "body".to_owned(),
                        _ => format!("publish[{nth}].topic"),
                    };
                    told(error).with_source(AtPlace(place))
                })?;
            }
        }
        // A consumer is not silent as long as it is being waited for.
        let mut calls = Vec::with_capacity(commit.ack.len());
        for (nth, (seat, leases)) in commit.ack.iter().enumerate() {
            let call = self.call(cx, seat).map_err(|error| within_ack(nth, error))?;
            for (id, lease) in leases {
                transaction.ack_lease(&call, *id, *lease).map_err(told)?;
            }
            calls.push(call);
        }
        transaction.committed().await.map_err(|error| {
            self.notice(&error);
            match error {
                QueueError::LeaseLost(id) => {
                    let error = told(error);
                    let message = format!("{} Nothing was done.", error.message());
                    Error::new(error.kind(), error.code(), message)
                        .with_source(AtPlace(commit.place_of(id)))
                }
                error => told(error),
            }
        })
    }
}

/// The same error, at fault is the field of one of the acknowledgements.
fn within_ack(nth: usize, error: Error) -> Error {
    match error.source_as::<AtField>() {
        Some(AtField(field)) => {
            let place = AtPlace(format!("ack[{nth}].{field}"));
            error.with_source(place)
        }
        None => error,
    }
}
