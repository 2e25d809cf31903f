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
/* As twheel sim has it. */
const CAPACITY = 65536;

/* Durations */

const UNITS = { d: 86400000000000n, h: 3600000000000n, m: 60000000000n, min: 60000000000n,
		s: 1000000000n, ms: 1000000n, us: 1000n, "\u00b5s": 1000n, "\u03bcs": 1000n,
		ns: 1n };
const LAST = (1n << 63n) - 1n;

/* ns of 250ms or 1h30m; throws what is wrong, to follow the text. */
function parseDuration(text)
{
	const part = /^(\d*)(?:\.(\d+))?([^\d. \t]+)/;
	let sum = 0n, lastUnit = NEVER, rest = text;

	if (/^0+$/.test(text))
		return 0n;
	if (text.startsWith("-"))
		throw "is negative: a duration counts from now";
	while (rest) {
		const [all, whole, fraction = "", name] = part.exec(rest) || [];
		const unit = Object.hasOwn(UNITS, name) && UNITS[name];

		if (all === undefined && /^\d+(\.\d+)?$/.test(rest))
			throw "needs a unit: d, h, m, s, ms, us or ns, as in 250ms or 1h30m";
		if (all === undefined || !(whole || fraction))
			throw "is not a duration: write it as 250ms, 1h30m or 1.5s";
		if (!unit)
			throw "has an unknown unit: use d, h, m, s, ms, us or ns, as in 1h30m";
		if (unit >= lastUnit)
			throw "names its units out of order: larger first, each once: 1h30m";
		const scale = 10n ** BigInt(fraction.length), share = BigInt(fraction || 0) * unit;

		if (share % scale)
			throw "is finer than a nanosecond";
		sum += BigInt(whole || 0) * unit + share / scale;
		lastUnit = unit;
		rest = rest.slice(all.length);
	}
	if (sum > LAST)
		throw "is longer than 292 years, the most that a timer takes";
	return sum;
}

/* All digits of it, such that parseDuration() reads the same. */
function durationText(ns)
{
	let text = "";

	if (!ns)
		return "0";
	for (const name of ["d", "h", "m"]) {
		if (ns >= UNITS[name])
			text += ns / UNITS[name] + name;
		ns %= UNITS[name];
	}
	for (const [name, digits] of [["s", 9], ["ms", 6], ["us", 3], ["ns", 0]]) {
		if (ns < UNITS[name])
			continue;
		const fraction = (ns % UNITS[name]).toString().padStart(digits, "0");

		text += ns / UNITS[name];
		if (ns % UNITS[name])
			text += "." + fraction.replace(/0+$/, "");
		text += name;
		break;
	}
	return text;
}

/* Scripts */

function parseNumber(what, text, max)
{
	if (!/^\d+$/.test(text) || BigInt(text) > max)
		throw `${what} ${text}: give a number up to ${max}`;
	return Number(text);
}

function parseTime(what, text)
{
	let ns;

	try {
		ns = parseDuration(text);
	} catch (why) {
		throw `${what} '${text}' ${why}`;
	}
	if (!ns)
		throw `${what} 0: give at least 1ns, because 0 is never`;
	return ns;
}

function parseId(words)
{
	return parseNumber(words[0], words[1], (1 << 24) - 1);
}

function parseArm(words)
{
	const op = { id: parseId(words), time: parseTime("arm", words[2]), interval: 0n, times: 0 };
	const usage = "write: arm ID DURATION every DURATION times N";

	if (words.length === 3)
		return op;
	if (words.length === 4 || words.length === 6 || words[3] !== "every")
		throw usage;
	op.interval = parseTime("every", words[4]);
	if (words.length === 5)
		return op;
	if (words[5] !== "times")
		throw `${words[5]}: ${usage}`;
	if (words[6] !== "-1") {
		op.times = parseNumber("times", words[6], 4294967295);
		if (!op.times)
			throw "times 0: give how often it is to expire, or -1 for ever";
	}
	return op;
}

function parseExtend(words)
{
	const back = words[2].startsWith("+");

	return { id: parseId(words), back, time: parseTime("extend", words[2].slice(back)) };
}

/* What a line may be; words are counted with its first. */
const FORMS = {
	arm: { least: 3, most: 7, parse: parseArm,
	       usage: "arm ID DURATION, as in arm 1 350ms, and if it is to repeat " +
		      "every DURATION times N" },
	extend: { least: 3, most: 3, parse: parseExtend,
		  usage: "extend ID DURATION, as in extend 1 +100ms" },
	cancel: { least: 2, most: 2, parse: words => ({ id: parseId(words) }),
		  usage: "cancel ID, as in cancel 1" },
	at: { least: 2, most: 2, parse: words => ({ time: parseTime("at", words[1]) }),
	      usage: "at DURATION, as in at 100ms" },
	run: { least: 1, most: 2,
	       parse: words => ({ time: words[1] ? parseTime("run", words[1]) : NEVER }),
	       usage: "run DURATION, as in run 1s, or run alone" },
	where: { least: 2, most: 2, parse: words => ({ id: parseId(words) }),
		 usage: "where ID, as in where 1" },
	stop: { least: 1, most: 1, parse: () => ({}), usage: "stop alone" },
};

/* The operations of a script; throws "line: what is wrong". */
function parseScript(text)
{
	const ops = [];
	let at = 0n;

	text.split("\n").forEach((line, i) => {
		const words = line.replace(/#.*/, "").split(/[ \t\r]+/).filter(word => word);
		const form = Object.hasOwn(FORMS, words[0]) && FORMS[words[0]];

		if (!words.length)
			return;
		try {
			if (!form)
				throw `${words[0]}: no such operation: use arm, extend, cancel, ` +
				      "at, run, where or stop";
			if (words.length < form.least || words.length > form.most)
				throw `write: ${form.usage}`;
			const op = { kind: words[0], line: i + 1, ...form.parse(words) };

			if (op.kind === "at") {
				if (op.time < at)
					throw `at ${words[1]}: time does not go back`;
				at = op.time;
			}
			ops.push(op);
		} catch (why) {
			throw typeof why === "string" ? `line ${i + 1}: ${why}` : why;
		}
	});
	return ops;
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
		timer: (id, deadline, ...at) =>
			told.timer({ id, deadline_ns: deadline, where: where(...at) }),
		system: (name, about) => told.system({ name: text(name), about: text(about) }),
		number: (name, value) => told.number(text(name), BigInt.asUintN(64, value)),
	};
	const instance = new WebAssembly.Instance(module, { page });

	return { calls: instance.exports, text };
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
		this.stopped = false;
		this.error = "";
		this.name = system;
		const { calls, text } = instantiate(module, {
			event: event => this.events.push(event),
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
		const timer = this.timers().find(t => t.id === op.id);

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
	 * One step, that ends no later than a time.  Returns false if there is none: the script is
	 * over, or it is that time, or something is wrong.
	 */
	step(last)
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
		this.judge(op, this.calls.run(next < until ? next : until));
		return !this.error;
	}

	finished(done)
	{
		this.done += done;
		this.began = this.now;
	}

	/* The script up to a time, and not what comes behind it. */
	advance(last)
	{
		while (this.done < this.ops.length && this.step(last))
			;
	}

	/* To where a link says. */
	seek(done, now)
	{
		while (this.done < done && this.step(NEVER))
			;
		while (this.done === done && this.now < now && this.step(now))
			;
	}
}

/* Lines for programs, as twheel sim --trace --json prints them, but for the counters of memory. */

function json(value)
{
	if (typeof value === "bigint")
		return value.toString();
	if (typeof value !== "object")
		return JSON.stringify(value);
	return "{" + Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${json(v)}`) + "}";
}

const FIELDS = {
	woken: ["what", "time_ns"],
	placed: ["what", "time_ns", "id", "deadline_ns", "where"],
	moved: ["what", "time_ns", "id", "deadline_ns", "from_level", "from_slot", "where"],
	expired: ["what", "time_ns", "id", "deadline_ns", "overruns"],
	cancelled: ["what", "time_ns", "id", "deadline_ns"],
	signalled: ["what", "time_ns"],
	sleeps: ["what", "time_ns", "until_ns"],
	missed: ["what", "time_ns", "id", "operation"],
	refused: ["what", "time_ns", "id", "operation", "why"],
	where: ["what", "time_ns", "id", "deadline_ns", "where"],
	left: ["what", "time_ns", "id", "deadline_ns", "where"],
};

function traceLines(simulation)
{
	const { late_sum, ...n } = simulation.numbers();
	const lines = simulation.events.map(event =>
		json(Object.fromEntries(FIELDS[event.what].map(field => [field, event[field]]))));

	lines.push(json({
		what: "counters", system: simulation.name, tick_ns: n.tick, slots: n.slots,
		levels: n.levels, time_ns: simulation.now, inserts: n.inserts, extends: n.extends,
		cancels: n.cancels, refused: n.refused, moves: n.moves, passed: n.passed,
		wakeups: n.wakeups, empty: n.empty, signals: n.signals, expired: n.expired,
		early: n.early, early_max_ns: n.early_max, armed: n.armed,
		armed_max: n.armed_max, late_max_ns: n.late_max,
		late_mean_ns: n.expired ? late_sum / n.expired : 0n, note: simulation.note(),
	}));
	return lines;
}
