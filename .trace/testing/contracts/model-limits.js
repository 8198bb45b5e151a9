import { nextMacrotask } from "../../kernel/clock.js";
import { AbortedError } from "../../kernel/errors.js";
import { simulatedClock } from "../simulated-clock.js";
import { checkContract } from "./contract-kit.js";
// ../../work/wt/lead/src/testing/contracts/model-limits.ts
const MINUTE = 6e4;
/**
* What every {@link ModelLimits} must do, wherever it counts.
*
* W1 never more calls in flight than `concurrency`. W2 in no 60 seconds begin more calls than `requestsPerMinute`, or calls of more tokens
* than `tokensPerMinute` as far as was known; a call larger than the whole allowance goes alone. W4 who stops waiting takes nothing and
* holds up nobody. W5 a place is given back once.
*/
function modelLimitsContract(kit, name, make) {globalThis.__t?.("testing/contracts/model-limits.js#modelLimitsContract@693");
	checkContract("modelLimitsContract", kit, name, make);
	kit.describe(`${name} keeps the contract of limits`, () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@851");
		placeChecks(kit, make);
		minuteChecks(kit, make);
	});
}
function ask(limits, clock, tokens = 1, signal = new AbortController().signal) {globalThis.__t?.("testing/contracts/model-limits.js#ask@919");
	const lease = limits.acquire({
		tokens,
		clock,
		signal
	});
	const asked = {
		got: false,
		lease
	};
	lease.then(() => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@1120"),(asked.got = true)), () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@1144");});
	return asked;
}
/** The first place may take as long as whoever gives places takes to load or to connect. */
async function ready(limits, clock) {globalThis.__t?.("testing/contracts/model-limits.js#ready@1265");
	(await ask(limits, clock, 0).lease).release(0);
	return limits;
}
async function turns() {globalThis.__t?.("testing/contracts/model-limits.js#turns@1370");
	for (let n = 0; n < 20; n += 1) await nextMacrotask();
}
function placeChecks({ it, expect }, make) {globalThis.__t?.("testing/contracts/model-limits.js#placeChecks@1453");
	it("W1 W5 no more at a time than allowed, and a place that is given back twice is one place", async () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@1593");
		const clock = simulatedClock();
		const limits = await ready(await make({ concurrency: 2 }), clock);
		const asked = [
			0,
			1,
			2,
			3
		].map(() => (globalThis.__t?.("testing/contracts/model-limits.js#asked@1759"),(ask(limits, clock))));
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@1822"),(got)))).toEqual([
			true,
			true,
			false,
			false
		]);
		const first = await asked[0]?.lease;
		first?.release();
		first?.release();
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@2009"),(got)))).toEqual([
			true,
			true,
			true,
			false
		]);
	});
	it("W4 who stops waiting takes no place, and holds up nobody", async () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@2149");
		const clock = simulatedClock();
		const limits = await make({ concurrency: 1 });
		const first = await ask(limits, clock).lease;
		const stop = new AbortController();
		const gone = ask(limits, clock, 1, stop.signal);
		const behind = ask(limits, clock);
		stop.abort(new AbortedError());
		expect(await gone.lease.catch((thrown) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@2486"),(thrown))) instanceof AbortedError).toBe(true);
		first.release();
		await behind.lease;
	});
}
function minuteChecks({ it, expect }, make) {globalThis.__t?.("testing/contracts/model-limits.js#minuteChecks@2591");
	it("W2 no more calls begin in a minute than allowed", async () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@2692");
		const clock = simulatedClock();
		const limits = await make({ requestsPerMinute: 2 });
		const asked = [
			0,
			1,
			2
		].map(() => (globalThis.__t?.("testing/contracts/model-limits.js#asked@2838"),(ask(limits, clock))));
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@2901"),(got)))).toEqual([
			true,
			true,
			false
		]);
		await clock.advance(MINUTE);
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@3030"),(got)))).toEqual([
			true,
			true,
			true
		]);
	});
	it("W2 no more tokens begin in a minute than allowed, and a call that is larger goes alone", async () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@3190");
		const clock = simulatedClock();
		const limits = await make({ tokensPerMinute: 100 });
		const asked = [
			60,
			60,
			500
		].map((tokens) => (globalThis.__t?.("testing/contracts/model-limits.js#asked@3340"),(ask(limits, clock, tokens))));
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@3417"),(got)))).toEqual([
			true,
			false,
			false
		]);
		await clock.advance(MINUTE);
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@3547"),(got)))).toEqual([
			true,
			true,
			false
		]);
		await clock.advance(MINUTE);
		await turns();
		expect(asked.map(({ got }) => (globalThis.__t?.("testing/contracts/model-limits.js#anonymous@3676"),(got)))).toEqual([
			true,
			true,
			true
		]);
	});
	it("W2 a use that turns out smaller makes room at once", async () => {globalThis.__t?.("testing/contracts/model-limits.js#anonymous@3800");
		const clock = simulatedClock();
		const limits = await make({ tokensPerMinute: 100 });
		const first = await ask(limits, clock, 90).lease;
		const second = ask(limits, clock, 50);
		await turns();
		expect(second.got).toBe(false);
		first.release(10);
		await turns();
		expect(second.got).toBe(true);
	});
}
export { modelLimitsContract };
