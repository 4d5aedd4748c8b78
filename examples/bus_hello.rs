//! A sender and a handler that do not know each other: `cargo run -p rialto-examples --bin
//! bus_hello`.

use rialto_bus::behaviour::IsolatePanics;
use rialto_bus::{Bus, Command, Context, Dispatch, Event, Result, behaviours, handler};

#[derive(Command)]
#[request(response = String)]
struct Greet(&'static str);

#[derive(Event)]
struct Greeted(String);

#[handler(through = behaviours![IsolatePanics])]
fn greet(Greet(name): Greet) -> Result<String> {
    Ok(format!("Hello, {name}!"))
}

#[handler]
fn applaud(Greeted(words): &Greeted) -> Result<()> {
    println!("Event: {words}");
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let bus = Bus::builder().discover().build()?;
    let words = bus.send_now(Greet("Ada"), &Context::new())?;
    Ok(bus.publish_now(&Greeted(words), &Context::new())?)
}
