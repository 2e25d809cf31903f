/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/twheel: timers for daemons that hold a million of them.
 *
 * Each open file is a wheel of its own.  An ioctl arms a timer; poll() announces its expiration,
 * and read() returns it as a struct twheel_event.
 */
#ifndef _UAPI_LINUX_TWHEEL_H
#define _UAPI_LINUX_TWHEEL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: the ABI in brief
 *
 * All times are in nanoseconds.  Structs have the same layout for 32-bit and 64-bit programs.
 * Reserved fields must be 0.  The kernel writes fields marked "out" and never reads them.
 *
 * Structs grow at their ends, and an ioctl number contains the size of its struct.  A kernel
 * accepts a longer struct if the tail that it does not know is zero, and takes a shorter one as
 * if the rest were zero.  Records of SUBMIT and LIST carry their size, at most TWHEEL_MAX_RECORD;
 * longer ones follow the same rule.  SETUP agrees on the size of events.
 *
 * A call that fails has changed no timer.  The exception is EFAULT after another thread unmapped
 * the memory for the results during the call: then the call has been carried out, and LIST finds a
 * timer whose id the kernel chose.  Memory that a failed arm allocated stays with the wheel.
 */

/**
 * DOC: what each errno means, everywhere
 *
 * ========== ======================================================================================
 * ENOTTY     no such ioctl
 * EFAULT     a pointer does not lead to memory of the caller; the @cursor of a LIST has not moved
 * EBADF      the file is open for reading only, and the call is SETUP, ARM, CANCEL or SUBMIT
 * E2BIG      the struct or record is longer than this kernel's and its tail is not zero
 * EINVAL     the struct or record is too short, or a record is longer than TWHEEL_MAX_RECORD; a
 *            reserved field is not 0; an unknown operation; flags or fields that exclude each
 *            other; read() into less than one event; mmap() without MAP_SHARED, or beyond the words
 * EOPNOTSUPP a flag or clock that this kernel does not know; TWHEEL_ID_ANY on a wheel with words:
 *            choose the id, because a store arms and cancels timers unknown to the kernel
 * ERANGE     an id, tick, shape, capacity, interval, slack, count or relative deadline out of its
 *            range; TWHEEL_ARM_STORED with TWHEEL_ID_ANY
 * EOVERFLOW  more entries in one call than TWHEEL_MAX_BATCH
 * EPERM      a tick below TWHEEL_MIN_TICK, or levels or slots other than the default, need
 *            CAP_SYS_RESOURCE; an executable mapping
 * EBUSY      SETUP comes too late: there was one before, or an arm allocated the wheel's memory,
 *            even with a deadline of 0; open a new wheel
 * EEXIST     TWHEEL_ARM_NEW, and the timer is armed
 * ENOENT     TWHEEL_ARM_MOVE, and the timer is not armed; TWHEEL_ARM_STORED, and it has no word
 * ESTALE     the generation given is not the timer's: it was armed again
 * ENOSPC     TWHEEL_ID_ANY, and every id of the wheel is in use
 * EDQUOT     the limit on wheels or timers of the wheel's user is reached: the user who first set
 *            it up or armed a timer in it, by any call.  An unused wheel counts for nobody.  If its
 *            first use fails, it counts for that user until another tries.  TWHEEL_ID_ANY may
 *            fail although there are free ids that need no more memory
 * ENOMEM     out of memory, or over the cgroup's limit; never from TWHEEL_IOC_ARM of a timer with a
 *            word and no interval or slack, because SETUP has allocated its memory
 * EAGAIN     read(): no event, and the file is non-blocking; with RWF_NOWAIT, none found without
 *            waiting: poll, and read again
 * EINTR      a signal came before read() had an event or LIST a timer (@cursor has advanced: call
 *            again); a fatal signal came while the call waited
 * ENODEV     mmap(): this kernel has no words
 * ESPIPE     pread(): a wheel has no file position; use read()
 * ========== ======================================================================================
 */

/* The ABI may change until this is 1. */
#define TWHEEL_ABI		0

/* Let the kernel choose an id; not on a wheel with words. */
#define TWHEEL_ID_ANY		0xffffffffU

#define TWHEEL_MAX_CAPACITY	(1U << 24)
#define TWHEEL_MAX_LEVELS	16U
#define TWHEEL_MAX_SLOTS	4096U
#define TWHEEL_MAX_COUNT	((1U << 23) - 1)
/* Entries in one submit or list. */
#define TWHEEL_MAX_BATCH	(1U << 20)
/* Bytes of such an entry. */
#define TWHEEL_MAX_RECORD	4096U
/* ns; a smaller tick needs CAP_SYS_RESOURCE. */
#define TWHEEL_MIN_TICK		100000U

#define TWHEEL_DEFAULT_TICK	1000000U
#define TWHEEL_DEFAULT_LEVELS	7U
#define TWHEEL_DEFAULT_SLOTS	64U
#define TWHEEL_DEFAULT_CAPACITY	65536U

/**
 * enum twheel_state - the state of a timer
 * @TWHEEL_STATE_IDLE: not armed: never was, or cancelled
 * @TWHEEL_STATE_PENDING: armed, not due yet; tick and slack may make it due after its deadline
 * @TWHEEL_STATE_EXPIRED: due, and no read has returned its event
 * @TWHEEL_STATE_DELIVERED: its last event was read; a cancel changes nothing
 *
 * "Armed" means pending or expired.  A cancel of an expired timer takes its event back: no read
 * returns it.
 */
enum twheel_state {
	TWHEEL_STATE_IDLE	= 0,
	TWHEEL_STATE_PENDING	= 1,
	TWHEEL_STATE_EXPIRED	= 2,
	TWHEEL_STATE_DELIVERED	= 3,
};

/**
 * struct twheel_event - an expiration, as read() returns it
 * @id: the timer
 * @generation: of its last arming by a call; a store keeps it
 * @cookie: as given when it was armed
 * @deadline: when it was due, in the wheel's clock
 * @fired: when the wheel found it due; never before @deadline.  Exact to the nanosecond up to 2^31
 *	ns after @deadline; from there on the lateness has 25 significant bits, rounded down
 * @overruns: further periods that passed until it was read, at most those left in the count: events
 *	and their overruns add up to the count
 * @flags: TWHEEL_EVENT_*
 * @reserved: 0
 */
struct twheel_event {
	__u32		id;
	__u32		generation;
	__aligned_u64	cookie;
	__aligned_u64	deadline;
	__aligned_u64	fired;
	__aligned_u64	overruns;
	__u32		flags;
	__u32		reserved;
};

/* No other event of this arming will come. */
#define TWHEEL_EVENT_LAST	(1U << 0)

/**
 * struct twheel_features - what this kernel's twheel can do (TWHEEL_IOC_FEATURES)
 * @abi: TWHEEL_ABI of the kernel
 * @clocks: a bit for each clock id that SETUP accepts: 1 << CLOCK_MONOTONIC ...
 * @features: TWHEEL_FEATURE_*
 * @min_tick: smallest tick that this caller may set up, ns
 * @max_capacity: largest capacity of a wheel
 * @max_levels: most levels of a wheel
 * @max_slots: most slots of a level
 * @max_batch: most entries in one call
 * @max_user_timers: most timers that one user's wheels may hold together
 * @max_user_wheels: most wheels that one user may have
 * @reserved: 0
 */
struct twheel_features {
	__u32		abi;
	__u32		clocks;
	__aligned_u64	features;
	__aligned_u64	min_tick;
	__u32		max_capacity;
	__u32		max_levels;
	__u32		max_slots;
	__u32		max_batch;
	__aligned_u64	max_user_timers;
	__u32		max_user_wheels;
	__u32		reserved;
};

/* Wheels can have words. */
#define TWHEEL_FEATURE_WORDS	(1ULL << 0)

/**
 * struct twheel_setup - the wheel's shape (TWHEEL_IOC_SETUP, TWHEEL_IOC_GET_SETUP)
 * @flags: TWHEEL_SETUP_*
 * @clock: a clock id with TWHEEL_SETUP_CLOCK; otherwise 0, which means CLOCK_MONOTONIC.  When
 *	CLOCK_REALTIME is set forward, timers are due by the new time at once; when it is set
 *	back, pending timers wait for their deadlines, and expired ones stay expired
 * @tick: in ns, at most 1 s; 0: TWHEEL_DEFAULT_TICK.  A timer is due at the first tick at or
 *	after its deadline
 * @levels: 1 to TWHEEL_MAX_LEVELS; 0: enough for 2^38 ticks with these slots (TWHEEL_DEFAULT_LEVELS
 *	with TWHEEL_DEFAULT_SLOTS), or the maximum if that is less.  Levels beyond those are not
 *	used, but still are not the default shape (EPERM).  A timer beyond the reach of all levels
 *	goes round the top one; one level is a hashed wheel
 * @slots: of each level, 1 to TWHEEL_MAX_SLOTS, rounded up to a power of two, at least 4;
 *	0: TWHEEL_DEFAULT_SLOTS
 * @capacity: ids are 0 to capacity - 1; at most TWHEEL_MAX_CAPACITY; 0: TWHEEL_DEFAULT_CAPACITY
 * @event_size: size of the caller's struct twheel_event; 0: 48 bytes, that of the first ABI.  Out:
 *	size of the records that read() returns, at most the size asked for
 * @words_offset: out: offset for mmap() of the words, one for each id; 0: the wheel has none
 * @now: out: the time of the wheel's clock
 * @clock_offset: out: add this to the caller's reading of @clock to get the wheel's time,
 *	modulo 2^64; 0 in the time namespace in which the wheel was opened
 *
 * Call SETUP once, before the wheel is used, or not at all.  It writes back the shape that the
 * wheel got; GET_SETUP returns it at any time, for example to a successor.  SETUP allocates all
 * memory for words: if it fails (ENOMEM, EDQUOT, EINTR), it may be called again.
 */
struct twheel_setup {
	__u32		flags;
	__u32		clock;
	__aligned_u64	tick;
	__u32		levels;
	__u32		slots;
	__u32		capacity;
	__u32		event_size;
	__aligned_u64	words_offset;
	__aligned_u64	now;
	__aligned_u64	clock_offset;
};

/* @clock is given. */
#define TWHEEL_SETUP_CLOCK	(1U << 0)
/* All timers have words. */
#define TWHEEL_SETUP_WORDS	(1U << 1)

/**
 * struct twheel_word - the part of a timer that a daemon and the kernel share
 * @deadline: written by the daemon: when the timer is due; 0: not wanted.  The kernel writes it
 *	only on behalf of a caller: arm, cancel, read
 * @promise: written by the kernel: it looks in time at every deadline at or after this one; 0: the
 *	kernel does not look
 *
 * There is one for each id, mapped with MAP_SHARED from @words_offset of struct twheel_setup; a
 * read-only mapping is allowed.  SETUP has allocated the memory.  docs/words.md has the reasons for
 * these rules.
 *
 * To arm, shorten or extend a timer, exchange @deadline (sequentially consistent) and then load
 * @promise.  If @deadline - 1 < @promise - 1, unsigned, the kernel would look too late: arm the
 * timer with TWHEEL_ARM_STORED.
 *
 * To cancel, a plain store of 0 is enough.  To extend, a plain store is enough if the timer is
 * wanted, its event is not taken, and no other thread stores its deadline or takes its events.
 *
 * A read() returns an event only if it could swap (compare-and-swap) @deadline from the event's
 * deadline to 0, or to the next one of a periodic timer.  Otherwise the event is stale, and read()
 * drops it.
 */
struct twheel_word {
	__aligned_u64	deadline;
	__aligned_u64	promise;
};

/**
 * struct twheel_op - arm or cancel a timer
 * @opcode: TWHEEL_OP_* in a submit; 0 for TWHEEL_IOC_ARM and TWHEEL_IOC_CANCEL
 * @flags: TWHEEL_ARM_* for an arm; 0 for a cancel
 * @deadline: arm: when it is due, absolute, or from now with TWHEEL_ARM_RELATIVE (at most 2^63 - 1;
 *	the sum saturates).  In the past: due now.  0, absolute or relative, means never: the timer
 *	is then not armed, but keeps the interval, slack, count and cookie of this arm for a
 *	deadline that is stored in its word later.  Must not be 0 with TWHEEL_ID_ANY
 * @interval: arm: period in ns, below 2^63; 0: one-shot
 * @slack: arm: ns by which the timer may be late, so that timers share a wake-up; below 2^63
 * @cookie: arm: returned in the timer's events
 * @count: arm, with an interval: number of expirations, overruns included, at most
 *	TWHEEL_MAX_COUNT; 0: for ever.  0 for a one-shot.  Stale events do not count.  After the
 *	last expiration the timer is a one-shot, even if its word arms it again, until an arm gives
 *	it an interval
 * @reserved: 0
 * @id: the timer; for an arm it may be TWHEEL_ID_ANY.  Out: the id armed
 * @generation: if not 0, the generation that the timer must have (ESTALE, before EEXIST and
 *	ENOENT); 0 with TWHEEL_ID_ANY.  Out: the generation of this arming; for a cancel, the one
 *	found
 * @state: out: enum twheel_state before this call; TWHEEL_STATE_IDLE with TWHEEL_ID_ANY
 * @result: out, in a submit: 0 or a negative errno; a single call returns its error.  If it is
 *	negative, @id, @generation and @state are unchanged
 *
 * Arming an armed timer moves it: once the call has returned, no event of the earlier arming can be
 * read.  A cancel uses @flags, @id and @generation; all other fields that the kernel reads must be
 * 0.
 */
struct twheel_op {
	__u32		opcode;
	__u32		flags;
	__aligned_u64	deadline;
	__aligned_u64	interval;
	__aligned_u64	slack;
	__aligned_u64	cookie;
	__u32		count;
	__u32		reserved;
	__u32		id;
	__u32		generation;
	__u32		state;
	__s32		result;
};

#define TWHEEL_OP_ARM		1U
#define TWHEEL_OP_CANCEL	2U

/* @deadline is counted from now.  EINVAL with CLOCK_REALTIME: give an absolute deadline. */
#define TWHEEL_ARM_RELATIVE	(1U << 0)
/* Only if the timer is not armed (EEXIST). */
#define TWHEEL_ARM_NEW		(1U << 1)
/* Only if the timer is armed (ENOENT).  EINVAL with TWHEEL_ID_ANY. */
#define TWHEEL_ARM_MOVE		(1U << 2)
/* Arm by the deadline in the timer's word, and keep the rest.  All fields but @id must be 0. */
#define TWHEEL_ARM_STORED	(1U << 3)
/* Keep interval, slack, cookie and count: the fields must be 0.  EINVAL with TWHEEL_ID_ANY. */
#define TWHEEL_ARM_KEEP		(1U << 4)

/**
 * struct twheel_submit - many operations in one call (TWHEEL_IOC_SUBMIT)
 * @ops: address of an array of struct twheel_op
 * @nr: its length, at most TWHEEL_MAX_BATCH
 * @op_size: sizeof(struct twheel_op): the distance from one record to the next
 * @flags: 0
 * @done: out: operations whose result was written
 * @failed: out: number of these that have a negative result
 * @reserved: 0
 *
 * Operations are carried out in order; one that fails does not stop the others.  A signal, or a
 * record that can't be read or written or has a tail that is not zero, ends the call at operation
 * @done: submit the rest again.  The call fails with EFAULT or E2BIG only if that was the first
 * operation.  If another thread unmaps the array during the call, some of the rest may have been
 * carried out, and the call does not report which.
 */
struct twheel_submit {
	__aligned_u64	ops;
	__u32		nr;
	__u32		op_size;
	__u32		flags;
	__u32		done;
	__u32		failed;
	__u32		reserved;
};

/**
 * struct twheel_timer - the state of a timer (TWHEEL_IOC_GET, _LIST)
 * @id: the timer.  GET: in
 * @generation: of its last arming by a call.  GET: in: if not 0, the generation that it must have
 * @state: enum twheel_state
 * @count: expirations left of a count-limited timer; otherwise 0
 * @cookie: as given
 * @deadline: absolute; the next one, or that of the event that waits
 * @remaining: ns until @deadline; 1 if it has passed, because 0 means never
 * @interval: period, or 0
 * @slack: as the wheel keeps it: rounded down to whole ticks, at most 2^32 - 1 of them
 * @overruns: of the event that waits, as of now
 *
 * All fields are out; GET also reads @id and @generation.  If the timer is not armed, the fields
 * beyond @state are 0.  The deadline of a timer with a word is the one stored there, at most
 * 2^63 - 1.
 */
struct twheel_timer {
	__u32		id;
	__u32		generation;
	__u32		state;
	__u32		count;
	__aligned_u64	cookie;
	__aligned_u64	deadline;
	__aligned_u64	remaining;
	__aligned_u64	interval;
	__aligned_u64	slack;
	__aligned_u64	overruns;
};

/**
 * struct twheel_list - enumerate the armed timers (TWHEEL_IOC_LIST)
 * @timers: address of an array of struct twheel_timer to fill
 * @nr: its length, 1 to TWHEEL_MAX_BATCH
 * @timer_size: sizeof(struct twheel_timer): the distance from one record to the next
 * @cursor: first id to look at, 0 to start.  Out: the id to continue with
 * @flags: 0
 * @done: out: entries written; 0 at the end
 * @reserved: 0
 *
 * Timers come in order of ids; one whose event a read is copying is left out.  A call may return
 * fewer than @nr before the end.  If a signal comes before it has found a timer, it fails with
 * EINTR or is restarted, and continues from @cursor.  To drain a wheel, submit cancels with the
 * generations listed; @state of each tells whether the timer was pending or expired.
 */
struct twheel_list {
	__aligned_u64	timers;
	__u32		nr;
	__u32		timer_size;
	__u32		cursor;
	__u32		flags;
	__u32		done;
	__u32		reserved;
};

/* Classes of lateness, see struct twheel_stats. */
#define TWHEEL_LATE_CLASSES	24

/**
 * struct twheel_stats - counters of a wheel (TWHEEL_IOC_STATS)
 * @pending: armed timers that are not due; with words also those that a store has cancelled since
 *	the wheel looked
 * @expired: events that wait to be read; with words also stale ones that no poll or read has
 *	dropped yet.  From 1,024 events on, only read and poll look for more due timers
 * @arms: arms and moves
 * @cancels: cancels that found the timer armed
 * @fired: expirations found due; one counts again if a store has moved the due timer to another
 *	past time
 * @delivered: events that read returned
 * @overruns: sum of the overruns in these events
 * @interrupts: how often softirq turned the wheel
 * @memory: bytes of kernel memory that the wheel holds
 * @next: no pending timer is due before this, ns of the wheel's clock; 0: none is pending
 * @max_late: the largest lateness counted in @late, ns
 * @late: events that read returned, by how long after their deadlines they were found: class 0
 *	less than 1,024 ns, class n less than 1,024 << n, the last one without end.  The tick,
 *	the slack, and the age of a deadline that had passed when it was armed are included
 *
 * Timers whose events a read is copying are in neither @pending nor @expired.
 */
struct twheel_stats {
	__aligned_u64	pending;
	__aligned_u64	expired;
	__aligned_u64	arms;
	__aligned_u64	cancels;
	__aligned_u64	fired;
	__aligned_u64	delivered;
	__aligned_u64	overruns;
	__aligned_u64	interrupts;
	__aligned_u64	memory;
	__aligned_u64	next;
	__aligned_u64	max_late;
	__aligned_u64	late[TWHEEL_LATE_CLASSES];
};

/* Not in ioctl-number.rst yet; free there as of Linux 7.3. */
#define TWHEEL_IOC_MAGIC	0xBB

#define TWHEEL_IOC_FEATURES	_IOR(TWHEEL_IOC_MAGIC, 0x00, struct twheel_features)
#define TWHEEL_IOC_SETUP	_IOWR(TWHEEL_IOC_MAGIC, 0x01, struct twheel_setup)
#define TWHEEL_IOC_GET_SETUP	_IOR(TWHEEL_IOC_MAGIC, 0x02, struct twheel_setup)
#define TWHEEL_IOC_ARM		_IOWR(TWHEEL_IOC_MAGIC, 0x03, struct twheel_op)
#define TWHEEL_IOC_CANCEL	_IOWR(TWHEEL_IOC_MAGIC, 0x04, struct twheel_op)
#define TWHEEL_IOC_GET		_IOWR(TWHEEL_IOC_MAGIC, 0x05, struct twheel_timer)
#define TWHEEL_IOC_SUBMIT	_IOWR(TWHEEL_IOC_MAGIC, 0x06, struct twheel_submit)
#define TWHEEL_IOC_LIST		_IOWR(TWHEEL_IOC_MAGIC, 0x07, struct twheel_list)
#define TWHEEL_IOC_STATS	_IOR(TWHEEL_IOC_MAGIC, 0x08, struct twheel_stats)

#endif /* _UAPI_LINUX_TWHEEL_H */
