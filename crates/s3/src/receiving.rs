//! Passes the content of an object on to the depot, and compares it with its checksums.

use crate::digests::BodyDigest;
use crate::errors::{of_bus, refusal};
use crate::keys::SigningKeys;
use crate::session::Session;
use bytes::Bytes;
use futures_util::StreamExt;
use rialto_bus::{Context, Dispatch};
use rialto_depot::{FileId, TenantName};
use rialto_depot_desk::{ContentSender, DepotBus, FilePieces, ReadFile};
use s3s::dto::{Checksum, StreamingBlob};
use s3s::{S3Error, S3ErrorCode, S3Result, StdError, TrailingHeaders};
use std::ops::Range;
use std::pin::pin;

/// Where the content of a file comes from.
pub(crate) enum Source<'a> {
    /// From the client, with what follows it.
    Body(Option<StreamingBlob>, Option<TrailingHeaders>),
    /// From files of the depot, one behind the other.
    Files(&'a DepotBus, &'a Context<'a>, Vec<FilePart>),
}

/// A part of a file.
pub(crate) struct FilePart {
    pub(crate) tenant: TenantName,
    pub(crate) id: FileId,
    pub(crate) range: Range<u64>,
}

impl Source<'_> {
    /// Passes the content on while `storing` takes it, and returns the result of `storing` with the
    /// checksums. If the content does not arrive whole, in time and as declared, or its key has ended,
    /// nothing is stored; the answer comes when nothing is left of it.
    pub(crate) async fn pass_on<T>(
        self,
        keys: &dyn SigningKeys,
        session: &Session,
        mut digest: BodyDigest,
        pieces: ContentSender,
        storing: impl Future<Output = rialto_bus::Result<T>>,
    ) -> S3Result<(T, Checksum)> {
        let mut storing = pin!(storing);
        let arrived = {
            let mut arriving = pin!(self.arrive(session, &mut digest, &pieces));
            tokio::select! {
                biased;
                stored = &mut storing => {
                    let refused = stored.err().map(of_bus);
                    return Err(refused.unwrap_or_else(|| S3Error::new(S3ErrorCode::InternalError)));
                }
                arrived = &mut arriving => arrived,
            }
        };
        let checked = arrived.and_then(|trailers| {
            let checksums = digest.finish(trailers.as_ref()).map_err(|fault| fault.error())?;
            match keys.still_works(&session.key.id, &session.secret) {
                true => Ok(checksums),
                false => Err(refusal(S3ErrorCode::InvalidAccessKeyId, "The key has ended.")),
            }
        });
        match checked {
            Ok(checksums) => {
                pieces.end().await;
                Ok((storing.await.map_err(of_bus)?, checksums))
            }
            Err(error) => {
                drop(pieces);
                // The depot removes what it has.
                let _ = storing.await;
                Err(error)
            }
        }
    }

    /// Sends the pieces until the end, or until nobody wants more.
    async fn arrive(
        self,
        session: &Session,
        digest: &mut BodyDigest,
        pieces: &ContentSender,
    ) -> S3Result<Option<TrailingHeaders>> {
        match self {
            Source::Body(body, trailers) => {
                let Some(mut body) = body else { return Ok(trailers) };
                while let Some(piece) = body.next().await {
                    let piece = piece.map_err(|error| of_body(session, &error))?;
                    send(piece, digest, pieces).await;
                }
                Ok(trailers)
            }
            Source::Files(bus, context, parts) => {
                for FilePart { tenant, id, range } in parts {
                    if range.is_empty() {
                        continue;
                    }
                    let opened =
                        bus.query(ReadFile { tenant, id }, context).await.map_err(of_bus)?;
                    let mut content = FilePieces::begin(opened, range).await.map_err(of_bus)?;
                    while let Some(piece) = content.next().await {
                        let piece = piece.map_err(S3Error::internal_error)?;
                        send(piece, digest, pieces).await;
                    }
                }
                Ok(None)
            }
        }
    }
}

/// Sends a piece. If nobody wants it, the refusal of the file is the answer, and is waited for.
async fn send(piece: Bytes, digest: &mut BodyDigest, pieces: &ContentSender) {
    digest.update(&piece);
    if !pieces.send(piece).await {
        std::future::pending::<()>().await;
    }
}

/// Why a body could not be read.
fn of_body(session: &Session, error: &StdError) -> S3Error {
    if let Some(fault) = session.fault() {
        return fault.error();
    }
    // The errors of the decoder are private; their texts name them.
    let text = error.to_string();
    let (code, message) = if text.contains("Sha256Mismatch") {
        let message = "The content has another SHA-256 than x-amz-content-sha256 says.";
        (crate::errors::code("XAmzContentSHA256Mismatch"), message)
    } else if text.contains("SignatureMismatch") {
        (S3ErrorCode::SignatureDoesNotMatch, "The signature of a chunk does not match.")
    } else if text.contains("LengthMismatch") || text.contains("Incomplete") {
        (S3ErrorCode::IncompleteBody, "The body has another length than was declared.")
    } else {
        (S3ErrorCode::InvalidRequest, "The body is malformed.")
    };
    refusal(code, message)
}
