// SPDX-License-Identifier: LGPL-2.1-or-later
//! What it costs to push a timer back: by `Timer::extend`, which is inline, by `Timer::arm`, and by
//! a call of the library's `twheel_extend`; beside a store of the same kind, and nothing else.
use std::io;
use std::os::raw::c_int;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use twheel::Timer;

const ROUNDS: u32 = 5;
const IDLE: Duration = Duration::from_secs(30);

/// A handle of libtwheel.
#[repr(C)]
struct Handle {
    opaque: [u8; 0],
}

extern "C" {
    fn twheel_open(out: *mut *mut Handle, options: *const u8) -> c_int;
    fn twheel_close(w: *mut Handle);
    fn twheel_now(w: *const Handle) -> u64;
    fn twheel_extend(w: *mut Handle, id: u32, deadline: u64) -> c_int;
}

/// The median of some rounds, ns for each of `nr`.
fn measure(what: &str, nr: usize, mut round: impl FnMut()) {
    let mut all: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_nanos() as f64 / nr as f64
        })
        .collect();

    all.sort_by(f64::total_cmp);
    println!("  {what:<42} {:6.2}", all[all.len() / 2]);
}

fn bench(timers: usize, times: usize) -> io::Result<()> {
    let (wheel, events) = twheel::Options::new().capacity(timers as u32).open()?;
    let mut all: Vec<Timer> = (0..timers)
        .map(|_| wheel.timer())
        .collect::<Result<_, _>>()?;
    let words: Vec<[AtomicU64; 2]> = (0..timers).map(|_| Default::default()).collect();
    let mut deadline = wheel.now() + IDLE;
    let nr = timers * times;

    for timer in &mut all {
        timer.arm(deadline)?;
    }
    println!("{timers} timers, pushed back in turn: ns each");
    measure("a load and a store", nr, || {
        for _ in 0..times {
            deadline += Duration::from_nanos(1);
            let nanos = deadline.as_nanos();
            for [word, _] in &words {
                if word.load(Ordering::Relaxed) <= nanos {
                    word.store(nanos, Ordering::Relaxed);
                }
            }
        }
    });
    measure("Timer::extend", nr, || {
        for _ in 0..times {
            deadline += Duration::from_nanos(1);
            for timer in &mut all {
                timer.extend(&events, deadline).unwrap();
            }
        }
    });
    measure("Timer::arm", nr, || {
        for _ in 0..times {
            deadline += Duration::from_nanos(1);
            for timer in &mut all {
                timer.arm(deadline).unwrap();
            }
        }
    });
    Ok(())
}

fn bench_calls(timers: u32, times: usize) {
    let mut handle = null_mut();

    // SAFETY: all defaults; only this thread has it.
    unsafe {
        assert_eq!(twheel_open(&mut handle, null()), 0);
        let mut deadline = twheel_now(handle) + IDLE.as_nanos() as u64;
        measure(
            "twheel_extend(), a call of the library",
            timers as usize * times,
            || {
                for _ in 0..times {
                    deadline += 1;
                    for id in 0..timers {
                        assert_eq!(twheel_extend(handle, id, deadline), 0);
                    }
                }
            },
        );
        twheel_close(handle);
    }
}

fn main() -> io::Result<()> {
    bench(1000, 10_000)?;
    bench_calls(1000, 10_000);
    Ok(())
}
