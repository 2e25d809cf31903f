// SPDX-License-Identifier: LGPL-2.1-or-later
//! What wheels, timers and events do: in the process, by words and by calls, and with the device
//! where there is one (`--include-ignored`).
use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::io::{AsFd, AsRawFd};
use std::time::{Duration, Instant};
use std::{fs, thread};

use twheel::{Arming, Clock, Event, Events, Options, State, Time, Timer, Wheel};

const MS: Duration = Duration::from_millis(1);
/// What comes at all comes by then.
const LONG: Duration = Duration::from_secs(20);

/// The next event.
fn next(events: &mut Events) -> Event {
    let batch = events.wait(LONG).unwrap();

    assert_eq!(batch.len(), 1);
    batch[0]
}

/// The event is that of the timer, which was armed for then.
fn check(wheel: &Wheel, event: &Event, timer: &Timer, deadline: Time) {
    assert_eq!((event.id(), event.deadline()), (timer.id(), deadline));
    assert!(event.fired() >= deadline && wheel.now() >= event.fired());
    assert!(event.is_last());
}

/// And it is the next.
fn expect(wheel: &Wheel, events: &mut Events, timer: &Timer, deadline: Time) {
    check(wheel, &next(events), timer, deadline);
}

fn expect_none(events: &mut Events, duration: Duration) {
    let start = Instant::now();

    assert!(events.wait(duration).unwrap().is_empty());
    assert!(start.elapsed() >= duration);
}

fn arm(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let mut timers = [wheel.timer().unwrap(), wheel.timer().unwrap()];
    let now = wheel.now();

    assert_eq!((timers[0].id(), timers[1].id()), (0, 1));
    timers[0].arm(now + 30 * MS).unwrap();
    timers[1].arm(now + 20 * MS).unwrap();
    assert!(events.take().unwrap().is_empty());
    // On a busy machine both may come at once.
    let mut come: Vec<Event> = events.wait(LONG).unwrap().iter().copied().collect();
    if come.len() == 1 {
        come.push(next(&mut events));
    }
    assert_eq!(come.len(), 2);
    check(&wheel, &come[0], &timers[1], now + 20 * MS);
    check(&wheel, &come[1], &timers[0], now + 30 * MS);
    // To earlier, and what has passed.
    timers[0].arm(wheel.now() + 1000 * LONG).unwrap();
    timers[0].arm(now).unwrap();
    expect(&wheel, &mut events, &timers[0], now);
    timers[0].arm(wheel.now() + 10 * MS).unwrap();
    timers[0].arm(Time::NEVER).unwrap();
    expect_none(&mut events, 40 * MS);
}

fn extend(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let (_other_wheel, other_events) = options.open().unwrap();
    let mut timer = wheel.timer().unwrap();
    let mut now = wheel.now();

    timer.arm(now + 10 * MS).unwrap();
    timer.extend(&events, now + 20 * MS).unwrap();
    timer.extend(&other_events, now + 60 * MS).unwrap();
    expect(&wheel, &mut events, &timer, now + 60 * MS);
    // It is not armed, and then to earlier, which a store alone would lose or be late with.
    now = wheel.now();
    timer.extend(&events, now + 1000 * LONG).unwrap();
    timer.extend(&events, now + 10 * MS).unwrap();
    expect(&wheel, &mut events, &timer, now + 10 * MS);
    // It has come, and nobody has taken it.
    now = wheel.now();
    timer.arm(now + MS).unwrap();
    wheel.flush().unwrap();
    thread::sleep(20 * MS);
    timer.extend(&events, now + 60 * MS).unwrap();
    expect(&wheel, &mut events, &timer, now + 60 * MS);
    expect_none(&mut events, 20 * MS);
}

fn cancel(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let mut timer = wheel.timer().unwrap();

    assert_eq!(timer.cancel_tell().unwrap(), State::Idle);
    timer.arm(wheel.now() + 10 * MS).unwrap();
    timer.cancel().unwrap();
    assert_eq!(timer.cancel_tell().unwrap(), State::Idle);
    timer.arm(wheel.now() + LONG).unwrap();
    assert_eq!(timer.cancel_tell().unwrap(), State::Pending);
    expect_none(&mut events, 40 * MS);
}

fn terms(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let mut timer = wheel.timer().unwrap();
    let mut told = 0;

    timer
        .arm_with(
            &Arming::after(10 * MS)
                .every(10 * MS)
                .times(3)
                .cookie(u64::MAX),
        )
        .unwrap();
    while told < 3 {
        let event = next(&mut events);
        told += 1 + event.overruns();
        assert_eq!((event.id(), event.cookie()), (timer.id(), u64::MAX));
        assert_eq!(event.is_last(), told == 3);
    }
    assert_eq!(told, 3);
    timer
        .arm_with(&Arming::at(wheel.now() + LONG).every(LONG).slack(5 * MS))
        .unwrap();
    let info = timer.info().unwrap();
    assert_eq!(
        (info.id(), info.state(), info.cookie()),
        (timer.id(), State::Pending, 0)
    );
    assert_eq!(
        (info.interval(), info.count(), info.slack()),
        (Some(LONG), None, 5 * MS)
    );
    assert!(info.remaining() <= LONG && info.deadline() > wheel.now());
    timer.arm_with(&Arming::after(Duration::ZERO)).unwrap();
    assert!(next(&mut events).is_last());

    let mut fails = |arming: Arming| timer.arm_with(&arming).unwrap_err().kind();
    assert_eq!(fails(Arming::after(MS).times(2)), ErrorKind::InvalidInput);
    assert_eq!(
        fails(Arming::after(MS).every(Duration::MAX)),
        ErrorKind::InvalidInput
    );
}

fn dropped(options: &Options) {
    let (wheel, mut events) = options.clone().capacity(2).open().unwrap();
    let mut first = wheel.timer().unwrap();
    let second = wheel.timer().unwrap();

    let full = wheel.timer().unwrap_err();
    assert!(full.to_string().contains("capacity"), "{full}");
    // What was said of the one is not said of the next.
    first
        .arm_with(&Arming::after(10 * MS).every(10 * MS).cookie(7))
        .unwrap();
    drop(first);
    expect_none(&mut events, 40 * MS);
    let mut third = wheel.timer().unwrap();
    assert_eq!((third.id(), second.id()), (0, 1));
    third.arm(wheel.now()).unwrap();
    let event = next(&mut events);
    assert_eq!((event.id(), event.cookie(), event.is_last()), (0, 0, true));
    third.arm(wheel.now() + 10 * MS).unwrap();
    drop(third);
    expect_none(&mut events, 40 * MS);
}

/// A timer that is dropped while its event is about to be handled: the id has to wait.
fn batches(options: &Options) {
    let (wheel, mut events) = options.clone().capacity(2).open().unwrap();
    let mut timers = vec![wheel.timer().unwrap(), wheel.timer().unwrap()];
    let now = wheel.now();

    for timer in &mut timers {
        timer.arm(now).unwrap();
    }
    wheel.flush().unwrap();
    let batch = events.wait(LONG).unwrap();
    assert_eq!(batch.len(), 2);
    let ids: HashSet<u32> = batch.iter().map(Event::id).collect();
    assert_eq!(ids, HashSet::from([0, 1]));
    timers.clear();
    assert!(wheel.timer().is_err());
    drop(batch);
    // But not as long as somebody waits for events: who does may only be about to look for some.
    let soon = || loop {
        match wheel.timer() {
            Ok(timer) => return timer,
            Err(error) => assert!(wheel.now() - now < LONG, "{error}"),
        }
    };
    thread::scope(|scope| {
        let waits = scope.spawn(|| next(&mut events).id());
        thread::sleep(20 * MS);
        for _ in 0..100 {
            timers = vec![soon(), soon()];
            timers.clear();
        }
        let mut timer = soon();
        timer.arm(wheel.now()).unwrap();
        wheel.flush().unwrap();
        assert_eq!(waits.join().unwrap(), timer.id());
    });
}

/// A timer on a batch goes to the kernel by a wait, also where there are always events.
fn busy(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let mut often = wheel.timer().unwrap();
    let mut once = wheel.timer().unwrap();
    let start = Instant::now();

    often
        .arm_with(&Arming::after(MS).every(MS))
        .and_then(|()| wheel.flush())
        .unwrap();
    thread::sleep(5 * MS);
    once.arm(wheel.now() + 10 * MS).unwrap();
    while events
        .wait(LONG)
        .unwrap()
        .iter()
        .all(|event| event.id() == often.id())
    {
        assert!(start.elapsed() < LONG);
        thread::sleep(5 * MS);
    }
}

fn threads(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let armed = Duration::from_millis(50);

    thread::scope(|scope| {
        for _ in 0..4 {
            let wheel = wheel.clone();
            scope.spawn(move || {
                let mut timers: Vec<Timer> = (0..100).map(|_| wheel.timer().unwrap()).collect();
                for timer in &mut timers {
                    timer.arm(wheel.now() + 2 * armed).unwrap();
                    timer.arm(wheel.now() + armed).unwrap();
                }
                for timer in timers.iter_mut().step_by(2) {
                    timer.cancel_tell().unwrap();
                }
                wheel.flush().unwrap();
                // Until all have come.
                let start = wheel.now();
                while timers
                    .iter()
                    .any(|t| t.info().unwrap().state() != State::Idle)
                {
                    assert!(wheel.now() - start < LONG);
                    thread::sleep(MS);
                }
            });
        }
        let mut ids = HashSet::new();
        while ids.len() < 200 {
            let batch = events.wait(LONG).unwrap();
            assert!(!batch.is_empty());
            for event in &batch {
                assert!(ids.insert(event.id()) && wheel.now() >= event.deadline());
            }
        }
    });
    expect_none(&mut events, 20 * MS);
}

fn lists(options: &Options) {
    let (wheel, mut events) = options.clone().capacity(1000).open().unwrap();
    let mut timers: Vec<Timer> = (0..1000).map(|_| wheel.timer().unwrap()).collect();
    let deadline = wheel.now() + LONG;

    for timer in timers.iter_mut().step_by(2) {
        timer.arm(deadline).unwrap();
    }
    let armed = wheel.armed().unwrap();
    assert_eq!(armed.len(), 500);
    assert!(armed
        .iter()
        .all(|info| info.id() % 2 == 0 && info.deadline() == deadline));
    // One that is left armed has its id for good.
    let id = timers.remove(500).into_id();
    assert_eq!(id, 500);
    assert!(wheel.timer().is_err());
    timers.clear();
    assert_eq!(wheel.timer().unwrap().info().unwrap().state(), State::Idle);
    let drained = events.drain().unwrap();
    assert_eq!(drained.len(), 1);
    assert_eq!((drained[0].id(), drained[0].deadline()), (500, deadline));
    assert!(wheel.armed().unwrap().is_empty());
}

fn waits(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let mut timer = wheel.timer().unwrap();

    expect_none(&mut events, Duration::ZERO);
    expect_none(&mut events, 5 * MS / 2);
    timer.arm(wheel.now() + 20 * MS).unwrap();
    assert_eq!(events.wait(None).unwrap().len(), 1);
    timer.arm(wheel.now() + 20 * MS).unwrap();
    assert_eq!(events.wait(Duration::MAX).unwrap().len(), 1);
    assert_eq!(wheel.as_fd().as_raw_fd(), events.as_raw_fd());
    assert_eq!(events.as_fd().as_raw_fd(), wheel.as_raw_fd());
    // Its timers and its events have the wheel as well.
    drop(wheel);
    timer.arm(Time::from_nanos(1)).unwrap();
    assert_eq!(next(&mut events).deadline().as_nanos(), 1);
}

fn many(options: &Options) {
    let (wheel, mut events) = options.open().unwrap();
    let mut timers: Vec<Timer> = (0..1000).map(|_| wheel.timer().unwrap()).collect();
    let mut ids = HashSet::new();

    for timer in &mut timers {
        timer.arm(wheel.now()).unwrap();
    }
    while ids.len() < timers.len() {
        let batch = events.wait(LONG).unwrap();
        assert!(!batch.is_empty());
        assert!(batch.iter().all(|event| ids.insert(event.id())));
    }
    expect_none(&mut events, MS);
}

macro_rules! tests {
    (($options:expr) $($test:ident)*) => {
        $(#[test] fn $test() { super::$test($options); })*
    };
    (($options:expr, $ignored:literal) $($test:ident)*) => {
        $(#[test] #[ignore = $ignored] fn $test() { super::$test($options); })*
    };
}

macro_rules! modes {
    ($($mode:ident: $options:expr $(, $ignored:literal)?;)*) => {
        $(mod $mode {
            tests! {
                ($options $(, $ignored)?)
                arm extend cancel terms dropped batches busy threads lists waits many
            }
        })*
    };
}

modes! {
    words: twheel::Options::new().fallback();
    batch: twheel::Options::new().fallback().batch();
    calls: twheel::Options::new().fallback().no_words();
    device: twheel::Options::new().device(), "there is no /dev/twheel";
    device_batch: twheel::Options::new().device().batch(), "there is no /dev/twheel";
    device_calls: twheel::Options::new().device().no_words(), "there is no /dev/twheel";
}

#[test]
fn what_it_is() {
    let mut options = Options::new();
    let (wheel, events) = options
        .fallback()
        .capacity(500)
        .clock(Clock::Boottime)
        .open()
        .unwrap();

    assert_eq!((wheel.capacity(), wheel.has_words()), (500, true));
    assert!(wheel.is_fallback());
    assert!(!options.no_words().open().unwrap().0.has_words());
    let shown = format!("{wheel:?} {events:?} {:?}", wheel.timer().unwrap());
    assert!(
        shown.contains("capacity: 500") && shown.contains("Timer"),
        "{shown}"
    );
    assert_eq!(twheel::version(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_release_is_that_of_the_tree() {
    assert_eq!(
        include_str!("../../VERSION").trim(),
        env!("CARGO_PKG_VERSION")
    );
}

#[test]
fn mistakes() {
    let kind = |options: &mut Options| options.open().unwrap_err().kind();

    assert_eq!(
        kind(Options::new().path("/nowhere/twheel")),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(Options::new().path("/dev/null")),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(Options::new().path("/dev/\0")),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(Options::new().fallback().capacity(u32::MAX)),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(Options::new().fallback().tick(LONG)),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(Options::new().fallback().device()),
        ErrorKind::InvalidInput
    );

    let null = fs::File::open("/dev/null").unwrap();
    // SAFETY: it is not a wheel.
    let error = unsafe { Options::new().adopt_fd(null.into()) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("not a wheel"), "{error}");
}

#[test]
#[ignore = "there is no /dev/twheel"]
fn adopted() {
    let (wheel, events) = Options::new().device().capacity(10).open().unwrap();
    let mut timers: Vec<Timer> = (0..4).map(|_| wheel.timer().unwrap()).collect();
    let deadline = wheel.now() + LONG;
    let now = wheel.now();

    timers[1].arm(deadline).unwrap();
    timers[2]
        .arm_with(&Arming::at(deadline).every(LONG).cookie(9))
        .unwrap();
    timers[3]
        .arm_with(&Arming::at(now).every(LONG).cookie(9))
        .unwrap();
    let fd = wheel.as_fd().try_clone_to_owned().unwrap();
    // As if the process had ended. What is armed stays so.
    for timer in timers.drain(1..) {
        timer.into_id();
    }
    timers[0]
        .arm_with(&Arming::at(deadline).every(MS).cookie(9))
        .unwrap();
    timers[0].cancel().unwrap();
    timers.remove(0).into_id();
    drop((wheel, events));

    // SAFETY: the one that had it is gone.
    let (wheel, mut events, mut timers) = unsafe { Options::new().adopt_fd(fd) }.unwrap();
    let ids: Vec<u32> = timers.iter().map(Timer::id).collect();
    assert_eq!((wheel.capacity(), ids), (10, vec![1, 2, 3]));
    let event = next(&mut events);
    assert_eq!((event.id(), event.cookie(), event.deadline()), (3, 9, now));
    // Those that are left have nothing of before.
    for _ in 0..7 {
        let mut timer = wheel.timer().unwrap();
        timer.arm(wheel.now()).unwrap();
        let event = next(&mut events);
        assert_eq!(
            (event.id(), event.cookie(), event.is_last()),
            (timer.id(), 0, true)
        );
        timers.push(timer);
    }
    assert!(wheel.timer().is_err());
    // Nor do those that come back.
    let id = timers.remove(1).id();
    let mut timer = wheel.timer().unwrap();
    assert_eq!((id, timer.id()), (2, 2));
    timer.arm(wheel.now()).unwrap();
    assert!(next(&mut events).is_last());
    timers[0].extend(&events, deadline + LONG).unwrap();
    assert_eq!(
        wheel
            .armed()
            .unwrap()
            .iter()
            .filter(|info| info.id() == 1)
            .count(),
        1
    );
}

#[test]
fn what_threads_may_have() {
    fn sent<T: Send>() {}
    fn shared<T: Sync>() {}

    sent::<(Wheel, Timer, Events)>();
    shared::<(Wheel, Timer, Options, Event)>();
}
