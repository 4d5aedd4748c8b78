//! Results of a claimed file in the body of a request: for each a line of JSON, and its content.

use crate::ApiError;
use crate::upload::Pieces;
use aws_lc_rs::digest::{Context, SHA256};
use axum::http::StatusCode;
use bytes::{Buf, Bytes};
use rialto_api::DepotResult;
use rialto_api::sign::from_hex;
use rialto_depot::{Directory, FileName, NewFile, RESULTS_MAX};
use rialto_depot_desk::ResultSender;

/// The longest line: metadata of the greatest length, with every character escaped, and the names.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Reads results from the pieces of a body, and passes them on.
pub(crate) struct ResultReader {
    results: ResultSender,
    /// The beginning of a line.
    line: Vec<u8>,
    /// The bytes that are missing of the content of the last result.
    left: u64,
    count: usize,
    /// The SHA-256 of the body so far, and that of the head.
    sha256: Option<(Context, [u8; 32])>,
}

impl ResultReader {
    /// Passes results on. The body must have this SHA-256.
    pub(crate) fn new(results: ResultSender, sha256: Option<[u8; 32]>) -> ResultReader {
        let sha256 = sha256.map(|declared| (Context::new(&SHA256), declared));
        ResultReader { results, line: Vec::new(), left: 0, count: 0, sha256 }
    }

    /// The result that a line describes.
    fn read_line(&mut self) -> Result<NewFile, ApiError> {
        let nth = self.count;
        let wrong = |field: &str, why: String| {
            ApiError::invalid(format!("results[{nth}].{field}"), format!("{why}."))
        };
        if nth == RESULTS_MAX {
            let message = format!("A file has at most {RESULTS_MAX} results.");
            return Err(ApiError::invalid("results", message));
        }
        let result: DepotResult<'_> = serde_json::from_slice(&self.line).map_err(|error| {
            let message =
                format!("The line before the content of the result {nth} is malformed: {error}.");
            ApiError::new(StatusCode::BAD_REQUEST, "malformed_body", message)
        })?;
        let directory = Directory::new(result.directory.as_deref().unwrap_or_default())
            .map_err(|error| wrong("directory", error.to_string()))?;
        let name = result.name.as_deref().map(FileName::new).transpose();
        let sha256 = match &result.sha256 {
            None => None,
            Some(text) => Some(from_hex(&text.0).ok_or_else(|| {
                wrong("sha256", "It has 64 hexadecimal digits in lower case".to_owned())
            })?),
        };
        self.left = result.bytes.0;
        self.count += 1;
        Ok(NewFile {
            directory,
            name: name.map_err(|error| wrong("name", error.to_string()))?,
            content_type: result.content_type.as_deref().unwrap_or_default().to_owned(),
            metadata: result.metadata.into_iter().collect(),
            bytes: Some(result.bytes.0),
            sha256,
            ..NewFile::default()
        })
    }
}

impl Pieces for ResultReader {
    async fn take(&mut self, mut piece: Bytes) -> Result<bool, ApiError> {
        if let Some((context, _)) = &mut self.sha256 {
            context.update(&piece);
        }
        while !piece.is_empty() {
            if self.left > 0 {
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(piece.len());
                self.left -= length as u64;
                if !self.results.send(piece.split_to(length)).await {
                    return Ok(false);
                }
                continue;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let part = end.unwrap_or(piece.len());
            if self.line.len() + part > LINE_BYTES_MAX {
                let message = format!(
                    "The line before the content of the result {} is longer than {LINE_BYTES_MAX} \
                     bytes.",
                    self.count
                );
                return Err(ApiError::new(StatusCode::BAD_REQUEST, "malformed_body", message));
            }
            self.line.extend_from_slice(&piece[..part]);
            if end.is_none() {
                break;
            }
            piece.advance(part + 1);
            let result = self.read_line()?;
            self.line.clear();
            if !self.results.begin(result).await {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn end(self) -> Result<(), ApiError> {
        if self.left > 0 || !self.line.is_empty() {
            let message = "The body ends within a result; nothing was stored, and the file is still \
                           claimed.";
            return Err(ApiError::new(StatusCode::BAD_REQUEST, "malformed_body", message));
        }
        if let Some((context, declared)) = self.sha256
            && context.finish().as_ref() != declared.as_slice()
        {
            let message = "The body has another SHA-256 than was declared; nothing was stored.";
            let error = ApiError::new(StatusCode::BAD_REQUEST, "content_mismatch", message);
            return Err(error.of("body"));
        }
        self.results.end().await;
        Ok(())
    }
}
