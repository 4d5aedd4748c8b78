//! The queue of a venue that runs.

use super::any_queue::{AnyQueue, Member, Pages, Published, Seen, Show};
use super::shown::Shown;
use super::topics::{Create, CreateGroup, shown};
use crate::Error;
use crate::client::{Ask, Client, escape};
use rialto_gateway::now_us;
use rialto_queue::packed::{
    LEASES_MEDIA_TYPE, MESSAGES_MEDIA_TYPE, Packed, PackedLeases, PackedWriter,
};
use rialto_queue::{Publish, Redriven, Start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The most messages that a request may carry.
const MESSAGES_MAX: usize = 1_000;
/// A request is sent when its messages have so many bytes; a venue takes 1 MiB unless it is
/// configured to take more.
const BODY_BYTES: usize = 512 << 10;
/// The longest that a request for messages waits. A venue waits no longer than 30 s.
const WAIT_MAX: Duration = Duration::from_secs(20);

pub(super) struct RemoteQueue {
    client: Client,
}

impl RemoteQueue {
    pub(super) fn new(client: Client) -> RemoteQueue {
        RemoteQueue { client }
    }

    /// The newest messages of a topic's lanes.
    fn ends(&self, topic: &str) -> Result<Vec<u64>, Error> {
        let told = self.topic(topic)?;
        let lanes = told["lanes"].as_array().ok_or_else(|| strange("no lanes of a topic"))?;
        lanes.iter().map(|lane| number(&lane[1])).collect()
    }

    fn count(&self, method: &str, path: &str, field: &str) -> Result<u64, Error> {
        number(&self.client.call(method, path, None)?[field])
    }
}

/// A whole number, which the API writes as text.
fn number(value: &Value) -> Result<u64, Error> {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| strange(&format!("{value} where a number should be")))
}

fn strange(what: &str) -> Error {
    Error::Unreachable(format!("the venue's answer holds {what}: is it of another version?"))
}

fn path(topic: &str, rest: &str) -> String {
    format!("/v1/queues/{}{rest}", escape(topic))
}

fn packed(bytes: Vec<u8>) -> Result<Packed<Vec<u8>>, Error> {
    Packed::read(bytes).map_err(|error| strange(&format!("messages that cannot be read ({error})")))
}

impl AnyQueue for RemoteQueue {
    fn create_topic(&self, create: &Create) -> Result<(), Error> {
        self.client.call("POST", "/v1/queues", Some(&create.request())).map(drop)
    }

    fn create_group(&self, create: &CreateGroup) -> Result<(), Error> {
        let path = path(&create.topic, "/groups");
        self.client.call("POST", &path, Some(&create.request()?)).map(drop)
    }

    fn delete_topic(&self, topic: &str) -> Result<(), Error> {
        self.client.call("DELETE", &path(topic, ""), None).map(drop)
    }

    fn delete_group(&self, topic: &str, group: &str) -> Result<(), Error> {
        let path = path(topic, &format!("/groups/{}", escape(group)));
        self.client.call("DELETE", &path, None).map(drop)
    }

    fn topics(&self) -> Result<Vec<String>, Error> {
        let told = self.client.get("/v1/queues")?;
        let names = told["topics"].as_array().ok_or_else(|| strange("no list of topics"))?;
        Ok(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    fn topic(&self, topic: &str) -> Result<Value, Error> {
        self.client.get(&path(topic, ""))
    }

    fn publish(
        &self,
        topic: &str,
        messages: &[Publish<'_>],
        (producer, mut first): (u64, u64),
    ) -> Result<Published, Error> {
        let mut published = Published::default();
        let mut body = PackedWriter::new();
        for (nth, message) in messages.iter().enumerate() {
            body.push(message);
            let is_last = nth + 1 == messages.len();
            if !is_last && body.len() < MESSAGES_MAX && body.bytes().len() < BODY_BYTES {
                continue;
            }
            let mut path = path(topic, "/messages");
            if producer != 0 {
                path.push_str(&format!("?producer={producer}&first={first}"));
            }
            let ask = Ask::post(&path).body(MESSAGES_MEDIA_TYPE, body.bytes());
            let told = self.client.ask(&ask)?.accepted_json()?;
            let duplicates = told["duplicates"].as_u64().unwrap_or_default();
            published.messages += body.len() as u64 - duplicates;
            published.duplicates += duplicates;
            first += body.len() as u64;
            body.clear();
        }
        Ok(published)
    }

    fn join(&self, topic: &str, group: &str) -> Result<Box<dyn Member + '_>, Error> {
        // Nobody else is called so, wherever they run.
        let consumer = format!("cli-{}-{}", now_us(), std::process::id());
        let (topic, group) = (topic.to_owned(), group.to_owned());
        Ok(Box::new(Joined { client: &self.client, topic, group, consumer, shown: None }))
    }

    fn read(&self, topic: &str, from: Start) -> Result<Box<dyn Pages + '_>, Error> {
        let from = match from {
            Start::Oldest => "from=oldest".to_owned(),
            Start::Next => "from=next".to_owned(),
            Start::At(time) => format!("from_time={}", time.0),
            Start::Seq(seq) => {
                let lanes = self.topic(topic)?["priorities"].as_u64().unwrap_or(1);
                format!(
                    "from={}",
                    vec![seq.to_string(); usize::try_from(lanes).unwrap_or(1)].join(",")
                )
            }
        };
        Ok(Box::new(Place { client: &self.client, path: path(topic, "/messages"), from }))
    }

    fn dead_letters(&self, topic: &str, show: Show<'_>) -> Result<(), Error> {
        let path = path(topic, &format!("/dead-letters?max={MESSAGES_MAX}"));
        let told = self.client.ask(&Ask::get(&path).accept(MESSAGES_MEDIA_TYPE))?.accepted()?;
        let letters = packed(told.body)?;
        let _ = letters.messages().try_for_each(|letter| show(&Shown::of_packed(&letter)));
        Ok(())
    }

    fn redrive(&self, topic: &str) -> Result<Redriven, Error> {
        let path = path(topic, "/redrive");
        let mut redriven = Redriven::default();
        let mut from = "oldest".to_owned();
        // Consumers may refuse at once what is sent back to them: letters that were none at the
        // beginning wait for the next time.
        let ends = self.ends(topic)?;
        loop {
            let told = self.client.call("POST", &format!("{path}?from={from}"), None)?;
            let (sent, kept) = (number(&told["sent"])?, number(&told["kept"])?);
            redriven = Redriven { sent: redriven.sent + sent, kept: redriven.kept + kept };
            from = shown(&told["next"]);
            let mut places = from.split(',').map(|next| next.parse::<u64>().unwrap_or(u64::MAX));
            let is_behind_all = ends.iter().all(|end| places.next().is_none_or(|next| next > *end));
            if sent + kept == 0 || is_behind_all {
                return Ok(redriven);
            }
        }
    }

    fn purge(&self, topic: &str) -> Result<u64, Error> {
        self.count("DELETE", &path(topic, "/messages"), "dropped")
    }
}

/// A member of a group of a venue, which it joins with its first fetch.
struct Joined<'a> {
    client: &'a Client,
    topic: String,
    group: String,
    consumer: String,
    shown: Option<Packed<Vec<u8>>>,
}

impl Joined<'_> {
    fn path(&self, rest: &str) -> String {
        path(&self.topic, &format!("/groups/{}/{rest}", escape(&self.group)))
    }

    fn ask(&self, most: usize, wait: Duration) -> Result<Packed<Vec<u8>>, Error> {
        let body = json!({
            "consumer": self.consumer,
            "max": most.min(MESSAGES_MAX),
            "wait_ms": wait.as_millis() as u64,
        });
        let path = self.path("fetch");
        let ask = Ask::post(&path).json(&body).accept(MESSAGES_MEDIA_TYPE);
        packed(self.client.ask(&ask)?.accepted()?.body)
    }

    /// Says what became of what was shown last, but for the first messages. Returns how many were
    /// no longer this consumer's.
    fn settle(&mut self, request: &str, skipped: usize) -> Result<u64, Error> {
        let Some(shown) = self.shown.take().filter(|shown| shown.len() > skipped) else {
            return Ok(0);
        };
        let mut leases = PackedLeases::new(shown.epoch());
        let settled = shown.messages().skip(skipped);
        settled.for_each(|message| leases.push(message.id(), message.lease()));
        let mut body = Vec::new();
        leases.write(&mut body);
        let path = self.path(&format!("{request}consumer={}", escape(&self.consumer)));
        let ask = Ask::post(&path).body(LEASES_MEDIA_TYPE, &body);
        let told = self.client.ask(&ask)?.accepted_json()?;
        Ok(told["lost"].as_array().map_or(0, Vec::len) as u64)
    }

    /// As [`Joined::ask`], and creates the group if there is none.
    fn ask_group(&self, most: usize, wait: Duration) -> Result<Packed<Vec<u8>>, Error> {
        match self.ask(most, wait) {
            Err(Error::Refused { code, .. }) if code == "unknown_group" => {
                let group = json!({"name": self.group});
                self.client.call("POST", &path(&self.topic, "/groups"), Some(&group))?;
                self.ask(most, wait)
            }
            fetched => fetched,
        }
    }
}

impl Member for Joined<'_> {
    fn fetch(&mut self, most: usize, wait: Duration, show: Show<'_>) -> Result<Seen, Error> {
        let end = Instant::now() + wait;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let fetched = self.ask_group(most, left.min(WAIT_MAX))?;
            let (messages, missed) = (fetched.len() as u64, fetched.missed());
            if messages == 0 && missed == 0 && left > WAIT_MAX {
                continue;
            }
            let mut shown = fetched.messages();
            let is_enough = shown.any(|message| show(&Shown::of_packed(&message)).is_err());
            self.shown = Some(fetched);
            return Ok(Seen { messages, missed, conflated: 0, is_enough });
        }
    }

    fn done(&mut self) -> Result<u64, Error> {
        self.settle("ack?", 0)
    }

    fn return_unseen(&mut self, looked_at: usize) -> Result<u64, Error> {
        self.settle("nack?unseen=true&", looked_at)
    }

    fn leave(self: Box<Self>) -> Result<(), Error> {
        // Each acknowledgement was answered when it was safe.
        let path = self.path(&format!("consumers/{}", escape(&self.consumer)));
        self.client.call("DELETE", &path, None).map(drop)
    }
}

/// A place in a topic of a venue.
struct Place<'a> {
    client: &'a Client,
    path: String,
    from: String,
}

impl Pages for Place<'_> {
    fn next(&mut self, most: usize, show: Show<'_>) -> Result<Seen, Error> {
        let path = format!("{}?{}&max={}", self.path, self.from, most.min(MESSAGES_MAX));
        let told = self.client.ask(&Ask::get(&path).accept(MESSAGES_MEDIA_TYPE))?.accepted()?;
        self.from = format!("from={}", told.next.ok_or_else(|| strange("nowhere to go on"))?);
        let page = packed(told.body)?;
        let is_enough = page.messages().any(|message| show(&Shown::of_packed(&message)).is_err());
        let (messages, missed, conflated) = (page.len() as u64, page.missed(), told.conflated);
        Ok(Seen { messages, missed, conflated, is_enough })
    }
}
