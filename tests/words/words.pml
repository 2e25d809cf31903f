/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words: a timer is armed, moved and cancelled with a store, while the
 * kernel looks at it. docs/words.md explains the protocol; this is the same for
 * spin, which tries every order in which it can happen. The machine, with its
 * store buffers, is in memory.pml.
 *
 *	tests/words/check	runs all variants (see there)
 *
 * The parts: one or two threads of the daemon; the hand of the kernel's wheel;
 * the clock; the buffers; and a judge. The hand may come to a timer as late as
 * it likes, or early. So "late" is not a time here but a promise that does not
 * hold: whenever all is quiet, a timer that is wanted has been filed at or before
 * its deadline, or an event waits that leads to it.
 *
 * What is shared with the daemon lies in mem[], and is read with LOAD() and
 * written with store(). An exchange, and a compare-and-swap, is a step of its own
 * on mem[], for which the buffer has to be EMPTY(). All else belongs to the kernel
 * and its lock.
 *
 * A scenario is chosen with
 *
 *	THREADS		of the daemon: 1 or 2
 *	OPS, OPS2	how many operations each does
 *	ALLOWED, ALLOWED2	and of which kind: FENCED (all but the bare extend),
 *			EVERYTHING, or one or a sum of ARM, EXTEND, CANCEL,
 *			IOCTL_ARM, IOCTL_CANCEL, IOCTL_NEW, IOCTL_MOVE
 *	CONSUMER	the thread that reads events: 0, 1, or ANY
 *	IDS		timers: with 2 the hand looks at both in one batch
 *	END		the clock goes from 0 to END, deadlines from 1 to END
 *	TICK		a tick of the wheel, in units of the clock
 *	PERIODIC	who consumes an event moves the timer on by 1
 *	UNFILE		the calls take out a timer that is cancelled or moved later
 *	FURTHER		a bare extend goes at least that much further (0)
 *	DIES		the daemon may die, once, between two steps; a successor adopts
 *	LENIENT		an event of an earlier generation is not held against the read:
 *			what else comes of it?
 *
 * and BREAK is one mistake of this list:
 */
#define NOTHING			0

/* Rule 1. */
#define NO_REREAD		1	/* the kernel does not read deadline again */
#define NO_BARRIER		2	/* or without a barrier before */
#define RAISE_TWICE		3	/* a cancel seen at the re-read raises the promise */
#define UNFILE_ONLY		4	/* a cancel that unfiles does not re-read */
#define BATCH_BARRIER		5	/* an id is looked at after the batch's barrier */
#define CANCEL_BLIND		17	/* a cancel takes an event out and does not re-read */
/* Rule 2. */
#define STORE_TO_ARM		6	/* arm is a store, without a barrier */
#define NO_TEST			7	/* an exchange, but the promise is not tested */
/* Rule 3. */
#define NO_CLAIM		8	/* an event counts as it is */
#define LOAD_COMPARE_STORE	9	/* claimed, but in two steps */
#define DROP_STALE		10	/* no test after a stale event */
#define SWAP_FIRST		11	/* a read swaps for a claim that does not hold */
#define SWAP_ANYWAY		12	/* only-new and only-move swap what they find */
#define NO_TURNS		16	/* calls and commits take no turns */
/* What else has to be right. */
#define PROMISE_UP		13	/* the promise is the deadline's tick */
#define PROMISE_DOWN		14	/* the promise is the tick before that */
#define NO_ADOPTION		15	/* the successor does not test */

#ifndef BREAK
#define BREAK NOTHING
#endif
#define BROKEN(b) (BREAK == (b))

#ifndef IDS
#define IDS 1
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifndef OPS
#define OPS 3
#endif
#ifndef OPS2
#define OPS2 2
#endif
#ifndef CONSUMER
#define CONSUMER 0
#endif
#ifndef END
#define END 3
#endif
#ifndef TICK
#define TICK 1
#endif
#ifndef FURTHER
#define FURTHER 0
#endif
#define ANY 9


/* What a thread does. */
#define ARM		1
#define EXTEND		2
#define CANCEL		4
#define IOCTL_ARM	8
#define IOCTL_CANCEL	16
#define IOCTL_NEW	32	/* arms only what is not armed */
#define IOCTL_MOVE	64	/* arms only what is armed */

#define FENCED (ARM + CANCEL + IOCTL_ARM + IOCTL_CANCEL)
#define EVERYTHING (FENCED + EXTEND)
#ifndef ALLOWED
#define ALLOWED FENCED
#endif
#ifndef ALLOWED2
#define ALLOWED2 FENCED
#endif
#define MAY(c, op) ((((c) == 0 -> ALLOWED : ALLOWED2) & (op)) != 0)
#define CONSUMES(c) (CONSUMER == ANY || CONSUMER == (c))

/*
 * The words in shared memory.
 */
#define DEADLINE(i)	(i)
#define PROMISE(i)	(IDS + (i))
#define LOCK		(2 * IDS)
#define WORDS		(LOCK + 1)
#define RELEASE(w)	((w) == LOCK)

/* One processor for each thread, and one for the hand. */
#define CPUS (THREADS + 1)
#define HAND THREADS

/* With -DSTORY a replayed trail can be read (tests/words/check show). */
#ifdef STORY
#define TELL(what) printf(what);
#define TELL1(what, a) printf(what, a);
#define TELL2(what, a, b) printf(what, a, b);
#define TELL3(what, a, b, d) printf(what, a, b, d);
#else
#define TELL(what)
#define TELL1(what, a)
#define TELL2(what, a, b)
#define TELL3(what, a, b, d)
#endif

#include "memory.pml"

/*
 * Time. 0 is never, and later than all else: a - 1 < b - 1 in bytes.
 */
byte now;

#define BEFORE(a, b) ((a) != 0 && ((b) == 0 || (a) < (b)))
#define DUE(d) ((d) != 0 && TICK_OF(d) <= now)

/* The end of the tick in which the hand comes to a deadline... */
#define TICK_OF(d) (((d) + TICK - 1) / TICK * TICK)
/* ... and the first deadline that it comes to then: the promise. */
#if BREAK == PROMISE_UP
#define SERVED_FROM(d) TICK_OF(d)
#elif BREAK == PROMISE_DOWN
#define SERVED_FROM(d) (((d) - 1) / TICK * TICK -> ((d) - 1) / TICK * TICK : 1)
#else
#define SERVED_FROM(d) (((d) - 1) / TICK * TICK + 1)
#endif

/*
 * The kernel's own, under its lock.
 */
#define IDLE		0
#define IN_WHEEL	1	/* FILED in the document */
#define QUEUED		2	/* its event waits to be read */
#define CLAIMED		3	/* a read is copying its event: the claim */

byte state[IDS];
byte promised[IDS];		/* what the promise says: the kernel does not read it */
byte hand_at[IDS];		/* when the hand comes to it */
byte tag[IDS];			/* of a queued event, or of a claimed one */
byte generation[IDS];		/* counts what is armed by call, as long as a read compares */
byte readers[IDS];		/* how many compare */
byte turn;			/* the mutex: how many exchange words; not more than one */

/* For the judge: operations that are not finished; and what must never be. */
byte busy;
bool lost, late, untrue, needless, stale, early, overwritten;
bool owed[IDS];			/* armed by call, and no end of that was seen */

inline unlock(c)
{
	store(c, LOCK, 0)
}

/* Lowers the promise: it only promises more, and nothing need be read after it. */
inline file(c, i, d)
{
	TELL3("processor %d: timer %d is filed at %d\n", c, i, d)
	state[i] = IN_WHEEL;
	promised[i] = SERVED_FROM(d);
	hand_at[i] = TICK_OF(d);
	store(c, PROMISE(i), promised[i])
}

/*
 * Takes back an event that was not read: if a read has claimed it, that claim
 * does not hold any more.
 */
inline unlink(c, i)
{
	if
	:: state[i] == QUEUED || state[i] == CLAIMED ->
		state[i] = IDLE;
		tag[i] = 0
	:: else
	fi
}

/* A generation is compared by reads only: without one, all are alike. */
inline begin_generation(i)
{
	if
	:: readers[i] != 0 -> generation[i]++
	:: else
	fi
}

/* Is it still the claim that was made of this arming and deadline? */
#define HOLDS(i, g, t) (state[i] == CLAIMED && generation[i] == (g) && tag[i] == (t))

inline forget_generation(i)
{
	g = 0;
	readers[i]--;
	if
	:: readers[i] == 0 -> generation[i] = 0
	:: else
	fi
}

/* An event with tag d. The timer is no longer in the wheel, and its promise is 0. */
inline deliver(c, i, d)
{
	TELL3("processor %d: timer %d has an event with tag %d\n", c, i, d)
	state[i] = QUEUED;
	tag[i] = d
}

/*
 * The look, in two halves with a barrier between. seen[] is what the first half
 * read; raised says whether any promise was raised.
 *
 * promised of 0 after the first half means "not wanted" or "due".
 */
inline look_first(c, i)
{
	seen[i] = LOAD(c, DEADLINE(i));
	if
	:: seen[i] == 0 || DUE(seen[i]) ->
		raised = raised || promised[i] != 0;
		state[i] = IDLE;
		promised[i] = 0;
		hand_at[i] = 0
	:: else ->
		raised = raised || BEFORE(promised[i], SERVED_FROM(seen[i]));
		state[i] = IN_WHEEL;
		promised[i] = SERVED_FROM(seen[i]);
		hand_at[i] = TICK_OF(seen[i])
	fi;
	TELL3("processor %d: looks: deadline is %d; stores promise = %d\n", c, seen[i], promised[i])
	store(c, PROMISE(i), promised[i])
}

inline look_second(c, i)
{
	again = (BROKEN(NO_REREAD) -> seen[i] : LOAD(c, DEADLINE(i)));
	TELL2("processor %d: looks again: deadline is %d\n", c, again)
	if
	:: again == seen[i] && seen[i] != 0 && promised[i] == 0 ->
		deliver(c, i, seen[i])
	:: again != seen[i] && BEFORE(again, promised[i]) ->
		file(c, i, again)
	:: BROKEN(RAISE_TWICE) && again == 0 && promised[i] != 0 ->
		state[i] = IDLE;
		promised[i] = 0;
		hand_at[i] = 0;
		store(c, PROMISE(i), 0)
	:: else
	fi;
	seen[i] = 0;
	again = 0
}

inline look_barrier(c)
{
	!raised || barrier(c) || BROKEN(NO_BARRIER)
}

/*
 * The hand: comes whenever it likes to what is in the wheel. Two timers are a
 * batch: all first halves, one barrier, all second halves.
 */
#define IN_BATCH(i) ((batch & (1 << (i))) != 0)

proctype hand()
{
	byte batch;
	byte seen[IDS];
	byte again;
	bool raised;

end:
	do
	:: atomic {
		mem[LOCK] == 0 && EMPTY(HAND) &&
		(state[0] == IN_WHEEL || state[IDS - 1] == IN_WHEEL) ->
		if
		:: state[0] == IN_WHEEL -> batch = 1
#if IDS > 1
		:: state[1] == IN_WHEEL -> batch = 2
		:: state[0] == IN_WHEEL && state[1] == IN_WHEEL -> batch = 3
#endif
		fi;
		mem[LOCK] = 1;
		busy++;
		if
		:: IN_BATCH(0) -> look_first(HAND, 0)
		:: else
		fi
	   }
#if IDS > 1 && BREAK != BATCH_BARRIER
	   atomic {
		if
		:: IN_BATCH(1) -> look_first(HAND, 1)
		:: else
		fi
	   }
#endif
#if IDS > 1 && BREAK == BATCH_BARRIER
	   atomic {
		look_barrier(HAND);
		if
		:: IN_BATCH(1) -> look_first(HAND, 1)
		:: else
		fi;
		raised = false
	   }
#endif
	   atomic {
		look_barrier(HAND);
		if
		:: IN_BATCH(0) -> look_second(HAND, 0)
		:: else
		fi
#if IDS > 1
	   }
	   atomic {
		if
		:: IN_BATCH(1) -> look_second(HAND, 1)
		:: else
		fi
#endif
		;
		unlock(HAND);
		raised = false;
		batch = 0;
		busy--
	   }
	od
}

proctype clock()
{
	do
	:: atomic {
		now < END ->
		now++;
		TELL1("the clock says %d\n", now)
	   }
	:: else -> break
	od
}

/*
 * A thread of the daemon.
 *
 * First what it does in user space, which ends with a call or without; then the
 * call.
 */
#define NO_CALL		0
#define ARM_STORED	1	/* arm: what the word says */
#define ARM_VALUE	2
#define CANCEL_IT	3
#define READ		4
#define ARM_IF		5	/* ARM_VALUE with f: if it is armed, or if it is not */

#define WHOLE_LOOK	1
#define SECOND_HALF	2

/* What consuming an event leaves in the word. */
#ifdef PERIODIC
#define AFTER(t) ((t) < END -> (t) + 1 : 0)
#else
#define AFTER(t) 0
#endif

/* The event is handed to the program: this is where it counts. */
inline count(c, i, t)
{
	TELL2("processor %d: the event with tag %d counts\n", c, t)
	early = t > now;
	assert(!early);
	stale = LOAD(c, DEADLINE(i)) != t;
	assert(!stale);
	/* With it goes the cookie that it had when it was claimed. */
	if
	:: generation[i] == g -> owed[i] = false
	:: else ->
#ifndef LENIENT
		stale = true;
		assert(!stale)
#else
		skip
#endif
	fi
}

/*
 * Armed by call. If the store of another thread is still on its way, it may come
 * after the call, and nothing is owed.
 */
#if THREADS > 1
#define ALONE(c) EMPTY(1 - (c))
#else
#define ALONE(c) true
#endif

#ifdef DIES
#define MAY_DIE								\
	if								\
	:: !died -> died = true; goto adopt				\
	:: true								\
	fi
#else
#define MAY_DIE skip
#endif

/*
 * Calls and commits of reads take turns: from before the exchange until the wheel knows of it. The
 * mutex is the kernel's own, and taking it empties the buffer.
 */
#define MY_TURN(c) ((turn == 0 || BROKEN(NO_TURNS)) && EMPTY(c))

inline turn_begins()
{
	turn++;
	has_turn = true
}

inline turn_ends()
{
	turn = (has_turn -> turn - 1 : turn);
	has_turn = false
}

/* A call stores into the word, without the lock: from here on its timer is owed. */
inline exchange(c, i, v)
{
	EMPTY(c) ->
	owed[i] = (v) != 0 && ALONE(c);
	mem[DEADLINE(i)] = v
}

/* The end of an operation. Locals are cleared: equal states are to look equal. */
inline forget()
{
	turn_ends();
	i = 0;
	t = 0;
	d = 0;
	f = 0;
	look = 0;
	raised = false;
	call = NO_CALL
}

inline finish()
{
	forget();
	busy--;
	goto end
}

/* The end of a call, if no look is to be made. */
inline unless_look(c)
{
	if
	:: look == 0 ->
		unlock(c);
		finish()
	:: else
	fi
}

/* The end of what is done in user space. */
inline unless_call()
{
	if
	:: call == NO_CALL -> finish()
	:: else
	fi
}

/*
 * The calls.
 */
#ifdef ANY_ORDER
#define UNLOCKED(c) (mem[LOCK] == 0)
#else
/* The instruction that takes a lock empties the buffer. */
#define UNLOCKED(c) (mem[LOCK] == 0 && EMPTY(c))
#endif

#define HAS_EVENT(i, d) ((state[i] == QUEUED || state[i] == CLAIMED) && tag[i] == (d))

/* Under the lock: the timer is filed, or must be looked at, or nothing is to do. */
inline arm(c, i)
{
	d = LOAD(c, DEADLINE(i));
	if
	:: BEFORE(d, promised[i]) && !HAS_EVENT(i, d) ->
		unlink(c, i);
		if
		:: DUE(d) -> look = WHOLE_LOOK
		:: else -> file(c, i, d)
		fi
	:: else
	fi
}

inline in_the_kernel(c)
{
	if
	:: atomic {
		call == ARM_STORED && MY_TURN(c) ->
		TELL2("processor %d: calls ARM for timer %d\n", c, i)
		turn_begins()
	   }
	   atomic {
		UNLOCKED(c) ->
		mem[LOCK] = 1;
		arm(c, i);
		unless_look(c)
	   }

	:: atomic {
		call == ARM_VALUE && MY_TURN(c) ->
		TELL3("processor %d: calls ARM for timer %d with deadline %d\n", c, i, t)
		turn_begins()
	   }
	   atomic {
		exchange(c, i, t)
	   }
	   atomic {
		UNLOCKED(c) ->
		mem[LOCK] = 1;
		unlink(c, i);
		begin_generation(i);
#ifdef UNFILE
		look = WHOLE_LOOK
#else
		arm(c, i);
		unless_look(c)
#endif
	   }

	:: atomic {
		call == ARM_IF && MY_TURN(c) ->
		d = mem[DEADLINE(i)];
		TELL3("processor %d: calls ARM for timer %d, only new or only move: deadline is %d\n", c, i, d)
		if
		:: (d != 0) == f -> turn_begins()
		:: else -> finish()			/* it is refused */
		fi
	   }
	   atomic {
		/* Compare-and-swap; if another thread came between, it is refused or begins anew. */
		if
		:: mem[DEADLINE(i)] == d || BROKEN(SWAP_ANYWAY) ->
			TELL3("processor %d: arms timer %d by call with deadline %d\n", c, i, t)
			overwritten = (mem[DEADLINE(i)] != 0) != f;
			assert(!overwritten);
			exchange(c, i, t)
		:: else ->
			finish()
		fi
	   }
	   atomic {
		UNLOCKED(c) ->
		mem[LOCK] = 1;
		unlink(c, i);
		begin_generation(i);
#ifdef UNFILE
		look = WHOLE_LOOK
#else
		arm(c, i);
		unless_look(c)
#endif
	   }

	:: atomic {
		call == CANCEL_IT && MY_TURN(c) ->
		TELL2("processor %d: calls CANCEL for timer %d\n", c, i)
		turn_begins()
	   }
	   atomic {
		exchange(c, i, 0)
	   }
	   atomic {
		UNLOCKED(c) ->
		mem[LOCK] = 1;
		unlink(c, i);
#ifdef UNFILE
		/* As a first half that read 0. */
		raised = promised[i] != 0;
		state[i] = IDLE;
		promised[i] = 0;
		hand_at[i] = 0;
		store(c, PROMISE(i), 0);
		look = (BROKEN(UNFILE_ONLY) -> 0 : SECOND_HALF)
#else
		/* The event may have been that of an arm since the exchange. */
		if
		:: !BROKEN(CANCEL_BLIND) -> arm(c, i)
		:: else
		fi
#endif
		;
		unless_look(c)
	   }

	:: atomic {
		call == READ && UNLOCKED(c) ->
		TELL1("processor %d: reads an event\n", c)
		if
		:: state[i] == QUEUED ->
			state[i] = CLAIMED;
			t = tag[i];
			g = generation[i];
			readers[i]++
		:: else ->
			goto nothing
		fi
	   }
	   /* Here it copies the event, without the lock. */
	   atomic {
		MY_TURN(c) ->
		turn_begins()
	   }
	   atomic {
		mem[LOCK] == 0 ->			/* a hold of its own, which stores nothing */
		holds = HOLDS(i, g, t);
		if
		:: true ->				/* a fault: it goes back */
			state[i] = (holds -> QUEUED : state[i]);
			t = 0
		:: !holds && !BROKEN(SWAP_FIRST) ->	/* armed or cancelled: it is stale */
			t = 0
		:: holds || BROKEN(SWAP_FIRST)
		fi
	   }
	   /* Compare-and-swap, without the lock. */
	   atomic {
		EMPTY(c) ->
		d = mem[DEADLINE(i)];
		TELL3("processor %d: has an event with tag %d: deadline is %d\n", c, t, d)
#if BREAK == LOAD_COMPARE_STORE
	   }
	   atomic {
#else
		;
#endif
		if
		:: t != 0 && (d == t || BROKEN(NO_CLAIM)) ->
			count(c, i, t);
			taken = true;
			mem[DEADLINE(i)] = AFTER(t)
		:: else
		fi
	   }
	   atomic {
		UNLOCKED(c) ->
		mem[LOCK] = 1;
		/* A store that came since calls for itself, when this turn is over. */
		assert(t == 0 || !holds || HOLDS(i, g, t) || BROKEN(NO_TURNS));
		holds = HOLDS(i, g, t);
		d = (taken -> AFTER(t) : LOAD(c, DEADLINE(i)));
		if
		:: t != 0 && holds ->
			state[i] = IDLE;
			tag[i] = 0;
			if
			:: d != 0 && !BROKEN(DROP_STALE) -> file(c, i, d)
			:: else
			fi
		:: else
		fi;
		holds = false;
		taken = false;
		forget_generation(i);
		unless_look(c)
	   }
	:: false ->
nothing:
	   atomic {
		finish()
	   }
	fi;

	/* A look at once, as the hand makes it. */
	if
	:: atomic {
		look == WHOLE_LOOK ->
		look_first(c, i);
		look = SECOND_HALF
	   }
	:: look == SECOND_HALF
	fi;
	atomic {
		look_barrier(c);
		look_second(c, i);
		unlock(c);
		finish()
	}
}

inline in_user_space(c)
{
	if
	/*
	 * It does something with a timer.
	 */
	:: atomic {
		ops > 0 ->
		ops--;
		busy++;
#if IDS > 1
		if
		:: i = 0
		:: i = 1
		fi;
#endif
		if
		:: t = 1
		:: t = 2
#if END > 2
		:: t = 3
#endif
#if END > 3
		:: t = 4
#endif
		fi
	   }
	   if
	   :: atomic {
		MAY(c, ARM) && (EMPTY(c) || BROKEN(STORE_TO_ARM)) ->
		if
		:: BROKEN(STORE_TO_ARM) -> store(c, DEADLINE(i), t)
		:: else -> mem[DEADLINE(i)] = t		/* an exchange */
		fi;
		TELL3("processor %d: arms timer %d: deadline = %d\n", c, i, t)
		MAY_DIE
	      }
	      atomic {
		f = LOAD(c, PROMISE(i));
		TELL2("processor %d: promise is %d\n", c, f)
		call = (BEFORE(t, f) && !BROKEN(NO_TEST) -> ARM_STORED : NO_CALL);
		MAY_DIE;
		unless_call()
	      }
	   :: atomic {
		MAY(c, EXTEND) ->
		d = LOAD(c, DEADLINE(i));
		if
		:: d != 0 && t >= d + FURTHER ->
			TELL3("processor %d: extends timer %d with a store: deadline = %d\n", c, i, t)
			store(c, DEADLINE(i), t)
		:: else
		fi;
		finish()
	      }
	   :: atomic {
		MAY(c, CANCEL) ->
		TELL2("processor %d: cancels timer %d with a store\n", c, i)
		store(c, DEADLINE(i), 0);
		owed[i] = false;
		finish()
	      }
	   :: atomic {
		MAY(c, IOCTL_ARM) ->
		call = ARM_VALUE
	      }
	   :: atomic {
		MAY(c, IOCTL_NEW) ->
		call = ARM_IF
	      }
	   :: atomic {
		MAY(c, IOCTL_MOVE) ->
		f = 1;
		call = ARM_IF
	      }
	   :: atomic {
		MAY(c, IOCTL_CANCEL) ->
		t = 0;
		call = CANCEL_IT
	      }
	   fi

	/*
	 * It reads an event: poll said there is one.
	 */
	:: atomic {
		CONSUMES(c) && state[0] == QUEUED ->
		busy++;
		call = READ
	   }
#if IDS > 1
	:: atomic {
		CONSUMES(c) && state[1] == QUEUED ->
		busy++;
		i = 1;
		call = READ
	   }
#endif

#ifdef DIES
	/*
	 * A successor, with the same words: it tests each id.
	 */
	:: false ->
adopt:
	   atomic {
		EMPTY(c) ->
		TELL("the daemon has died; a successor comes\n")
		forget()
	   }
	   if
	   :: d = LOAD(c, DEADLINE(i)); f = LOAD(c, PROMISE(i))
	   :: f = LOAD(c, PROMISE(i)); d = LOAD(c, DEADLINE(i))
	   fi;
	   atomic {
		call = (BEFORE(d, f) && !BROKEN(NO_ADOPTION) -> ARM_STORED : NO_CALL);
		unless_call()
	   }
#endif
	fi
}

proctype thread(byte c; byte ops)
{
	byte i;			/* the timer */
	byte t;			/* a deadline of its own, or the tag of an event */
	byte d, f;		/* deadline and promise, as loaded */
	byte call;
	byte look;
	byte seen[IDS];
	byte again;
	bool raised;
	bool has_turn;
	byte g;			/* the generation of the event */
	bool holds;
	bool taken;
#ifdef DIES
	bool died;
#endif

end:
	do
	:: in_user_space(c);
	   in_the_kernel(c)
	od
}

/*
 * The judge: speaks when all is quiet.
 */
#if THREADS > 1
#define EMPTY_BUFFERS (EMPTY(0) && EMPTY(1) && EMPTY(2))
#else
#define EMPTY_BUFFERS (EMPTY(0) && EMPTY(1))
#endif
#define QUIET (busy == 0 && mem[LOCK] == 0 && EMPTY_BUFFERS)

#define EVENT(i) (state[i] == QUEUED)
#define WANTED(i) (mem[DEADLINE(i)] != 0)
#define SERVED(i, d) (state[i] == IN_WHEEL && hand_at[i] <= TICK_OF(d))

/* Nobody will ever look; or what was armed by call has gone, and no event counted. */
#define LOST(i) ((WANTED(i) && state[i] != IN_WHEEL && !EVENT(i)) || \
		 (owed[i] && !WANTED(i)))
/* The hand comes, but too late. */
#define LATE(i) (WANTED(i) && state[i] == IN_WHEEL && !SERVED(i, mem[DEADLINE(i)]) && !EVENT(i))
/* The promise says what is not so. */
#define UNTRUE(i) (mem[PROMISE(i)] != 0 && !SERVED(i, mem[PROMISE(i)]))
/* The daemon would call although nothing is to do. */
#define NEEDLESS(i) (WANTED(i) && SERVED(i, mem[DEADLINE(i)]) && \
		     BEFORE(mem[DEADLINE(i)], mem[PROMISE(i)]))

#if IDS > 1
#define OF_ANY(bad) (bad(0) || bad(1))
#else
#define OF_ANY(bad) bad(0)
#endif

proctype judge()
{
end:
	do
	:: atomic { QUIET && OF_ANY(LOST) -> lost = true; assert(!lost) }
	:: atomic { QUIET && OF_ANY(LATE) -> late = true; assert(!late) }
	:: atomic { QUIET && OF_ANY(UNTRUE) -> untrue = true; assert(!untrue) }
	:: atomic { QUIET && OF_ANY(NEEDLESS) -> needless = true; assert(!needless) }
	od
}

/* At first the timers are not armed, or filed at the same deadline. */
inline begin(i)
{
	mem[DEADLINE(i)] = v;
	if
	:: v != 0 ->
		state[i] = IN_WHEEL;
		promised[i] = SERVED_FROM(v);
		hand_at[i] = TICK_OF(v);
		mem[PROMISE(i)] = promised[i]
	:: else
	fi
}

init {
	byte v;

	atomic {
		if
		:: v = 0
		:: v = 1
		:: v = 2
#if END > 2
		:: v = 3
#endif
#if END > 3
		:: v = 4
#endif
		fi;
		begin(0);
#if IDS > 1
		begin(1);
#endif
		TELL2("deadline is %d, promise is %d\n", v, mem[PROMISE(0)])
		TELL1("word %d is deadline\n", DEADLINE(0))
		TELL1("word %d is promise\n", PROMISE(0))
		TELL1("word %d is lock\n", LOCK)
#if IDS > 1
		TELL1("word %d is deadline[1]\n", DEADLINE(1))
		TELL1("word %d is promise[1]\n", PROMISE(1))
#endif
		TELL1("processor %d is hand\n", HAND)
		v = 0;
		run thread(0, OPS);
#if THREADS > 1
		run thread(1, OPS2);
#endif
		run hand();
		run clock();
		run judge()
	}
}
