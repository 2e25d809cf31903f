// SPDX-License-Identifier: GPL-2.0
/*
 * The page around the model.  All that is shown follows from a state: the system, the shape, the
 * script, how many of its operations are done, and the time.  What is done by hand becomes a line
 * of the script.  To go back, or to follow a link, a new simulation is run to that place.
 */
"use strict";

const $ = id => document.getElementById(id);

const FIELD_NAMES = ["as", "beside", "tick", "slots", "levels", "start", "script"];
const EXAMPLES = {
	"timers come down": "arm 1 350ms\narm 2 450ms\nrun\n",
	"idle timeouts": "arm 1 30s\narm 2 30s\narm 3 30s\nat 5s\ncancel 3\nat 10s\n" +
			 "extend 1 30s\nat 20s\nextend 1 30s\nrun\n",
	"a period": "arm 7 20ms every 20ms times 3\narm 8 5ms every 30ms\n" +
		    "at 100ms\ncancel 8\nrun\n",
	"many levels": "arm 1 5ms\narm 2 70ms\narm 3 451ms\narm 4 5s\narm 5 10m\narm 6 3h\nrun\n",
};
/* Counters, and what they are called here. */
const NUMBERS = { inserts: "inserts", extends: "extends", cancels: "cancels", refused: "refused",
		  moves: "moves", passed: "passed", wakeups: "wake-ups", empty: "empty wake-ups",
		  expired: "expired", early: "early", armed: "armed",
		  armed_max: "armed, the most" };
/* As twheel sim prints them. */
const WHY_REFUSED = {
	late: "that is later than the wheel reaches",
	exists: "the key is armed already: cancel it first",
	short: "a delay or a period is below one tick",
	full: "the limit of pending timers is reached",
};
/* A state that takes longer than so many ms to come to is not waited for. */
const PATIENCE = 4000;

let compiled, systems, simulation, beside, playing = 0, target = 0n;

/* Element of SVG. */
function draw(parent, name, attributes, text)
{
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	if (text !== undefined)
		element.textContent = text;
	parent.append(element);
	return element;
}

/* Element of HTML, with a text that brings no others into the page. */
function make(name, text)
{
	return Object.assign(document.createElement(name), { textContent: text });
}

/* States */

function shapeOf()
{
	const count = (what, most) => $(what).value ? parseNumber(what, $(what).value, most) : 0;
	const time = what => $(what).value ? parseTime(what, $(what).value) : 0n;
	const shape = { tick: time("tick"), slots: count("slots", 4096),
			levels: count("levels", 16),
			start: $("start").value === "0" ? 0n : time("start") };

	if (shape.tick > UNITS.s)
		throw `tick ${$("tick").value}: give 1ns to 1s`;
	if (shape.slots === 1)
		throw "slots 1: give 2 to 4096";
	return shape;
}

function begin(system)
{
	return new Simulation(compiled, systems, system, shapeOf(), parseScript($("script").value));
}

function show(why)
{
	$("error").textContent = typeof why === "string" ? why : `This page has failed: ${why}`;
}

/* Run new simulations to a place, and show them; @go takes one there by its step(). */
function rebuild(go)
{
	pause();
	show("");
	try {
		const made = begin($("as").value);

		beside = null;
		simulation = made;
		go(simulation);
		if ($("beside").value) {
			beside = begin($("beside").value);
			follow();
		}
	} catch (why) {
		show(why);
	}
	render();
}

/* The one beside comes to the same time. */
function follow()
{
	if (!beside)
		return;
	const end = performance.now() + PATIENCE;

	while (performance.now() < end &&
	       (beside.done < simulation.done ? beside.step(NEVER) :
		beside.now < simulation.now && beside.step(simulation.now)))
		;
}

/* As long as it takes; but not longer than anybody waits. */
function goWhile(s, wanted, last)
{
	const end = performance.now() + PATIENCE;

	while (wanted() && s.step(last))
		if (performance.now() > end)
			throw `It takes too long to come there: this is ${durationText(s.now)}`;
}

function goTo(done, now)
{
	rebuild(s => {
		goWhile(s, () => s.done < done, NEVER);
		goWhile(s, () => s.now < now, now);
	});
}

function goToTime(time)
{
	rebuild(s => goWhile(s, () => s.done < s.ops.length || s.now < time, time));
}

function fragment()
{
	const fields = new URLSearchParams();

	for (const name of FIELD_NAMES)
		if ($(name).value)
			fields.set(name, $(name).value);
	fields.set("done", simulation.done);
	fields.set("now", durationText(simulation.now));
	return "#" + fields;
}

/* Returns false if the address tells of no state. */
function followLink()
{
	const fields = new URLSearchParams(location.hash.slice(1));

	if (!fields.has("script"))
		return false;
	for (const name of FIELD_NAMES)
		$(name).value = fields.get(name) || "";
	if (!$("as").value)
		$("as").value = systems[0].name;
	let now = 0n;

	try {
		now = parseDuration(fields.get("now") || "0");
	} catch (why) {
		show(`now ${why}`);
	}
	goTo(Number(fields.get("done")) || 0, now);
	return true;
}

/* Time */

function step()
{
	pause();
	simulation.step(NEVER);
	follow();
	render();
}

/* What had happened before the last step: an operation, or a wake-up. */
function back()
{
	const { done, now } = simulation, steps = [];

	rebuild(s => {
		goWhile(s, () => {
			const before = s.done < done || s.now < now;

			if (before)
				steps.push([s.done, s.now]);
			return before;
		}, now > s.now ? now : NEVER);
	});
	goTo(...(steps.pop() || [0, 0n]));
}

function frame(time)
{
	if (!playing)
		return;
	const end = performance.now() + 12;
	/* To the end of the script; or, with time, until no timer is left. */
	const goesOn = () => simulation.done < simulation.ops.length ||
			     (target !== NEVER && !simulation.stopped &&
			      simulation.timers().length);
	let going;

	if (target !== NEVER)
		target += BigInt(Math.round(Math.min(time - playing, 100) / 1000 *
					    Number($("speed").value)));
	playing = time;
	while ((going = goesOn()) && performance.now() < end && simulation.step(target))
		;
	follow();
	if (!going || simulation.error)
		pause();
	render();
	if (playing)
		requestAnimationFrame(frame);
}

function play(toTheEnd)
{
	target = toTheEnd ? NEVER : simulation.now;
	playing = performance.now();
	$("play").textContent = "Pause";
	requestAnimationFrame(frame);
}

function pause()
{
	playing = 0;
	$("play").textContent = "Play";
}

/* By hand */

/*
 * A line comes into the script where the simulation is.  If time has passed there since the last
 * operation, that is said first; and a run that this comes into ends when it would have.
 */
function insert(line)
{
	const lines = $("script").value.replace(/\n$/, "").split("\n");
	const pending = simulation.ops[simulation.done], { done, now, began } = simulation;
	const added = [line], at = pending ? pending.line - 1 : lines.length;

	if (began !== undefined && now > began) {
		added.unshift(`at ${durationText(now)}`);
		if (pending && pending.kind === "run" && pending.time !== NEVER)
			lines[at] = `at ${durationText(began + pending.time)}`;
	}
	const before = $("script").value;

	lines.splice(at, 0, ...added);
	$("script").value = lines.join("\n").replace(/^\n/, "") + "\n";
	try {
		parseScript($("script").value);
	} catch (why) {
		$("script").value = before;
		show(why);
		return;
	}
	goTo(done + added.length, now);
}

function byHand(kind)
{
	const words = [kind, $("id").value];

	if (kind !== "cancel")
		words.push($("delay").value);
	if (kind === "arm" && $("every").value)
		words.push("every", $("every").value);
	if (kind === "arm" && $("times").value)
		words.push("times", $("times").value);
	insert(words.join(" "));
}

/* Pictures */

const LEVELS = { clock: [60, 60, 24] };

function ringSize(numbers, level)
{
	if (simulation.name === "clock")
		return LEVELS.clock[level];
	if (simulation.name === "linux")
		return 64;
	/* The rings of twheel hold two turns. */
	return Number(numbers.slots) * (simulation.name === "twheel" ? 2 : 1);
}

function levelSpan(numbers, level)
{
	const factor = { clock: 60n, linux: 8n }[simulation.name] || numbers.slots;

	return numbers.tick * factor ** BigInt(level);
}

/* A point of the circle, and an arc. */
function point(part, radius)
{
	const angle = 2 * Math.PI * part;
	const x = 110 + radius * Math.sin(angle), y = 110 - radius * Math.cos(angle);

	return `${x.toFixed(2)} ${y.toFixed(2)}`;
}

function arc(slot, size, radius)
{
	const width = Math.max(1 / size, 0.006);

	return `M ${point(slot / size, radius)} A ${radius} ${radius} 0 0 1 ` +
	       point(slot / size + width, radius);
}

/* The events of the last moment. */
function recent()
{
	const all = simulation.events, found = [];

	for (let i = all.length - 1; i >= 0 && all[i].time_ns === simulation.now; i--)
		found.push(all[i]);
	return found;
}

function drawRing(level, numbers, timers, moved)
{
	const svg = draw($("picture"), "svg", { viewBox: "0 0 220 220", role: "img" });
	const size = ringSize(numbers, level), span = levelSpan(numbers, level);
	const slots = new Map();

	for (const t of timers)
		if (t.where.place === "slot" && t.where.level === level)
			slots.set(t.where.slot, [...slots.get(t.where.slot) || [], t.id]);
	const name = `Level ${level}: ${size} slots of ${durationText(span)}, ` +
		     `${slots.size} of them filled`;

	draw(svg, "title", {}, name);
	draw(svg, "circle", { class: "ring", cx: 110, cy: 110, r: 90 });
	for (let i = 0; size <= 128 && i < size; i++)
		draw(svg, "path", { class: "tick",
				    d: `M ${point(i / size, 82)} L ${point(i / size, 98)}` });
	for (const e of moved)
		if (e.from_level === level)
			draw(svg, "path", { class: "left", d: arc(e.from_slot, size, 102) });
	for (const [slot, ids] of slots) {
		const fell = moved.some(e => e.where.level === level && e.where.slot === slot);

		draw(svg, "path", { class: fell ? "slot moved" : "slot", d: arc(slot, size, 90) });
		if (slots.size <= 24) {
			const [x, y] = point((slot + .5) / size, 70).split(" ");

			draw(svg, "text", { x, y: Number(y) + 4 },
			     ids.length > 2 ? `(${ids.length})` : ids.join(","));
		}
	}
	const hand = Number(simulation.now / span % BigInt(size));

	draw(svg, "path", { class: "hand", d: `M 110 110 L ${point(hand / size, 80)}` });
	draw(svg, "text", { x: 110, y: 132 }, `level ${level}`);
	draw(svg, "text", { x: 110, y: 146 }, `${size} × ${durationText(span)}`);
}

/* Timers in an order: of a heap as a tree, else as a row. */
function drawOrder(timers, name)
{
	const shown = timers.filter(t => t.where.position < 31);
	const tree = name === "heap";
	const row = p => tree ? Math.floor(Math.log2(p + 1)) : Math.floor(p / 8);
	const x = p => tree ? 500 * (p + 2 - 2 ** row(p) - .5) / 2 ** row(p) : 30 + p % 8 * 62;
	const height = 50 * (1 + Math.max(0, ...shown.map(t => row(t.where.position))));
	const svg = draw($("picture"), "svg",
			 { viewBox: `0 0 520 ${height}`, class: "order", role: "img" });

	svg.style.maxWidth = "48rem";
	draw(svg, "title", {}, `${timers.length} timers in ${tree ? "a heap" : "a row"}`);
	for (const { id, deadline_ns, where: { position: p } } of shown) {
		const cx = x(p), cy = 50 * row(p) + 20, parent = (p - 1) >> 1;

		if (tree && p)
			draw(svg, "line", { class: "edge", x1: cx, y1: cy - 16, x2: x(parent),
					    y2: 50 * row(parent) + 36 });
		draw(svg, "rect", { class: "box", x: cx - 28, y: cy - 16, width: 56, height: 32,
				    rx: 4 });
		draw(svg, "text", { x: cx, y: cy - 2 }, id);
		draw(svg, "text", { x: cx, y: cy + 11 }, durationText(deadline_ns));
	}
}

function drawPicture(numbers, timers)
{
	const moved = recent().filter(e => e.what === "moved");
	const slotted = !["heap", "list", "poll"].includes(simulation.name);
	const queue = timers.filter(t => t.where.place === "queue");
	let levels = simulation.name === "clock" ? 3 : 1;

	$("picture").textContent = "";
	for (const e of simulation.events)
		if (e.where && e.where.place === "slot")
			levels = Math.max(levels, e.where.level + 1);
	for (let level = 0; slotted && level < levels; level++)
		drawRing(level, numbers, timers, moved);
	if (!slotted)
		drawOrder(timers, simulation.name);
	if (queue.length) {
		$("picture").append(make("p", "In the queue: " +
					 queue.slice(0, 50).map(t => t.id).join(", ")));
	}
}

/* From the beginning to the last that is known. */
function timeEnd(timers)
{
	return timers.reduce((end, t) => t.deadline_ns > end ? t.deadline_ns : end,
			     simulation.events.reduce((end, e) => e.time_ns > end ? e.time_ns : end,
						      simulation.now + 1n));
}

function drawTimeline(timers)
{
	const start = shapeOf().start, end = timeEnd(timers), seen = new Set();
	const x = time => Math.round(Number((time - start) * 1000n / (end - start)));
	const mark = (kind, time, y1, y2) => {
		const key = kind + x(time);

		if (seen.has(key))
			return;
		seen.add(key);
		draw($("timeline"), "line",
		     { class: `t t-${kind}`, x1: x(time), x2: x(time), y1, y2 });
	};

	$("timeline").textContent = "";
	simulation.events.forEach((e, i) => {
		const follows = simulation.events[i + 1];

		if (e.what === "woken")
			mark(follows && follows.time_ns === e.time_ns &&
			     !["woken", "cancelled", "sleeps"].includes(follows.what) ?
			     "wake" : "empty", e.time_ns, 44, 60);
		else if (e.what === "moved")
			mark("moved", e.time_ns, 26, 44);
		else if (e.what === "expired")
			mark("expired", e.time_ns, 8, 26);
	});
	for (const t of timers)
		mark("due", t.deadline_ns, 8, 26);
	mark("now", simulation.now, 0, 60);
	$("seek").value = x(simulation.now);
	$("seek").setAttribute("aria-valuetext", durationText(simulation.now));
}

/* Texts */

function placeText(where)
{
	if (where.place === "queue")
		return `in the queue, position ${where.position}`;
	if (where.place === "order")
		return `position ${where.position}`;
	const rounds = where.rounds === 1n ? "round" : "rounds";

	return `level ${where.level} (slots of ${durationText(where.span_ns)}), ` +
	       `slot ${where.slot}, position ${where.position}` +
	       (where.rounds ? `, ${where.rounds} ${rounds} left` : "");
}

function lateText(e)
{
	if (e.time_ns > e.deadline_ns)
		return `${durationText(e.time_ns - e.deadline_ns)} late`;
	if (e.time_ns < e.deadline_ns)
		return `${durationText(e.deadline_ns - e.time_ns)} early`;
	return "on time";
}

function eventText(e)
{
	const at = `${durationText(e.time_ns)}: `;

	switch (e.what) {
	case "woken":
		return `${at}woken`;
	case "placed":
		return `${at}timer ${e.id} is due ${durationText(e.deadline_ns)}, ` +
		       placeText(e.where);
	case "moved":
		return `${at}timer ${e.id} moved from level ${e.from_level}, ` +
		       `slot ${e.from_slot} to ${placeText(e.where)}`;
	case "expired":
		return `${at}timer ${e.id} expired ${lateText(e)}`;
	case "cancelled":
		return `${at}timer ${e.id} is cancelled; it was due ${durationText(e.deadline_ns)}`;
	case "missed":
		return `${at}${e.operation} ${e.id}: it is not armed`;
	case "refused":
		return `${at}${e.operation} ${e.id}: refused: ${WHY_REFUSED[e.why]}`;
	case "signalled":
		return `${at}woken by a timer that is due first`;
	case "sleeps":
		return `${at}sleeps until ${durationText(e.until_ns)}`;
	default:
		return `${at}timer ${e.id}: ${placeText(e.where)}`;
	}
}

function cells(row, name, texts)
{
	row.append(...texts.map(text => make(name, text)));
	return row;
}

function fill(table, rows)
{
	table.textContent = "";
	for (const [first, ...rest] of rows) {
		const row = cells(document.createElement("tr"), "th", [first]);

		row.firstChild.scope = "row";
		table.append(cells(row, "td", rest));
	}
}

function numberRows(numbers)
{
	const both = [[simulation, numbers], ...beside ? [[beside, beside.numbers()]] : []];
	const mean = n => n.expired ? n.late_sum / n.expired : 0n;

	return [["system", ...both.map(([s]) => s.name)],
		["tick", ...both.map(([, n]) => durationText(n.tick))],
		["slots", ...both.map(([, n]) => n.slots || "none")],
		...Object.entries(NUMBERS).map(([name, text]) =>
			[text, ...both.map(([, n]) => n[name])]),
		["lateness, the most", ...both.map(([, n]) => durationText(n.late_max))],
		["lateness, the mean", ...both.map(([, n]) => durationText(mean(n)))]];
}

/* While time goes on by itself, a text once in a while is enough to be read out. */
let spoken = 0;

function speak(text)
{
	if (playing && performance.now() - spoken < 2000)
		return;
	spoken = performance.now();
	$("live").textContent = text;
}

function render()
{
	if (!simulation)
		return;
	const numbers = simulation.numbers(), timers = simulation.timers();
	const next = simulation.next();
	const newest = simulation.events.slice(-14).reverse();
	const over = simulation.done === simulation.ops.length && !timers.length;

	$("about").textContent = systems.find(s => s.name === simulation.name).about;
	$("now").textContent = durationText(simulation.now);
	$("next").textContent = next === NEVER ? "no wake-up is wanted" :
				`next wake-up: ${durationText(next)}`;
	$("note").textContent = simulation.note();
	drawPicture(numbers, timers);
	drawTimeline(timers);
	fill($("timers"), timers.slice(0, 50).map(t => [t.id, durationText(t.deadline_ns),
							placeText(t.where), t.where.moves]));
	fill($("numbers"), numberRows(numbers));
	$("events").textContent = "";
	$("events").setAttribute("start", simulation.events.length);
	for (const e of newest)
		$("events").append(make("li", eventText(e)));
	if (simulation.error)
		show(simulation.error);
	speak((newest.length ? eventText(newest[0]) : "Nothing has happened yet") +
	      `; ${timers.length} armed` + (over ? "; the script is over" : ""));
	$("link").href = fragment();
	if (!playing)
		history.replaceState(null, "", fragment());
}

/* Controls */

function again()
{
	const { done, now } = simulation || { done: 0, now: 0n };

	goTo(done, now);
}

function listen()
{
	const toggle = () => playing ? (pause(), render()) : play(false);
	const keys = { " ": toggle, ArrowRight: step, ArrowLeft: back, Home: () => goTo(0, 0n),
		       End: () => play(true) };

	for (const name of ["as", "beside"])
		$(name).addEventListener("change", again);
	for (const name of ["tick", "slots", "levels", "start", "script"])
		$(name).addEventListener("change", () => goTo(0, 0n));
	$("first").addEventListener("click", keys.Home);
	$("back").addEventListener("click", back);
	$("play").addEventListener("click", toggle);
	$("step").addEventListener("click", step);
	$("last").addEventListener("click", keys.End);
	$("seek").addEventListener("change", () => {
		const start = shapeOf().start, end = timeEnd(simulation.timers());

		goToTime(start + (end - start) * BigInt($("seek").value) / 1000n);
	});
	$("hand").addEventListener("submit", event => {
		event.preventDefault();
		byHand("arm");
	});
	for (const kind of ["extend", "cancel"])
		$("hand").elements[kind].addEventListener("click", () => byHand(kind));
	$("examples").addEventListener("change", () => {
		if (!$("examples").value)
			return;
		$("script").value = EXAMPLES[$("examples").value];
		goTo(0, 0n);
	});
	addEventListener("hashchange", followLink);
	/* Not where a key means something already. */
	addEventListener("keydown", event => {
		if (!keys[event.key] ||
		    event.target.closest("input, select, textarea, button, a") || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		keys[event.key]();
	});
}

async function main()
{
	const bytes = Uint8Array.from(atob($("wasm").textContent), c => c.charCodeAt(0));

	compiled = await WebAssembly.compile(bytes);
	systems = systemsOf(compiled);
	for (const { name, about } of systems)
		for (const list of ["as", "beside"])
			$(list).append(Object.assign(new Option(name), { title: about }));
	for (const name of Object.keys(EXAMPLES))
		$("examples").append(new Option(name));
	listen();
	if (!followLink()) {
		$("script").value = EXAMPLES["timers come down"];
		goTo(0, 0n);
	}
	document.documentElement.dataset.ready = "1";
}

main().catch(show);
