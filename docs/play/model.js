// SPDX-License-Identifier: GPL-2.0
/*
 * The model of twheel sim in the browser: a script of operations, carried out by the C code that
 * was compiled to WebAssembly (play.c).  Nothing here knows of the page, and node can run it.
 *
 * All times are BigInts, in ns, as the C code has them.
 */
"use strict";

const NEVER = (1n << 64n) - 1n;
/* As enum sim_result, sim_what and sim_place have them. */
const OK = 0, NOT_ARMED = 1, BAD_ID = 3, BAD_SHAPE = 4, STOPPED = 5, TOO_LONG = 7;
const REFUSALS = { 2: "late", 9: "exists", 10: "short", 11: "full" };
const WHATS = ["woken", "placed", "moved", "expired", "cancelled", "signalled", "sleeps"];
const PLACES = ["slot", "queue", "order"];
/* As enum op_kind has them. */
const KINDS = ["arm", "extend", "extend", "cancel", "at", "run", "run", "where", "stop"];
const PUSH_BACK = 2, RUN_ALL = 6;
/* As twheel sim has it. */
const CAPACITY = 65536;
/* So many events are kept; of the wake-ups that come after these, only the count. */
const EVENTS_MAX = 300000;

/* The last time that there is. */
const LAST = (1n << 63n) - 1n;

/* Durations */

const UNITS = { d: 86400000000000n, h: 3600000000000n, m: 60000000000n,
		s: 1000000000n, ms: 1000000n, us: 1000n, ns: 1n };

/* All digits of it, as twheel sim reads and prints durations. */
function durationText(ns)
{
	let text = "";

	/* From seconds on, what is left is a fraction. */
	for (const [name, unit] of Object.entries(UNITS)) {
		const digits = unit > UNITS.s ? 0 : String(unit).length - 1;
		const fraction = String(ns % unit).padStart(digits, "0").replace(/0+$/, "");

		if (ns < unit)
			continue;
		text += ns / unit + (digits && fraction ? "." + fraction : "") + name;
		ns = unit > UNITS.s ? ns % unit : 0n;
	}
	return text || "0";
}

/* Simulations */

/* What all calls of the C code come to; @told has a function for each that a simulation wants. */
function instantiate(module, told)
{
	const text = pointer => {
		const bytes = new Uint8Array(instance.exports.memory.buffer, pointer);

		return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
	};
	const where = (place, level, slot, position, rounds, span, from, moves) =>
		({ place: PLACES[place], level, slot, position, rounds, span_ns: span,
		   from_ns: from, moves });
	const page = {
		event: (what, time, id, deadline, overruns, fromLevel, fromSlot, ...at) =>
			told.event({ what: WHATS[what], time_ns: time, id, deadline_ns: deadline,
				     until_ns: deadline, overruns, from_level: fromLevel, from_slot: fromSlot,
				     where: where(...at) }),
		woken: () => told.woken(),
		timer: (id, deadline, ...at) =>
			told.timer({ id, deadline_ns: deadline, where: where(...at) }),
		system: (name, about) => told.system({ name: text(name), about: text(about) }),
		number: (name, value) => told.number(text(name), BigInt.asUintN(64, value)),
		op: (...op) => told.op(...op),
		line: (what, ...line) => told.line(WHATS[what], line),
		fail: why => { throw text(why).replace(/^[^:]*:(\d+)/, "line $1"); },
	};
	/* The library of C could read and write files: 8 says that there are none. */
	const wasi = new Proxy({}, { get: () => () => 8 });
	const instance = new WebAssembly.Instance(module, { page, wasi_snapshot_preview1: wasi });
	const calls = instance.exports;
	/* A text for the C code. */
	const give = string => {
		const bytes = new TextEncoder().encode(string), pointer = calls.room(bytes.length + 1);

		new Uint8Array(calls.memory.buffer, pointer).set(bytes);
		return pointer;
	};

	return { calls, text, give };
}

/* The operations of a script, as tools/sim/script.c reads it; throws "line N: what is wrong". */
function parseScript(module, script)
{
	const ops = [];
	const { calls, give } = instantiate(module, {
		op: (kind, line, id, time, interval, times) =>
			ops.push({ kind: KINDS[kind], line, id, interval, times: times >>> 0,
				   time: kind === RUN_ALL ? NEVER : time, back: kind === PUSH_BACK }),
	});

	calls.parse(give(script + "\n"));
	return ops;
}

/* A duration in ns; throws what is wrong with it. */
function parseTime(module, what, string)
{
	let ns;
	const { calls, text, give } = instantiate(module, { number: (name, value) => { ns = value; } });
	const why = calls.duration(give(string));

	if (why)
		throw `${what} '${string}' ${text(why)}`;
	return ns;
}

/* The systems that there are: name and about. */
function systemsOf(module)
{
	const systems = [];

	instantiate(module, { system: system => systems.push(system) }).calls.systems();
	return systems;
}

/*
 * A script on one of the systems.  It goes on by steps: an operation, or a wake-up, or a bit of
 * time without either.  Where it is, is told by two numbers, which a link can have: how many
 * operations are done, and the time.
 */
class Simulation {
	/* @shape: tick, slots, levels and start, 0 each for what the system is known for */
	constructor(module, systems, system, shape, ops)
	{
		this.events = [];
		this.ops = ops;
		this.done = 0;
		this.woken = 0;
		this.stopped = false;
		this.error = "";
		this.name = system;
		/* Until when, in real time, it may run. */
		this.patience = Infinity;
		/* Which line has run last: the address of the file's name, and the number. */
		const lines = {};
		const { calls, text } = instantiate(module, {
			event: event => this.events.push({ ...event, line: lines[event.what] }),
			woken: () => this.wakeUp(),
			line: (what, line) => { lines[what] = line; },
			timer: timer => this.found.push(timer),
			number: (name, value) => { this.found[name] = value; },
		});

		this.calls = calls;
		this.text = text;
		const result = calls.create(systems.findIndex(s => s.name === system), shape.tick,
					    shape.slots, shape.levels, CAPACITY, shape.start);

		if (result === BAD_SHAPE)
			throw `${system} has no such shape: take another tick, slots or levels`;
		if (result)
			throw "there is not enough memory";
	}

	wakeUp()
	{
		if (this.events.length < EVENTS_MAX)
			this.events.push({ what: "woken", time_ns: this.now });
		if (++this.woken % 1024 === 0)
			this.hurry();
	}

	/* Throws, if it has taken too long. */
	hurry()
	{
		if (performance.now() > this.patience)
			throw `It takes too long to come there: this is ${durationText(this.now)}`;
	}

	get now()
	{
		return this.calls.now();
	}

	/*
	 * When the system wants to be woken.  To be asked makes a wheel remember that, so what it
	 * remembers is put back: to look changes nothing.
	 */
	next()
	{
		const memory = new Uint8Array(this.calls.memory.buffer), before = memory.slice();
		const next = BigInt.asUintN(64, this.calls.next());

		memory.set(before);
		return next;
	}

	timers()
	{
		this.found = [];
		this.calls.timers();
		return this.found;
	}

	/* Undefined, if it is not armed. */
	timer(id)
	{
		this.found = [];
		this.calls.timer(id);
		return this.found[0];
	}

	numbers()
	{
		this.found = {};
		this.calls.numbers();
		return this.found;
	}

	note()
	{
		return this.text(this.calls.note());
	}

	/* The operation in which time passes, if it is the next one: when it ends; else null. */
	passes()
	{
		const op = this.ops[this.done];

		if (!op || (op.kind !== "at" && op.kind !== "run"))
			return null;
		if (op.kind === "at" || op.time === NEVER)
			return op.time;
		/* It began when the operation before was done. */
		return this.began + op.time;
	}

	fail(op, why)
	{
		this.error = `line ${op.line}: ${op.kind}: ${why}`;
	}

	/* Something that was told to somebody, beside the events. */
	tell(what, op, more)
	{
		this.events.push({ what, time_ns: this.now, id: op.id, ...more });
	}

	judge(op, result)
	{
		if (result === NOT_ARMED)
			this.tell("missed", op, { operation: op.kind });
		else if (REFUSALS[result])
			this.tell("refused", op, { operation: op.kind, why: REFUSALS[result] });
		else if (result === BAD_ID)
			this.error = `line ${op.line}: ${op.kind} ${op.id}: ids are below ` +
				     `${CAPACITY}`;
		else if (result === STOPPED)
			this.fail(op, "no operation may follow stop: put stop last");
		else if (result === TOO_LONG)
			this.fail(op, "there are too many wake-ups to wait for");
		else if (result)
			this.fail(op, "out of memory");
	}

	/* An operation that takes no time. */
	carryOut(op)
	{
		const timer = this.timer(op.id);

		switch (op.kind) {
		case "arm":
			return this.calls.arm(op.id, op.time, op.interval, op.times);
		case "extend":
			if (!timer && !this.stopped)
				return NOT_ARMED;
			return this.calls.extend(op.id, op.time +
						 (op.back && timer ? timer.deadline_ns : this.now));
		case "cancel":
			return this.calls.cancel(op.id);
		case "where":
			if (!timer)
				return NOT_ARMED;
			this.tell("where", op, timer);
			return OK;
		case "stop":
			this.stopped = true;
			this.calls.stop();
			for (const left of this.timers())
				this.tell("left", left, left);
			return OK;
		}
	}

	/*
	 * One step, that ends no later than a time; @atOnce: all wake-ups until then.  Returns false
	 * if there is none: the script is over, or it is that time, or something is wrong.
	 */
	step(last, atOnce = false)
	{
		const op = this.ops[this.done];

		if (this.error)
			return false;
		if (this.began === undefined)
			this.began = this.now;
		const end = this.passes();

		if (op && end === null) {
			this.judge(op, this.carryOut(op));
			this.finished(!this.error);
			return !this.error;
		}
		if (op && end === NEVER) {
			if (this.calls.endless()) {
				this.fail(op, "a timer repeats for ever: say how long, as in " +
					      "run 1s, or cancel it");
				return false;
			}
			if (!this.numbers().armed || this.next() === NEVER) {
				this.finished(true);
				return true;
			}
		}
		if (op && end <= this.now && this.next() > end) {
			this.finished(true);
			return true;
		}
		const next = this.next(), until = end !== null && end < last ? end : last;

		if (next > until && (until === NEVER || until <= this.now))
			return false;
		this.judge(op, this.calls.run(atOnce || next > until ? until : next));
		return !this.error;
	}

	finished(done)
	{
		this.done += done;
		this.began = this.now;
	}

	/* The script up to a time, and not what comes behind it. */
	advance(last, atOnce)
	{
		while (this.done < this.ops.length && this.step(last, atOnce))
			;
	}
}
