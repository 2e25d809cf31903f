// SPDX-License-Identifier: GPL-2.0
/* The events of the page's model as twheel sim --trace --json prints them, but for memory. */

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
