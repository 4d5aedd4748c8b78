//! A pool of workers that share a work queue. Failed jobs are retried with growing delays, and
//! become dead letters after too many attempts; after a repair they are redriven: `cargo run -p
//! rialto-examples --bin worker_pool`.

use rialto_queue::{
    Consumer, Delivered, GroupOptions, Publish, Queue, QueueError, QueueOptions, TopicOptions,
    dead_header,
};
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const JOBS: u32 = 100;
const TRIES: u16 = 3;

/// The state of the workers.
#[derive(Default)]
struct Work {
    done: AtomicU32,
    retries: AtomicU32,
    /// Until the repair, every job for the moon fails.
    is_mended: AtomicBool,
}

impl Work {
    /// Every seventh job fails the first time, and those for the moon fail always.
    fn attempt(&self, job: &Delivered) -> Result<(), &'static str> {
        let number: u32 =
            String::from_utf8_lossy(job.payload()).parse().map_err(|_| "not a number")?;
        if job.key() == b"moon" && !self.is_mended.load(Ordering::Relaxed) {
            return Err("there is no way to the moon");
        }
        if number.is_multiple_of(7) && job.attempt() == 1 {
            return Err("the line was busy");
        }
        Ok(())
    }

    fn run(&self, worker: &Consumer) -> Result<(), QueueError> {
        loop {
            let jobs = worker.fetch(8, Duration::from_millis(300))?.messages;
            if jobs.is_empty() {
                return Ok(());
            }
            for job in jobs {
                match self.attempt(&job) {
                    Ok(()) => {
                        worker.ack(&job)?;
                        self.done.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(why) => {
                        let delay = Duration::from_millis(10 << job.attempt());
                        worker.nack(&job, Some(delay), why)?;
                        self.retries.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

fn run_pool(queue: &Queue, work: &Work) -> Result<(), Box<dyn Error>> {
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..3).map(|_| scope.spawn(|| work.run(&queue.consumer("jobs", "pool")?))).collect();
        for worker in workers {
            worker.join().map_err(|_| "a worker panicked")??;
        }
        Ok(())
    })
}

/// Redrives dead letters: each is published again and removed from the dead letters, atomically.
fn redrive(queue: &Queue) -> Result<usize, Box<dyn Error>> {
    queue.create_group("jobs.dead", "redrive", GroupOptions::default())?;
    let dead = queue.consumer("jobs.dead", "redrive")?;
    let letters = dead.try_fetch(1_000)?.messages;
    for letter in &letters {
        let reason = letter.header(dead_header::DETAIL).unwrap_or_default();
        println!("dead: {} ({})", text(letter.payload()), text(reason));
        let mut transaction = queue.begin();
        transaction.ack(&dead, letter)?;
        transaction.publish("jobs", &Publish::new(letter.payload()).key(letter.key()))?;
        transaction.commit()?;
    }
    Ok(letters.len())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let queue = Queue::open(QueueOptions::at(directory.path()))?;
    queue.create_topic("jobs", TopicOptions::work_queue().messages_max(1_000))?;
    let options = GroupOptions { attempts_max: TRIES, ..GroupOptions::default() };
    queue.create_group("jobs", "pool", options)?;

    let numbers: Vec<_> = (1..=JOBS).map(|number| number.to_string()).collect();
    let jobs: Vec<_> = numbers
        .iter()
        .map(|number| {
            let place: &[u8] = if number.ends_with("50") { b"moon" } else { b"earth" };
            Publish::new(number.as_bytes()).key(place)
        })
        .collect();
    queue.producer("jobs")?.send_batch(&jobs)?.wait()?;

    let work = Work::default();
    run_pool(&queue, &work)?;
    let (done, retries) = (work.done.load(Ordering::Relaxed), work.retries.load(Ordering::Relaxed));
    println!("{done} done, {retries} tried again or given up");

    work.is_mended.store(true, Ordering::Relaxed);
    println!("{} sent back", redrive(&queue)?);
    run_pool(&queue, &work)?;
    println!("{} done", work.done.load(Ordering::Relaxed));
    println!("{} left", queue.stats("jobs")?.messages);
    Ok(())
}
