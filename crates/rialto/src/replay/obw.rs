//! OBW1 streams, whose header says what must come out.

use super::error::InputError;
use super::input::{Operations, bytes_of};
use super::operation::{Action, Operation, Overview, Placement};
use rialto_model::{OrderKind, PostOnly, Price, Quantity, Scale, TimeInForce};
use rialto_workload::obw::{Header, Kind, ObwError, Reader, Record};
use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// A stream in a file.
pub(super) struct ObwFile {
    path: PathBuf,
    /// The stream's header.
    pub(super) header: Header,
}

impl ObwFile {
    pub(super) fn open(path: &Path) -> Result<ObwFile, InputError> {
        let header = *reader(path)?.header();
        Ok(ObwFile { path: path.to_owned(), header })
    }

    pub(super) fn scan(&self) -> Result<Overview, InputError> {
        let (mut accounts, mut operations) = (BTreeSet::new(), 0);
        for record in reader(&self.path)? {
            let record = record.map_err(failed(&self.path))?;
            operations += 1;
            if record.kind != Kind::Cancel {
                accounts.insert(record.user);
            }
        }
        Ok(Overview {
            operations,
            accounts,
            first: None,
            price_scale: Scale::default(),
            quantity_scale: Scale::default(),
            tick: Price(1),
            symbol: "BASE-QUOTE",
            currencies: ["BASE", "QUOTE"],
        })
    }

    pub(super) fn operations(&self) -> Result<Operations, InputError> {
        let failed = failed(&self.path);
        Ok(Box::new(reader(&self.path)?.map(move |record| match record {
            Ok(record) => Ok(Operation { at: None, action: action(&record) }),
            Err(error) => Err(failed(error)),
        })))
    }
}

fn reader(path: &Path) -> Result<Reader<Box<dyn BufRead>>, InputError> {
    Reader::new(bytes_of(path)?).map_err(failed(path))
}

fn failed(path: &Path) -> impl Fn(ObwError) -> InputError + use<> {
    let path = path.to_owned();
    move |source| InputError::Obw { path: path.clone(), source }
}

fn action(record: &Record) -> Action {
    match record.kind {
        Kind::Cancel => Action::Cancel { id: record.id },
        Kind::Passive | Kind::Crossing => Action::Place(Placement {
            id: record.id,
            account: record.user,
            side: record.side,
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            post_only: PostOnly::Off,
            price: Price(i64::from(record.price)),
            quantity: Quantity(i64::from(record.quantity)),
        }),
    }
}
