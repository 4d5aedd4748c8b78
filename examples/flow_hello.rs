//! A flow that survives the end of its program. A seat is reserved and the program ends; the next
//! run continues with the payment, or releases the seat: `cargo run -p rialto-examples --bin
//! flow_hello`.

use rialto_flow::store::{Level, LogOptions, LogStore};
use rialto_flow::{Flow, FlowContext, FlowError, FlowId, Flows, StepError};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Sells a seat, to be paid within an hour.
struct Sale {
    life: u32,
}

impl Flow for Sale {
    const NAME: &'static str = "sale";
    type Input = (String, u32);
    type Output = String;

    async fn run<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        (name, seat): &'a (String, u32),
    ) -> Result<String, FlowError> {
        let seat: u32 = cx
            .step("reserve", async || {
                println!("life {}: seat {seat} is reserved for {name}", self.life);
                Ok(*seat)
            })
            .compensate(async |seat: u32| {
                println!("life {}: seat {seat} is free again", self.life);
                Ok(())
            })
            .await?;
        let paid = cx.wait_for::<u32>("payment").within(Duration::from_secs(3600)).await?;
        let paid = paid.ok_or_else(|| FlowError::failed("the seat was not paid"))?;
        cx.step("ticket", async || match paid {
            40 => Ok(format!("ticket for {name}, seat {seat}")),
            other => Err(StepError::permanent(format!("{other} is not the price"))),
        })
        .await
    }
}

fn open(directory: &Path, life: u32) -> Result<Flows, Box<dyn Error>> {
    let store = LogStore::open(directory, LogOptions::new(Level::Synced))?;
    Ok(Flows::builder(Arc::new(store)).register(Sale { life }).open()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let sales =
        [("Ada", 12), ("Ben", 13)].map(|(name, seat)| (FlowId::new(name), (name.to_owned(), seat)));
    {
        let flows = open(directory.path(), 1)?;
        for (id, sale) in sales.clone() {
            flows.start::<Sale>(id?, sale)?.confirmed().wait()?;
        }
        // From here on, both sales continue in the next run of the program.
        while flows.list(&Default::default(), None, 2)?.iter().any(|run| run.history_bytes == 0) {
            std::thread::yield_now();
        }
    }
    let flows = open(directory.path(), 2)?;
    for ((id, sale), paid) in sales.into_iter().zip([40_u32, 4]) {
        let id = id?;
        flows.deliver(id, "payment", &paid)?.wait()?;
        // Starting a run that exists returns that run.
        match flows.start::<Sale>(id, sale)?.wait() {
            Ok(ticket) => println!("{ticket}"),
            Err(error) => println!("no ticket for {id}: {error}"),
        }
    }
    Ok(())
}
