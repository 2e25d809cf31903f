// SPDX-License-Identifier: LGPL-2.1-or-later
//! What of libtwheel is called here, as `twheel.h` and `linux/twheel.h` declare it.
use std::os::raw::{c_char, c_int, c_short, c_ulong};
use std::sync::atomic::AtomicU64;

/// `struct twheel`, a handle.
#[repr(C)]
pub struct Wheel {
    opaque: [u8; 0],
}

/// `struct twheel_word`, shared with the kernel.
#[repr(C)]
pub struct Word {
    pub deadline: AtomicU64,
    pub promise: AtomicU64,
}

/// `struct twheel_options`.
#[repr(C)]
pub struct Options {
    pub size: u32,
    pub flags: u32,
    pub path: *const c_char,
    pub fd: i32,
    pub clock: u32,
    pub tick: u64,
    pub capacity: u32,
    pub reserved: u32,
}

/// `struct twheel_arming`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arming {
    pub flags: u32,
    pub count: u32,
    pub deadline: u64,
    pub interval: u64,
    pub slack: u64,
    pub cookie: u64,
    pub generation: u32,
    pub reserved: [u32; 5],
}

/// `struct twheel_event`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    pub id: u32,
    pub generation: u32,
    pub cookie: u64,
    pub deadline: u64,
    pub fired: u64,
    pub overruns: u64,
    pub flags: u32,
    pub reserved: u32,
}

/// `struct twheel_timer`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer {
    pub id: u32,
    pub generation: u32,
    pub state: u32,
    pub count: u32,
    pub cookie: u64,
    pub deadline: u64,
    pub remaining: u64,
    pub interval: u64,
    pub slack: u64,
    pub overruns: u64,
}

pub const OPEN_FD: u32 = 1 << 0;
pub const OPEN_CLOCK: u32 = 1 << 1;
pub const OPEN_NO_WORDS: u32 = 1 << 2;
pub const OPEN_BATCH: u32 = 1 << 3;
pub const OPEN_DEVICE: u32 = 1 << 4;
pub const OPEN_FALLBACK: u32 = 1 << 5;

pub const HAS_WORDS: u32 = 1 << 0;
pub const HAS_FALLBACK: u32 = 1 << 1;

pub const ARM_RELATIVE: u32 = 1 << 0;

pub const EVENT_LAST: u32 = 1 << 0;

pub const STATE_PENDING: u32 = 1;
pub const STATE_EXPIRED: u32 = 2;

extern "C" {
    pub fn twheel_version() -> *const c_char;
    pub fn twheel_open(out: *mut *mut Wheel, options: *const Options) -> c_int;
    pub fn twheel_close(w: *mut Wheel);
    pub fn twheel_fd(w: *const Wheel) -> c_int;
    pub fn twheel_has(w: *const Wheel) -> u32;
    pub fn twheel_capacity(w: *const Wheel) -> u32;
    pub fn twheel_now(w: *const Wheel) -> u64;
    pub fn twheel_words(w: *const Wheel, nr: *mut u32) -> *mut Word;
    pub fn twheel_arm_slow(w: *mut Wheel, id: u32, deadline: u64) -> c_int;
    pub fn twheel_arm_with(w: *mut Wheel, id: u32, arming: *const Arming) -> c_int;
    pub fn twheel_cancel(w: *mut Wheel, id: u32) -> c_int;
    pub fn twheel_cancel_tell(w: *mut Wheel, id: u32) -> c_int;
    pub fn twheel_get(w: *mut Wheel, id: u32, timer: *mut Timer) -> c_int;
    pub fn twheel_flush(w: *mut Wheel) -> c_int;
    pub fn twheel_take(w: *mut Wheel, events: *mut Event, nr: u32) -> c_int;
    pub fn twheel_adopt(w: *mut Wheel) -> c_int;
    pub fn twheel_list_armed(w: *mut Wheel, cursor: *mut u32, timers: *mut Timer, nr: u32)
        -> c_int;
    pub fn twheel_drain(w: *mut Wheel, cursor: *mut u32, timers: *mut Timer, nr: u32) -> c_int;
}

/// `struct pollfd` of the C library, for which std has no name.
#[repr(C)]
pub struct PollFd {
    pub fd: c_int,
    pub events: c_short,
    pub revents: c_short,
}

pub const POLLIN: c_short = 0x001;
pub const POLLNVAL: c_short = 0x020;

extern "C" {
    pub fn poll(fds: *mut PollFd, nr: c_ulong, timeout: c_int) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::mem::{size_of, MaybeUninit};
    use std::path::Path;
    use std::process::Command;
    use std::ptr::addr_of;
    use std::{env, fs, process};

    /// What a C program prints, and what it is to print.
    #[derive(Default)]
    struct Both {
        program: String,
        expected: String,
    }

    fn size_of_pointee<T>(_: *const T) -> usize {
        size_of::<T>()
    }

    macro_rules! layout {
        ($both:ident, $type:ident is $name:ident: $($member:ident)*) => {
            let name = stringify!($name);
            writeln!($both.program, "printf(\"{name} %zu\\n\", sizeof(struct {name}));").unwrap();
            writeln!($both.expected, "{name} {}", size_of::<$type>()).unwrap();
            let value = MaybeUninit::<$type>::uninit();
            let base = value.as_ptr();
            $(
                let member = stringify!($member);
                // SAFETY: nothing is read.
                let at = unsafe { addr_of!((*base).$member) };
                writeln!(
                    $both.program,
                    "printf(\"{member} %zu %zu\\n\", offsetof(struct {name}, {member}), \
                     sizeof(((struct {name} *)0)->{member}));"
                ).unwrap();
                writeln!(
                    $both.expected,
                    "{member} {} {}",
                    at as usize - base as usize,
                    size_of_pointee(at)
                ).unwrap();
            )*
        };
    }

    macro_rules! constants {
        ($both:ident: $($name:ident)*) => {
            $(
                let name = stringify!($name);
                writeln!($both.program, "printf(\"{name} %u\\n\", TWHEEL_{name});").unwrap();
                writeln!($both.expected, "{name} {}", $name).unwrap();
            )*
        };
    }

    #[test]
    fn is_as_the_headers_declare_it() {
        let mut both = Both::default();
        layout!(both, Word is twheel_word: deadline promise);
        layout!(both, Options is twheel_options:
            size flags path fd clock tick capacity reserved);
        layout!(both, Arming is twheel_arming:
            flags count deadline interval slack cookie generation reserved);
        layout!(both, Event is twheel_event:
            id generation cookie deadline fired overruns flags reserved);
        layout!(both, Timer is twheel_timer:
            id generation state count cookie deadline remaining interval slack overruns);
        constants!(both: OPEN_FD OPEN_CLOCK OPEN_NO_WORDS OPEN_BATCH OPEN_DEVICE OPEN_FALLBACK
            HAS_WORDS HAS_FALLBACK ARM_RELATIVE EVENT_LAST
            STATE_PENDING STATE_EXPIRED);

        let program = env::temp_dir().join(format!("twheel-layout-{}", process::id()));
        let source = program.with_extension("c");
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::write(
            &source,
            format!(
                "#include <stddef.h>\n#include <stdio.h>\n#include <twheel.h>\n\
                 int main(void)\n{{\n{}return 0;\n}}\n",
                both.program
            ),
        )
        .unwrap();
        let compiled = Command::new("cc")
            .arg("-I")
            .arg(tree.join("lib"))
            .arg("-I")
            .arg(tree.join("uapi"))
            .arg("-o")
            .args([&program, &source])
            .status()
            .unwrap();
        let out = Command::new(&program).output();
        fs::remove_file(&source).unwrap();
        assert!(compiled.success());
        fs::remove_file(&program).unwrap();
        assert_eq!(
            String::from_utf8(out.unwrap().stdout).unwrap(),
            both.expected
        );
    }
}
