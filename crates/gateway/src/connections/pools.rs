//! The thread pools that serve connections.
//!
//! Orders have their own threads. All other requests, streams included, share threads with a lower
//! priority. A connection begins on the threads of orders and moves, as a whole, to the threads of
//! its current request: a caller that only enters orders never pays for a move, and the body and
//! answer of a request are handled where it belongs.

use super::Open;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use tokio::runtime::Handle;

/// A pool of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Pool {
    /// The threads of orders.
    Orders,
    /// The threads of all other requests.
    Shared,
}

impl Pool {
    fn of(number: u8) -> Pool {
        if number == Pool::Orders as u8 { Pool::Orders } else { Pool::Shared }
    }
}

impl Open {
    /// The pool that serves the connection.
    pub(crate) fn pool(&self) -> Pool {
        Pool::of(self.pool.load(Ordering::Acquire))
    }

    /// Continues when the connection is in this pool.
    pub(crate) async fn enter(&self, pool: Pool) {
        self.wanted.store(pool as u8, Ordering::Relaxed);
        // It needs no waker: the connection is polled after its move.
        poll_fn(|_| if self.pool() == pool { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

/// The threads of connections that can move.
#[derive(Clone)]
pub(crate) struct Pools {
    pub(crate) orders: Handle,
    pub(crate) shared: Handle,
}

/// A connection being served.
type Served = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Pools {
    /// Serves a connection, at first on the threads of orders.
    pub(crate) fn serve(&self, open: Arc<Open>, connection: Served) {
        self.serve_in(Pool::Orders, open, connection);
    }

    fn serve_in(&self, pool: Pool, open: Arc<Open>, connection: Served) {
        let handle = match pool {
            Pool::Orders => &self.orders,
            Pool::Shared => &self.shared,
        };
        open.pool.store(pool as u8, Ordering::Release);
        let (connection, pools) = (Some(connection), self.clone());
        handle.spawn(Placed { connection, open, pool, pools });
    }
}

/// A connection in a pool, until it ends or moves.
struct Placed {
    connection: Option<Served>,
    open: Arc<Open>,
    pool: Pool,
    pools: Pools,
}

impl Future for Placed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(mut connection) = self.connection.take() else { return Poll::Ready(()) };
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let wanted = Pool::of(self.open.wanted.load(Ordering::Relaxed));
        if wanted == self.pool {
            self.connection = Some(connection);
            return Poll::Pending;
        }
        self.pools.serve_in(wanted, Arc::clone(&self.open), connection);
        Poll::Ready(())
    }
}
