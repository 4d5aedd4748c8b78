//! The operator of the demo: sends the requests that `rialto admin state` and `auction-rules` send,
//! with a key of the scope `admin`.

use crate::Error;
use crate::demo::markets::VISITOR;
use crate::demo::visitor::{key_file, known};
use crate::remote::Remote;
use crate::venue::Venue;
use rialto_client::KeyFile;
use rialto_client::api::{AuctionRulesRequest, PhaseRequest};
use rialto_gateway::{KeyRequest, Scope};
use rialto_model::{Instrument, InstrumentState, MemberId};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file in the data directory that holds the operator's key. It is there once a day was played.
const KEY_FILE: &str = "demo-operator.toml";
/// How far a trade may be from the last price, in millionths of it, before a call interrupts trading.
pub(super) const DYNAMIC_RANGE_PPM: u32 = 10_000;

/// How often, and after which pause, a request is sent again that found the instrument uncrossing.
pub(super) const UNCROSSING_TRIES: u32 = 1_000;
pub(super) const UNCROSSING_PAUSE: Duration = Duration::from_millis(10);

/// An operator, who changes phases and rules over HTTP.
pub(crate) struct Operator {
    remote: Remote,
    key: String,
    path: PathBuf,
}

/// How long an interruption lasts at least, and how much longer at most.
pub(super) struct Call {
    pub(super) least: Duration,
    pub(super) random_end: Duration,
}

/// The answer to a change of a phase.
pub(super) enum Entered {
    /// The phase has begun, or will after the instrument has uncrossed.
    Begun,
    /// The instrument uncrosses: the request has to be sent again.
    Uncrossing,
}

impl Operator {
    /// Finds the operator's key or makes one.
    pub(crate) fn appoint(venue: &Venue, data: &Path) -> Result<Operator, Error> {
        let path = data.join(KEY_FILE);
        let file = key_file(venue, &path, made)?;
        Operator::of(venue, &file, path)
    }

    fn of(venue: &Venue, file: &KeyFile, path: PathBuf) -> Result<Operator, Error> {
        let url = format!("http://{}", venue.local_addr());
        let remote = Remote::new(&url, file.credentials()?)?;
        Ok(Operator { remote, key: file.key.clone(), path })
    }

    /// Ends what an earlier run with a day has left, and the operator's key: every instrument is
    /// opened, and no range interrupts it. Does nothing if no day was played.
    pub(crate) fn retire(
        venue: &Venue,
        data: &Path,
        instruments: &[Instrument],
    ) -> Result<(), Error> {
        let path = data.join(KEY_FILE);
        let Some(file) = known(venue, &path) else { return Ok(()) };
        let operator = Operator::of(venue, &file, path)?;
        for instrument in instruments {
            match operator.release(instrument) {
                // An operator may have delisted it meanwhile.
                Ok(()) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let failed = |error: &dyn std::error::Error| Error::Assemble(crate::tell_all(error));
        venue.keys().revoke(&operator.key).map_err(|error| failed(&error))?;
        std::fs::remove_file(&operator.path).map_err(|source| Error::File {
            verb: "remove",
            path: operator.path.clone(),
            source,
        })
    }

    /// Opens an instrument, and takes its range away.
    fn release(&self, instrument: &Instrument) -> Result<(), Error> {
        self.set_range(instrument, 0, None)?;
        // An instrument that uncrosses is on its way to a phase of the day; it is opened then.
        for _ in 0..UNCROSSING_TRIES {
            match self.enter(instrument, InstrumentState::Open)? {
                Entered::Begun => break,
                Entered::Uncrossing => std::thread::sleep(UNCROSSING_PAUSE),
            }
        }
        Ok(())
    }

    /// As `rialto admin state SYMBOL STATE`.
    pub(super) fn enter(
        &self,
        instrument: &Instrument,
        state: InstrumentState,
    ) -> Result<Entered, Error> {
        let request = PhaseRequest { instrument: instrument.spec.symbol.as_str().into(), state };
        match self.remote.wait(self.remote.client.set_state(&request)) {
            Ok(_) => Ok(Entered::Begun),
            Err(Error::Refused { code, .. }) if code == "instrument_uncrossing" => {
                Ok(Entered::Uncrossing)
            }
            Err(error) => Err(error),
        }
    }

    /// As `rialto admin auction-rules SYMBOL --dynamic-range-ppm N --call-ms N --random-end-ms N`.
    pub(super) fn set_range(
        &self,
        instrument: &Instrument,
        dynamic_range_ppm: u32,
        call: Option<Call>,
    ) -> Result<(), Error> {
        let milliseconds = |length: fn(&Call) -> Duration| {
            call.as_ref().and_then(|call| u32::try_from(length(call).as_millis()).ok())
        };
        let request = AuctionRulesRequest {
            dynamic_range_ppm: Some(dynamic_range_ppm),
            call_ms: milliseconds(|call| call.least),
            random_end_ms: milliseconds(|call| call.random_end),
            ..AuctionRulesRequest::of(instrument.spec.symbol.as_str())
        };
        self.remote.wait(self.remote.client.change_auction_rules(&request)).map(|_| ())
    }
}

fn made(venue: &Venue) -> Result<KeyFile, Error> {
    let request = KeyRequest {
        label: "demo-operator".to_string(),
        member: MemberId(VISITOR),
        accounts: Vec::new(),
        scopes: [Scope::Admin].into_iter().collect(),
        queues: Vec::new(),
        depot: Vec::new(),
        expires_us: None,
    };
    let (info, secret) =
        venue.keys().create(request).map_err(|error| Error::Assemble(crate::tell_all(&error)))?;
    Ok(KeyFile { url: None, key: info.id, secret: secret.reveal(), account: None })
}
