//! Serves a text over HTTP, from one thread that no client can hold up.
//!
//! No call blocks but the wait for the next client. A client has a limited time for the request and
//! the answer. The number of clients is limited too: a further client replaces the oldest.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Programs that may be connected at one time; Prometheus has one connection a server.
const CLIENTS_MAX: usize = 64;
/// The longest request, and the most header lines in it; Prometheus sends half a kilobyte.
const REQUEST_MAX: usize = 8192;
const HEADERS_MAX: usize = 64;
/// For a request and its answer: as long as Prometheus waits by default (`scrape_timeout`).
const PATIENCE: Duration = Duration::from_secs(10);
/// After a lack of file descriptors or memory.
const PAUSE: Duration = Duration::from_millis(100);

/// The text that is served, and its media type.
pub trait Source: Send + Sync + 'static {
    /// The text of now.
    fn text(&self) -> Arc<str>;
    /// Its media type.
    fn media_type(&self) -> &'static str;
}

/// Listens, and serves from a thread of its own until the process ends. Returns the address, which
/// has the port where port 0 was asked for.
pub fn start(address: SocketAddr, source: Arc<impl Source>) -> Result<SocketAddr> {
    let listening = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?, listener))
    });
    let (bound, listener) =
        listening.with_context(|| format!("--prometheus {address}: cannot listen there"))?;
    let server = Server { listener, source, clients: Vec::new() };
    let thread = std::thread::Builder::new().name("evenkeel-http".to_owned());
    thread.spawn(move || server.run()).context("starting the thread that serves metrics")?;
    Ok(bound)
}

struct Server<S> {
    listener: TcpListener,
    source: Arc<S>,
    clients: Vec<Client>,
}

impl<S: Source> Server<S> {
    fn run(mut self) {
        loop {
            if let Err(error) = self.wait()
                && error != Errno::EINTR
            {
                std::thread::sleep(PAUSE);
            }
            self.accept();
            let source = &*self.source;
            self.clients.retain_mut(|client| client.advance(source).is_ok_and(|is_done| !is_done));
        }
    }

    /// Waits for a client that has something to do, or has had its time.
    fn wait(&self) -> Result<(), Errno> {
        let mut files = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        files.extend(self.clients.iter().map(|client| {
            let wanted =
                if client.answer.is_some() { PollFlags::POLLOUT } else { PollFlags::POLLIN };
            PollFd::new(client.stream.as_fd(), wanted)
        }));
        let left =
            self.clients.iter().map(|client| PATIENCE.saturating_sub(client.since.elapsed()));
        let left = left.min().map(|left| left + Duration::from_millis(1));
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        poll(&mut files, timeout).map(drop)
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if stream.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.clients.len() >= CLIENTS_MAX {
                        self.clients.remove(0);
                    }
                    self.clients.push(Client::new(stream));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    std::thread::sleep(PAUSE);
                    return;
                }
            }
        }
    }
}

struct Client {
    stream: TcpStream,
    since: Instant,
    request: Vec<u8>,
    answer: Option<Answer>,
}

/// An answer that is being written.
struct Answer {
    head: String,
    body: Arc<str>,
    written: usize,
}

impl Client {
    fn new(stream: TcpStream) -> Self {
        Self { stream, since: Instant::now(), request: Vec::new(), answer: None }
    }

    /// Reads and writes as much as is possible at once; whether all is done.
    fn advance(&mut self, source: &impl Source) -> io::Result<bool> {
        if self.since.elapsed() >= PATIENCE {
            return Ok(true);
        }
        if self.answer.is_none() {
            let is_ended = self.read()?;
            self.answer = answer(&self.request, source);
            if self.answer.is_none() {
                return Ok(is_ended);
            }
        }
        self.write()
    }

    /// Reads what is there, up to the limit; whether the client sends nothing more.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 2048];
        while self.request.len() < REQUEST_MAX {
            let room = buffer.len().min(REQUEST_MAX - self.request.len());
            match self.stream.read(&mut buffer[..room]) {
                Ok(0) => return Ok(true),
                Ok(bytes) => self.request.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Writes what the client takes; whether that was all.
    fn write(&mut self) -> io::Result<bool> {
        let Some(answer) = &mut self.answer else { return Ok(true) };
        loop {
            let head = answer.head.as_bytes();
            let rest = match head.get(answer.written..) {
                Some(rest) if !rest.is_empty() => rest,
                _ => &answer.body.as_bytes()[answer.written - head.len()..],
            };
            if rest.is_empty() {
                return Ok(true);
            }
            match self.stream.write(rest) {
                Ok(bytes) => answer.written += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The answer to what a client sent so far; `None`: the request has no end yet.
fn answer(request: &[u8], source: &impl Source) -> Option<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    let (status, media_type, body): (_, _, Arc<str>) = match parsed.parse(request) {
        Ok(status) if status.is_partial() && request.len() < REQUEST_MAX => return None,
        Ok(status) if status.is_partial() => too_large(),
        Err(httparse::Error::TooManyHeaders) => too_large(),
        Err(_) => plain("400 Bad Request", "expected a request of HTTP/1.1\n"),
        Ok(_) => {
            let path = parsed.path.unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default();
            match (parsed.method, path) {
                (Some("GET" | "HEAD"), "/metrics") => {
                    ("200 OK", source.media_type(), source.text())
                }
                (Some("GET" | "HEAD"), _) => {
                    plain("404 Not Found", "the metrics are at /metrics\n")
                }
                _ => plain("405 Method Not Allowed", "expected GET or HEAD\n"),
            }
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nAllow: GET, \
         HEAD\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    let is_head = parsed.method == Some("HEAD");
    let body = if is_head { Arc::from("") } else { body };
    Some(Answer { head, body, written: 0 })
}

fn plain(status: &'static str, text: &str) -> (&'static str, &'static str, Arc<str>) {
    (status, "text/plain; charset=utf-8", text.into())
}

fn too_large() -> (&'static str, &'static str, Arc<str>) {
    plain("431 Request Header Fields Too Large", "the request is too long\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Fixed(usize);

    impl Source for Fixed {
        fn text(&self) -> Arc<str> {
            "x".repeat(self.0).into()
        }

        fn media_type(&self) -> &'static str {
            "text/plain; version=0.0.4"
        }
    }

    fn served(bytes: usize) -> SocketAddr {
        start("127.0.0.1:0".parse().unwrap(), Arc::new(Fixed(bytes))).unwrap()
    }

    fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    const GET: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn a_client_is_answered() {
        let address = served(3_000_000);
        let said = ask(address, GET);
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"));
        assert_eq!(body.len(), 3_000_000);
        let said = ask(address, b"HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(said.contains("Content-Length: 3000000\r\n") && said.ends_with("\r\n\r\n"));
        for (request, status) in [
            (&b"GET / HTTP/1.0\r\n\r\n"[..], "404"),
            (b"GET /metrics?a=b HTTP/1.1\r\n\r\n", "200"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"\x16\x03\x01 no TLS here \r\n\r\n", "400"),
            (&[b"GET /", &[b'a'; REQUEST_MAX - 5][..]].concat(), "431"),
        ] {
            let said = ask(address, request);
            assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {said}");
        }
    }

    #[test]
    fn clients_that_send_nothing_or_read_nothing_hold_nobody_up() {
        let address = served(20_000_000);
        let mut idle: Vec<TcpStream> =
            (0..1000).map(|_| TcpStream::connect(address).unwrap()).collect();
        for (index, client) in idle.iter_mut().enumerate() {
            // The server may have closed the connection already.
            let _ = client.write_all(if index % 2 == 0 { GET } else { b"GET /me" });
        }
        assert_eq!(ask(address, GET).len() / 1_000_000, 20);
        let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
        assert!(open <= 1000 + CLIENTS_MAX + 100, "{open} files are open");
    }

    #[test]
    fn an_address_that_cannot_be_had_is_one_sentence() {
        let address = served(1);
        let error = start(address, Arc::new(Fixed(1))).unwrap_err();
        let said = crate::mistake::sentence(&error);
        let expected =
            format!("--prometheus {address}: cannot listen there: Address already in use");
        assert!(said.starts_with(&expected), "{said}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_are_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..300)
        ) {
            if let Some(answer) = answer(&bytes, &Fixed(1)) {
                prop_assert!(answer.head.starts_with("HTTP/1.1 "));
            }
        }
    }
}
