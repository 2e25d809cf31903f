// SPDX-License-Identifier: LGPL-2.1-or-later
//! A server that forgets clients which have been silent for a while: each message pushes a timer
//! back, with a store. 200 clients talk for a while, and then fall silent.
use std::collections::HashMap;
use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use twheel::Timer;

const CLIENTS: usize = 200;
const IDLE: Duration = Duration::from_millis(300);

/// A client; the id of its timer is its place in the table.
struct Client {
    address: SocketAddr,
    timer: Timer,
    last: Instant,
}

/// Some messages, and then silence.
fn talk(server: SocketAddr, number: usize) -> std::io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;

    // The server answers the first one. Until it does, UDP may have lost either.
    socket.set_read_timeout(Some(IDLE))?;
    socket.send_to(b"hello", server)?;
    while socket.recv(&mut [0; 16]).is_err() {
        socket.send_to(b"hello", server)?;
    }
    for _ in 0..number % 20 {
        thread::sleep(IDLE / 20);
        socket.send_to(b"hello", server)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (wheel, mut events) = twheel::open()?;
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let address = socket.local_addr()?;
    let mut places: HashMap<SocketAddr, u32> = HashMap::new();
    let mut clients: Vec<Option<Client>> = Vec::new();
    let (mut messages, mut forgotten, mut early) = (0, 0, 0);

    // A server would have both file descriptors in one set of epoll; std has none.
    socket.set_read_timeout(Some(Duration::from_millis(1)))?;
    for number in 0..CLIENTS {
        thread::spawn(move || talk(address, number));
    }
    while forgotten < CLIENTS {
        match socket.recv_from(&mut [0; 16]) {
            Ok((_, from)) => {
                let id = match places.get(&from) {
                    Some(id) => *id,
                    None => {
                        let timer = wheel.timer()?;
                        let id = timer.id();
                        clients.resize_with(clients.len().max(id as usize + 1), || None);
                        clients[id as usize] = Some(Client {
                            address: from,
                            timer,
                            last: Instant::now(),
                        });
                        places.insert(from, id);
                        socket.send_to(b"welcome", from)?;
                        id
                    }
                };
                if let Some(client) = &mut clients[id as usize] {
                    client.last = Instant::now();
                    client.timer.extend(&events, wheel.now() + IDLE)?;
                }
                messages += 1;
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events.take()? {
            if let Some(client) = clients[event.id() as usize].take() {
                places.remove(&client.address);
                forgotten += 1;
                early += usize::from(client.last.elapsed() < IDLE);
            }
        }
    }
    let place = if wheel.is_fallback() {
        "process"
    } else {
        "kernel"
    };
    println!(
        "timers in the {place}: {messages} messages, {forgotten} clients forgotten, {early} early"
    );
    if early > 0 {
        return Err("a client was forgotten too early".into());
    }
    Ok(())
}
