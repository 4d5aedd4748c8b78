//! The desk: submits commands to the engine and returns the answers.

use crate::OrderRate;
use crate::slots::{Slots, Ticket};
use rialto_engine::{
    Answer, Engine, Level, NoAnswer, Replies, Storage, Submission, SubmitError, Submitter,
};
use rialto_model::{Attribution, Command, MemberId};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The reason why a command has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// The bound on commands in flight is reached. The command was not submitted.
    #[error("the bound on commands in flight is reached")]
    Busy,
    /// The engine accepts no more commands. The command was not submitted.
    #[error("the engine accepts no more commands")]
    Stopped,
    /// The free space of the disk is reserved for cancels, withdrawals and operators. The command
    /// was not submitted.
    #[error("too little free disk space to enter orders")]
    StorageLow,
    /// The member has entered and changed as many orders as it may in a second. The command was not
    /// submitted.
    #[error("the member has entered as many orders as it may in a second")]
    OrderRate,
    /// The engine accepted the command, and its answer is unknown.
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
}

impl From<SubmitError> for DeskError {
    fn from(error: SubmitError) -> DeskError {
        match error {
            SubmitError::Busy | SubmitError::TooManyProducers => DeskError::Busy,
            SubmitError::Stopped => DeskError::Stopped,
        }
    }
}

/// Submits commands to an engine and waits for their answers without blocking a thread.
///
/// It has a few producers of the engine ("connections"). Each connection has a task that receives
/// replies and passes them to the waiting callers. Every command gets an answer: the engine's, or
/// an error if the engine ends.
///
/// It must be opened within a Tokio runtime, which runs its tasks. Other runtimes may use it too.
pub struct Desk {
    connections: Box<[Arc<Connection>]>,
    next: AtomicUsize,
    storage: Arc<Storage>,
    order_rate: Arc<OrderRate>,
    pumps: Vec<JoinHandle<()>>,
}

/// The sender of a command. By default the venue itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender<'a> {
    /// The member to which it belongs, whose rate of orders counts.
    pub member: Option<MemberId>,
    /// Of an operator: who it is, and why it sends the command.
    pub attribution: Option<&'a Attribution>,
}

struct Connection {
    submitter: Mutex<Submitter>,
    slots: Arc<Slots>,
}

impl Desk {
    /// Opens this many connections, at least one. Orders of members are bounded by `order_rate`.
    #[must_use]
    pub fn open(engine: &Engine, order_rate: Arc<OrderRate>, connections: usize) -> Desk {
        let capacity = engine.config().producer_capacity;
        let mut pumps = Vec::new();
        let connections = (0..connections.max(1))
            .map(|_| {
                let (submitter, mut replies) = engine.producer().split();
                let connection = Arc::new(Connection {
                    submitter: Mutex::new(submitter),
                    slots: Arc::new(Slots::new(capacity)),
                });
                let arrived = Arc::new(Notify::new());
                let waker = Arc::clone(&arrived);
                replies.set_waker(Arc::new(move || waker.notify_one()));
                pumps.push(tokio::spawn(pump(Arc::clone(&connection), replies, arrived)));
                connection
            })
            .collect();
        Desk {
            connections,
            next: AtomicUsize::new(0),
            storage: Arc::clone(engine.storage()),
            order_rate,
            pumps,
        }
    }

    /// Submits a command of the venue itself and returns a future of its answer. `level` asks for a
    /// higher durability level than the venue's for this answer.
    ///
    /// Dropping the future does not cancel the command.
    ///
    /// # Errors
    /// The command was not submitted, or its outcome is unknown.
    pub fn submit(
        &self,
        command: &Command,
        level: Option<Level>,
    ) -> Result<impl Future<Output = Result<Answer, DeskError>> + use<>, DeskError> {
        self.submit_of(Sender::default(), command, level)
    }

    /// The same with who sent it.
    ///
    /// # Errors
    /// As [`Desk::submit`]; the member's rate is used up.
    pub fn submit_of(
        &self,
        sender: Sender<'_>,
        command: &Command,
        level: Option<Level>,
    ) -> Result<impl Future<Output = Result<Answer, DeskError>> + use<>, DeskError> {
        let ticket = self.enter(self.connection(), sender, command, level)?;
        Ok(async { Ok(ticket.await.answer?) })
    }

    /// Submits commands of a sender in this order and waits for all answers. Each is independent: the
    /// next is submitted even if one fails.
    pub async fn submit_many(
        &self,
        sender: Sender<'_>,
        commands: &[Submission],
    ) -> Vec<Result<Answer, DeskError>> {
        // They use one connection, so that they are sequenced in this order.
        let connection = self.connection();
        let entered: Vec<_> = commands
            .iter()
            .map(|it| self.enter(connection, sender, &it.command, it.level))
            .collect();
        let mut answers = Vec::with_capacity(entered.len());
        for ticket in entered {
            answers.push(match ticket {
                Ok(ticket) => ticket.await.answer.map_err(DeskError::from),
                Err(error) => Err(error),
            });
        }
        answers
    }

    fn connection(&self) -> &Arc<Connection> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        &self.connections[next % self.connections.len()]
    }

    fn enter(
        &self,
        connection: &Arc<Connection>,
        sender: Sender<'_>,
        command: &Command,
        level: Option<Level>,
    ) -> Result<Ticket, DeskError> {
        if enters_order(command) && !self.storage.admits_entry() {
            return Err(DeskError::StorageLow);
        }
        if !self.order_rate.admits(sender.member, command) {
            return Err(DeskError::OrderRate);
        }
        let Some(slot) = connection.slots.take() else {
            self.order_rate.give_back(sender.member, command);
            return Err(DeskError::Busy);
        };
        let token = u64::from(slot);
        let mut submitter = connection.submitter.lock().unwrap_or_else(PoisonError::into_inner);
        let submitted = match sender.attribution {
            None => submitter.submit(token, command, level),
            Some(it) => submitter.submit_attributed(token, command, level, it),
        };
        drop(submitter);
        match submitted {
            Ok(()) => Ok(Ticket::new(Arc::clone(&connection.slots), slot)),
            Err(error) => {
                connection.slots.give_back(slot);
                self.order_rate.give_back(sender.member, command);
                Err(error.into())
            }
        }
    }
}

/// Whether a command enters or changes an order. These are refused when the disk is low, and beyond
/// the rate of their member. All other commands pass: they reduce risk, or come from an operator.
#[must_use]
pub fn enters_order(command: &Command) -> bool {
    matches!(
        command,
        Command::Place(_)
            | Command::PlaceConditional(_)
            | Command::PlaceTrailing(_)
            | Command::PlaceIceberg(_)
            | Command::PlaceList(_)
            | Command::Amend(_)
            | Command::AmendTrigger(_)
    )
}

impl Drop for Desk {
    fn drop(&mut self) {
        for pump in &self.pumps {
            pump.abort();
        }
    }
}

/// Delivers replies as they arrive.
async fn pump(connection: Arc<Connection>, mut replies: Replies, arrived: Arc<Notify>) {
    loop {
        // Replies come in groups; after a long one, the woken tasks must run.
        for _ in 0..256 {
            match replies.try_reply() {
                Some(reply) => connection.slots.deliver(reply),
                None => {
                    arrived.notified().await;
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
}
