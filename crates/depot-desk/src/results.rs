//! Completing a claimed file together with its results.

use crate::DepotPrincipal;
use crate::content::Interrupted;
use crate::error::depot_error;
use crate::policy::NeedsDepotRight;
use crate::service::{DepotService, joined, principal};
use bytes::Bytes;
use rialto_api::DepotRight;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Request, Result};
use rialto_depot::{ClaimToken, Depot, DepotError, FileState, NewFile, Upload};
use tokio::sync::mpsc;

/// The most pieces that wait between the client and the depot.
const PIECES_MAX: usize = 4;

enum Piece {
    Begin(Box<NewFile>),
    Bytes(Bytes),
    End,
}

/// The results of a file, as they arrive.
pub struct ResultContents(mpsc::Receiver<Piece>);

/// The end of the client. Dropping it without [`ResultSender::end`] means that the results are not
/// whole: none comes to exist, and the file is still claimed.
pub struct ResultSender(mpsc::Sender<Piece>);

impl ResultContents {
    /// Both ends.
    #[must_use]
    pub fn channel() -> (ResultSender, ResultContents) {
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        (ResultSender(sender), ResultContents(receiver))
    }

    /// The next piece. It blocks the thread.
    fn next(&mut self) -> std::result::Result<Piece, Interrupted> {
        self.0.blocking_recv().ok_or(Interrupted)
    }
}

impl ResultSender {
    /// Ends the content of the result before, and begins the next. Returns whether it is still wanted.
    pub async fn begin(&self, result: NewFile) -> bool {
        self.0.send(Piece::Begin(Box::new(result))).await.is_ok()
    }

    /// Sends a piece of the content of the last result. Returns whether it is still wanted.
    pub async fn send(&self, bytes: Bytes) -> bool {
        self.0.send(Piece::Bytes(bytes)).await.is_ok()
    }

    /// Ends the results: they are whole.
    pub async fn end(self) {
        // Nobody waits for the end of refused results.
        let _ = self.0.send(Piece::End).await;
    }
}

/// Ends a claimed file as completed, and makes its results exist: all of it, or nothing.
pub struct CompleteWith {
    /// The claim.
    pub claim: ClaimToken,
    /// The results.
    pub results: ResultContents,
}

impl Request for CompleteWith {
    type Response = ();
    const NAME: &'static str = "complete_with";
}

impl Command for CompleteWith {}

impl NeedsDepotRight for CompleteWith {
    fn check(&self, client: &DepotPrincipal) -> Result<()> {
        may_complete_with(client, &self.claim)
    }
}

/// Checks whether a client may complete a file with results, which are new files of its tenant. A gateway
/// calls it before it reads them.
///
/// # Errors
/// `forbidden`.
pub fn may_complete_with(client: &DepotPrincipal, claim: &ClaimToken) -> Result<()> {
    client.require(&[DepotRight::Work], claim.tenant())?;
    client.require(&[DepotRight::Write], claim.tenant())
}

impl Validate for CompleteWith {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// Refuses results of a file that is not claimed, before they arrive. Whether the claim is the present
/// one is seen at the end.
fn check_claimed(depot: &Depot, claim: &ClaimToken) -> std::result::Result<(), DepotError> {
    let state = depot.file(claim.tenant(), claim.file()).map(|file| file.state);
    match state {
        Ok(FileState::Claimed { .. }) => Ok(()),
        Ok(_) | Err(DepotError::UnknownFile { .. } | DepotError::UnknownTenant(_)) => {
            Err(DepotError::ClaimLost(claim.file()))
        }
        Err(error) => Err(error),
    }
}

/// Streams results, and completes the file when they are whole. `Ok(None)` says that they ended before
/// their end. What was written of them is removed then, as with every error.
fn complete(
    depot: &Depot,
    claim: &ClaimToken,
    mut results: ResultContents,
) -> std::result::Result<Option<()>, DepotError> {
    let mut prepared = Vec::new();
    let mut upload: Option<Upload> = None;
    check_claimed(depot, claim)?;
    loop {
        match results.next() {
            Ok(Piece::Begin(file)) => {
                if let Some(before) = upload.take() {
                    prepared.push(before.finish_result()?);
                }
                check_claimed(depot, claim)?;
                upload = Some(depot.begin_result(claim, *file)?);
            }
            Ok(Piece::Bytes(bytes)) => {
                if let Some(upload) = &mut upload {
                    upload.write(&bytes)?;
                }
            }
            Ok(Piece::End) => break,
            Err(Interrupted) => return Ok(None),
        }
    }
    if let Some(last) = upload {
        prepared.push(last.finish_result()?);
    }
    depot.complete_with(claim, prepared).map(Some)
}

impl Handler<CompleteWith> for DepotService {
    async fn handle(&self, request: CompleteWith, cx: &Context<'_>) -> Result<()> {
        let CompleteWith { claim, results } = request;
        let slot = self.uploads.begin(principal(cx)?.id())?;
        let depot = self.depot.clone();
        let completing = move || {
            let completed = complete(&depot, &claim, results);
            drop(slot);
            completed
        };
        let completed =
            joined(tokio::task::spawn_blocking(completing).await)?.map_err(depot_error)?;
        completed.ok_or_else(|| {
            let message = "The results ended before their end; the file is still claimed.";
            Error::new(ErrorKind::Invalid, "upload_interrupted", message)
        })
    }
}
