//! Queues: what members of groups ask.

use super::queues::{bus, name, names, nothing};
use super::{Handled, packed, respond};
use crate::ApiError;
use crate::call::Call;
use crate::dto::{FetchRequest, LeaseRequest, NackRequest, SettleRequest, write_delivered};
use crate::gate::Gate;
use crate::json::JsonOut;
use crate::query::Query;
use crate::queues::{
    AckMessages, ExtendLeases, FetchMessages, GivenBack, Leased, LeaveGroup, NackMessages, Seat,
};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_bus::Dispatch;
use rialto_queue::MessageId;
use rialto_queue::packed::pack_fetched;
use std::time::Duration;

/// How many messages a fetch that does not say hands out at most.
const FETCH_USUAL: usize = 10;

/// `POST /v1/queues/{topic}/groups/{group}/fetch`
pub(super) async fn fetch(gate: &Gate, request: Request) -> Handled {
    // It counts as nothing that is under way, so that nothing else turns it away at the stop.
    if gate.intake.process.operations().is_stopping() {
        return Err(ApiError::stopped());
    }
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let body: FetchRequest<'_> = call.json()?;
    let fetch = FetchMessages {
        seat: seat(&call, &body.consumer)?,
        max: body.max.unwrap_or(FETCH_USUAL),
        wait: Duration::from_millis(body.wait_ms),
    };
    let bus = bus(gate)?;
    let leases = bus.leases();
    let cx = call.queue_cx();
    let fetched = call.while_valid(gate, bus.send(fetch, &cx)).await?;
    if packed::is_asked_for(&call) {
        return Ok(packed::respond_packed(pack_fetched(&fetched, leases.epoch())));
    }
    let bytes: usize = fetched.messages.iter().map(|message| message.payload().len()).sum();
    let mut out = JsonOut::with_capacity(256 + 256 * fetched.messages.len() + bytes);
    out.open_object();
    out.key("messages").open_array();
    for delivered in &fetched.messages {
        write_delivered(&mut out, delivered, leases);
    }
    out.close_array();
    out.key("missed").quoted(fetched.missed);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `POST /v1/queues/{topic}/groups/{group}/ack`
pub(super) async fn ack(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let (seat, leases) = settling(gate, &call)?;
    let ack = AckMessages { seat, leases };
    Ok(settled(&bus(gate)?.send(ack, &call.queue_cx()).await?))
}

/// `POST /v1/queues/{topic}/groups/{group}/nack`
pub(super) async fn nack(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let mut query = call.query()?;
    let nack = match packed::leases(&call, bus(gate)?.leases())? {
        Some(leases) => NackMessages {
            seat: seat_asked(&call, &mut query)?,
            leases,
            back: GivenBack {
                delay: query.parse("delay_ms", "milliseconds")?.map(Duration::from_millis),
                refuse: query.parse("refuse", "true or false")?.unwrap_or_default(),
                unseen: query.parse("unseen", "true or false")?.unwrap_or_default(),
                detail: query.text("detail").unwrap_or_default().into_owned(),
            },
        },
        None => {
            let body: NackRequest<'_> = call.json()?;
            NackMessages {
                seat: seat(&call, &body.consumer)?,
                leases: leases(gate, &body.messages)?,
                back: GivenBack {
                    delay: body.delay_ms.map(Duration::from_millis),
                    refuse: body.refuse,
                    unseen: body.unseen,
                    detail: body.detail.as_deref().unwrap_or_default().to_owned(),
                },
            }
        }
    };
    query.finish()?;
    Ok(settled(&bus(gate)?.send(nack, &call.queue_cx()).await?))
}

/// `POST /v1/queues/{topic}/groups/{group}/extend`
pub(super) async fn extend(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let (seat, leases) = settling(gate, &call)?;
    let extend = ExtendLeases { seat, leases };
    Ok(settled(&bus(gate)?.send(extend, &call.queue_cx()).await?))
}

/// `DELETE /v1/queues/{topic}/groups/{group}/consumers/{consumer}`
pub(super) async fn leave(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let [topic, group, consumer] = names(&call, ["topic", "group", "consumer"])?;
    let seat = Seat { topic, group, consumer };
    bus(gate)?.send(LeaveGroup { seat }, &call.queue_cx()).await?;
    Ok(nothing())
}

/// Who speaks of which leases: in JSON or, if they are packed, with the consumer in the query.
fn settling(gate: &Gate, call: &Call) -> Result<(Seat, Vec<Leased>), ApiError> {
    let mut query = call.query()?;
    let settling = match packed::leases(call, bus(gate)?.leases())? {
        Some(leases) => (seat_asked(call, &mut query)?, leases),
        None => {
            let body: SettleRequest<'_> = call.json()?;
            (seat(call, &body.consumer)?, leases(gate, &body.messages)?)
        }
    };
    query.finish()?;
    Ok(settling)
}

fn seat_asked(call: &Call, query: &mut Query<'_>) -> Result<Seat, ApiError> {
    let consumer = query.text("consumer").ok_or_else(|| ApiError::missing("consumer"))?;
    seat(call, &consumer)
}

fn seat(call: &Call, consumer: &str) -> Result<Seat, ApiError> {
    let [topic, group] = names(call, ["topic", "group"])?;
    Ok(Seat { topic, group, consumer: name("consumer", consumer)? })
}

fn leases(gate: &Gate, messages: &[LeaseRequest<'_>]) -> Result<Vec<Leased>, ApiError> {
    LeaseRequest::numbers(messages, bus(gate)?.leases())
}

fn settled(lost: &[MessageId]) -> Response {
    let mut out = JsonOut::with_capacity(32 + 16 * lost.len());
    out.open_object();
    out.key("lost").open_array();
    for id in lost {
        out.text(&id.to_string());
    }
    out.close_array();
    out.close_object();
    respond(StatusCode::OK, out)
}
