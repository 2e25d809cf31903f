// SPDX-License-Identifier: GPL-2.0
/*
 * What the model of a page says of a script, for check/play:
 *
 *	node trace.js PAGE START SCRIPT
 *
 * It prints what twheel sim --trace --json does, of one system after the other, but for the
 * counters of memory; from the page as it was built.  Time passes in pieces, each a bit longer, and
 * after each piece and each operation somebody looks, as in a browser that draws frames.
 */
"use strict";

const fs = require("fs");
const [page, start, script] = process.argv.slice(2);
const html = fs.readFileSync(page, "utf8");
const part = id => html.match(new RegExp(`<script id="${id}"[^>]*>(.*?)</script>`, "s"))[1];
const model = new Function(`${part("model")}
	return { Simulation, parseScript, parseDuration, systemsOf, traceLines };`)();
const module_ = new WebAssembly.Module(Buffer.from(part("wasm"), "base64"));

const systems = model.systemsOf(module_);
const shape = { tick: 0n, slots: 0, levels: 0, start: model.parseDuration(start) };

for (const { name } of systems) {
	try {
		const ops = model.parseScript(fs.readFileSync(script, "utf8"));
		const simulation = new model.Simulation(module_, systems, name, shape, ops);

		for (let passed = 0n; simulation.done < ops.length && !simulation.error;) {
			const { done } = simulation;

			passed += 1700000n + passed / 50n;
			while (simulation.done === done && simulation.step(shape.start + passed))
				;
			simulation.next();
		}
		if (simulation.error)
			throw simulation.error;
		console.log(model.traceLines(simulation).join("\n"));
	} catch (why) {
		console.log(typeof why === "string" ? why : why.stack);
	}
}
