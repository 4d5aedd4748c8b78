//! Results as the body of a request: for each a line of JSON, and its content.

use super::any_pool::ResultFile;
use crate::Error;
use rialto_client::api::DepotResult;
use std::fs::File;
use std::io::{self, Read};

/// The bytes of content of one piece.
const PIECE: usize = 256 << 10;

/// Files, with the lines that describe them.
pub(super) struct ResultBody<'a> {
    parts: Vec<(Vec<u8>, &'a ResultFile, u64)>,
}

impl<'a> ResultBody<'a> {
    pub(super) fn new(results: &'a [ResultFile]) -> Result<ResultBody<'a>, Error> {
        let part = |result: &'a ResultFile| {
            let unreadable = |error| Error::file("read", &result.path)(error);
            let bytes = std::fs::metadata(&result.path).map_err(unreadable)?.len();
            let described = DepotResult {
                directory: Some(result.directory.as_str().into()),
                name: Some(result.name.as_str().into()),
                bytes: bytes.into(),
                ..DepotResult::default()
            };
            let line = serde_json::to_string(&described)
                .map_err(|error| Error::Failed(format!("a result cannot be described: {error}")))?;
            Ok((format!("{line}\n").into_bytes(), result, bytes))
        };
        Ok(ResultBody { parts: results.iter().map(part).collect::<Result<_, Error>>()? })
    }

    /// Its length.
    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|(line, _, bytes)| line.len() as u64 + bytes).sum()
    }

    /// Gives it to `take`, piece by piece, until no more is wanted.
    pub(super) fn write(
        &self,
        take: &mut dyn FnMut(&[u8]) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let mut buffer = vec![0; PIECE];
        for (line, result, bytes) in &self.parts {
            let unreadable = |error| Error::file("read", &result.path)(error);
            if !take(line)? {
                return Ok(());
            }
            let mut file = File::open(&result.path).map_err(unreadable)?;
            let mut left = *bytes;
            while left > 0 {
                let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
                let read = match file.read(&mut buffer[..wanted]) {
                    Ok(0) => {
                        let short = io::Error::other("it became shorter while it was read");
                        return Err(unreadable(short));
                    }
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(unreadable(error)),
                };
                if !take(&buffer[..read])? {
                    return Ok(());
                }
                left -= read as u64;
            }
        }
        Ok(())
    }
}
