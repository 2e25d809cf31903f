// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * twheel._loop: the timers of an asyncio event loop.  asyncio keeps them in a heap, from which a
 * cancelled one is not removed until it is due or most are cancelled; here they are timers of a
 * wheel.
 *
 * TimerLoop is the part of twheel.asyncio.EventLoop that is in C: call_later, call_at, and what
 * has to be done before the loop sleeps and after.  TimerHandle is asyncio's own, with a cancel
 * that is a store.  The rest of the loop is asyncio's.
 *
 * A loop begins with no wheel.  The first timer gets it one with CAPACITY_FIRST ids, and when all
 * are in use the timers move to one with CAPACITY_GROWTH times as many.  That there is only one at
 * a time keeps them in order: two would not find what is due at the same moment.
 *
 * Timers go to asyncio's heap where no wheel can do it right: if the loop has a clock of its own
 * (its method time was replaced), if no wheel can be had, and after a fork, where a child must not
 * touch those of its parent.
 *
 * All is done with the GIL held.  What frees an object or takes memory for one may run any
 * code of the program, which may call all of this again: so that is done before a timer is
 * armed, or after.
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "common.h"

#define NSEC_PER_SEC	1000000000

/* Ids of the first wheel, and how many times as many the next one has. */
#define CAPACITY_FIRST	1024U
#define CAPACITY_GROWTH	4U

/* Events that are taken at a time. */
#define PART		256U

/**
 * union place - what a loop has for each id
 * @handle: of the timer that is armed
 * @next: no timer is: twice the next free id, plus 1, which no address is
 */
union place {
	struct handle	*handle;
	uintptr_t	next;
};

/**
 * struct loop - a TimerLoop
 * @closed: asyncio's _closed
 * @debug: asyncio's _debug
 * @ready: asyncio's _ready: handles whose callback is to be called next
 * @wheel: NULL: there was no timer yet
 * @capacity: its ids are below
 * @forks: forks that led to this process when the loop was made: if there was one since, the loop
 *	and its wheel are the parent's
 * @stuck: there will be no other wheel
 * @growing: one is being made, and the selector told of it
 * @plain_time: its time() is asyncio's
 * @plain_call_at: its call_at() is the one below
 * @flags: TWHEEL_OPEN_* for a wheel
 * @free: the first free id, as in union place
 * @places: for each id
 * @end: all timers that ever were have had ids below
 * @armings: so many were armed; timers that are due at the same time come in that order
 * @soonest: deadline of the first of those that were armed since the last take; UINT64_MAX: of none
 */
struct loop {
	PyObject_HEAD
	PyObject	*closed;
	PyObject	*debug;
	PyObject	*ready;
	struct twheel	*wheel;
	uint32_t	capacity;
	unsigned long	forks;
	bool		stuck;
	bool		growing;
	bool		plain_time;
	bool		plain_call_at;
	uint32_t	flags;
	uintptr_t	free;
	union place	*places;
	uint32_t	end;
	uint64_t	armings;
	uint64_t	soonest;
};

/**
 * struct handle_part - what a TimerHandle has beside what asyncio's has
 * @loop: in whose wheel it is; NULL: in none.  Not a reference, but the loop's places have one to
 *	the handle
 * @arming: its number
 * @when: when it is due, as asyncio compares it
 * @id: its timer
 *
 * It stands behind asyncio's part, of which only Python knows the size.
 */
struct handle_part {
	struct loop	*loop;
	uint64_t	arming;
	double		when;
	uint32_t	id;
};

struct handle {
	PyObject	object;
};

/* What is due: a handle may be cancelled before its turn, and its id used again. */
struct due {
	double		when;
	uint64_t	arming;
	uint32_t	id;
};

/* What asyncio's part of a handle has in its __slots__, but the weak references. */
enum field {
	CALLBACK, ARGS, CANCELLED, LOOP, SOURCE_TRACEBACK, REPR, CONTEXT, SCHEDULED, WHEN,
	NR_FIELDS
};

static const char *const field_names[NR_FIELDS] = {
	[CALLBACK]		= "_callback",
	[ARGS]			= "_args",
	[CANCELLED]		= "_cancelled",
	[LOOP]			= "_loop",
	[SOURCE_TRACEBACK]	= "_source_traceback",
	[REPR]			= "_repr",
	[CONTEXT]		= "_context",
	[SCHEDULED]		= "_scheduled",
	[WHEN]			= "_when",
};

/* Where these are, and where asyncio's part ends. */
static Py_ssize_t offsets[NR_FIELDS];
static Py_ssize_t handle_size;

static PyTypeObject *loop_type;
static PyTypeObject *handle_type;

/* Of asyncio. */
static PyObject *base_call_at;
static PyObject *base_time;
static PyObject *base_cancel;
static PyObject *plain_cancel;

static PyObject *heapify;

/* The data of a wheel's file descriptor in the selector, where others have handles. */
static PyObject *nobody;

static struct {
	PyObject	*append;
	PyObject	*call_at;
	PyObject	*check_callback;
	PyObject	*check_thread;
	PyObject	*scheduled;
	PyObject	*time;
	PyObject	*unwatch;
	PyObject	*watch;
} names;

/* Forks that led to this process since the module was loaded. */
static unsigned long forks;

static void forked(void)
{
	forks++;
}

static struct loop *loop_of(PyObject *self)
{
	return (struct loop *)self;
}

static struct handle_part *part_of(struct handle *handle)
{
	return (struct handle_part *)((char *)handle + handle_size);
}

/* A field of asyncio's part. */
static PyObject **field(struct handle *handle, enum field which)
{
	return (PyObject **)((char *)handle + offsets[which]);
}

static void set_field(struct handle *handle, enum field which, PyObject *value)
{
	PyObject **slot = field(handle, which), *old = *slot;

	Py_INCREF(value);
	*slot = value;
	Py_XDECREF(old);
}

/* Ids */

static uintptr_t free_place(uint32_t id)
{
	return (uintptr_t)id * 2 + 1;
}

static bool is_free(union place place)
{
	return place.next & 1;
}

/* The first id behind those that there are stands for none. */
static bool has_free(const struct loop *loop)
{
	return loop->free != free_place(loop->capacity);
}

/* Take a handle out of its place.  The caller gets the reference. */
static void leave(struct loop *loop, struct handle *handle)
{
	struct handle_part *part = part_of(handle);

	loop->places[part->id].next = loop->free;
	loop->free = free_place(part->id);
	part->loop = NULL;
}

/* The same, of a timer that is not due. */
static void disarm(struct loop *loop, struct handle *handle)
{
	/* What fails is a call, where there are no words: its event then finds nobody. */
	twheel_cancel(loop->wheel, part_of(handle)->id);
	leave(loop, handle);
}

/* Forks */

/*
 * The wheel is the parent's, and a store to its words would change its timers.  The child has
 * timers of its own, as it has with asyncio's heap, which is where they go.  The wheel stays open,
 * because the selector has its file descriptor, and must not be told: it may be shared.
 */
static int leave_to_parent(PyObject *self)
{
	struct loop *loop = loop_of(self);
	PyObject *heap, *ret = NULL;

	loop->stuck = true;
	if (!loop->places)
		return 0;
	heap = PyObject_GetAttr(self, names.scheduled);
	if (!heap)
		return -1;
	for (; loop->end; loop->end--) {
		union place place = loop->places[loop->end - 1];

		if (is_free(place))
			continue;
		if (PyList_Append(heap, &place.handle->object))
			goto out;
		leave(loop, place.handle);
		Py_DECREF(place.handle);
	}
	PyMem_RawFree(loop->places);
	loop->places = NULL;
	loop->free = free_place(loop->capacity);
	ret = PyObject_CallOneArg(heapify, heap);
	Py_XDECREF(ret);
out:
	Py_DECREF(heap);
	return ret ? 0 : -1;
}

/* Before anything is done with the wheel.  Returns -1 with an exception. */
static inline int own(PyObject *self)
{
	return loop_of(self)->forks == forks ? 0 : leave_to_parent(self);
}

/* Time */

static uint64_t ns_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* As time.monotonic() makes it. */
static double seconds_now(void)
{
	return (double)ns_now() / 1e9;
}

/* When the wheel has to look.  What is no number is due, as in asyncio's heap. */
static uint64_t deadline_of(double when)
{
	if (!(when > 0))
		return 1;
	/* 285 years after boot are never. */
	return when < 9e9 ? (uint64_t)ceil(when * 1e9) : UINT64_C(9000000000) * NSEC_PER_SEC;
}

/* Growth */

static int open_wheel(const struct loop *loop, uint32_t capacity, struct twheel **wheel)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_BATCH | loop->flags,
		.capacity = capacity,
	};
	int ret = twheel_open(wheel, &options);

	if (!ret || loop->flags)
		return ret;
	/* The device is not for this user, or a limit is reached: there are timers all the same. */
	options.flags |= TWHEEL_OPEN_FALLBACK;
	return twheel_open(wheel, &options);
}

/* Have the selector look for the events of a wheel.  Returns -1 with an exception. */
static int watch(PyObject *self, const struct twheel *wheel)
{
	PyObject *fd = PyLong_FromLong(twheel_fd(wheel)), *ret;

	if (!fd)
		return -1;
	ret = PyObject_CallMethodObjArgs(self, names.watch, fd, nobody, NULL);
	Py_DECREF(fd);
	Py_XDECREF(ret);
	return ret ? 0 : -1;
}

/* And no longer, whatever it says to that. */
static void unwatch(PyObject *self, const struct twheel *wheel)
{
	PyObject *fd = PyLong_FromLong(twheel_fd(wheel)), *ret = NULL;

	if (fd)
		ret = PyObject_CallMethodOneArg(self, names.unwatch, fd);
	if (!ret)
		PyErr_Clear();
	Py_XDECREF(fd);
	Py_XDECREF(ret);
}

/* Arm all timers in another wheel, by their ids.  Those of the old one stay as they are. */
static int arm_all(const struct loop *loop, struct twheel *wheel)
{
	int ret = 0;

	for (uint32_t id = 0; id < loop->end && !ret; id++)
		if (!is_free(loop->places[id]))
			ret = twheel_arm(wheel, id,
					 deadline_of(part_of(loop->places[id].handle)->when));
	return ret;
}

/* Have places for more ids. */
static int add_places(struct loop *loop, uint32_t capacity)
{
	union place *places = PyMem_RawRealloc(loop->places, capacity * sizeof(*places));

	if (!places)
		return -ENOMEM;
	/* What is free of the ids before leads to the first of these. */
	for (uint32_t id = loop->capacity; id < capacity; id++)
		places[id].next = free_place(id + 1);
	loop->places = places;
	return 0;
}

/*
 * A wheel with more ids.  If there is none to be had, or the selector does not take it, that is
 * remembered, and no error.
 */
static void grow(PyObject *self)
{
	struct loop *loop = loop_of(self);
	uint32_t capacity = loop->capacity ? loop->capacity * CAPACITY_GROWTH : CAPACITY_FIRST;
	struct twheel *wheel, *old = loop->wheel;

	if (loop->stuck || loop->growing)
		return;
	if (capacity > TWHEEL_MAX_CAPACITY || open_wheel(loop, capacity, &wheel)) {
		loop->stuck = true;
		return;
	}
	loop->growing = true;
	if (watch(self, wheel)) {
		PyErr_Clear();
		loop->stuck = true;
	}
	loop->growing = false;
	/* What that has called may have closed the loop. */
	if (!loop->stuck && (arm_all(loop, wheel) || add_places(loop, capacity))) {
		loop->stuck = true;
		unwatch(self, wheel);
	}
	if (loop->stuck) {
		twheel_close(wheel);
		return;
	}
	loop->wheel = wheel;
	loop->capacity = capacity;
	if (old) {
		unwatch(self, old);
		twheel_close(old);
	}
}

/* Handles */

/* A handle as asyncio's constructor makes it when the loop is not in debug mode. */
static struct handle *make_handle(PyObject *self, PyObject *when, PyObject *callback,
				  PyObject *args, PyObject *context)
{
	struct handle *handle;

	if (context == Py_None)
		context = PyContext_CopyCurrent();
	else
		Py_INCREF(context);
	if (!context)
		return NULL;
	handle = (struct handle *)handle_type->tp_alloc(handle_type, 0);
	if (!handle) {
		Py_DECREF(context);
		return NULL;
	}
	/* There was nothing before. */
	*field(handle, CONTEXT) = context;
	set_field(handle, LOOP, self);
	set_field(handle, CALLBACK, callback);
	set_field(handle, ARGS, args);
	set_field(handle, CANCELLED, Py_False);
	set_field(handle, REPR, Py_None);
	set_field(handle, SOURCE_TRACEBACK, Py_None);
	set_field(handle, WHEN, when);
	set_field(handle, SCHEDULED, Py_False);
	return handle;
}

/* The same by asyncio's constructor, with the checks of debug mode. */
static struct handle *make_handle_debug(PyObject *self, PyObject *when, PyObject *callback,
					PyObject *args, PyObject *context)
{
	PyObject *ret = PyObject_CallMethodNoArgs(self, names.check_thread);

	if (!ret)
		return NULL;
	Py_DECREF(ret);
	ret = PyObject_CallMethodObjArgs(self, names.check_callback, callback, names.call_at, NULL);
	if (!ret)
		return NULL;
	Py_DECREF(ret);
	ret = PyObject_CallFunctionObjArgs((PyObject *)handle_type, when, callback, args, self,
					   context, NULL);
	return (struct handle *)ret;
}

/* By asyncio's heap. */
static PyObject *call_at_heap(PyObject *self, PyObject *when, PyObject *callback, PyObject *args,
			      PyObject *context)
{
	PyObject *first = PyTuple_Pack(3, self, when, callback), *all = NULL, *named = NULL;
	PyObject *ret = NULL;

	if (first)
		all = PySequence_Concat(first, args);
	if (all)
		named = Py_BuildValue("{sO}", "context", context);
	if (named)
		ret = PyObject_Call(base_call_at, all, named);
	Py_XDECREF(first);
	Py_XDECREF(all);
	Py_XDECREF(named);
	return ret;
}

/* Returns -1 with an exception. */
static int check_open(const struct loop *loop)
{
	int closed = loop->closed ? PyObject_IsTrue(loop->closed) : 0;

	if (closed > 0)
		PyErr_SetString(PyExc_RuntimeError, "Event loop is closed");
	return closed ? -1 : 0;
}

/* Returns -1 with an exception. */
static int is_debug(const struct loop *loop)
{
	return loop->debug ? PyObject_IsTrue(loop->debug) : 0;
}

/* Take an id that is free, and arm its timer.  Returns -1 with an exception. */
static int enter(struct loop *loop, struct handle *handle, double when)
{
	struct handle_part *part = part_of(handle);
	uint32_t id = (uint32_t)(loop->free / 2);
	uint64_t deadline = deadline_of(when);
	int ret;

	loop->free = loop->places[id].next;
	loop->places[id].handle = handle;
	Py_INCREF(handle);
	if (loop->end <= id)
		loop->end = id + 1;
	part->loop = loop;
	part->when = when;
	part->arming = loop->armings++;
	part->id = id;
	set_field(handle, SCHEDULED, Py_True);
	if (deadline < loop->soonest)
		loop->soonest = deadline;
	ret = twheel_arm(loop->wheel, id, deadline);
	if (!ret)
		return 0;
	disarm(loop, handle);
	set_field(handle, SCHEDULED, Py_False);
	Py_DECREF(handle);
	twheel_error(ret);
	return -1;
}

static PyObject *call_at(PyObject *self, PyObject *when, PyObject *callback, PyObject *args,
			 PyObject *context)
{
	struct loop *loop = loop_of(self);
	struct handle *handle;
	double seconds;
	int debug;

	if (check_open(loop) || own(self))
		return NULL;
	if (!loop->plain_time || (loop->stuck && !has_free(loop)))
		return call_at_heap(self, when, callback, args, context);
	seconds = PyFloat_AsDouble(when);
	if (seconds == -1.0 && PyErr_Occurred())
		return NULL;
	debug = is_debug(loop);
	if (debug < 0)
		return NULL;
	handle = debug ? make_handle_debug(self, when, callback, args, context) :
			 make_handle(self, when, callback, args, context);
	if (!handle)
		return NULL;
	if (!has_free(loop))
		grow(self);
	/* That, and the checks, may have run anything. */
	if (check_open(loop) || own(self)) {
		Py_DECREF(handle);
		return NULL;
	}
	if (!has_free(loop)) {
		Py_DECREF(handle);
		return call_at_heap(self, when, callback, args, context);
	}
	if (enter(loop, handle, seconds)) {
		Py_DECREF(handle);
		return NULL;
	}
	return &handle->object;
}

/* call_later, call_at: methods */

/**
 * struct call - the arguments of call_at and call_later
 * @time: when, or the delay
 * @callback: what to call
 * @context: in which; None: the current one
 * @args: a tuple of the others, a reference of its own
 */
struct call {
	PyObject	*time;
	PyObject	*callback;
	PyObject	*context;
	PyObject	*args;
};

static int bad_call(const char *function, const char *what, PyObject *name)
{
	PyErr_Format(PyExc_TypeError, "%s() %s argument: '%U'", function, what, name);
	return -1;
}

/* One argument with a name. */
static int named_argument(struct call *call, const char *function, const char *first,
			  PyObject *name, PyObject *value)
{
	PyObject **to;

	if (PyUnicode_CompareWithASCIIString(name, "context") == 0) {
		call->context = value;
		return 0;
	}
	if (PyUnicode_CompareWithASCIIString(name, first) == 0)
		to = &call->time;
	else if (PyUnicode_CompareWithASCIIString(name, "callback") == 0)
		to = &call->callback;
	else
		return bad_call(function, "got an unexpected keyword", name);
	if (*to)
		return bad_call(function, "got multiple values for", name);
	*to = value;
	return 0;
}

/* What vectorcall hands over.  Returns -1 with an exception. */
static int parse(struct call *call, const char *function, const char *first, PyObject *const *args,
		 Py_ssize_t nr, PyObject *kwnames)
{
	Py_ssize_t nr_names = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;

	call->time = nr > 0 ? args[0] : NULL;
	call->callback = nr > 1 ? args[1] : NULL;
	call->context = Py_None;
	for (Py_ssize_t i = 0; i < nr_names; i++)
		if (named_argument(call, function, first, PyTuple_GET_ITEM(kwnames, i),
				   args[nr + i]))
			return -1;
	if (!call->time || !call->callback) {
		PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", function,
			     call->time ? "callback" : first);
		return -1;
	}
	call->args = PyTuple_New(nr > 2 ? nr - 2 : 0);
	if (!call->args)
		return -1;
	for (Py_ssize_t i = 2; i < nr; i++) {
		Py_INCREF(args[i]);
		PyTuple_SET_ITEM(call->args, i - 2, args[i]);
	}
	return 0;
}

static PyObject *loop_call_at(PyObject *self, PyObject *const *args, Py_ssize_t nr,
			      PyObject *kwnames)
{
	struct call call;
	PyObject *ret;

	if (parse(&call, "call_at", "when", args, nr, kwnames))
		return NULL;
	if (call.time == Py_None) {
		PyErr_SetString(PyExc_TypeError, "when cannot be None");
		ret = NULL;
	} else {
		ret = call_at(self, call.time, call.callback, call.args, call.context);
	}
	Py_DECREF(call.args);
	return ret;
}

/* What the loop's clock tells, and the delay. */
static PyObject *when_after(PyObject *self, PyObject *delay)
{
	PyObject *now, *when;

	if (delay == Py_None) {
		PyErr_SetString(PyExc_TypeError, "delay must not be None");
		return NULL;
	}
	if (loop_of(self)->plain_time && PyFloat_CheckExact(delay))
		return PyFloat_FromDouble(seconds_now() + PyFloat_AS_DOUBLE(delay));
	now = loop_of(self)->plain_time ? PyFloat_FromDouble(seconds_now()) :
					  PyObject_CallMethodNoArgs(self, names.time);
	if (!now)
		return NULL;
	when = PyNumber_Add(now, delay);
	Py_DECREF(now);
	return when;
}

/* As call_at() of a subclass, or of whoever has replaced it. */
static PyObject *call_at_other(PyObject *self, PyObject *when, const struct call *call)
{
	PyObject *method = PyObject_GetAttr(self, names.call_at), *first = NULL, *all = NULL;
	PyObject *named = NULL, *ret = NULL;

	if (method)
		first = PyTuple_Pack(2, when, call->callback);
	if (first)
		all = PySequence_Concat(first, call->args);
	if (all)
		named = Py_BuildValue("{sO}", "context", call->context);
	if (named)
		ret = PyObject_Call(method, all, named);
	Py_XDECREF(method);
	Py_XDECREF(first);
	Py_XDECREF(all);
	Py_XDECREF(named);
	return ret;
}

static PyObject *loop_call_later(PyObject *self, PyObject *const *args, Py_ssize_t nr,
				 PyObject *kwnames)
{
	PyObject *when, *ret = NULL;
	struct call call;

	if (parse(&call, "call_later", "delay", args, nr, kwnames))
		return NULL;
	when = when_after(self, call.time);
	if (when) {
		ret = loop_of(self)->plain_call_at ?
			call_at(self, when, call.callback, call.args, call.context) :
			call_at_other(self, when, &call);
		Py_DECREF(when);
	}
	Py_DECREF(call.args);
	return ret;
}

/* Cancel */

static PyObject *handle_cancel(PyObject *self, PyObject *unused)
{
	struct handle *handle = (struct handle *)self;
	struct handle_part *part = part_of(handle);
	struct loop *loop = part->loop;
	int debug;

	(void)unused;
	if (loop && own((PyObject *)loop))
		return NULL;
	/* It is due already, or in the heap, or was cancelled. */
	if (!part->loop)
		return PyObject_CallOneArg(base_cancel, self);
	debug = is_debug(loop);
	if (debug < 0)
		return NULL;
	/* To find that out may have run anything. */
	if (part->loop) {
		disarm(part->loop, handle);
		/* The caller has another one. */
		Py_DECREF(handle);
		set_field(handle, SCHEDULED, Py_False);
	}
	/* Which remembers what it looked like. */
	if (debug)
		return PyObject_CallOneArg(plain_cancel, self);
	set_field(handle, CANCELLED, Py_True);
	set_field(handle, CALLBACK, Py_None);
	set_field(handle, ARGS, Py_None);
	Py_RETURN_NONE;
}

/* Events */

static int due_compare(const void *a, const void *b)
{
	const struct due *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return x->arming < y->arming ? -1 : x->arming > y->arming;
}

/**
 * struct due_list - what has come due
 * @nr: so many
 * @room: and so many fit
 * @sorted: they are in order as they are
 * @due: the first of them
 */
struct due_list {
	size_t		nr;
	size_t		room;
	bool		sorted;
	struct due	*due;
};

static void due_add(struct due_list *list, const struct loop *loop, uint32_t id)
{
	struct due *due = &list->due[list->nr];
	struct handle_part *part;

	/* A cancel that has failed leaves an event of nobody. */
	if (is_free(loop->places[id]))
		return;
	part = part_of(loop->places[id].handle);
	*due = (struct due){ .when = part->when, .arming = part->arming, .id = id };
	list->sorted &= !list->nr || due_compare(due - 1, due) < 0;
	list->nr++;
}

static int due_reserve(struct due_list *list)
{
	size_t room = 2 * list->room + PART;
	struct due *more;

	if (list->room - list->nr >= PART)
		return 0;
	more = PyMem_RawRealloc(list->due, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	list->due = more;
	list->room = room;
	return 0;
}

/*
 * All that is due: timers of one tick come in any order, and are sorted only if none of them comes
 * later.  Nobody else is called.
 */
static int take(const struct loop *loop, struct due_list *list)
{
	/* A wheel in this process may hand out less than is due; a read does not. */
	bool whole = !(twheel_has(loop->wheel) & TWHEEL_HAS_FALLBACK);
	struct twheel_event events[PART];
	int ret, got;

	do {
		ret = due_reserve(list);
		if (ret)
			return ret;
		got = twheel_take(loop->wheel, events, PART);
		if (got < 0)
			return got;
		for (int i = 0; i < got; i++)
			due_add(list, loop, events[i].id);
	} while (got && !(whole && (uint32_t)got < PART));
	return 0;
}

/* Of what was due: the handle, unless it was cancelled meanwhile; a borrowed reference. */
static struct handle *still_due(const struct loop *loop, const struct due *due)
{
	union place place;

	if (!loop->places)
		return NULL;
	place = loop->places[due->id];
	return is_free(place) || part_of(place.handle)->arming != due->arming ? NULL : place.handle;
}

/* Have the callback of a timer that is due called.  Returns -1 with an exception. */
static int make_ready(struct loop *loop, PyObject *ready, const struct due *due)
{
	struct handle *handle = still_due(loop, due);
	PyObject *ret;

	if (!handle)
		return 0;
	Py_INCREF(handle);
	ret = PyObject_CallMethodOneArg(ready, names.append, &handle->object);
	if (ret && still_due(loop, due)) {
		leave(loop, handle);
		Py_DECREF(handle);
		set_field(handle, SCHEDULED, Py_False);
	}
	Py_DECREF(handle);
	Py_XDECREF(ret);
	return ret ? 0 : -1;
}

/* They are due the next time. */
static void put_back(struct loop *loop, const struct due *due, size_t nr)
{
	for (; nr; due++, nr--)
		if (still_due(loop, due))
			twheel_arm(loop->wheel, due->id, 1);
}

/* Returns -1 with an exception. */
static int make_all_ready(struct loop *loop, struct due_list *list)
{
	PyObject *ready = loop->ready;
	size_t done = 0;

	if (!list->sorted)
		qsort(list->due, list->nr, sizeof(*list->due), due_compare);
	if (!ready) {
		PyErr_SetString(PyExc_AttributeError, "_ready");
		put_back(loop, list->due, list->nr);
		return -1;
	}
	Py_INCREF(ready);
	while (done < list->nr && !make_ready(loop, ready, &list->due[done]))
		done++;
	Py_DECREF(ready);
	put_back(loop, &list->due[done], list->nr - done);
	return done == list->nr ? 0 : -1;
}

/* Is there one of a wheel among what the selector has found? */
static bool has_event(PyObject *found)
{
	if (!PyList_Check(found))
		return true;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(found); i++) {
		PyObject *item = PyList_GET_ITEM(found, i), *key;

		if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2)
			return true;
		/* Of fileobj, fd, events, data. */
		key = PyTuple_GET_ITEM(item, 0);
		if (!PyTuple_Check(key) || PyTuple_GET_SIZE(key) != 4 ||
		    PyTuple_GET_ITEM(key, 3) == nobody)
			return true;
	}
	return false;
}

static PyObject *loop_take(PyObject *self, PyObject *found)
{
	struct loop *loop = loop_of(self);
	struct due_list list = { .sorted = true };
	int ret, failed;

	if (own(self))
		return NULL;
	/* What was due when it was armed may be so soon that the selector has not seen it. */
	if (!loop->places || (!has_event(found) && loop->soonest > ns_now()))
		Py_RETURN_NONE;
	loop->soonest = UINT64_MAX;
	ret = take(loop, &list);
	/* What was taken before an error is no less due. */
	failed = list.nr ? make_all_ready(loop, &list) : 0;
	PyMem_RawFree(list.due);
	if (failed)
		return NULL;
	if (ret)
		return twheel_error(ret);
	Py_RETURN_NONE;
}

static PyObject *loop_flush(PyObject *self, PyObject *unused)
{
	struct loop *loop = loop_of(self);
	int ret;

	(void)unused;
	if (own(self))
		return NULL;
	ret = loop->places ? twheel_flush(loop->wheel) : 0;
	if (ret)
		return twheel_error(ret);
	Py_RETURN_NONE;
}

/* Begin and end */

static void close_wheel(struct loop *loop)
{
	loop->stuck = true;
	/* Their references are given back one by one, and each may run anything. */
	while (loop->end) {
		union place place = loop->places[--loop->end];

		if (is_free(place))
			continue;
		leave(loop, place.handle);
		Py_DECREF(place.handle);
	}
	twheel_close(loop->wheel);
	loop->wheel = NULL;
	PyMem_RawFree(loop->places);
	loop->places = NULL;
	loop->capacity = 0;
	loop->free = free_place(0);
}

static PyObject *loop_close_wheel(PyObject *self, PyObject *unused)
{
	(void)unused;
	close_wheel(loop_of(self));
	Py_RETURN_NONE;
}

/* Is a method of this type, or of one derived from it, still that one? */
static bool is_plain(PyTypeObject *type, PyObject *name, PyObject *method)
{
	PyObject *found = PyObject_GetAttr((PyObject *)type, name);
	bool plain = found == method;

	if (!found)
		PyErr_Clear();
	Py_XDECREF(found);
	return plain;
}

static PyObject *loop_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *self = type->tp_alloc(type, 0), *own_call_at;
	struct loop *loop = loop_of(self);

	(void)args;
	(void)kwargs;
	if (!self)
		return NULL;
	own_call_at = PyObject_GetAttr((PyObject *)loop_type, names.call_at);
	if (!own_call_at) {
		Py_DECREF(self);
		return NULL;
	}
	loop->free = free_place(0);
	loop->soonest = UINT64_MAX;
	loop->forks = forks;
	loop->plain_time = is_plain(type, names.time, base_time);
	loop->plain_call_at = is_plain(type, names.call_at, own_call_at);
	Py_DECREF(own_call_at);
	return self;
}

/* Somebody may replace a method of one loop alone. */
static int loop_setattro(PyObject *self, PyObject *name, PyObject *value)
{
	int ret = PyObject_GenericSetAttr(self, name, value);

	if (ret)
		return ret;
	if (PyUnicode_CompareWithASCIIString(name, "time") == 0)
		loop_of(self)->plain_time = false;
	else if (PyUnicode_CompareWithASCIIString(name, "call_at") == 0)
		loop_of(self)->plain_call_at = false;
	return 0;
}

static int loop_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct loop *loop = loop_of(self);

	Py_VISIT(Py_TYPE(self));
	Py_VISIT(loop->closed);
	Py_VISIT(loop->debug);
	Py_VISIT(loop->ready);
	for (uint32_t id = 0; id < loop->end; id++)
		if (!is_free(loop->places[id]))
			Py_VISIT(loop->places[id].handle);
	return 0;
}

static int loop_clear(PyObject *self)
{
	struct loop *loop = loop_of(self);

	close_wheel(loop);
	Py_CLEAR(loop->closed);
	Py_CLEAR(loop->debug);
	Py_CLEAR(loop->ready);
	return 0;
}

static void loop_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	loop_clear(self);
	type->tp_free(self);
	Py_DECREF(type);
}

/* Where the wheel is. */
static PyObject *loop_wheel(PyObject *self, void *unused)
{
	const struct twheel *wheel = loop_of(self)->wheel;

	(void)unused;
	if (!wheel)
		Py_RETURN_NONE;
	return PyUnicode_FromString(twheel_has(wheel) & TWHEEL_HAS_FALLBACK ? "process" : "kernel");
}

static PyObject *loop_capacity(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(loop_of(self)->capacity);
}

static PyObject *loop_use_device(PyObject *self, PyObject *device)
{
	int is_device;

	loop_of(self)->flags = 0;
	if (device == Py_None)
		Py_RETURN_NONE;
	is_device = PyObject_IsTrue(device);
	if (is_device < 0)
		return NULL;
	loop_of(self)->flags = is_device ? TWHEEL_OPEN_DEVICE : TWHEEL_OPEN_FALLBACK;
	Py_RETURN_NONE;
}

/* The types */

static int handle_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	for (enum field which = 0; which < NR_FIELDS; which++)
		Py_VISIT(*field((struct handle *)self, which));
	return 0;
}

static int handle_clear(PyObject *self)
{
	for (enum field which = 0; which < NR_FIELDS; which++)
		Py_CLEAR(*field((struct handle *)self, which));
	return 0;
}

/* What a class in Python does, which asyncio's is, in a fraction of the time. */
static void handle_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	Py_TRASHCAN_BEGIN(self, handle_dealloc)
	PyObject_ClearWeakRefs(self);
	handle_clear(self);
	type->tp_free(self);
	Py_DECREF(type);
	Py_TRASHCAN_END
}

static PyMethodDef handle_methods[] = {
	{ "cancel", handle_cancel, METH_NOARGS, "cancel($self, /)\n--\n\nCancel the callback." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot handle_slots[] = {
	{ Py_tp_doc, (void *)"Object returned by timed callback registration methods." },
	{ Py_tp_dealloc, handle_dealloc },
	{ Py_tp_traverse, handle_traverse },
	{ Py_tp_clear, handle_clear },
	{ Py_tp_methods, handle_methods },
	{ 0, NULL },
};

static PyType_Spec handle_spec = {
	.name = "twheel.asyncio.TimerHandle",
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = handle_slots,
};

static PyMethodDef loop_methods[] = {
	{ "call_later", METHOD(loop_call_later), METH_FASTCALL | METH_KEYWORDS,
	  "call_later($self, delay, callback, *args, context=None)\n--\n\n"
	  "Have a callback called after so many seconds.  Returns a TimerHandle." },
	{ "call_at", METHOD(loop_call_at), METH_FASTCALL | METH_KEYWORDS,
	  "call_at($self, when, callback, *args, context=None)\n--\n\n"
	  "Have a callback called at a time, by the loop's clock.  Returns a TimerHandle." },
	{ "_take", loop_take, METH_O,
	  "_take($self, found, /)\n--\n\nMake ready what is due.  found: by the selector." },
	{ "_flush", loop_flush, METH_NOARGS,
	  "_flush($self)\n--\n\nTo be called before the loop sleeps." },
	{ "_close_wheel", loop_close_wheel, METH_NOARGS,
	  "_close_wheel($self)\n--\n\nForget all timers." },
	{ "_use_device", loop_use_device, METH_O,
	  "_use_device($self, device, /)\n--\n\nAs Wheel(device=...)." },
	{ NULL, NULL, 0, NULL },
};

/* What asyncio has in the loop's dictionary, and is looked at for each timer. */
static PyMemberDef loop_members[] = {
	{ "_closed", T_OBJECT_EX, offsetof(struct loop, closed), 0, NULL },
	{ "_debug", T_OBJECT_EX, offsetof(struct loop, debug), 0, NULL },
	{ "_ready", T_OBJECT_EX, offsetof(struct loop, ready), 0, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyGetSetDef loop_attributes[] = {
	{ "wheel", loop_wheel, NULL,
	  "Where its wheel is: 'kernel', 'process'; None: it has none (yet).", NULL },
	{ "capacity", loop_capacity, NULL,
	  "So many timers it has room for now, before it gets a larger wheel.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot loop_slots[] = {
	{ Py_tp_doc, (void *)"The timers of twheel.asyncio.EventLoop." },
	{ Py_tp_new, loop_new },
	{ Py_tp_dealloc, loop_dealloc },
	{ Py_tp_traverse, loop_traverse },
	{ Py_tp_clear, loop_clear },
	{ Py_tp_setattro, loop_setattro },
	{ Py_tp_methods, loop_methods },
	{ Py_tp_members, loop_members },
	{ Py_tp_getset, loop_attributes },
	{ 0, NULL },
};

static PyType_Spec loop_spec = {
	.name = "twheel._loop.TimerLoop",
	.basicsize = sizeof(struct loop),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.slots = loop_slots,
};

/* What is needed of asyncio */

/* Where objects of a type have what was named in its __slots__.  Returns -1 with an exception. */
static Py_ssize_t slot_of(PyObject *type, const char *name)
{
	PyObject *descriptor = PyObject_GetAttrString(type, name);
	Py_ssize_t offset = -1;

	if (!descriptor)
		return -1;
	if (Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
		offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
	else
		PyErr_Format(PyExc_ImportError, "TimerHandle.%s is not a slot", name);
	Py_DECREF(descriptor);
	return offset;
}

/* Learn the shape of asyncio's handles, which has to be the one known here. */
static int find_fields(PyTypeObject *type)
{
	/* The weak references are among the fields; from Python 3.12 on, in front of them. */
	const Py_ssize_t size = (Py_ssize_t)(sizeof(PyObject) + NR_FIELDS * sizeof(PyObject *)) +
				(type->tp_weaklistoffset > 0 ? (Py_ssize_t)sizeof(PyObject *) : 0);

	for (enum field which = 0; which < NR_FIELDS; which++) {
		offsets[which] = slot_of((PyObject *)type, field_names[which]);
		if (offsets[which] < 0)
			return -1;
	}
	handle_size = type->tp_basicsize;
	if (handle_size == size && !type->tp_dictoffset && type->tp_weaklistoffset)
		return 0;
	PyErr_SetString(PyExc_ImportError, "asyncio.TimerHandle of this Python has another shape");
	return -1;
}

/* An attribute of an attribute of a module; a new reference. */
static PyObject *import(const char *module, const char *name, const char *attribute)
{
	PyObject *from = PyImport_ImportModule(module), *found = NULL, *inner;

	if (from)
		found = PyObject_GetAttrString(from, name);
	Py_XDECREF(from);
	if (!found || !attribute)
		return found;
	inner = PyObject_GetAttrString(found, attribute);
	Py_DECREF(found);
	return inner;
}

struct import {
	PyObject	**to;
	const char	*module;
	const char	*name;
	const char	*attribute;
};

static const struct import imports[] = {
	{ &base_call_at, "asyncio.base_events", "BaseEventLoop", "call_at" },
	{ &base_time, "asyncio.base_events", "BaseEventLoop", "time" },
	{ &base_cancel, "asyncio.events", "TimerHandle", "cancel" },
	{ &plain_cancel, "asyncio.events", "Handle", "cancel" },
	{ &heapify, "heapq", "heapify", NULL },
};

static int import_all(void)
{
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
		*imports[i].to = import(imports[i].module, imports[i].name, imports[i].attribute);
		if (!*imports[i].to)
			return -1;
	}
	return 0;
}

struct interned {
	PyObject	**to;
	const char	*name;
};

static const struct interned interned[] = {
	{ &names.append, "append" },
	{ &names.call_at, "call_at" },
	{ &names.check_callback, "_check_callback" },
	{ &names.check_thread, "_check_thread" },
	{ &names.scheduled, "_scheduled" },
	{ &names.time, "time" },
	{ &names.unwatch, "_unwatch" },
	{ &names.watch, "_watch" },
};

static int intern_names(void)
{
	for (size_t i = 0; i < sizeof(interned) / sizeof(interned[0]); i++) {
		*interned[i].to = PyUnicode_InternFromString(interned[i].name);
		if (!*interned[i].to)
			return -1;
	}
	return 0;
}

static int make_handle_type(void)
{
	PyObject *base = import("asyncio.events", "TimerHandle", NULL);

	if (base && !find_fields((PyTypeObject *)base)) {
		handle_spec.basicsize = (int)(handle_size + (Py_ssize_t)sizeof(struct handle_part));
		handle_type = (PyTypeObject *)PyType_FromSpecWithBases(&handle_spec, base);
	}
	Py_XDECREF(base);
	return handle_type ? 0 : -1;
}

/* The module */

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_loop",
	/* Its types are the process's: no sub-interpreter has its own. */
	.m_size = -1,
};

static int fill(PyObject *module)
{
	if (pthread_atfork(NULL, NULL, forked)) {
		PyErr_NoMemory();
		return -1;
	}
	if (intern_names() || import_all() || make_handle_type())
		return -1;
	nobody = PyTuple_Pack(2, Py_None, Py_None);
	loop_type = (PyTypeObject *)PyType_FromSpec(&loop_spec);
	if (!nobody || !loop_type)
		return -1;
	if (PyModule_AddObjectRef(module, "TimerLoop", (PyObject *)loop_type))
		return -1;
	return PyModule_AddObjectRef(module, "TimerHandle", (PyObject *)handle_type);
}

PyMODINIT_FUNC PyInit__loop(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && fill(module))
		Py_CLEAR(module);
	return module;
}
