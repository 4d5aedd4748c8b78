//! Enters an order and follows it over the stream until it ends.
//!
//! ```sh
//! cargo run -p rialto-examples --bin order_tracker -- data/demo/demo-key.toml
//! ```

use rialto_client::api::{OrderEvent, OrderRequest, StreamMessage};
use rialto_client::model::Side;
use rialto_client::{Client, ClientError, KeyFile, StreamEvent, StreamSubscription};
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: order_tracker KEY_FILE");
        return ExitCode::from(2);
    };
    match track(&path).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn track(path: &str) -> Result<(), ClientError> {
    let file = KeyFile::read(path.as_ref())?;
    let url = file.url.as_deref().unwrap_or("http://127.0.0.1:8080");
    let client = Client::new(url, file.credentials()?)?;
    // The stream first, and nothing before it says that it has begun: otherwise events could be
    // missed between order and subscription.
    let mut stream = client.stream([StreamSubscription::orders(None)]).await?;
    while let Some(event) = stream.next().await {
        if let StreamEvent::Message(message) = event?
            && matches!(*message, StreamMessage::Subscribed { .. })
        {
            break;
        }
    }

    let order = OrderRequest::limit("BTC-USD", Side::Sell, "0.5", "64000");
    let mine = client.place(&order).await?.order_id;
    while let Some(event) = stream.next().await {
        let message = match event? {
            StreamEvent::Message(message) => *message,
            other => {
                eprintln!("{other:?}");
                continue;
            }
        };
        let StreamMessage::Orders { events, .. } = message else { continue };
        for event in events {
            match event {
                OrderEvent::Accepted { order_id, instrument, quantity, price, .. }
                    if Some(order_id) == mine =>
                {
                    let [quantity, price] = [quantity, price].map(Option::unwrap_or_default);
                    println!("open: sell {quantity} {instrument} at {price}");
                }
                OrderEvent::Traded { order_id, price, quantity, remaining, .. }
                    if Some(order_id) == mine =>
                {
                    println!("traded: {quantity} at {price}, {remaining} left");
                    if remaining.to_string().bytes().all(|byte| matches!(byte, b'0' | b'.')) {
                        return Ok(());
                    }
                }
                OrderEvent::Done { order_id, reason, .. } if Some(order_id) == mine => {
                    println!("ended: {}", reason.name());
                    return Ok(());
                }
                _ => {}
            }
        }
    }
    Ok(())
}
