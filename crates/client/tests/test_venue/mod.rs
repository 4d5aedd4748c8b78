//! A whole venue in process, its clients, and a proxy that cuts connections.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

#[path = "../../../gateway/tests/test_venue/mod.rs"]
pub mod gateway_venue;

use gateway_venue::{Key, TestVenue as GatewayVenue, config};
use rialto_client::{Client, ClientOptions, Credentials};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Longer than anything here takes on a busy machine; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A venue with one market, BTC-USD, and two members.
pub struct TestVenue {
    pub gateway: GatewayVenue,
    pub alice: Key,
    pub bob: Key,
    pub runtime: Runtime,
}

impl TestVenue {
    pub fn open() -> TestVenue {
        let (gateway, alice, bob) = GatewayVenue::with_market(config());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("threads can be started");
        TestVenue { gateway, alice, bob, runtime }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.gateway.address)
    }

    pub fn member(&self, key: &Key) -> Client {
        Client::new(&self.url(), credentials(key)).expect("the address is sound")
    }

    pub fn operator(&self) -> Client {
        let key = Credentials::Admin(self.gateway.admin.reveal().to_owned());
        Client::new(&self.url(), key).expect("the address is sound")
    }
}

pub fn credentials(key: &Key) -> Credentials {
    Credentials::Key { id: key.id.clone(), secret: key.secret.clone() }
}

/// Refusals are handed to the test at once.
pub fn impatient() -> ClientOptions {
    ClientOptions { retry_wait_max: Duration::ZERO, ..ClientOptions::default() }
}

/// Passes connections on to a venue, until it is told to cut them.
pub struct Proxy {
    pub address: SocketAddr,
    listening: JoinHandle<()>,
    passing: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Proxy {
    pub async fn to(venue: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a port");
        let address = listener.local_addr().expect("it is bound");
        let passing = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&passing);
        let listening = tokio::spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                let pass = tokio::spawn(async move {
                    if let Ok(mut to) = TcpStream::connect(venue).await {
                        let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                    }
                });
                kept.lock().expect("nobody panics with it").push(pass);
            }
        });
        Proxy { address, listening, passing }
    }

    /// Ends every connection there is.
    pub fn cut(&self) {
        self.passing.lock().expect("nobody panics with it").drain(..).for_each(|it| it.abort());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        self.cut();
    }
}
