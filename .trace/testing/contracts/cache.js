import { CacheError } from "../../kernel/errors.js";
import { simulatedClock } from "../simulated-clock.js";
import { checkContract } from "./contract-kit.js";
// ../../work/wt/lead/src/testing/contracts/cache.ts
const MINUTE = 6e4;
const START = 18e11;
/**
* What every {@link Cache} must do, wherever it keeps its entries.
*
* C1 what `set` has resolved is what `get` gives, until it is deleted, replaced, or its time is up. C2 of two writes of one key that
* overlap, the one asked for later stays. C3 keys and values are any text. C5 closing twice is no error; what comes after it is refused with
* `CACHE_CLOSED`. C6, for a cache that has `replace`: of several that expect the same, one writes. How an entry is damaged (C4), and what a cache does
* that cannot ask (C7), is the implementation's own.
*/
function cacheContract(kit, name, make) {globalThis.__t?.("testing/contracts/cache.js#cacheContract@808");
	checkContract("cacheContract", kit, name, make);
	kit.describe(`${name} keeps the contract of a cache`, () => {globalThis.__t?.("testing/contracts/cache.js#anonymous@955");
		keepingChecks(kit, make);
		forgettingChecks(kit, make);
		textChecks(kit, make);
		replacingChecks(kit, make);
		closingChecks(kit, make);
	});
}
function check({ it }, make, title, body) {globalThis.__t?.("testing/contracts/cache.js#check@1112");
	it(title, async () => {globalThis.__t?.("testing/contracts/cache.js#anonymous@1167");
		const clock = simulatedClock(START);
		const cache = await make(clock);
		try {
			await body(cache, clock);
		} finally {
			await cache.close();
		}
	});
}
function keepingChecks(kit, make) {globalThis.__t?.("testing/contracts/cache.js#keepingChecks@1341");
	const { expect } = kit;
	check(kit, make, "C1 what was set is there, what was not is a miss, and keys keep apart", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@1493");
		await cache.set("a", "1", MINUTE);
		await cache.set("b", "2", MINUTE);
		expect([
			await cache.get("a"),
			await cache.get("b"),
			await cache.get("c")
		]).toEqual([
			hit("1"),
			hit("2"),
			miss
		]);
	});
	check(kit, make, "C1 a later value replaces the earlier, and its time with it", async (cache, clock) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@1812");
		await cache.set("a", "1", MINUTE);
		await cache.set("a", "2", 3 * MINUTE);
		await clock.advance(2 * MINUTE);
		expect(await cache.get("a")).toEqual(hit("2"));
	});
	check(kit, make, "C2 of writes that overlap the last asked for stays", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@2078");
		await Promise.all(Array.from({ length: 20 }, (_, n) => (globalThis.__t?.("testing/contracts/cache.js#anonymous@2144"),(cache.set("a", `value ${n}`, MINUTE)))));
		expect(await cache.get("a")).toEqual(hit("value 19"));
		await Promise.all([cache.set("a", "again", MINUTE), cache.delete("a")]);
		expect(await cache.get("a")).toEqual(miss);
		await Promise.all([cache.delete("a"), cache.set("a", "and again", MINUTE)]);
		expect(await cache.get("a")).toEqual(hit("and again"));
	});
}
function forgettingChecks(kit, make) {globalThis.__t?.("testing/contracts/cache.js#forgettingChecks@2516");
	const { expect } = kit;
	check(kit, make, "C1 an entry whose time is up is a miss, and one whose is not is there", async (cache, clock) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@2671");
		await cache.set("short", "1", MINUTE);
		await cache.set("long", "2", 2 * MINUTE);
		await clock.advance(59999);
		expect(await cache.get("short")).toEqual(hit("1"));
		await clock.advance(1);
		expect([await cache.get("short"), await cache.get("long")]).toEqual([miss, hit("2")]);
	});
	check(kit, make, "C1 what was deleted is a miss, and can be set again; deleting nothing is no error", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@3089");
		await cache.set("a", "1", MINUTE);
		await cache.delete("a");
		await cache.delete("a");
		expect(await cache.get("a")).toEqual(miss);
		await cache.set("a", "2", MINUTE);
		expect(await cache.get("a")).toEqual(hit("2"));
	});
	check(kit, make, "C1 a time to live that cannot pass is refused, and nothing is stored", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@3427");
		for (const ttl of [
			0,
			-1,
			NaN,
			Number.POSITIVE_INFINITY
		]) expect(await codeOf(cache.set("a", "1", ttl))).toBe("TTL_INVALID");
		expect(await cache.get("a")).toEqual(miss);
	});
}
const ODD_TEXTS = [
	"",
	"..",
	"../../etc/passwd",
	"a/b\\c",
	"a:b",
	"A",
	"\0\r\n\x1B[2J",
	"__proto__",
	"猫と🎭",
	"half a character: \ud83c",
	"x".repeat(5e3)
];
function textChecks(kit, make) {globalThis.__t?.("testing/contracts/cache.js#textChecks@3811");
	const { expect } = kit;
	check(kit, make, "C3 any text is a key of its own", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@3922");
		const keys = [
			...ODD_TEXTS,
			"a",
			"half a character: \ud83d"
		];
		for (const [place, key] of keys.entries()) await cache.set(key, `value ${place}`, MINUTE);
		const found = [];
		for (const key of keys) found.push(await cache.get(key));
		expect(found).toEqual(keys.map((_, place) => (globalThis.__t?.("testing/contracts/cache.js#anonymous@4224"),(hit(`value ${place}`)))));
	});
	check(kit, make, "C3 any text is a value, also a megabyte", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@4329");
		for (const value of [...ODD_TEXTS, "猫 and cat ".repeat(9e4)]) {
			await cache.set("a", value, MINUTE);
			const entry = await cache.get("a");
			expect(entry.kind === "hit" && entry.value === value).toBe(true);
		}
	});
}
function replacingChecks(kit, make) {globalThis.__t?.("testing/contracts/cache.js#replacingChecks@4573");
	const { expect } = kit;
	check(kit, make, "C6 replaces what is as expected, and else tells what is there", async (cache, clock) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@4719");
		if (cache.replace === void 0) return;
		expect(await cache.replace("a", "1", { ttl: MINUTE })).toBe(void 0);
		expect(await cache.get("a")).toEqual(hit("1"));
		expect(await cache.replace("a", "2", {
			expected: miss,
			ttl: MINUTE
		})).toEqual(hit("1"));
		expect(await cache.replace("a", "2", {
			expected: hit("3"),
			ttl: MINUTE
		})).toEqual(hit("1"));
		expect(await cache.replace("a", "2", {
			expected: hit("1"),
			ttl: 2 * MINUTE
		})).toBe(void 0);
		await clock.advance(2 * MINUTE - 1);
		expect(await cache.get("a")).toEqual(hit("2"));
		await clock.advance(1);
		expect(await cache.replace("a", "3", {
			expected: hit("2"),
			ttl: MINUTE
		})).toEqual(miss);
		expect(await cache.replace("a", "3", { ttl: MINUTE })).toBe(void 0);
		await cache.delete("a");
		expect(await cache.replace("a", "4", {
			expected: hit("3"),
			ttl: MINUTE
		})).toEqual(miss);
		expect(await cache.replace("a", "4", {
			expected: miss,
			ttl: MINUTE
		})).toBe(void 0);
		expect(await codeOf(cache.replace("a", "5", {
			expected: hit("4"),
			ttl: 0
		}))).toBe("TTL_INVALID");
		expect(await cache.get("a")).toEqual(hit("4"));
	});
	check(kit, make, "C6 of several at once that expect the same one writes, and whoever tries again loses nothing", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@5999");
		if (cache.replace === void 0) return;
		const outcomes = await Promise.all(Array.from({ length: 8 }, async (_, n) => (globalThis.__t?.("testing/contracts/cache.js#outcomes@6121"),(cache.replace?.("one", `value ${n}`, { ttl: MINUTE })))));
		expect(outcomes.filter((outcome) => (globalThis.__t?.("testing/contracts/cache.js#anonymous@6219"),(outcome === void 0))).length).toBe(1);
		await Promise.all(Array.from({ length: 6 }, (_, n) => (globalThis.__t?.("testing/contracts/cache.js#anonymous@6315"),(appended(cache, `${n} `)))));
		const entry = await cache.get("list");
		const parts = entry.kind === "hit" ? entry.value.trim().split(" ") : [];
		expect(parts.toSorted()).toEqual([
			"0",
			"1",
			"2",
			"3",
			"4",
			"5"
		]);
	});
}
/** Adds to what is there, and tries again for as long as others were faster. */
async function appended(cache, text) {globalThis.__t?.("testing/contracts/cache.js#appended@6647");
	let seen = { kind: "miss" };
	for (;;) {
		const before = seen.kind === "hit" ? seen.value : "";
		const now = await cache.replace?.("list", `${before}${text}`, {
			expected: seen,
			ttl: MINUTE
		});
		if (now === void 0) return;
		seen = now;
	}
}
function closingChecks(kit, make) {globalThis.__t?.("testing/contracts/cache.js#closingChecks@6939");
	const { expect } = kit;
	check(kit, make, "C5 closing twice is no error, and then nothing is answered", async (cache) => {globalThis.__t?.("testing/contracts/cache.js#anonymous@7080");
		await cache.set("a", "1", MINUTE);
		expect([await codeOf(cache.close()), await codeOf(cache.close())]).toEqual(["resolved", "resolved"]);
		const codes = [
			await codeOf(cache.get("a")),
			await codeOf(cache.set("a", "2", MINUTE)),
			await codeOf(cache.delete("a"))
		];
		expect(codes).toEqual([
			"CACHE_CLOSED",
			"CACHE_CLOSED",
			"CACHE_CLOSED"
		]);
	});
}
const miss = { kind: "miss" };
function hit(value) {globalThis.__t?.("testing/contracts/cache.js#hit@7503");
	return {
		kind: "hit",
		value
	};
}
async function codeOf(work) {globalThis.__t?.("testing/contracts/cache.js#codeOf@7564");
	try {
		await work;
		return "resolved";
	} catch (error) {
		return error instanceof CacheError || error.code === "TTL_INVALID" ? error.code : String(error);
	}
}
export { cacheContract };
