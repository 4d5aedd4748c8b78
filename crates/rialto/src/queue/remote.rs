//! The queue of a venue that runs.

use super::any_queue::{AnyQueue, Member, Pages, Published, Seen, Show};
use super::shown::Shown;
use super::topics::{Create, CreateGroup};
use crate::Error;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use rialto_client::HttpAnswer;
use rialto_client::api::sign::now_us;
use rialto_client::api::{
    DeadLettersQuery, FetchRequest, GroupRequest, LeaseInfo, LeasesQuery, PackedNackQuery,
    PackedSettleQuery, PublishQuery, PublishedAnswer, ReadQuery, RedriveQuery, Route,
    SettledAnswer, Str, TopicInfo,
};
use rialto_queue::packed::{
    LEASES_MEDIA_TYPE, MESSAGES_MEDIA_TYPE, Packed, PackedLeases, PackedWriter,
};
use rialto_queue::{Publish, Redriven, Start};
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The most messages of a request.
const MESSAGES_MAX: usize = 1_000;
/// The bytes of messages at which a request is sent; a venue accepts 1 MiB unless configured
/// otherwise.
const BODY_BYTES: usize = 512 << 10;
/// The longest wait of a fetch. A venue waits at most 30 s.
const WAIT_MAX: Duration = Duration::from_secs(20);

pub(super) struct RemoteQueue {
    venue: Remote,
}

impl RemoteQueue {
    pub(super) fn new(venue: Remote) -> RemoteQueue {
        RemoteQueue { venue }
    }

    fn info(&self, topic: &str) -> Result<TopicInfo, Error> {
        self.venue.wait(self.venue.client.topic(topic))
    }
}

fn strange(what: &str) -> Error {
    Error::Unreachable(format!(
        "the venue's answer holds {what}; use the venue's version of rialto"
    ))
}

/// Fetches messages in their packed form.
fn packed(
    venue: &Remote,
    route: Route,
    arguments: &[&str],
    query: &impl Serialize,
) -> Result<(Packed<Vec<u8>>, HttpAnswer), Error> {
    let asked = venue.client.call_packed(route, arguments, query, None, Some(MESSAGES_MEDIA_TYPE));
    unpacked(venue.wait(asked)?)
}

fn unpacked(answer: HttpAnswer) -> Result<(Packed<Vec<u8>>, HttpAnswer), Error> {
    let read = Packed::read(answer.body.to_vec());
    let messages =
        read.map_err(|error| strange(&format!("messages that cannot be read ({error})")))?;
    Ok((messages, answer))
}

impl AnyQueue for RemoteQueue {
    fn create_topic(&self, create: &Create) -> Result<(), Error> {
        self.venue.wait(self.venue.client.create_topic(&create.request())).map(drop)
    }

    fn create_group(&self, create: &CreateGroup) -> Result<(), Error> {
        let request = create.request();
        self.venue.wait(self.venue.client.create_group(&create.topic, &request)).map(drop)
    }

    fn delete_topic(&self, topic: &str) -> Result<(), Error> {
        self.venue.wait(self.venue.client.delete_topic(topic)).map(drop)
    }

    fn delete_group(&self, topic: &str, group: &str) -> Result<(), Error> {
        self.venue.wait(self.venue.client.delete_group(topic, group)).map(drop)
    }

    fn topics(&self) -> Result<Vec<String>, Error> {
        Ok(self.venue.wait(self.venue.client.topics())?.topics)
    }

    fn topic(&self, topic: &str) -> Result<Value, Error> {
        let client = &self.venue.client;
        self.venue.wait(client.call(Route::QueueTopic, &[topic], NO_QUERY, NO_BODY))
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
            let is_numbered = producer != 0;
            let query = PublishQuery {
                confirm: None,
                producer: is_numbered.then_some(producer),
                first: is_numbered.then_some(first),
            };
            let bytes = Some((MESSAGES_MEDIA_TYPE, body.bytes().to_vec().into()));
            let client = &self.venue.client;
            let names = [topic];
            let told = client.call_packed(Route::QueuePublish, &names, &query, bytes, None);
            let told: PublishedAnswer = self.venue.wait(told)?.read()?;
            let duplicates = told.duplicates as u64;
            published.messages += body.len() as u64 - duplicates;
            published.duplicates += duplicates;
            first += body.len() as u64;
            body.clear();
        }
        Ok(published)
    }

    fn join(
        &self,
        topic: &str,
        group: &str,
        ack_wait: Option<Duration>,
    ) -> Result<Box<dyn Member + '_>, Error> {
        // Nobody else is called so, wherever they run.
        let consumer = format!("cli-{}-{}", now_us(), std::process::id());
        let (topic, group) = (topic.to_owned(), group.to_owned());
        let venue = &self.venue;
        Ok(Box::new(Joined { venue, topic, group, consumer, ack_wait, shown: None }))
    }

    fn leases(
        &self,
        topic: &str,
        group: &str,
        after: Option<&str>,
    ) -> Result<Vec<LeaseInfo>, Error> {
        let query = LeasesQuery { after: after.map(Str::from), max: Some(MESSAGES_MAX) };
        Ok(self.venue.wait(self.venue.client.leases(topic, group, &query))?.leases)
    }

    fn read(&self, topic: &str, from: Start) -> Result<Box<dyn Pages + '_>, Error> {
        let mut query = ReadQuery::default();
        match from {
            Start::Oldest => query.from = Some("oldest".into()),
            Start::Next => query.from = Some("next".into()),
            Start::At(time) => query.from_time = Some(time),
            Start::Seq(seq) => {
                let lanes = usize::from(self.info(topic)?.priorities);
                query.from = Some(vec![seq.to_string(); lanes].join(",").into());
            }
        }
        Ok(Box::new(TopicPages { venue: &self.venue, topic: topic.to_owned(), query }))
    }

    fn dead_letters(&self, topic: &str, show: Show<'_>) -> Result<(), Error> {
        let query = DeadLettersQuery { max: Some(MESSAGES_MAX) };
        let (letters, _) = packed(&self.venue, Route::QueueDeadLetters, &[topic], &query)?;
        let _ = letters.messages().try_for_each(|letter| show(&Shown::of_packed(&letter)));
        Ok(())
    }

    fn redrive(&self, topic: &str) -> Result<Redriven, Error> {
        let mut redriven = Redriven::default();
        let mut from = "oldest".to_owned();
        // Consumers may refuse redriven messages at once: dead letters that come after the
        // beginning wait for the next time.
        let ends: Vec<u64> = self.info(topic)?.lanes.iter().map(|(_, next)| next.0).collect();
        loop {
            let query = RedriveQuery { from: Some(from.as_str().into()), max: None };
            let told = self.venue.wait(self.venue.client.redrive(topic, &query))?;
            let (sent, kept) = (told.sent.0, told.kept.0);
            redriven = Redriven { sent: redriven.sent + sent, kept: redriven.kept + kept };
            from = told.next;
            let mut places = from.split(',').map(|next| next.parse::<u64>().unwrap_or(u64::MAX));
            let is_behind_all = ends.iter().all(|end| places.next().is_none_or(|next| next > *end));
            if sent + kept == 0 || is_behind_all {
                return Ok(redriven);
            }
        }
    }

    fn purge(&self, topic: &str) -> Result<u64, Error> {
        Ok(self.venue.wait(self.venue.client.purge(topic))?.dropped.0)
    }
}

/// A member of a group of a venue, which joins with its first fetch.
struct Joined<'a> {
    venue: &'a Remote,
    topic: String,
    group: String,
    consumer: String,
    ack_wait: Option<Duration>,
    shown: Option<Packed<Vec<u8>>>,
}

impl Joined<'_> {
    fn ask(&self, most: usize, wait: Duration) -> Result<Packed<Vec<u8>>, Error> {
        let request = FetchRequest {
            consumer: self.consumer.as_str().into(),
            max: Some(most.min(MESSAGES_MAX)),
            wait_ms: wait.as_millis() as u64,
            ack_wait_ms: self.ack_wait.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
        };
        let body = serde_json::to_vec(&request).map_err(|error| strange(&error.to_string()))?;
        let names = [&*self.topic, &*self.group];
        let asked = self.venue.client.call_packed(
            Route::QueueFetch,
            &names,
            NO_QUERY,
            Some(("application/json", body.into())),
            Some(MESSAGES_MEDIA_TYPE),
        );
        Ok(unpacked(self.venue.wait(asked)?)?.0)
    }

    /// Settles the last batch, except for its first messages. Returns the number of lost leases.
    fn settle(
        &mut self,
        route: Route,
        query: &impl Serialize,
        skipped: usize,
    ) -> Result<u64, Error> {
        let Some(shown) = self.shown.take().filter(|shown| shown.len() > skipped) else {
            return Ok(0);
        };
        let mut leases = PackedLeases::new(shown.epoch());
        let settled = shown.messages().skip(skipped);
        settled.for_each(|message| leases.push(message.id(), message.lease()));
        let mut body = Vec::new();
        leases.write(&mut body);
        let (names, body) = ([&*self.topic, &*self.group], Some((LEASES_MEDIA_TYPE, body.into())));
        let asked = self.venue.client.call_packed(route, &names, query, body, None);
        let told: SettledAnswer = self.venue.wait(asked)?.read()?;
        Ok(told.lost.len() as u64)
    }

    /// As [`Joined::ask`], and creates the group if there is none.
    fn ask_group(&self, most: usize, wait: Duration) -> Result<Packed<Vec<u8>>, Error> {
        match self.ask(most, wait) {
            Err(Error::Refused { code, .. }) if code == "unknown_group" => {
                let group =
                    GroupRequest { name: self.group.as_str().into(), ..GroupRequest::default() };
                self.venue.wait(self.venue.client.create_group(&self.topic, &group))?;
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
        let query = PackedSettleQuery { consumer: Some(self.consumer.clone().into()) };
        self.settle(Route::QueueAck, &query, 0)
    }

    fn return_unseen(&mut self, looked_at: usize) -> Result<u64, Error> {
        let query = PackedNackQuery {
            consumer: Some(self.consumer.clone().into()),
            unseen: Some(true),
            ..PackedNackQuery::default()
        };
        self.settle(Route::QueueNack, &query, looked_at)
    }

    fn leave(self: Box<Self>) -> Result<(), Error> {
        // Each acknowledgement was answered when it was safe.
        let Joined { venue, topic, group, consumer, .. } = *self;
        venue.wait(venue.client.leave(&topic, &group, &consumer)).map(drop)
    }
}

/// The pages of a topic of a venue, from a position.
struct TopicPages<'a> {
    venue: &'a Remote,
    topic: String,
    query: ReadQuery<'static>,
}

impl Pages for TopicPages<'_> {
    fn next(&mut self, most: usize, show: Show<'_>) -> Result<Seen, Error> {
        self.query.max = Some(most.min(MESSAGES_MAX));
        let (page, answer) = packed(self.venue, Route::QueueRead, &[&self.topic], &self.query)?;
        let next = answer.next.ok_or_else(|| strange("no next position"))?;
        self.query = ReadQuery { from: Some(Str::from(next)), ..ReadQuery::default() };
        let is_enough = page.messages().any(|message| show(&Shown::of_packed(&message)).is_err());
        let (messages, missed) = (page.len() as u64, page.missed());
        Ok(Seen { messages, missed, conflated: answer.conflated, is_enough })
    }
}
