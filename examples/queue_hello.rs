//! A topic that survives the program that published on it: `cargo run -p rialto-examples --bin
//! queue_hello`.

use rialto_queue::{GroupOptions, Publish, Queue, QueueOptions, TopicOptions};
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    {
        let queue = Queue::open(QueueOptions::at(directory.path()))?;
        queue.create_topic("greetings", TopicOptions::stream())?;
        let producer = queue.producer("greetings")?;
        for name in ["Ada", "Ben"] {
            let receipt = producer.publish(&Publish::new(name.as_bytes()).header("lang", b"en"))?;
            println!("{name} is on the disk as message {}", receipt.id().ok_or("a duplicate")?);
        }
        queue.close()?;
    }
    let queue = Queue::open(QueueOptions::at(directory.path()))?;
    queue.create_group("greetings", "greeters", GroupOptions::default())?;
    let greeter = queue.consumer("greetings", "greeters")?;
    for message in greeter.fetch(10, Duration::from_secs(1))?.messages {
        println!("Hello, {}!", std::str::from_utf8(message.payload())?);
        greeter.ack(&message)?;
    }
    greeter.confirm()?;
    println!("{} left", queue.stats("greetings")?.groups[0].lag);
    Ok(())
}
