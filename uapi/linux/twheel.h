/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/twheel: timers for daemons that hold a million of them.
 *
 * Each open file is a wheel of its own.  Timers are armed by ioctl; an
 * expiration comes as a struct twheel_event from read(), announced by poll().
 */
#ifndef _UAPI_LINUX_TWHEEL_H
#define _UAPI_LINUX_TWHEEL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: the ABI in brief
 *
 * All times are in nanoseconds.  All structs have the same layout for 32-bit
 * and 64-bit programs.  The size of a struct is part of its ioctl number, so
 * a struct can grow at its end: an older kernel accepts a longer struct whose
 * unknown tail is zero, a newer kernel takes a shorter one as if the rest were
 * zero.  The records of SUBMIT and LIST carry their size by the same rule, those of read()
 * have the size that SETUP tells.
 * Reserved fields must be 0.  Fields marked "out" are written by the kernel and never
 * read.
 *
 * A call that fails has changed no timer, but for one case: memory to which the
 * results could be written when the call began, and can't when it ends, because
 * another thread has taken it away.  Then the call has been carried out, and fails
 * with EFAULT; LIST tells of a timer whose id the kernel chose.  Memory that an arm has got
 * stays with the wheel, also if there was not enough.
 */

/**
 * DOC: what each errno means, everywhere
 *
 * ========== ==================================================================
 * ENOTTY     no such ioctl
 * EFAULT     a pointer does not lead to memory of the caller; the cursor of a LIST
 *            has not moved then
 * EBADF      the file is open for reading only, and the call would change the wheel: SETUP, ARM,
 *            CANCEL, SUBMIT
 * E2BIG      the struct is longer than this kernel's and its tail is not zero
 * EINVAL     the struct is too short; a reserved field is not 0; an unknown
 *            operation; a combination that means nothing; read() into
 *            less than one event
 * EOPNOTSUPP an unknown flag or clock: not in this kernel; TWHEEL_ID_ANY on a wheel with
 *            words: a store may cancel or arm a timer without a call, so the kernel does
 *            not know which ids are free
 * ERANGE     an id, tick, shape, capacity, interval, slack or count out of its range; a
 *            relative deadline above 2^63 - 1;
 *            TWHEEL_ARM_STORED with TWHEEL_ID_ANY
 * EOVERFLOW  more entries in one call than TWHEEL_MAX_BATCH
 * EPERM      a tick below TWHEEL_MIN_TICK, or a shape other than the default,
 *            without CAP_SYS_RESOURCE; a mapping to execute
 * EBUSY      setup comes too late: there was one before, or an arm that took memory
 *            for its timer, also one with a deadline of 0 (one that has failed
 *            for another reason than memory has taken none)
 * EEXIST     TWHEEL_ARM_NEW, and the timer is armed
 * ENOENT     TWHEEL_ARM_MOVE, and the timer is not armed; TWHEEL_ARM_STORED,
 *            and it has no word
 * ESTALE     the generation given is not the timer's: it was armed again
 * ENOSPC     every id of the wheel is in use
 * EDQUOT     the user's limit on wheels or timers is reached.  The
 *            user is who first sets the wheel up, or arms a timer in it, by
 *            whatever call.  A wheel that nobody has tried to use counts for
 *            nobody; if a first use fails, it counts for who tried, until somebody
 *            else does.  An arm with TWHEEL_ID_ANY may fail so although ids are
 *            free that would need no more memory
 * ENOMEM     no memory, or the cgroup is at its limit; not from an arm of a timer with a
 *            word, one by one, because all that it needs is there
 * EAGAIN     nothing to read, and the file is non-blocking; with RWF_NOWAIT, nothing
 *            that a few steps have found
 * EINTR      a signal came: before the first event was read; before LIST
 *            found a timer, whose cursor has moved on all the same; or one that
 *            kills came while SETUP took memory
 * ENODEV     mmap: there are no words with this kernel
 * ESPIPE     pread(): there is no place to read from
 * ========== ==================================================================
 */

/* The ABI may change until this is 1. */
#define TWHEEL_ABI		0

/* Every id of a wheel is below its capacity; this one lets the kernel choose, without words. */
#define TWHEEL_ID_ANY		0xffffffffU

#define TWHEEL_MAX_CAPACITY	(1U << 24)
#define TWHEEL_MAX_LEVELS	16U
#define TWHEEL_MAX_SLOTS	4096U
#define TWHEEL_MAX_COUNT	((1U << 23) - 1)
/* Entries in one submit or list. */
#define TWHEEL_MAX_BATCH	(1U << 20)
/* ns; a smaller tick needs CAP_SYS_RESOURCE. */
#define TWHEEL_MIN_TICK		100000U

#define TWHEEL_DEFAULT_TICK	1000000U
#define TWHEEL_DEFAULT_LEVELS	11U
#define TWHEEL_DEFAULT_SLOTS	64U
#define TWHEEL_DEFAULT_CAPACITY	65536U

/**
 * enum twheel_state - what becomes of an arming
 * @TWHEEL_STATE_IDLE: not armed: never, or cancelled
 * @TWHEEL_STATE_PENDING: armed, and not due yet: see @tick of struct twheel_setup; with
 *	slack it may be due at a later tick
 * @TWHEEL_STATE_EXPIRED: due, and no read has returned its event
 * @TWHEEL_STATE_DELIVERED: its last event was read; a cancel changes nothing then
 *
 * "Armed" means pending or expired.  A cancel of an expired timer takes its
 * event back: no read returns it any more.
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
 * @generation: of the arming that expired; a store goes on with that of the last call
 * @cookie: as given when it was armed
 * @deadline: when it was due, in the wheel's clock
 * @fired: when the wheel found it due; never before @deadline
 * @overruns: periods that passed beyond this one until it was read
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
 * @clocks: a bit for each clock id that setup takes: 1 << CLOCK_MONOTONIC ...
 * @features: TWHEEL_FEATURE_*
 * @min_tick: smallest tick that this caller may set up, ns
 * @max_capacity: largest capacity of a wheel
 * @max_levels: most levels of a wheel
 * @max_slots: most slots of a level
 * @max_batch: most entries in one call
 * @max_user_timers: how many timers one user's wheels may hold together
 * @max_user_wheels: how many wheels one user may have
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
 * @clock: a clock id, if TWHEEL_SETUP_CLOCK is set; else 0: CLOCK_MONOTONIC.
 *	CLOCK_REALTIME may be set.  Forward: timers are due by the new time, at once.
 *	Back: pending timers wait until the clock reaches their deadlines; what has expired
 *	stays expired, as with timerfd.
 * @tick: in ns, at most 1 s; 0: TWHEEL_DEFAULT_TICK.  A timer is due at the first tick at or
 *	after its deadline
 * @levels: 1 to TWHEEL_MAX_LEVELS; 0: as many as ticks of 64 bits need with
 *	these slots (TWHEEL_DEFAULT_LEVELS with TWHEEL_DEFAULT_SLOTS), if that
 *	is not more.  What is further off than the levels reach goes round the
 *	top one; one level is a hashed wheel.
 * @slots: of each level, 1 to TWHEEL_MAX_SLOTS, rounded up to a power of two,
 *	at least 4; 0: TWHEEL_DEFAULT_SLOTS
 * @capacity: ids are 0 to capacity - 1; at most TWHEEL_MAX_CAPACITY;
 *	0: TWHEEL_DEFAULT_CAPACITY
 * @event_size: the size of struct twheel_event that the caller knows; 0: 48 bytes, that of the
 *	first ABI.  Out: the size of the records that read() returns, at most the one asked for
 * @words_first: with TWHEEL_SETUP_WORDS: the first id that has a word, rounded
 *	down to a page of words (256 ids where pages have 4 KiB).  Else 0
 * @words_nr: with TWHEEL_SETUP_WORDS: how many ids have one, from the @words_first
 *	that is given; their end is rounded up to a page, or to the capacity; 0: all
 *	from @words_first on.  ERANGE beyond the capacity.  Else 0
 * @words_offset: out: where in the file the word of id 0 is, or would be, for
 *	mmap; 0: there are no words
 * @now: out: what the wheel's clock tells
 * @clock_offset: out: what to add to the caller's reading of @clock to get the
 *	wheel's time, modulo 2^64.  Not 0 only where the caller is in another time namespace
 *	than the one in which the wheel was opened
 *
 * SETUP may be called once, before the wheel is used; a wheel that never calls
 * it has the defaults.  It writes back what was made of the request.  All the
 * memory that words need is taken here: if it is not there, the call fails
 * (ENOMEM, EDQUOT, EINTR) and may be called again.
 * GET_SETUP tells the same at any time, to a successor for example.
 */
struct twheel_setup {
	__u32		flags;
	__u32		clock;
	__aligned_u64	tick;
	__u32		levels;
	__u32		slots;
	__u32		capacity;
	__u32		event_size;
	__u32		words_first;
	__u32		words_nr;
	__aligned_u64	words_offset;
	__aligned_u64	now;
	__aligned_u64	clock_offset;
};

/* @clock is given. */
#define TWHEEL_SETUP_CLOCK	(1U << 0)
/* Timers have words. */
#define TWHEEL_SETUP_WORDS	(1U << 1)

/**
 * struct twheel_word - what a daemon and the kernel share of a timer
 * @deadline: written by the daemon: when the timer is due; 0: not wanted.  The
 *	kernel writes it on behalf of a caller only: arm, cancel, read.
 * @promise: written by the kernel: every deadline at or after this one is looked
 *	at in time.  0: the kernel is not looking.
 *
 * Mapped with MAP_SHARED from @words_offset of struct twheel_setup, one for each
 * id in turn.  SETUP has taken the memory, for them and for these timers; mmap
 * only maps it (EINVAL where there are no words), read-only too.  docs/words.md
 * says why the rules are these:
 *
 * To arm, shorten or extend a timer, exchange @deadline (sequentially
 * consistent) and then load @promise.  If @deadline - 1 < @promise - 1, unsigned,
 * the kernel would look too late: arm the timer with TWHEEL_ARM_STORED.
 *
 * To cancel, a plain store of 0 is enough.  To extend, a plain store is enough if
 * the timer is this thread's alone: no other stores its deadline or takes its
 * events, and the one it has now is wanted still.
 *
 * A read() returns an event only if it could swap (compare-and-swap) @deadline from that of the
 * event to 0, or of a periodic timer to the next.  If not, the event is stale, and is dropped.
 */
struct twheel_word {
	__aligned_u64	deadline;
	__aligned_u64	promise;
};

/**
 * struct twheel_op - arm or cancel a timer
 * @opcode: TWHEEL_OP_* in a submit; 0 for TWHEEL_IOC_ARM and TWHEEL_IOC_CANCEL
 * @flags: TWHEEL_ARM_* for an arm; 0 for a cancel
 * @deadline: arm: when it is due, absolute, or from now with
 *	TWHEEL_ARM_RELATIVE (then it saturates).  In the past: due now.  0, also
 *	from now, means never, as in timerfd_settime(): the timer is left not armed.  It has the
 *	interval, slack, count and cookie of this arm all the same, and if it has a
 *	word, a deadline that is stored there goes by them.  With TWHEEL_ID_ANY it is not 0.
 * @interval: arm: period in ns, below 2^63; 0: one-shot
 * @slack: arm: it may be up to this much late, so that timers share a wake-up; below 2^63
 * @cookie: arm: handed back in the events
 * @count: arm, with an interval: expire this often, at most TWHEEL_MAX_COUNT;
 *	0: for ever.  0 for a one-shot.  After the last expiration the timer is a
 *	one-shot, also if it is armed again by its word, until an arm gives it an
 *	interval again.  Only events that count use up the count, not stale ones.
 * @reserved: 0
 * @id: the timer; for an arm also TWHEEL_ID_ANY.  Out: the id armed.
 * @generation: if not 0, the generation that the timer must have (ESTALE, before
 *	EEXIST and ENOENT).  Out: the generation of this arming; for a cancel, the
 *	one found.
 * @state: out: enum twheel_state that was found, before this call changed it; with
 *	TWHEEL_ID_ANY always TWHEEL_STATE_IDLE
 * @result: out: 0 or a negative errno.  Of use in a submit; a single call
 *	returns its error.  If it is negative, @id, @generation and @state are as given.
 *
 * Arming an armed timer moves it: no event of the earlier arming can be read
 * once the call has returned.
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

/*
 * @deadline is counted from now.  Not on a wheel of CLOCK_REALTIME (EINVAL): add the duration to
 * a reading of the clock, or use CLOCK_MONOTONIC, which is not set.
 */
#define TWHEEL_ARM_RELATIVE	(1U << 0)
/* Only if the timer is not armed (EEXIST). */
#define TWHEEL_ARM_NEW		(1U << 1)
/* Only if the timer is armed (ENOENT). */
#define TWHEEL_ARM_MOVE		(1U << 2)
/*
 * Look at the deadline in the timer's word; interval, slack and cookie stay as they were.
 * All other fields but @id must be 0.
 */
#define TWHEEL_ARM_STORED	(1U << 3)
/*
 * The timer keeps its interval, slack, cookie and count, which must be 0 here; one that has
 * none is a one-shot.  Not with TWHEEL_ID_ANY (EINVAL).
 */
#define TWHEEL_ARM_KEEP		(1U << 4)

/**
 * struct twheel_submit - many operations in one call (TWHEEL_IOC_SUBMIT)
 * @ops: address of an array of struct twheel_op
 * @nr: its length, at most TWHEEL_MAX_BATCH
 * @op_size: sizeof(struct twheel_op): the distance of the records
 * @flags: 0
 * @done: out: operations whose result was written
 * @failed: out: how many of these have a negative result
 * @reserved: 0
 *
 * The operations are carried out in order; one that fails does not stop the
 * others.  A signal or an unreadable or read-only part of the array stops the
 * call early: @done then is less than @nr, operations from there on have not
 * been carried out, and the rest can be submitted again.  EFAULT comes only
 * if the first operation can't be carried out for that reason.  If another
 * thread takes the array away during the call, some operations from there on
 * have been carried out all the same, and nothing tells which.
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
 * struct twheel_timer - all about a timer (TWHEEL_IOC_GET, _LIST)
 * @id: the timer.  GET: in.
 * @generation: of its last arming.  GET: in: if not 0, the one it must have.
 * @state: enum twheel_state
 * @count: expirations left of a count-limited timer, else 0
 * @cookie: as given
 * @deadline: next, or of the event that waits; absolute
 * @remaining: until @deadline; 1 if it has passed, since 0 means never
 * @interval: period, or 0
 * @slack: as the wheel keeps it: rounded down to whole ticks and 4 significant
 *	bits, and 15 * 2^30 ticks at most
 * @overruns: of the event that waits, as of now
 *
 * All but what GET takes in is out.  Of a timer that is not armed only id,
 * generation and state are told, the rest is 0.  Of a timer with a word the deadline
 * there counts.
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
 * @timer_size: sizeof(struct twheel_timer): the distance of the records
 * @cursor: first id to look at, 0 to start.  Out: where to go on.
 * @flags: 0
 * @done: out: entries written; 0 means that the end is reached
 * @reserved: 0
 *
 * In order of ids.  A timer whose event a read holds at that moment is not listed.  A call may
 * return fewer than @nr timers before the end.  One that a signal ends before it has found a
 * timer fails with EINTR, or is restarted, and has written @cursor all the same: the next goes on
 * from there.
 * To drain a wheel, list its timers and submit cancels with their generations: what each cancel
 * found tells whether the timer was pending or expired.
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
 * @pending: armed timers that are not due; with words, those too that a store has cancelled and
 *	the wheel has not looked at since
 * @expired: events that wait to be read; with words, those too that a store has made stale and no
 *	poll or read has dropped since.  More timers may be due: with 1,024 events queued only
 *	read and poll look for them
 * @arms: arms and moves
 * @cancels: cancels that found the timer armed
 * @fired: expirations found due; one that waits is found again when a store has moved it to
 *	another time that has passed
 * @delivered: events that read returned
 * @overruns: periods counted in these events
 * @interrupts: times that softirq turned the wheel
 * @memory: bytes of kernel memory that the wheel holds
 * @next: no pending timer is due before this, ns of the wheel's clock; 0: none is pending
 * @max_late: the latest that an event of @late was found, ns after its deadline
 * @late: events that read returned, by how long after their deadlines they were found: class 0
 *	less than 1,024 ns, class n less than 1,024 << n, the last one without end.  That
 *	includes the tick, the slack, and how long ago a deadline was in the past when armed
 *
 * A read that copies events at this moment holds timers that are in neither @pending nor @expired.
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
