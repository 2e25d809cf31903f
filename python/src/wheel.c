// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * twheel._wheel: the functions of libtwheel as methods of Wheel.  Nothing is remembered here but
 * the handle, so what twheel.h says of a function goes for the method of its name.
 *
 * The GIL is held but where a call can take long.  Such a call is counted, because a handle must
 * not be closed under it.
 */
#include <math.h>

#include "common.h"

/* So many events or timers are fetched at a time. */
#define PART	256U

/**
 * struct wheel - a wheel as an object
 * @handle: NULL: it is closed
 * @busy: calls that go on without the GIL
 */
struct wheel {
	PyObject_HEAD
	struct twheel	*handle;
	unsigned int	busy;
};

static PyTypeObject *event_type;
static PyTypeObject *timer_type;

static struct wheel *wheel_of(PyObject *self)
{
	return (struct wheel *)self;
}

/*
 * The handle, or NULL with an exception.  To be asked last: reading an argument and making an
 * object may run any code, of __bool__() for instance or of the garbage collector, and that may
 * close the wheel.
 */
static struct twheel *handle_of(PyObject *self)
{
	struct twheel *handle = wheel_of(self)->handle;

	if (!handle)
		PyErr_SetString(PyExc_ValueError, "the wheel is closed");
	return handle;
}

static PyObject *none_or_error(int ret)
{
	if (ret)
		return twheel_error(ret);
	Py_RETURN_NONE;
}

/* Arguments */

/* For "O&": an int of 64 bits that is not negative. */
static int to_u64(PyObject *from, void *to)
{
	unsigned long long value;

	if (!PyLong_Check(from)) {
		PyErr_Format(PyExc_TypeError, "an int is needed, not %.100s",
			     Py_TYPE(from)->tp_name);
		return 0;
	}
	value = PyLong_AsUnsignedLongLong(from);
	if (value == (unsigned long long)-1 && PyErr_Occurred())
		return 0;
	*(uint64_t *)to = value;
	return 1;
}

/* For "O&": the same, and what does not fit 32 bits is out of any range all the more. */
static int to_u32(PyObject *from, void *to)
{
	uint64_t value;

	if (!to_u64(from, &value))
		return 0;
	*(uint32_t *)to = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	return 1;
}

/* For "O&": seconds as ns; None: for ever, which is -1. */
static int to_timeout(PyObject *from, void *to)
{
	double seconds;

	*(int64_t *)to = -1;
	if (from == Py_None)
		return 1;
	seconds = PyFloat_AsDouble(from);
	if (seconds == -1.0 && PyErr_Occurred())
		return 0;
	/* Not what is not a number either. */
	if (!(seconds >= 0)) {
		PyErr_SetString(PyExc_ValueError, "a timeout is not negative");
		return 0;
	}
	/* 292 years are for ever. */
	if (seconds < 9.2e9)
		*(int64_t *)to = (int64_t)ceil(seconds * 1e9);
	return 1;
}

/* Two arguments, of a call that is made often. */
static int id_and_deadline(PyObject *const *args, Py_ssize_t nr, uint32_t *id, uint64_t *deadline)
{
	if (nr != 2) {
		PyErr_Format(PyExc_TypeError, "an id and a deadline are needed, not %zd arguments",
			     nr);
		return 0;
	}
	return to_u32(args[0], id) && to_u64(args[1], deadline);
}

/* Open and close */

static PyObject *wheel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "path", "fd", "clock", "tick", "capacity", "words", "batch",
				 "device", NULL };
	struct twheel_options options = { .size = sizeof(options) };
	PyObject *path = NULL, *fd = Py_None, *clock = Py_None, *device = Py_None, *self;
	int words = 1, batch = 0, is_device, ret;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O&OOO&O&ppO:Wheel", names,
					 PyUnicode_FSConverter, &path, &fd, &clock,
					 to_u64, &options.tick, to_u32, &options.capacity,
					 &words, &batch, &device))
		return NULL;
	self = type->tp_alloc(type, 0);
	if (!self)
		goto fail;
	if (path)
		options.path = PyBytes_AS_STRING(path);
	if (fd != Py_None) {
		options.fd = PyObject_AsFileDescriptor(fd);
		if (options.fd < 0)
			goto fail;
		options.flags |= TWHEEL_OPEN_FD;
	}
	if (clock != Py_None) {
		if (!to_u32(clock, &options.clock))
			goto fail;
		options.flags |= TWHEEL_OPEN_CLOCK;
	}
	if (device != Py_None) {
		is_device = PyObject_IsTrue(device);
		if (is_device < 0)
			goto fail;
		options.flags |= is_device ? TWHEEL_OPEN_DEVICE : TWHEEL_OPEN_FALLBACK;
	}
	if (!words)
		options.flags |= TWHEEL_OPEN_NO_WORDS;
	if (batch)
		options.flags |= TWHEEL_OPEN_BATCH;
	ret = twheel_open(&wheel_of(self)->handle, &options);
	if (ret) {
		twheel_error(ret);
		goto fail;
	}
	Py_XDECREF(path);
	return self;
fail:
	Py_XDECREF(self);
	Py_XDECREF(path);
	return NULL;
}

static PyObject *wheel_close(PyObject *self, PyObject *unused)
{
	struct wheel *wheel = wheel_of(self);
	struct twheel *handle = wheel->handle;

	(void)unused;
	if (wheel->busy) {
		errno = EBUSY;
		return PyErr_SetFromErrno(PyExc_OSError);
	}
	wheel->handle = NULL;
	twheel_close(handle);
	Py_RETURN_NONE;
}

static void wheel_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	twheel_close(wheel_of(self)->handle);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyObject *wheel_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	if (!handle_of(self))
		return NULL;
	Py_INCREF(self);
	return self;
}

static PyObject *wheel_exit(PyObject *self, PyObject *unused)
{
	return wheel_close(self, unused);
}

static PyObject *wheel_repr(PyObject *self)
{
	const struct twheel *handle = wheel_of(self)->handle;

	if (!handle)
		return PyUnicode_FromFormat("<%s closed>", Py_TYPE(self)->tp_name);
	return PyUnicode_FromFormat("<%s fd=%d capacity=%lu %s>", Py_TYPE(self)->tp_name,
				    twheel_fd(handle), (unsigned long)twheel_capacity(handle),
				    twheel_has(handle) & TWHEEL_HAS_FALLBACK ? "in this process" :
									       "in the kernel");
}

/* What it is */

static PyObject *wheel_fileno(PyObject *self, PyObject *unused)
{
	const struct twheel *handle = handle_of(self);

	(void)unused;
	return handle ? PyLong_FromLong(twheel_fd(handle)) : NULL;
}

static PyObject *wheel_now(PyObject *self, PyObject *unused)
{
	const struct twheel *handle = handle_of(self);

	(void)unused;
	return handle ? PyLong_FromUnsignedLongLong(twheel_now(handle)) : NULL;
}

static PyObject *wheel_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(!wheel_of(self)->handle);
}

static PyObject *wheel_capacity(PyObject *self, void *unused)
{
	const struct twheel *handle = handle_of(self);

	(void)unused;
	return handle ? PyLong_FromUnsignedLong(twheel_capacity(handle)) : NULL;
}

static unsigned int has_words = TWHEEL_HAS_WORDS;
static unsigned int has_fallback = TWHEEL_HAS_FALLBACK;

static PyObject *wheel_has(PyObject *self, void *what)
{
	const struct twheel *handle = handle_of(self);

	return handle ? PyBool_FromLong(twheel_has(handle) & *(unsigned int *)what) : NULL;
}

/* Arm and cancel */

static PyObject *wheel_arm(PyObject *self, PyObject *const *args, Py_ssize_t nr)
{
	struct twheel *handle;
	uint64_t deadline;
	uint32_t id;

	if (!id_and_deadline(args, nr, &id, &deadline))
		return NULL;
	handle = handle_of(self);
	return handle ? none_or_error(twheel_arm(handle, id, deadline)) : NULL;
}

static PyObject *wheel_extend(PyObject *self, PyObject *const *args, Py_ssize_t nr)
{
	struct twheel *handle;
	uint64_t deadline;
	uint32_t id;

	if (!id_and_deadline(args, nr, &id, &deadline))
		return NULL;
	handle = handle_of(self);
	return handle ? none_or_error(twheel_extend(handle, id, deadline)) : NULL;
}

static PyObject *wheel_cancel(PyObject *self, PyObject *arg)
{
	struct twheel *handle;
	uint32_t id;

	if (!to_u32(arg, &id))
		return NULL;
	handle = handle_of(self);
	return handle ? none_or_error(twheel_cancel(handle, id)) : NULL;
}

static PyObject *wheel_cancel_tell(PyObject *self, PyObject *arg)
{
	struct twheel *handle;
	uint32_t id;
	int ret;

	if (!to_u32(arg, &id))
		return NULL;
	handle = handle_of(self);
	if (!handle)
		return NULL;
	ret = twheel_cancel_tell(handle, id);
	return ret < 0 ? twheel_error(ret) : PyLong_FromLong(ret);
}

static PyObject *wheel_arm_with(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "id", "deadline", "interval", "count", "slack", "cookie",
				 "relative", "new", "move", "generation", NULL };
	int relative = 0, new = 0, move = 0;
	struct twheel_arming arming = { 0 };
	struct twheel *handle;
	uint32_t id;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O&O&O&O&pppO&:arm_with", names,
					 to_u32, &id, to_u64, &arming.deadline, to_u64,
					 &arming.interval, to_u32, &arming.count, to_u64,
					 &arming.slack, to_u64, &arming.cookie, &relative, &new,
					 &move, to_u32, &arming.generation))
		return NULL;
	arming.flags = (relative ? TWHEEL_ARM_RELATIVE : 0) | (new ? TWHEEL_ARM_NEW : 0) |
		       (move ? TWHEEL_ARM_MOVE : 0);
	handle = handle_of(self);
	return handle ? none_or_error(twheel_arm_with(handle, id, &arming)) : NULL;
}

static PyObject *wheel_id_get(PyObject *self, PyObject *unused)
{
	struct twheel *handle = handle_of(self);
	uint32_t id;
	int ret;

	(void)unused;
	if (!handle)
		return NULL;
	ret = twheel_id_get(handle, &id);
	return ret ? twheel_error(ret) : PyLong_FromUnsignedLong(id);
}

static PyObject *wheel_id_put(PyObject *self, PyObject *arg)
{
	struct twheel *handle;
	uint32_t id;

	if (!to_u32(arg, &id))
		return NULL;
	handle = handle_of(self);
	if (!handle)
		return NULL;
	twheel_id_put(handle, id);
	Py_RETURN_NONE;
}

static PyObject *wheel_flush(PyObject *self, PyObject *unused)
{
	struct twheel *handle = handle_of(self);

	(void)unused;
	return handle ? none_or_error(twheel_flush(handle)) : NULL;
}

/* Events and timers as tuples with names */

static PyStructSequence_Field event_fields[] = {
	{ "id", "the timer" },
	{ "generation", "of the arming that expired" },
	{ "cookie", "as given when it was armed" },
	{ "deadline", "when it was due, ns" },
	{ "fired", "when the wheel found it due, ns" },
	{ "overruns", "periods that passed beyond this one" },
	{ "flags", "EVENT_LAST: no other event of this arming will come" },
	{ NULL, NULL },
};

static PyStructSequence_Desc event_description = {
	"twheel.Event", "An expiration", event_fields, 7,
};

static PyStructSequence_Field timer_fields[] = {
	{ "id", "the timer" },
	{ "generation", "of its last arming" },
	{ "state", "STATE_*" },
	{ "count", "expirations left, or 0" },
	{ "cookie", "as given" },
	{ "deadline", "ns" },
	{ "remaining", "until the deadline, ns; 0: it has passed" },
	{ "interval", "period in ns, or 0" },
	{ "slack", "as the wheel keeps it, ns" },
	{ "overruns", "of the event that waits" },
	{ NULL, NULL },
};

static PyStructSequence_Desc timer_description = {
	"twheel.Timer", "All about a timer", timer_fields, 10,
};

static PyObject *named_tuple(PyTypeObject *type, const uint64_t *values, Py_ssize_t nr)
{
	PyObject *tuple = PyStructSequence_New(type);

	for (Py_ssize_t i = 0; tuple && i < nr; i++) {
		PyObject *item = PyLong_FromUnsignedLongLong(values[i]);

		if (!item) {
			Py_CLEAR(tuple);
			break;
		}
		PyStructSequence_SET_ITEM(tuple, i, item);
	}
	return tuple;
}

static PyObject *event_tuple(const struct twheel_event *event)
{
	const uint64_t values[] = {
		event->id, event->generation, event->cookie, event->deadline, event->fired,
		event->overruns, event->flags,
	};

	return named_tuple(event_type, values, event_description.n_in_sequence);
}

static PyObject *timer_tuple(const struct twheel_timer *timer)
{
	const uint64_t values[] = {
		timer->id, timer->generation, timer->state, timer->count, timer->cookie,
		timer->deadline, timer->remaining, timer->interval, timer->slack, timer->overruns,
	};

	return named_tuple(timer_type, values, timer_description.n_in_sequence);
}

static int append(PyObject *list, PyObject *item)
{
	int ret = item ? PyList_Append(list, item) : -1;

	Py_XDECREF(item);
	return ret;
}

/* Take events */

/* Where events are taken to, which is there before: what was taken does not come again. */
static PyObject *room_for(uint32_t *nr, struct twheel_event **events)
{
	if (*nr > TWHEEL_MAX_BATCH)
		*nr = TWHEEL_MAX_BATCH;
	*events = PyMem_Malloc((size_t)*nr * sizeof(**events));
	return *events ? PyList_New(0) : PyErr_NoMemory();
}

/* Gives it back; with an exception. */
static PyObject *no_room(PyObject *list, struct twheel_event *events)
{
	Py_XDECREF(list);
	PyMem_Free(events);
	return NULL;
}

static PyObject *told(PyObject *list, struct twheel_event *events, int nr)
{
	if (nr < 0) {
		Py_DECREF(list);
		list = twheel_error(nr);
	}
	for (int i = 0; list && i < nr; i++)
		if (append(list, event_tuple(&events[i])))
			Py_CLEAR(list);
	PyMem_Free(events);
	return list;
}

static PyObject *wheel_take(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "nr", NULL };
	struct twheel_event *events;
	struct twheel *handle;
	uint32_t nr = PART;
	PyObject *list;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&:take", names, to_u32, &nr))
		return NULL;
	list = room_for(&nr, &events);
	handle = list ? handle_of(self) : NULL;
	if (!handle)
		return no_room(list, events);
	return told(list, events, twheel_take(handle, events, nr));
}

/* Once, without the GIL. */
static int wait_once(struct wheel *wheel, struct twheel_event *events, uint32_t nr,
		     int64_t timeout)
{
	struct twheel *handle = wheel->handle;
	int ret;

	wheel->busy++;
	Py_BEGIN_ALLOW_THREADS
	ret = twheel_wait(handle, events, nr, timeout);
	Py_END_ALLOW_THREADS
	wheel->busy--;
	return ret;
}

static int64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static PyObject *wheel_wait(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "nr", "timeout", NULL };
	struct wheel *wheel = wheel_of(self);
	int64_t timeout = -1, end;
	struct twheel_event *events;
	uint32_t nr = PART;
	PyObject *list;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&O&:wait", names, to_u32, &nr,
					 to_timeout, &timeout))
		return NULL;
	list = room_for(&nr, &events);
	if (!list || !handle_of(self))
		return no_room(list, events);
	end = monotonic() + (timeout > 0 ? timeout : 0);
	/* A signal's handler is run, and then it goes on, as everywhere in Python (PEP 475). */
	while ((ret = wait_once(wheel, events, nr, timeout)) == -EINTR) {
		if (PyErr_CheckSignals() || !handle_of(self))
			return no_room(list, events);
		if (timeout > 0)
			timeout = end > monotonic() ? end - monotonic() : 0;
	}
	return told(list, events, ret);
}

/* All timers */

static PyObject *wheel_get(PyObject *self, PyObject *arg)
{
	struct twheel_timer timer;
	struct twheel *handle;
	uint32_t id;
	int ret;

	if (!to_u32(arg, &id))
		return NULL;
	handle = handle_of(self);
	if (!handle)
		return NULL;
	ret = twheel_get(handle, id, &timer);
	return ret ? twheel_error(ret) : timer_tuple(&timer);
}

/* Tell of the timers in @list by an attribute of the exception that is set. */
static void note_drained(PyObject *list)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (PyObject_SetAttrString(value, "drained", list))
		PyErr_Clear();
	PyErr_Restore(type, value, trace);
}

/* Add some timers to a list; 0, with an exception: not all of them, or the wheel is closed. */
static int add_timers(PyObject *self, PyObject *list, const struct twheel_timer *timers, int nr)
{
	for (int i = 0; i < nr; i++)
		if (append(list, timer_tuple(&timers[i])))
			return 0;
	/* A handler may have closed it, or the garbage collector. */
	return !PyErr_CheckSignals() && handle_of(self);
}

/* A list of all; by which call, says @call. */
static PyObject *all_timers(PyObject *self,
			    int (*call)(struct twheel *handle, uint32_t *cursor,
					struct twheel_timer *timers, uint32_t nr))
{
	struct twheel_timer timers[PART];
	PyObject *list = PyList_New(0);
	struct twheel *handle = list ? handle_of(self) : NULL;
	uint32_t cursor = 0;
	int nr;

	if (!handle)
		Py_CLEAR(list);
	while (list) {
		wheel_of(self)->busy++;
		Py_BEGIN_ALLOW_THREADS
		nr = call(handle, &cursor, timers, PART);
		Py_END_ALLOW_THREADS
		wheel_of(self)->busy--;
		if (!nr)
			break;
		if (nr < 0)
			twheel_error(nr);
		if (nr > 0 && add_timers(self, list, timers, nr))
			continue;
		/* The timers are cancelled, so the list is all that is left of them. */
		if (call == twheel_drain)
			note_drained(list);
		Py_CLEAR(list);
	}
	return list;
}

static PyObject *wheel_list_armed(PyObject *self, PyObject *unused)
{
	(void)unused;
	return all_timers(self, twheel_list_armed);
}

static PyObject *wheel_drain(PyObject *self, PyObject *unused)
{
	(void)unused;
	return all_timers(self, twheel_drain);
}

static PyObject *wheel_adopt(PyObject *self, PyObject *unused)
{
	struct twheel *handle = handle_of(self);
	int ret;

	(void)unused;
	if (!handle)
		return NULL;
	wheel_of(self)->busy++;
	Py_BEGIN_ALLOW_THREADS
	ret = twheel_adopt(handle);
	Py_END_ALLOW_THREADS
	wheel_of(self)->busy--;
	return ret < 0 ? twheel_error(ret) : PyLong_FromLong(ret);
}

/* The type */

static PyMethodDef wheel_methods[] = {
	{ "arm", METHOD(wheel_arm), METH_FASTCALL,
	  "arm($self, id, deadline, /)\n--\n\nArm a timer, or move it.  ns; 0: never." },
	{ "extend", METHOD(wheel_extend), METH_FASTCALL,
	  "extend($self, id, deadline, /)\n--\n\nMove a timer, of this thread alone, to later." },
	{ "cancel", wheel_cancel, METH_O,
	  "cancel($self, id, /)\n--\n\nMake sure that a timer is not armed." },
	{ "cancel_tell", wheel_cancel_tell, METH_O,
	  "cancel_tell($self, id, /)\n--\n\nCancel a timer, and tell what it was: STATE_*." },
	{ "arm_with", METHOD(wheel_arm_with), METH_VARARGS | METH_KEYWORDS,
	  "arm_with($self, id, deadline, *, interval=0, count=0, slack=0, cookie=0,\n"
	  "         relative=False, new=False, move=False, generation=0)\n--\n\n"
	  "Arm a timer, with all there is to say." },
	{ "id_get", wheel_id_get, METH_NOARGS,
	  "id_get($self)\n--\n\nTake an id from the list of free ones." },
	{ "id_put", wheel_id_put, METH_O,
	  "id_put($self, id, /)\n--\n\nPut an id back, whose timer is not armed." },
	{ "flush", wheel_flush, METH_NOARGS,
	  "flush($self)\n--\n\nMake the calls that were collected (batch=True)." },
	{ "take", METHOD(wheel_take), METH_VARARGS | METH_KEYWORDS,
	  "take($self, nr=256)\n--\n\nTake events that have come, at most so many." },
	{ "wait", METHOD(wheel_wait), METH_VARARGS | METH_KEYWORDS,
	  "wait($self, nr=256, timeout=None)\n--\n\n"
	  "Take events; wait for the first, at most so many seconds." },
	{ "get", wheel_get, METH_O, "get($self, id, /)\n--\n\nTell about a timer." },
	{ "list_armed", wheel_list_armed, METH_NOARGS,
	  "list_armed($self)\n--\n\nAll timers that are armed." },
	{ "drain", wheel_drain, METH_NOARGS,
	  "drain($self)\n--\n\nCancel all timers that are armed, and return them.  An exception\n"
	  "that ends this has those cancelled so far as its attribute drained." },
	{ "adopt", wheel_adopt, METH_NOARGS,
	  "adopt($self)\n--\n\nGo on with a wheel that another process has left.  Returns how\n"
	  "many timers it has armed for that." },
	{ "now", wheel_now, METH_NOARGS, "now($self)\n--\n\nThe wheel's time, ns." },
	{ "fileno", wheel_fileno, METH_NOARGS,
	  "fileno($self)\n--\n\nReadable when there are events to take, or nearly so." },
	{ "close", wheel_close, METH_NOARGS,
	  "close($self)\n--\n\nClose it.  EBUSY: another thread is in a call that waits." },
	{ "__enter__", wheel_enter, METH_NOARGS, NULL },
	{ "__exit__", wheel_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef wheel_attributes[] = {
	{ "closed", wheel_closed, NULL, "Is it closed?", NULL },
	{ "capacity", wheel_capacity, NULL, "Ids are below this.", NULL },
	{ "words", wheel_has, NULL, "Is a store enough for most changes?", &has_words },
	{ "fallback", wheel_has, NULL, "Is it in this process, and not the kernel's?",
	  &has_fallback },
	{ NULL, NULL, NULL, NULL, NULL },
};

static const char wheel_doc[] =
"Wheel(*, path=None, fd=None, clock=None, tick=0, capacity=0, words=True, batch=False,\n"
"      device=None)\n--\n\n"
"A wheel of /dev/twheel; where there is none, one in this process.\n\n"
"device=True refuses the latter, device=False wants it.  Times are in ns, and deadlines made\n"
"from now().  Errors are OSErrors with the errno that twheel.h tells.";

static PyType_Slot wheel_slots[] = {
	{ Py_tp_doc, (void *)wheel_doc },
	{ Py_tp_new, wheel_new },
	{ Py_tp_dealloc, wheel_dealloc },
	{ Py_tp_repr, wheel_repr },
	{ Py_tp_methods, wheel_methods },
	{ Py_tp_getset, wheel_attributes },
	{ 0, NULL },
};

static PyType_Spec wheel_spec = {
	.name = "twheel.Wheel",
	.basicsize = sizeof(struct wheel),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = wheel_slots,
};

/* The module */

static PyObject *version(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyUnicode_FromString(twheel_version());
}

static PyMethodDef functions[] = {
	{ "version", version, METH_NOARGS,
	  "version()\n--\n\nThe release of libtwheel that was found." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_wheel",
	/* Its types are the process's: no sub-interpreter has its own. */
	.m_size = -1,
	.m_methods = functions,
};

static const struct {
	const char	*name;
	long		value;
} constants[] = {
	{ "STATE_IDLE", TWHEEL_STATE_IDLE },
	{ "STATE_PENDING", TWHEEL_STATE_PENDING },
	{ "STATE_EXPIRED", TWHEEL_STATE_EXPIRED },
	{ "STATE_DELIVERED", TWHEEL_STATE_DELIVERED },
	{ "EVENT_LAST", TWHEEL_EVENT_LAST },
};

static int fill(PyObject *module)
{
	PyObject *type = PyType_FromSpec(&wheel_spec);
	int ret = type ? PyModule_AddObjectRef(module, "Wheel", type) : -1;

	Py_XDECREF(type);
	if (ret)
		return ret;
	event_type = PyStructSequence_NewType(&event_description);
	timer_type = PyStructSequence_NewType(&timer_description);
	if (!event_type || !timer_type ||
	    PyModule_AddObjectRef(module, "Event", (PyObject *)event_type) ||
	    PyModule_AddObjectRef(module, "Timer", (PyObject *)timer_type))
		return -1;
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value))
			return -1;
	return 0;
}

PyMODINIT_FUNC PyInit__wheel(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && fill(module))
		Py_CLEAR(module);
	return module;
}
