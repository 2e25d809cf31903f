// SPDX-License-Identifier: GPL-2.0
/*
 * The page around the model.  All that it shows follows from a state: the systems, the shape, the
 * script, how many operations are done, and the time.  What is done by hand becomes a line of the
 * script.  To go back, or to follow a link, the page runs new simulations to that place.
 *
 * A View shows one of the systems; both are on one clock.  Entries that move to another slot
 * travel there for FLIGHT ms of real time, during which the clock waits.
 */
"use strict";

const $ = id => document.getElementById(id);

const FIELD_NAMES = ["as", "beside", "tick", "slots", "levels", "start", "script"];
const EXAMPLES = {
	"timers come down": "arm 1 30ms\narm 2 70ms\narm 3 76ms\narm 4 350ms\narm 5 451ms\n" +
			    "arm 6 455ms\narm 7 455ms\narm 8 130ms\nrun\n",
	"idle timeouts": "arm 1 30s\narm 2 30s\narm 3 30s\nat 5s\ncancel 3\nat 10s\n" +
			 "extend 1 30s\nat 20s\nextend 1 30s\nrun\n",
	"a period": "arm 7 20ms every 20ms times 3\narm 8 5ms every 30ms\n" +
		    "at 100ms\ncancel 8\nrun\n",
	"many levels": "arm 1 5ms\narm 2 70ms\narm 3 451ms\narm 4 5s\narm 5 10m\narm 6 3h\nrun\n",
	"sixty timers": Array.from({ length: 60 }, (_, i) => `arm ${i + 1} ${(i * 37 % 60 + 1) * 8}ms\n`)
			     .join("") + "run\n",
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
/* Where to read on, for each system. */
const CHAPTERS = { twheel: "10-code", simple: "03-simple-wheel", hashed: "04-hashed-wheel",
		   hierarchical: "05-levels", clock: "05-levels", keys: "08-periods",
		   heap: "02-lists", list: "02-lists", poll: "02-lists", linux: "05-levels" };
/* Without slots. */
const ORDERS = ["heap", "list", "poll"];
/* How long an entry travels, in ms of real time. */
const FLIGHT = 600;
/* A state that takes longer than so many ms to come to is not waited for. */
const PATIENCE = 4000;

const still = matchMedia("(prefers-reduced-motion: reduce)");

let compiled, systems, sources, simulation, beside, views = [];
/* The real time of the last frame, or 0; how far the clock may go; a demonstration begins anew. */
let playing = 0, target = 0n, framing = false, demonstrates = false;
/* When the clock begins; what the texts tell of, and the scale of the time line. */
let startsAt = 0n, told = "", scale;

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
	const time = what => $(what).value ? parseTime(compiled, what, $(what).value) : 0n;
	const count = (what, most) => {
		const { value } = $(what);

		if (!/^\d*$/.test(value) || Number(value) > most)
			throw `${what} ${value}: give a number up to ${most}`;
		return Number(value);
	};
	const shape = { tick: time("tick"), slots: count("slots", 4096), levels: count("levels", 16),
			start: time("start") };

	if (shape.tick > UNITS.s)
		throw `tick ${$("tick").value}: give 1ns to 1s`;
	if (shape.slots === 1)
		throw "slots 1: give 2 to 4096";
	return shape;
}

/* A new simulation, taken to a place by @go; null if that is wrong, which is told. */
function begin(list, go)
{
	try {
		const shape = shapeOf(), ops = parseScript(compiled, $("script").value);
		const s = new Simulation(compiled, systems, list.value, shape, ops);

		go(s);
		startsAt = shape.start;
		return s;
	} catch (why) {
		show(why);
		return null;
	}
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
	simulation = begin($("as"), go) || begin($("as"), () => {}) || simulation;
	beside = $("beside").value && simulation ? begin($("beside"), follow) : null;
	views.forEach((view, i) => view.show([simulation, beside][i]));
	told = "";
	render();
}

/* The one next to it comes to the same time. */
function follow(s)
{
	goWhile(s, () => s.done < simulation.done, NEVER);
	goWhile(s, () => s.now < simulation.now, simulation.now);
}

/* As long as it takes; but not longer than anybody waits. */
function goWhile(s, wanted, last, atOnce = true)
{
	s.patience = performance.now() + PATIENCE;
	while (wanted() && s.step(last, atOnce))
		s.hurry();
	s.patience = Infinity;
}

function reach(s, done, now)
{
	goWhile(s, () => s.done < Math.min(done, s.ops.length), NEVER);
	goWhile(s, () => s.now < now, now);
}

function goTo(done, now)
{
	rebuild(s => reach(s, done, now));
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
	demonstrates = false;
	for (const name of FIELD_NAMES)
		$(name).value = fields.get(name) || "";
	if (!$("as").value)
		$("as").value = systems[0].name;
	rebuild(s => reach(s, Number(fields.get("done")) || 0,
			   parseTime(compiled, "now", fields.get("now") || "0")));
	return true;
}

/* Time */

function step()
{
	pause();
	simulation.step(NEVER);
	if (beside)
		follow(beside);
	animate();
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
		}, now > s.now ? now : NEVER, false);
	});
	goTo(...(steps.pop() || [0, 0n]));
}

/* The script goes on, or, with time, a timer is left. */
function goesOn(s)
{
	return !s.error && (s.done < s.ops.length || (!s.stopped && s.numbers().armed > 0n));
}

/* Let as much time pass as has in reality; as long as that is quick. */
function pass(time)
{
	const end = performance.now() + 12;
	const both = beside ? [simulation, beside] : [simulation];

	target += BigInt(Math.round(Math.min(time - playing, 100) / 1000 *
				    Number($("speed").value)));
	for (const s of both) {
		let seen = s.events.length;

		while (goesOn(s) && performance.now() < end && s.step(target)) {
			const fell = s.events.slice(seen).some(e => e.what === "moved");

			seen = s.events.length;
			if (fell && $("hold").checked)
				target = s.now;
		}
	}
	if (both.some(goesOn))
		return;
	pause();
	if (demonstrates)
		setTimeout(demonstrate, 2500);
}

/* A frame: time passes, unless the clock waits for entries that fall. */
function frame(time)
{
	const waits = $("hold").checked && views.some(view => view.falls(time));

	framing = false;
	if (playing && !waits)
		pass(time);
	playing = playing && time;
	for (const view of views)
		view.collect(time);
	render(time);
	if (playing || views.some(view => view.flights.length))
		animate();
}

function animate()
{
	if (!framing)
		requestAnimationFrame(frame);
	framing = true;
}

function play()
{
	if (!goesOn(simulation) && !(beside && goesOn(beside)))
		goTo(0, 0n);
	target = simulation.now;
	playing = performance.now();
	$("play").textContent = "Pause";
	animate();
}

function pause()
{
	playing = 0;
	$("play").textContent = "Play";
}

/* What the page opens with: timers are armed, and it plays, again and again until it is used. */
function demonstrate()
{
	if (!demonstrates)
		return;
	goTo($("script").value.split("\n").length - 2, 0n);
	if (!still.matches)
		play();
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
		parseScript(compiled, $("script").value);
	} catch (why) {
		$("script").value = before;
		show(why);
		return;
	}
	goTo(done + added.length, now);
}

function byHand(kind)
{
	const words = [kind, $("id").value, kind !== "cancel" && $("delay").value], goes = playing;

	for (const more of kind === "arm" ? ["every", "times"] : [])
		words.push($(more).value && `${more} ${$(more).value}`);
	insert(words.filter(word => word).join(" "));
	if (goes)
		play();
}

/* Pictures */

const LEVELS = { clock: [60, 60, 24] };

function ringSize({ name }, numbers, level)
{
	if (name === "clock")
		return LEVELS.clock[level];
	if (name === "linux")
		return 64;
	/* The rings of twheel hold two turns. */
	return Number(numbers.slots) * (name === "twheel" ? 2 : 1);
}

function levelSpan({ name }, numbers, level)
{
	const factor = { clock: 60n, linux: 8n }[name] || numbers.slots;

	return numbers.tick * factor ** BigInt(level);
}

/* Three digits are enough where there is little room. */
function shortText(ns)
{
	const [name, unit] = Object.entries(UNITS).find(([, unit]) => ns >= unit) || ["", 1n];

	return Number((Number(ns) / Number(unit)).toPrecision(3)) + name;
}

/*
 * The rings of a view of 360 by 360.  Level 0 is the outermost, because its hand is the fastest.
 * A ring is open at the top, where its name stands.  Where slots are too small for a token, a
 * token stands for those of a sector.
 */
class Rings {
	constructor(s, numbers, levels)
	{
		const step = Math.min(36, 150 / levels);

		this.level = Array.from({ length: levels }, (_, level) => {
			const size = ringSize(s, numbers, level), width = step * .64;
			const radius = 178 - width / 2 - step * level, gap = 9 / radius;
			const round = 2 * Math.PI * radius - 18;
			/* If slots are too small for a token of their own, it has its full size. */
			const most = Math.max(7, Math.min(10, width / 2 - 1)), fit = round / size / 2 - 1;
			const token = fit < 7 ? most : Math.min(most, fit);

			return { size, width, radius, gap, token, span: levelSpan(s, numbers, level),
				 sectors: Math.min(size, Math.floor(round / (2 * token + 2))) };
		});
	}

	/* A point of a ring: @part of the way round, @out from its middle. */
	point(level, part, out = 0)
	{
		const { gap, radius } = this.level[level];
		const angle = gap + (2 * Math.PI - 2 * gap) * part;

		return [180 + (radius + out) * Math.sin(angle), 180 - (radius + out) * Math.cos(angle)];
	}

	/* Of a ring the slots from one to another. */
	arc(level, slot, end, out = 0)
	{
		const { size, radius } = this.level[level], wide = (end - slot) / size > .5;

		return `M ${this.point(level, slot / size, out)} A ${radius + out} ${radius + out} 0 ` +
		       `${Number(wide)} 1 ${this.point(level, end / size, out)}`;
	}

	sector({ level, slot })
	{
		const { size, sectors } = this.level[level];

		return Math.floor(slot * sectors / size);
	}

	/* Where the token of a slot stands. */
	spot(where, out)
	{
		return this.point(where.level, (this.sector(where) + .5) / this.level[where.level].sectors,
				  out);
	}
}

/* Timers that stand together, by @key of each. */
function grouped(list, key)
{
	const groups = new Map();

	for (const one of list)
		groups.set(key(one), [...groups.get(key(one)) || [], one]);
	return groups;
}

/* A token with the id of its timer, or how many there are; square, if they move. */
function drawToken(svg, [x, y], ids, size, kind = "")
{
	const text = ids.length > 1 ? `×${ids.length}` : String(ids[0]);
	const entry = draw(svg, "g", { class: `entry ${kind}`, transform: `translate(${x} ${y})`,
				       "data-ids": ids.join(" ") });
	const font = size * ([1.3, 1.3, 1.2, .95, .75][text.length] || .6);

	draw(entry, "title", {}, `timer ${ids.join(", ")}`);
	draw(entry, "rect", { class: `token ${kind}`, x: -size, y: -size, width: 2 * size,
			      height: 2 * size, rx: kind.startsWith("moved") ? 0 : size });
	draw(entry, "text", { y: font * .36, style: `font-size:${font}px` }, text);
	return entry;
}

/* An entry falls. */
function flightOf({ id, where: to, from_level: level, from_slot: slot }, begins)
{
	return { id, begins, to, from: { level, slot } };
}

/* A system, and its picture. */
class View {
	constructor(n)
	{
		this.list = n ? $("beside") : $("as");
		this.figure = $(`view${n}`);
		this.part = name => this.figure.querySelector(name);
		this.code = $(`code${n}`);
		[this.lane, this.line] = [...$("timeline").children].slice(2 * n, 2 * n + 2);
		this.flights = [];
	}

	/* @s: a simulation, or null */
	show(s)
	{
		for (const part of [this.code, this.lane, this.line, this.part(".picture"),
				    this.part(".levels")])
			part.style.visibility = s ? "" : "hidden";
		this.simulation = s;
		this.flights = [];
		this.seen = s && s.events.length;
		this.places = new Map();
		this.code.textContent = "";
		this.ran = null;
	}

	/* An entry travels: is it one that falls? */
	falls(time)
	{
		return this.flights.some(f => f.to && time < f.begins + FLIGHT);
	}

	/* What has happened since the last frame: what falls, and what goes. */
	collect(time)
	{
		if (!this.simulation)
			return;
		const { events } = this.simulation;

		this.flights = this.flights.filter(f => time < f.begins + FLIGHT);
		for (; this.seen < events.length; this.seen++) {
			const e = events[this.seen];
			const way = this.flights.find(f => f.id === e.id && f.to);

			if (e.what === "moved" && way && way.begins === time)
				way.to = e.where;
			else if (e.what === "moved")
				this.flights.push(flightOf(e, time));
			else if (e.what === "expired" && (way || this.places.has(e.id)))
				this.flights.push({ id: e.id, begins: time + (way ? FLIGHT : 0),
						    from: way ? way.to : this.places.get(e.id) });
		}
	}

	/* The entries that have moved in the last moment: they travel, or have just arrived. */
	moves(time)
	{
		const { events, now } = this.simulation;

		if (playing || this.falls(time))
			return this.flights.filter(f => f.to);
		return events.filter(e => e.what === "moved" && e.time_ns === now)
			     .map(e => flightOf(e, -FLIGHT));
	}

	draw(time)
	{
		if (!this.simulation)
			return;
		const s = this.simulation, timers = s.timers();
		const svg = draw(document.createDocumentFragment(), "svg",
				 { viewBox: "0 0 360 360", role: "img" });
		const order = ORDERS.includes(s.name);
		const rows = order ? drawOrder(svg, timers, s.name) :
			     this.drawRings(svg, timers, time);
		const queue = timers.filter(t => t.where.place === "queue");

		if (queue.length)
			rows.push(["queue", `${queue.length} in front`,
				   queue.slice(0, 12).map(t => t.id).join(", ")]);
		this.figure.className = order ? "order" : "";
		this.part(".picture").replaceChildren(svg);
		this.part(".levels").replaceChildren(...rows.map(([name, ...texts]) => {
			const row = make("li", "");

			row.append(make("b", name), ...texts.map(text => make("span", text)));
			return row;
		}));
		this.places = new Map(timers.map(t => [t.id, t.where]));
	}

	drawRings(svg, timers, time)
	{
		const s = this.simulation, numbers = s.numbers(), moves = this.moves(time);
		const levels = s.events.reduce((most, { where }) => where && where.place === "slot" ?
					       Math.max(most, where.level + 1) : most,
					       s.name === "clock" ? 3 : 1);
		const rings = new Rings(s, numbers, levels), sector = t => `${t.level} ${rings.sector(t)}`;
		const flying = new Set(still.matches ? [] : moves.map(f => time < f.begins + FLIGHT && f.id));
		const fallen = new Set(moves.map(f => f.id));
		const inSlots = timers.filter(t => t.where.place === "slot");
		const waiting = inSlots.filter(t => !flying.has(t.id));
		const slots = grouped(waiting, t => `${t.where.level} ${t.where.slot}`);

		draw(svg, "title", {}, `${s.name}: ${inSlots.length} timers on ${levels} levels`);
		rings.level.forEach(({ size, width, span }, level) => {
			const cells = Array.from({ length: size + 1 }, (_, i) => `M ${
				rings.point(level, i / size, -width / 2)} L ${
				rings.point(level, i / size, width / 2)}`);
			const turn = span / numbers.tick * BigInt(size), tick = s.calls.hand() % turn;
			const hand = (Number(tick / (span / numbers.tick)) + .5) / size;

			draw(svg, "path", { class: "ring", d: rings.arc(level, 0, size),
					    "stroke-width": width });
			for (const [{ where: { level: l, slot } }, ...more] of slots.values()) {
				if (l !== level)
					continue;
				/* Fine slots are drawn wide enough to be seen. */
				const least = Math.max(1, size * 3 / (6.28 * rings.level[l].radius));
				const fill = [1, 2, 4, 8, 16].findLast(n => n <= more.length + 1);

				draw(svg, "path", { class: `slot n${fill}`, "stroke-width": width,
						    d: rings.arc(l, slot, slot + least) });
			}
			if (size < 64)
				draw(svg, "path", { class: "cells", d: cells.join(" ") });
			draw(svg, "path", { class: "hand", d: `M ${
				rings.point(level, hand, -width / 2 - 2)} L ${
				rings.point(level, hand, width / 2 + 2)}` });
			const [x, y] = [180, 180 - rings.level[level].radius];

			draw(svg, "text", { x, y: y + 4, style: `font-size:${Math.min(11, width)}px` },
			     `L${level}`);
		});
		for (const group of grouped(waiting, t => sector(t.where)).values())
			drawToken(svg, rings.spot(group[0].where), group.map(t => t.id),
				  rings.level[group[0].where.level].token,
				  group.some(t => fallen.has(t.id)) ? "moved" : "");
		this.drawFlights(svg, rings, moves, time, sector);
		return rings.level.map(({ size, span }, level) => {
			const here = inSlots.filter(t => t.where.level === level).length;

			return [`L${level}`, ` ${size} × ${durationText(span)}`,
				here === 1 ? "1 timer" : `${here} timers`];
		});
	}

	/* Entries on their way, along a line; and those that go. */
	drawFlights(svg, rings, moves, time, sector)
	{
		const gone = this.flights.filter(f => !f.to && f.from.place === "slot" && time >= f.begins);
		const way = f => `${f.begins} ${sector(f.from)} ${f.to ? sector(f.to) : ""}`;

		for (const group of grouped([...moves, ...gone], way).values()) {
			const { from, to, begins } = group[0], { size, width, token } = rings.level[from.level];
			const part = Math.min(1, (time - begins) / FLIGHT);
			const [x, y] = rings.spot(from), ids = group.map(f => f.id);

			if (!to) {
				drawToken(svg, rings.spot(from, still.matches ? 0 : 14 * part), ids, token,
					  "gone").setAttribute("opacity", 1 - part * part);
				continue;
			}
			const [x2, y2] = rings.spot(to), ease = part * part * (3 - 2 * part);

			draw(svg, "path", { class: "left", d: rings.arc(from.level, from.slot, from.slot + 1,
									 width / 2 + 1.5) });
			draw(svg, "line", { class: "trail", x1: x, y1: y, x2, y2 });
			if (part < 1 && !still.matches)
				drawToken(svg, [x + (x2 - x) * ease, y + (y2 - y) * ease], ids, token,
					  "moved flying");
		}
	}

	/* The line of the source that has run last. */
	showLine()
	{
		const { events, name } = this.simulation || { events: [] };
		const last = events.findLast(e => e.line);
		/* A cascade is more to see than what follows at the same time. */
		const e = events.findLast(e => e.line && e.what === "moved" &&
					  e.time_ns === last.time_ns) || last;

		if (!e || e === this.ran)
			return;
		const file = this.simulation.text(e.line[0]).replace(/.*\//, "");
		const line = e.line[1], lines = sources[file];
		const head = lines.findLastIndex((text, i) => i < line && /^[a-z].*\(/.test(text));
		const from = Math.max(head, line - 6), about = make("p", ""), pre = make("pre", "");

		for (let i = from; i < Math.min(lines.length, line + 3); i++) {
			const row = make("span", `${String(i + 1).padStart(4)} ${lines[i]}`);

			if (i === line - 1)
				row.className = "ran";
			pre.append(row);
			if (lines[i] === "}")
				break;
		}
		about.append(make("b", `${file}:${line}`), " in ",
			     make("code", lines[head].match(/(\w+)\(/)[1] + "()"), `: ${eventText(e)}`);
		pre.tabIndex = 0;
		this.code.replaceChildren(about, pre, readOn(name));
		this.ran = e;
	}
}

/* Links to the pages about a system. */
function readOn(name)
{
	const docs = document.documentElement.dataset.docs, chapter = CHAPTERS[name];
	const link = (text, page, heading = "") =>
		Object.assign(make("a", text), { href: docs.replace("%", page) + heading });
	const row = make("p", "Read on: ");

	row.append(link(`chapter ${Number(chapter.slice(0, 2))} of the course`,
			`course/${chapter}`), ", ",
		   link("how this wheel turns", "wheel"), ", ",
		   link("the words: slot, hand, cascade", "glossary", "#timing-wheels"));
	return row;
}

/* Timers in an order: of a heap as a tree, otherwise as rows.  Returns rows for the legend. */
function drawOrder(svg, timers, name)
{
	const tree = name === "heap", most = 63;
	const shown = timers.filter(t => t.where.position < most);
	/* Of a tree, rows with more boxes than fit are staggered: so many lines for one row. */
	const row = p => tree ? Math.floor(Math.log2(p + 1)) : Math.floor(p / 7);
	const lines = r => tree ? Math.ceil(44 * 2 ** r / 360) : 1;
	const top = r => r ? top(r - 1) + lines(r - 1) * 28 + 8 : 14;
	const place = p => {
		const r = row(p), nr = tree ? p + 1 - 2 ** r : p % 7;

		return tree ? [360 * (nr + .5) / 2 ** r, top(r) + nr % lines(r) * 28] :
			      [26 + 51 * nr, top(r)];
	};
	const last = shown.length ? row(shown.length - 1) : 0;
	const height = Math.max(60, top(last) + lines(last) * 28);

	svg.setAttribute("viewBox", `-12 0 384 ${height}`);
	draw(svg, "title", {}, `${timers.length} timers in ${tree ? "a heap" : "rows"}`);
	for (const { where: { position: p } } of shown) {
		const before = tree ? (p - 1) >> 1 : p - 1;

		if (p && name !== "poll" && (tree || p % 7))
			draw(svg, "line", { class: "edge", x1: place(p)[0], y1: place(p)[1],
					    x2: place(before)[0], y2: place(before)[1] });
	}
	for (const { id, deadline_ns, where: { position: p } } of shown) {
		const [x, y] = place(p);
		const entry = draw(svg, "g", { class: "entry", transform: `translate(${x} ${y})` });

		draw(entry, "rect", { class: "token", x: -21, y: -12, width: 42, height: 24, rx: 4 });
		draw(entry, "text", { y: -1.5, style: "font-size:10px" }, id);
		draw(entry, "text", { y: 9, class: "due", style: "font-size:9px" },
		     shortText(deadline_ns));
	}
	return [[name, `${timers.length} timers`,
		 timers.length > most ? `the first ${most} are shown` : ""]];
}

/* Time line */

/* Steps of the axis: 1, 2, 5, 10 and so on of each unit. */
const STEPS = Object.values(UNITS).reverse().flatMap((unit, i, all) =>
	[...Array(18).keys()].map(n => [1n, 2n, 5n][n % 3] * 10n ** BigInt(Math.floor(n / 3)) * unit)
		.filter(ns => ns < (all[i + 1] || LAST)));

/*
 * From the beginning to the last time that is known.  A time line of more than 500 times its
 * first event is logarithmic: so no part of it is narrower than it can be seen.
 */
function scaleOf()
{
	const start = startsAt;
	let first = Infinity, end = 1;

	for (const { simulation: s } of views.filter(view => view.simulation))
		for (const ns of [...s.events.map(e => e.time_ns), ...s.timers().map(t => t.deadline_ns)])
			if (ns > start) {
				first = Math.min(first, Number(ns - start));
				end = Math.max(end, Number(ns - start));
			}
	const log = end / first > 500, most = Math.log1p(end / first);

	return { start, end, first, log,
		 x: ns => 1000 * (log ? Math.log1p(Number(ns - start) / first) / most :
				  Number(ns - start) / end),
		 time: x => start + BigInt(Math.round(log ? Math.expm1(x / 1000 * most) * first :
						      x / 1000 * end)) };
}

function drawAxis(scale)
{
	const { start, end, first, log, x } = scale;
	const step = STEPS.find(ns => Number(ns) >= end / 6) || STEPS.at(-1);
	const at = log ? STEPS.filter(ns => Number(ns) >= first && /^10*[a-z]/.test(shortText(ns))) :
		   [...Array(7).keys()].map(i => step * BigInt(i));
	let last = -Infinity;

	$("axis").replaceChildren();
	for (const ns of log ? [0n, ...at] : at) {
		const here = x(start + ns);

		if (here - last < 130 || here > 965)
			continue;
		last = here;
		$("axis").append(Object.assign(make("span", (start && ns ? "+" : "") +
						    durationText(ns || start)),
					       { style: `left: ${here / 10}%` }));
	}
}

function drawTimeline()
{
	const scale = scaleOf();

	for (const { simulation: s, line, lane } of views) {
		const seen = new Set();
		const mark = (kind, time, y1, y2) => {
			const x = Math.round(scale.x(time) * 2) / 2;

			if (seen.has(kind + x))
				return;
			seen.add(kind + x);
			draw(line, "line", { class: `t t-${kind}`, x1: x, x2: x, y1, y2 });
		};

		line.textContent = "";
		if (!s)
			continue;
		lane.textContent = s.name;
		for (const t of s.timers())
			mark("due", t.deadline_ns, 2, 12);
		s.events.forEach((e, i) => {
			const follows = s.events[i + 1];

			if (e.what === "woken" && follows && follows.time_ns === e.time_ns &&
			    !["woken", "cancelled", "sleeps"].includes(follows.what))
				mark("wake", e.time_ns, 21, 31);
			else if (e.what === "woken")
				mark("empty", e.time_ns, 27, 31);
			else if (e.what === "moved")
				mark("moved", e.time_ns, 13, 20);
			else if (e.what === "expired")
				mark("expired", e.time_ns, 0, 12);
		});
	}
	drawAxis(scale);
	return scale;
}

/* Where it is now. */
function drawNow()
{
	for (const { simulation: s, line } of views) {
		if (!s)
			continue;
		const now = line.querySelector(".t-now") ||
			    draw(line, "line", { class: "t t-now", y1: 0, y2: 32 });

		for (const end of ["x1", "x2"])
			now.setAttribute(end, Math.min(1000, scale.x(s.now)));
	}
	if (document.activeElement !== $("seek") || !playing)
		$("seek").value = Math.round(scale.x(simulation.now));
	$("seek").setAttribute("aria-valuetext", durationText(simulation.now));
}

/* Texts */

function placeText(where)
{
	if (where.place === "queue")
		return `in the queue, position ${where.position}`;
	if (where.place === "order")
		return `position ${where.position}`;
	return `level ${where.level}, slot ${where.slot}` +
	       (where.rounds ? `, rounds left: ${where.rounds}` : "");
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
		return `${at}timer ${e.id} is due ${durationText(e.deadline_ns)}, ${placeText(e.where)}`;
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

function fill(table, rows)
{
	table.replaceChildren(...rows.map(([first, ...rest]) => {
		const row = make("tr", "");

		row.append(Object.assign(make("th", first), { scope: "row" }),
			   ...rest.map(text => make("td", text)));
		return row;
	}));
}

function numberRows(numbers)
{
	const both = [[simulation, numbers], ...beside ? [[beside, beside.numbers()]] : []];
	const mean = n => n.expired ? n.late_sum / n.expired : 0n;

	return [["system", ...both.map(([s]) => s.name)],
		["tick", ...both.map(([, n]) => durationText(n.tick))],
		["slots of a level, in its ring", ...both.map(([s, n]) =>
			n.slots ? `${n.slots}, ${ringSize(s, n, 0)}` : "none")],
		...Object.entries(NUMBERS).map(([name, text]) =>
			[text, ...both.map(([, n]) => n[name])]),
		["lateness, the most", ...both.map(([, n]) => durationText(n.late_max))],
		["lateness, the mean", ...both.map(([, n]) => durationText(mean(n)))]];
}

function render(time = performance.now())
{
	if (!simulation)
		return;
	const state = views.map(({ simulation: s }) => s && `${s.done} ${s.events.length}`) + !playing;

	$("now").textContent = durationText(simulation.now);
	for (const view of views)
		view.draw(time);
	if (state !== told)
		renderTexts();
	told = state;
	drawNow();
	if (simulation.error)
		show(simulation.error);
}

/* What changes with events only. */
function renderTexts()
{
	const numbers = simulation.numbers(), timers = simulation.timers();
	const newest = simulation.events.slice(-12).reverse();
	const over = simulation.done === simulation.ops.length && !timers.length;
	const nexts = [simulation, ...beside ? [beside] : []].map(s => s.next())
		.map(next => next === NEVER ? "none" : durationText(next));

	$("next").textContent = `next wake-up: ${nexts.join(" and ")}`;
	scale = drawTimeline();
	for (const view of views) {
		view.part(".about").textContent = view.simulation ?
			systems.find(s => s.name === view.simulation.name).about : "";
		view.showLine();
	}
	$("note").textContent = simulation.note();
	fill($("timers"), timers.slice(0, 50).map(t => [t.id, durationText(t.deadline_ns),
							placeText(t.where), t.where.moves]));
	fill($("numbers"), numberRows(numbers));
	$("events").replaceChildren(...newest.map(e => make("li", eventText(e))));
	$("events").setAttribute("start", simulation.events.length);
	/* Too much to be read out while time goes on by itself. */
	$("live").setAttribute("aria-live", playing ? "off" : "polite");
	$("live").textContent = (newest.length ? eventText(newest[0]) : "Nothing has happened yet") +
				`; ${timers.length} armed` + (over ? "; the script is over" : "");
	$("link").href = fragment();
	if (!playing && !demonstrates)
		history.replaceState(null, "", fragment());
}

/* Controls */

function again()
{
	const { done, now } = simulation || { done: 0, now: 0n }, goes = playing;

	goTo(done, now);
	if (goes)
		play();
}

function listen()
{
	const toggle = () => playing ? (pause(), render()) : play();
	const keys = { " ": toggle, ArrowRight: step, ArrowLeft: back, Home: () => goTo(0, 0n),
		       End: () => goTo(simulation.ops.length, 0n) };

	for (const name of ["as", "beside"])
		$(name).addEventListener("change", again);
	for (const name of ["tick", "slots", "levels", "start", "script"])
		$(name).addEventListener("change", () => goTo(0, 0n));
	for (const [i, name] of ["play", "step", "back", "first", "last"].entries())
		$(name).addEventListener("click", Object.values(keys)[i]);
	$("seek").addEventListener("change", () => goToTime(scale.time(Number($("seek").value))));
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
	for (const kind of ["pointerdown", "keydown", "change"])
		addEventListener(kind, () => { demonstrates = false; }, true);
	/* Not where a key means something already. */
	addEventListener("keydown", event => {
		if (!keys[event.key] ||
		    event.target.closest("input, select, textarea, button, a, summary") ||
		    event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		keys[event.key]();
	});
}

async function main()
{
	const bytes = Uint8Array.from(atob($("wasm").textContent), c => c.charCodeAt(0));

	sources = JSON.parse($("sources").textContent);
	compiled = await WebAssembly.compile(bytes);
	systems = systemsOf(compiled);
	views = [new View(0), new View(1)];
	for (const { name, about } of systems)
		for (const { list } of views)
			list.append(Object.assign(new Option(name), { title: about }));
	for (const name of Object.keys(EXAMPLES))
		$("examples").append(new Option(name));
	listen();
	if (!followLink()) {
		$("as").value = "hierarchical";
		$("beside").value = "twheel";
		$("script").value = EXAMPLES["timers come down"];
		demonstrates = true;
		demonstrate();
	}
	document.documentElement.dataset.ready = "1";
}

main().catch(show);
