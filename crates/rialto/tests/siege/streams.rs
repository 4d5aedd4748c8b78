//! Unread subscriptions, and resumes that take every turn.

use crate::honest::unharmed;
use crate::pace::{scaled, turn};
use crate::venue::{Besieged, Member, SYMBOL};
use crate::wire::{Socket, attacker, connect_from, connect_narrow};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The longest wait for a resume with a few events.
const RESUME_MAX: Duration = Duration::from_secs(3);

#[test]
fn unread_streams_delay_no_orders() {
    let mut turn = turn();
    let besieged = Besieged::begin("");
    let honest = besieged.trader();
    let symbols: Vec<String> = (0..24).map(|number| format!("M{number}-USD")).collect();
    symbols.iter().for_each(|symbol| besieged.instrument(symbol));
    let streams = 512;
    let mut subscriptions = Vec::new();
    for symbol in [SYMBOL].into_iter().chain(symbols.iter().map(String::as_str)) {
        for wanted in [
            json!({"channel": "book"}),
            json!({"channel": "book", "depth": 5}),
            json!({"channel": "trades"}),
            json!({"channel": "ticker"}),
        ] {
            let mut wanted = wanted;
            wanted["op"] = "subscribe".into();
            wanted["instrument"] = symbol.into();
            subscriptions.push(wanted);
        }
    }
    subscriptions.truncate(99);
    let frames: Vec<u8> = subscriptions
        .iter()
        .flat_map(|wanted| Socket::frame(true, 1, wanted.to_string().as_bytes()))
        .collect();
    while turn.another() {
        // The market must move, so that there are messages: the honest member trades on it.
        unharmed("streams that nobody reads", &besieged, &honest, || {
            let mut held = Vec::new();
            for number in 0..streams {
                let from = attacker(number % 64);
                let Ok(stream) = connect_narrow(from, besieged.address()) else { continue };
                let Ok(Ok(mut socket)) = Socket::open(stream, "/v1/stream") else { continue };
                if socket.send_bytes(&frames).is_ok() {
                    held.push(socket);
                }
            }
            std::thread::sleep(Duration::from_secs(scaled(3, 15) as u64));
            println!("{} streams with {} subscriptions each", held.len(), subscriptions.len());
        });
    }
    besieged.end();
}

fn resume(besieged: &Besieged, member: &Member, from: usize, seq: &str) -> std::io::Result<Socket> {
    let stream = connect_narrow(attacker(from), besieged.address())?;
    let mut socket = Socket::open(stream, "/v1/stream")?
        .map_err(|status| std::io::Error::other(format!("refused with {status}")))?;
    socket.authenticate(member)?;
    socket.wait_for("authenticated", Duration::from_secs(20))?;
    socket.say(&json!({"op": "subscribe", "channel": "orders", "from_seq": seq}))?;
    Ok(socket)
}

#[test]
fn resumes_of_one_member_make_no_other_wait() {
    let mut turn = turn();
    let besieged = Besieged::begin("");
    let (honest, attacking) = (besieged.trader(), besieged.trader());
    besieged.enter(&attacking, 40_000, |number| {
        json!({
            "instrument": SYMBOL, "side": "buy", "quantity": "0.00001", "price": "1",
            "time_in_force": "ioc", "client_order_id": format!("resumed-{number}"),
        })
    });
    while turn.another() {
        let order =
            json!({"instrument": SYMBOL, "side": "buy", "quantity": "0.00001", "price": "2"});
        let entered = besieged.client(&honest).call("POST", "/v1/orders", Some(&order)).unwrap();
        let seq = entered["seq"].as_str().unwrap().parse::<u64>().unwrap() - 1;
        // None of them reads its messages.
        let held: Vec<Socket> =
            (0..8).map(|number| resume(&besieged, &attacking, number, "1").unwrap()).collect();
        let began = Instant::now();
        let stream = connect_from([127, 0, 0, 1].into(), besieged.address()).unwrap();
        let mut socket = Socket::open(stream, "/v1/stream").unwrap().unwrap();
        socket.authenticate(&honest).unwrap();
        socket.wait_for("authenticated", Duration::from_secs(20)).unwrap();
        let wanted = json!({"op": "subscribe", "channel": "orders", "from_seq": seq.to_string()});
        socket.say(&wanted).unwrap();
        let events: Value = socket.wait_for("orders", Duration::from_secs(60)).unwrap();
        let took = began.elapsed();
        println!("8 resumes of one member: another's took {took:.1?}");
        assert_eq!(events["seq"], entered["seq"]);
        assert!(took < RESUME_MAX, "a resume took {took:?}");
        drop(held);
    }
    besieged.end();
}
