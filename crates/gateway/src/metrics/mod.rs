//! Metrics in the text format of Prometheus. `docs/metrics.md` lists all.

mod depot;
mod order_files;
mod queue;

use crate::ApiError;
use crate::call::Visit;
use crate::gate::Gate;
use crate::limits::JournalQuota;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use rialto_desk::{Durations, GetReport, Health, Report, Scope, Stats, Storage};
use rialto_model::{DoneReason, EventKind, RejectReason};
use rialto_payments::{State, WithdrawalService};
use std::fmt::{Display, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4");
const NANOSECONDS: f64 = 1e9;
/// The most keys with their own metric of journal bytes.
const KEYS_SHOWN_MAX: usize = 20;

/// The upper bounds of the buckets of durations, in microseconds.
const TIMES_US: [u64; 16] = [
    10, 25, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 409_600,
    1_638_400,
];

/// `GET /metrics`
pub(crate) async fn export(gate: &Gate, request: Request) -> Result<Response, ApiError> {
    let visit = Visit::admit(gate, request)?;
    let report = gate.query(&visit.cx(), GetReport).await?;
    let is_operator = visit.caller.as_ref().is_some_and(|it| it.scopes().has(Scope::Admin));
    let mut response = Response::new(render(gate, &report, is_operator).into());
    response.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
    Ok(response)
}

/// A metric of another door of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherMetric {
    /// Its name.
    pub name: &'static str,
    /// What it counts or shows.
    pub help: &'static str,
    /// Whether it only grows.
    pub is_counter: bool,
    /// Its value.
    pub value: u64,
}

/// Reads the metrics of another door.
pub type MoreMetrics = Arc<dyn Fn() -> Vec<OtherMetric> + Send + Sync>;

/// A page of metrics that is being written.
struct Page(String);

/// The type of a metric.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Page {
    /// Begins a metric; its values follow.
    fn metric(&mut self, name: &'static str, kind: Kind, help: &str) -> Metric<'_> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        Metric { page: self, name }
    }

    fn counter(&mut self, name: &'static str, help: &str, value: u64) {
        self.metric(name, Kind::Counter, help).value(value);
    }

    fn gauge(&mut self, name: &'static str, help: &str, value: u64) {
        self.metric(name, Kind::Gauge, help).value(value);
    }
}

struct Metric<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Metric<'_> {
    fn value(&mut self, value: impl Display) {
        let _ = writeln!(self.page.0, "{} {value}", self.name);
    }

    /// Writes a value with labels. Label values are words of this program and names of topics and
    /// groups, which need no escaping.
    fn with(&mut self, labels: &[(&str, &dyn Display)], value: impl Display) {
        let _ = write!(self.page.0, "{}{{", self.name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(self.page.0, "{comma}{label}=\"{text}\"");
        }
        let _ = writeln!(self.page.0, "}} {value}");
    }

    /// Writes buckets, sum and count with this label. `counts` has one more entry than the bounds.
    fn buckets_of(
        &mut self,
        (label, text): (&str, &str),
        bounds: impl Iterator<Item = f64>,
        counts: &[u64],
        sum: f64,
    ) {
        let name = self.name;
        let out = &mut self.page.0;
        let mut through = 0;
        for (bound, count) in bounds.zip(counts) {
            through += count;
            let _ = writeln!(out, "{name}_bucket{{{label}=\"{text}\",le=\"{bound}\"}} {through}");
        }
        let all: u64 = counts.iter().sum();
        let _ = writeln!(out, "{name}_bucket{{{label}=\"{text}\",le=\"+Inf\"}} {all}");
        let _ = writeln!(out, "{name}_sum{{{label}=\"{text}\"}} {sum}");
        let _ = writeln!(out, "{name}_count{{{label}=\"{text}\"}} {all}");
    }

    /// Writes buckets, sum and count. `count_through` counts values up to a bound.
    fn buckets(
        &mut self,
        bounds: impl Iterator<Item = (u64, f64)>,
        count_through: impl Fn(u64) -> u64,
        count: u64,
        sum: f64,
    ) {
        let name = self.name;
        let out = &mut self.page.0;
        for (bound, label) in bounds {
            let through = count_through(bound);
            let _ = writeln!(out, "{name}_bucket{{le=\"{label}\"}} {through}");
        }
        let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "{name}_sum {sum}\n{name}_count {count}");
    }
}

/// Writes the page. Metrics by key, topic or group are for operators only.
fn render(gate: &Gate, report: &Report, is_operator: bool) -> String {
    let mut page = Page(String::with_capacity(16 << 10));
    engine(&mut page, report);
    latency(&mut page, &report.stats);
    storage(&mut page, gate.desk.storage());
    journal_by_key(&mut page, &gate.journal, is_operator);
    requests(&mut page, gate, report);
    feed(&mut page, report);
    orders(&mut page, report, is_operator);
    if let Some(payments) = &gate.payments {
        withdrawals(&mut page, payments.service());
    }
    if let Some(queues) = &gate.queues {
        queue::write(&mut page, queues.queue(), is_operator);
    }
    if let Some(bus) = &gate.depot {
        depot::write(&mut page, gate, bus, is_operator);
    }
    for metric in gate.more_metrics.iter().flat_map(|read| read()) {
        let kind = if metric.is_counter { Kind::Counter } else { Kind::Gauge };
        page.metric(metric.name, kind, metric.help).value(metric.value);
    }
    if let Some(counts) = &gate.order_files {
        order_files::write(&mut page, counts);
    }
    gateway(&mut page, gate);
    page.0
}

fn engine(page: &mut Page, report: &Report) {
    let Report { stats, marks, level, .. } = report;
    page.metric("rialto_build_info", Kind::Gauge, "Version and durability level; always 1.")
        .with(&[("version", &env!("CARGO_PKG_VERSION")), ("durability", level)], 1);
    let is_up = report.status.takes_commands();
    page.gauge("rialto_up", "Whether the engine accepts commands.", is_up.into());
    page.counter("rialto_commands_total", "Commands journaled.", stats.commands);
    page.counter("rialto_groups_total", "Groups written to the journal.", stats.groups);
    page.counter(
        "rialto_journal_bytes_total",
        "Bytes written to the journal.",
        stats.journal_bytes,
    );
    page.counter(
        "rialto_journal_plain_bytes_total",
        "Bytes written, before compression and encryption.",
        stats.journal_plain_bytes,
    );
    page.counter(
        "rialto_event_log_bytes_total",
        "Bytes written to the event log.",
        stats.event_bytes,
    );
    page.counter(
        "rialto_event_log_plain_bytes_total",
        "Bytes written, before compression and encryption.",
        stats.event_plain_bytes,
    );
    page.counter(
        "rialto_busy_total",
        "Commands refused because too many were in flight.",
        stats.busy,
    );
    let mut snapshots =
        page.metric("rialto_snapshots_total", Kind::Counter, "Snapshots attempted, by result.");
    snapshots.with(&[("result", &"made")], stats.snapshots);
    snapshots.with(&[("result", &"failed")], stats.snapshots_failed);
    let since = marks.applied.0.saturating_sub(report.last_snapshot.0);
    page.gauge("rialto_commands_since_snapshot", "Commands that a restart would replay.", since);
    let unfollowed = report.clock.unfollowed_ns.unwrap_or(0) as f64 / NANOSECONDS;
    let help = "By how much the wall clock is ahead of the venue's time, if it is not followed.";
    page.metric("rialto_clock_unfollowed_seconds", Kind::Gauge, help).value(unfollowed);
    let help = "Steps of the wall clock that were not followed.";
    page.counter("rialto_clock_steps_total", help, report.clock.steps);
    let is_stalled = matches!(report.status.engine, Health::Stalled(_));
    page.gauge("rialto_stalled", "Whether a write or sync takes too long.", is_stalled.into());
    let mut mark = page.metric(
        "rialto_mark_seq",
        Kind::Gauge,
        "The sequence that each stage of the engine has reached.",
    );
    for (name, seq) in [
        ("applied", marks.applied),
        ("written", marks.written),
        ("synced", marks.synced),
        ("released", marks.released),
        ("recorded", marks.recorded),
    ] {
        mark.with(&[("mark", &name)], seq);
    }
}

fn storage(page: &mut Page, storage: &Storage) {
    let (level, reading) = (storage.level(), storage.reading());
    let help = "What is refused while the disk is nearly full: 0 nothing, 1 messages, topics, files and recordings, 2 orders too.";
    page.gauge("rialto_storage_level", help, level as u64);
    page.gauge("rialto_storage_free_bytes", "Free bytes of the disk.", reading.free_bytes);
    let help = "Bytes on the disk, by part.";
    let mut parts = page.metric("rialto_storage_bytes", Kind::Gauge, help);
    for (part, bytes) in &reading.parts {
        parts.with(&[("part", part)], bytes);
    }
    if let Some(other) = reading.other_bytes() {
        parts.with(&[("part", &"other")], other);
    }
    let help = "Orders and amendments refused because the disk is nearly full.";
    page.counter("rialto_storage_entries_refused_total", help, storage.entries_refused());
}

/// Operators see the keys with the most bytes.
fn journal_by_key(page: &mut Page, journal: &JournalQuota, is_operator: bool) {
    let help = "Bytes of the journal that commands of a key took, without padding.";
    let mut by_key = page.metric("rialto_key_journal_bytes_total", Kind::Counter, help);
    let heaviest = journal.heaviest(if is_operator { KEYS_SHOWN_MAX } else { 0 });
    for (key, bytes) in &heaviest {
        by_key.with(&[("key", key)], bytes);
    }
    let shown: u64 = heaviest.iter().map(|(_, bytes)| bytes).sum();
    by_key.with(&[("key", &"other")], journal.bytes().saturating_sub(shown));
    let help = "Orders and amendments refused because their key has used up its quota.";
    page.counter("rialto_journal_quota_refused_total", help, journal.refused());
}

fn latency(page: &mut Page, stats: &Stats) {
    let times = || TIMES_US.iter().map(|us| (us * 1_000, *us as f64 / 1e6));
    for (name, help, times_ns) in [
        (
            "rialto_journal_write_seconds",
            "Time to write a group to the journal; under synced, to sync it too.",
            &stats.write_ns,
        ),
        (
            "rialto_acknowledge_seconds",
            "Time from a command's stamp to its release at the venue's level.",
            &stats.acknowledge_ns,
        ),
    ] {
        let sum = times_ns.mean() * times_ns.len() as f64 / NANOSECONDS;
        let through = |bound| times_ns.count_between(0, bound);
        page.metric(name, Kind::Histogram, help).buckets(times(), through, times_ns.len(), sum);
    }
    let sizes = &stats.group_bytes;
    page.metric("rialto_group_bytes", Kind::Histogram, "Sizes of the journal's groups.").buckets(
        (12..=20).step_by(2).map(|power| (1 << power, f64::from(1 << power))),
        |bound| sizes.count_between(0, bound),
        sizes.len(),
        sizes.mean() * sizes.len() as f64,
    );
}

fn requests(page: &mut Page, gate: &Gate, report: &Report) {
    let payments = gate.payments.as_deref();
    let help = "Requests on the bus, by outcome.";
    let mut asked = page.metric("rialto_bus_requests_total", Kind::Counter, help);
    let counted = gate.desk.counters().each().chain(gate.keys.counters().each());
    let of_payments = payments.into_iter().flat_map(|payments| payments.counters().each());
    let of_queues = gate.queues.iter().flat_map(|queues| queues.counters().each());
    let of_depot = gate.depot.iter().flat_map(|depot| depot.counters().each());
    let statements = gate.statements.as_deref();
    let of_statements = statements.into_iter().flat_map(|it| it.counters().each());
    let of_others = of_queues.chain(of_depot).chain(of_statements);
    for (request, counts) in counted.chain(of_payments).chain(of_others) {
        asked.with(&[("request", &request), ("outcome", &"ok")], counts.succeeded());
        for (kind, count) in counts.failures() {
            asked.with(&[("request", &request), ("outcome", &kind.name())], count);
        }
    }
    let help = "Time from the bus to the answer, by request.";
    let mut times = page.metric("rialto_bus_request_seconds", Kind::Histogram, help);
    let of_payments = payments.into_iter().flat_map(|payments| payments.durations().each());
    let of_queues = gate.queues.iter().flat_map(|queues| queues.durations().each());
    let of_desk = report.requests.iter().cloned();
    let of_depot = gate.depot.iter().flat_map(|depot| depot.durations().each());
    let took = of_desk.chain(gate.keys.durations().each()).chain(of_payments).chain(of_queues);
    let of_statements = statements.into_iter().flat_map(|it| it.durations().each());
    for took in took.chain(of_depot).chain(of_statements) {
        let bounds = Durations::BOUNDS_US.iter().map(|us| *us as f64 / 1e6);
        let sum = took.sum_ns as f64 / NANOSECONDS;
        times.buckets_of(("request", took.request), bounds, &took.buckets, sum);
    }
}

fn withdrawals(page: &mut Page, office: &WithdrawalService) {
    let (shown, ended) = (office.shown(), office.ended_since_open());
    let help = "Withdrawals that have not ended, by state.";
    let mut open = page.metric("rialto_withdrawals_open", Kind::Gauge, help);
    for state in State::ALL.into_iter().filter(|state| !state.is_ended()) {
        open.with(&[("state", &state)], shown.of(state));
    }
    let help = "Withdrawals that have ended, by outcome.";
    let mut outcomes = page.metric("rialto_withdrawals_ended_total", Kind::Counter, help);
    for state in State::ALL.into_iter().filter(|state| state.is_ended()) {
        outcomes.with(&[("outcome", &state)], ended.of(state));
    }
}

fn feed(page: &mut Page, report: &Report) {
    let Report { status, counts, .. } = report;
    page.gauge("rialto_feed_seq", "The last command that queries see.", status.feed.0);
    page.gauge(
        "rialto_feed_lag_commands",
        "Released commands that the live feed has not applied.",
        report.lag,
    );
    let is_up = status.fault.is_none();
    page.gauge("rialto_feed_up", "Whether the live feed follows the engine.", is_up.into());
    page.counter(
        "rialto_folded_commands_total",
        "Commands applied to the live feed.",
        counts.commands(),
    );
    let accepted = counts.events(EventKind::Accepted);
    page.counter("rialto_orders_accepted_total", "Orders accepted.", accepted);
    page.counter("rialto_trades_total", "Trades.", counts.events(EventKind::Trade));
    let mut rejects =
        page.metric("rialto_rejects_total", Kind::Counter, "Commands refused, by reason.");
    for reason in RejectReason::ALL {
        rejects.with(&[("reason", &reason.code())], counts.rejects(*reason));
    }
}

/// What orders do; for operators only, because it tells of orders that the book does not show.
fn orders(page: &mut Page, report: &Report, is_operator: bool) {
    let Report { counts, open_orders, .. } = report;
    let help = "Open orders, by state.";
    let mut open = page.metric("rialto_open_orders", Kind::Gauge, help);
    let states = [("waiting", open_orders.waiting), ("entered", open_orders.entered)];
    for (state, count) in states.iter().filter(|_| is_operator) {
        open.with(&[("state", state)], count);
    }
    let help = "Orders that ended with a done event, by reason.";
    let mut ended = page.metric("rialto_orders_ended_total", Kind::Counter, help);
    for reason in DoneReason::ALL.iter().filter(|_| is_operator) {
        ended.with(&[("reason", &reason.name())], counts.ended(*reason));
    }
    let help = "Events, by kind.";
    let mut events = page.metric("rialto_events_total", Kind::Counter, help);
    for kind in EventKind::ALL.iter().filter(|_| is_operator) {
        events.with(&[("kind", &kind.name())], counts.events(*kind));
    }
}

fn gateway(page: &mut Page, gate: &Gate) {
    let traffic = &gate.traffic;
    let mut requests = page.metric(
        "rialto_requests_total",
        Kind::Counter,
        "HTTP requests answered, by route and status.",
    );
    for (route, status, count) in traffic.requests() {
        requests.with(&[("route", &route), ("status", &status)], count);
    }
    let connections = &gate.connections;
    page.gauge("rialto_connections", "Connections open, streams included.", connections.count());
    let refused = connections.refused();
    page.counter("rialto_connections_refused_total", "Connections refused.", refused);
    let limited = gate.gatekeeper.rate_limited();
    page.counter("rialto_rate_limited_total", "Requests refused by a rate limit.", limited);
    let held = gate.bodies.held_bytes() as u64;
    page.gauge("rialto_body_bytes", "Memory of request bodies.", held);
    let counts = &gate.streams.counts;
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    page.gauge("rialto_streams", "Streams open.", read(&counts.connections));
    page.counter("rialto_streams_refused_total", "Streams refused.", read(&counts.refused));
    let subscriptions = read(&counts.subscriptions);
    page.gauge("rialto_stream_subscriptions", "Subscriptions of all streams.", subscriptions);
    let messages = read(&counts.messages);
    page.counter("rialto_stream_messages_total", "Messages sent on streams.", messages);
    page.counter(
        "rialto_stream_too_slow_total",
        "Streams closed because they were too slow.",
        read(&counts.too_slow),
    );
    page.counter("rialto_stream_resumed_total", "Private streams resumed.", read(&counts.resumed));
    page.counter(
        "rialto_stream_disconnects_total",
        "Accounts whose orders were cancelled when a stream ended.",
        read(&counts.disconnects),
    );
    page.counter(
        "rialto_stream_disconnects_failed_total",
        "Accounts whose orders were not cancelled when a stream ended.",
        read(&counts.disconnects_failed),
    );
}
