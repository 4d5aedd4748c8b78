//! `rialto at`: the venue as it was.

use super::{ended, output, read_only, shown, utc};
use crate::keys::KeyArgs;
use crate::{Error, tell_all};
use rialto_disk::Disk;
use rialto_engine::{At, Core, KeyRing, ReplayError};
use rialto_model::{AccountId, OrderId, Seq, Timestamp};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Shows the state of a stopped venue at a sequence or a time. Replays the journal from the
/// snapshot before it, and changes nothing. The venue must be stopped.
#[derive(Debug, clap::Args)]
pub struct AtArgs {
    /// The data directory.
    #[arg(long)]
    data: PathBuf,
    /// After the command with this sequence. Without --seq and --time, at the end.
    #[arg(long, conflicts_with = "time")]
    seq: Option<u64>,
    /// After all commands up to this time: RFC 3339 in UTC, or nanoseconds since 1970.
    #[arg(long, value_parser = utc::parse)]
    time: Option<Timestamp>,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    keys: KeyArgs,
    /// The object to show.
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The phase of an instrument, and its price levels.
    Book {
        /// Its symbol, such as BTC-USD.
        symbol: String,
        /// The number of levels of each side.
        #[arg(long, default_value_t = 10)]
        depth: usize,
    },
    /// Balances and open orders of an account.
    Account {
        /// Its number.
        id: u32,
    },
    /// An order, open or not.
    Order {
        /// Its number.
        id: u64,
    },
}

/// Runs the command.
///
/// # Errors
/// The directory is in use or damaged, does not reach the sequence or time, or has no such object.
pub fn run(args: &AtArgs) -> Result<(), Error> {
    let disk = read_only::open(&args.data)?;
    let at = match (args.seq, args.time) {
        (Some(seq), _) => At::Seq(Seq(seq)),
        (None, Some(time)) => At::Time(time),
        (None, None) => At::Time(Timestamp::MAX),
    };
    let keys = args.keys.ring()?;
    let core = rialto_engine::replay_to(&disk, &args.data, &keys, at).map_err(told)?;
    let mut answer = shown::moment(&core);
    let found = what(args, &disk, &keys, &core)?;
    if let (Value::Object(answer), Value::Object(found)) = (&mut answer, found) {
        answer.extend(found);
    }
    if args.json {
        output::print_json(&answer);
    } else {
        output::print(&text(&answer));
    }
    Ok(())
}

/// Distinguishes an invalid request from damage.
fn told(error: ReplayError) -> Error {
    let is_damage = !matches!(
        error,
        ReplayError::BeyondEnd { .. }
            | ReplayError::NoSnapshot { .. }
            | ReplayError::Disk(rialto_disk::DiskError::Locked { .. })
    );
    let told = tell_all(&error);
    if is_damage { Error::Failed(told) } else { Error::Usage(told) }
}

fn what(args: &AtArgs, disk: &Arc<dyn Disk>, keys: &KeyRing, core: &Core) -> Result<Value, Error> {
    let seq = core.seq();
    match &args.what {
        What::Book { symbol, depth } => {
            let mut markets = core.instruments();
            let market = markets.find(|market| market.instrument.spec.symbol.as_str() == symbol);
            if let Some(market) = market {
                return Ok(shown::book(core, &market, *depth));
            }
            let listed: Vec<String> = core
                .instruments()
                .map(|market| market.instrument.spec.symbol.to_string())
                .collect();
            let there = match listed.is_empty() {
                true => "none was listed".to_owned(),
                false => format!("listed were {}", listed.join(", ")),
            };
            Err(Error::Usage(format!("no instrument {symbol} at sequence {seq}; {there}")))
        }
        What::Account { id } => shown::account(core, AccountId(*id))
            .ok_or_else(|| Error::Usage(format!("no account {id} at sequence {seq}"))),
        What::Order { id } => {
            let id = OrderId(*id);
            if let Some(view) = core.order(id) {
                return Ok(shown::order(core, &view));
            }
            let ended = ended::find(disk, &args.data, keys, core, id)?;
            ended.ok_or_else(|| Error::Usage(format!("no order {id} by sequence {seq}")))
        }
    }
}

/// The object as text: simple values first, lists as tables below.
fn text(answer: &Value) -> String {
    let Value::Object(fields) = answer else { return format!("{answer}\n") };
    let width = fields.keys().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in fields {
        match value {
            Value::Array(rows) => {
                text.push_str(&format!("{}:\n", name.replace('_', " ")));
                text.push_str(&table(rows));
            }
            Value::Null => {}
            value => {
                text.push_str(&format!("{:width$}  {}\n", name.replace('_', " "), plain(value)));
            }
        }
    }
    text
}

fn table(rows: &[Value]) -> String {
    let mut names: Vec<&String> = Vec::new();
    for name in rows.iter().filter_map(Value::as_object).flat_map(|row| row.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return "  none\n".to_owned();
    }
    let mut cells: Vec<Vec<String>> =
        vec![names.iter().map(|name| name.replace('_', " ")).collect()];
    cells.extend(rows.iter().map(|row| names.iter().map(|name| plain(&row[*name])).collect()));
    let width = |column: usize| cells.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        format!("  {}\n", padded.join("  "))
    };
    cells.iter().map(line).collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}
