import { createMessage } from "../../message/message.js";
import { checkContract } from "./contract-kit.js";
// ../../work/wt/lead/src/testing/contracts/message-store.ts
/** What every {@link MessageStore} must do, wherever it keeps its messages: V1 to V9 of the port, the last where it has a `lookup`. */
function messageStoreContract(kit, name, make) {globalThis.__t?.("testing/contracts/message-store.js#messageStoreContract@306");
	checkContract("messageStoreContract", kit, name, make);
	kit.describe(`${name} keeps the contract of a message store`, () => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@475");
		messageChecks(kit, make);
		vectorChecks(kit, make);
		lookupChecks(kit, make);
	});
}
function check({ it }, make, title, body) {globalThis.__t?.("testing/contracts/message-store.js#check@572");
	it(title, async () => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@627");
		const store = await make();
		try {
			await body(store);
		} finally {
			await store.close();
		}
	});
}
function messageChecks(kit, make) {globalThis.__t?.("testing/contracts/message-store.js#messageChecks@750");
	const { expect } = kit;
	check(kit, make, "V1 V3 what was added is there, at growing places, in order of arrival", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@902");
		const first = await store.add("r", entries("a", "b"));
		const second = await store.add("r", entries("c"));
		const places = [...first, ...second].map(({ place }) => (globalThis.__t?.("testing/contracts/message-store.js#places@1074"),(place)));
		expect(places).toEqual(places.toSorted((a, b) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@1138"),(a - b))));
		expect((await all(store, "r")).map(({ message, place }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@1194"),([message.id, place])))).toEqual([
			"a",
			"b",
			"c"
		].map((id, n) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@1281"),([id, places[n]]))));
		expect(await store.places("r")).toEqual(places);
		expect((await store.state("r")).last).toBe(places.at(-1));
	});
	check(kit, make, "V1 an empty batch changes nothing", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@1483");
		expect(await store.add("r", [])).toEqual([]);
		expect(await all(store, "r")).toEqual([]);
	});
	check(kit, make, "V2 what is held is not kept again, also twice in one batch, and stays as it was", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@1701");
		const [a] = await store.add("r", entries("a"));
		const again = await store.add("r", [
			entry("a", { content: "other words" }),
			entry("b"),
			entry("b")
		]);
		expect(again.map(({ isNew }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@1906"),(isNew)))).toEqual([
			false,
			true,
			false
		]);
		expect([again[0]?.place, again[1]?.place]).toEqual([a?.place, again[2]?.place]);
		expect((await all(store, "r")).map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@2093"),(message.content)))).toEqual(["words of a", "words of b"]);
	});
	check(kit, make, "V2 one id in two runs is two messages", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@2231");
		const stored = await store.add("r", [
			entry("a", { runId: "1" }),
			entry("a", { runId: "2" }),
			entry("a", {})
		]);
		expect(stored.map(({ isNew }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@2396"),(isNew)))).toEqual([
			true,
			true,
			true
		]);
		expect((await all(store, "r")).map(({ runId }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@2498"),(runId)))).toEqual([
			"1",
			"2",
			""
		]);
	});
	check(kit, make, "V3 a removed message is gone, its place is never used again, and the removal is counted", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@2673");
		const stored = await store.add("r", entries("a", "b", "c"));
		const before = await store.state("r");
		expect(await store.remove("r", [
			stored[1]?.place ?? 0,
			stored[2]?.place ?? 0,
			9999
		])).toBe(2);
		const after = await store.state("r");
		expect(after.removals - before.removals).toBe(2);
		const [again] = await store.add("r", entries("c"));
		expect((again?.place ?? 0) > before.last).toBe(true);
		expect((await all(store, "r")).map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@3145"),(message.id)))).toEqual(["a", "c"]);
	});
	check(kit, make, "V3 a reader gets what follows from where it asked", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@3272");
		const stored = await store.add("r", entries("a", "b", "c"));
		expect((await all(store, "r", stored[1]?.place)).map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@3409"),(message.id)))).toEqual(["c"]);
		expect(await all(store, "r", 1e6)).toEqual([]);
	});
	check(kit, make, "V4 roles keep apart, whatever their ids are", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@3575");
		const roles = [
			"a",
			"a/b",
			"../a",
			"a\0b",
			"a\0c",
			"",
			"%",
			"äöü 猫",
			"__proto__",
			"\""
		];
		for (const role of roles) await store.add(role, [entry("same", { content: `of ${role}` })]);
		for (const role of roles) expect((await all(store, role)).map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@3878"),(message.content)))).toEqual([`of ${role}`]);
		await store.remove("a", await store.places("a"));
		expect(await all(store, "a")).toEqual([]);
		expect((await all(store, "a/b")).length).toBe(1);
		expect(await all(store, "nobody")).toEqual([]);
		expect([await store.remove("nobody", [1]), await store.places("nobody")]).toEqual([0, []]);
	});
	check(kit, make, "V5 messages come back as they went in", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@4295");
		const given = [
			"",
			"\0 and \x1B[2J",
			"line\nbreak\r\n",
			"\"quotes\" \\ \u2028",
			"猫 and 🎭",
			"lone \ud800 half",
			"x".repeat(1e6)
		].map((content, n) => ((globalThis.__t?.("testing/contracts/message-store.js#given@4474"),({
			runId: `run/../${content.slice(0, 9)}`,
			addedAt: 1700000000000.5 + n,
			message: createMessage(content, {
				id: `id ${content.slice(0, 9)}`,
				timestamp: n,
				instructContent: {
					n,
					deep: [null]
				},
				sendTo: "B"
			})
		}))));
		const stored = await store.add("r", given);
		expect(await all(store, "r")).toEqual(given.map((one, n) => ((globalThis.__t?.("testing/contracts/message-store.js#anonymous@4842"),({
			...one,
			place: stored[n]?.place
		})))));
	});
	check(kit, make, "V8 a closed store opens again when it is asked", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@4976");
		await store.add("r", entries("a"));
		await store.close();
		await store.close();
		await store.add("r", entries("b"));
		expect((await all(store, "r")).length >= 1).toBe(true);
	});
	check(kit, make, "V7 many at once", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@5217");
		const ids = Array.from({ length: 20 }, (_, n) => (globalThis.__t?.("testing/contracts/message-store.js#ids@5277"),(`m${n}`)));
		await Promise.all(ids.map((id) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@5325"),(store.add("r", [entry(id), entry("common")])))));
		const held = (await all(store, "r")).map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#held@5424"),(message.id)));
		expect(held.toSorted()).toEqual([...ids, "common"].toSorted());
	});
}
function vectorChecks(kit, make) {globalThis.__t?.("testing/contracts/message-store.js#vectorChecks@5527");
	const { expect } = kit;
	const vector = (...numbers) => (globalThis.__t?.("testing/contracts/message-store.js#vector@5603"),(Float32Array.from(numbers)));
	check(kit, make, "V6 vectors come back under their fingerprint only, empty ones too", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@5734");
		const [a, b] = (await store.add("r", entries("a", "b"))).map(({ place }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@5816"),(place)));
		await store.writeVectors("r", "one", [{
			place: a ?? 0,
			vector: vector(.25, -1.5)
		}, {
			place: b ?? 0,
			vector: vector()
		}]);
		expect((await vectors(store, "one")).map(({ place, vector: held }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@6023"),([place, [...held]])))).toEqual([[a, [.25, -1.5]], [b, []]]);
		expect(await vectors(store, "two")).toEqual([]);
		expect((await vectors(store, "one", a)).map(({ place }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@6208"),(place)))).toEqual([b]);
	});
	check(kit, make, "V6 a vector is replaced, also by one of another fingerprint", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@6331");
		const [a = 0] = (await store.add("r", entries("a"))).map(({ place }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@6409"),(place)));
		await store.writeVectors("r", "one", [{
			place: a,
			vector: vector(1)
		}]);
		await store.writeVectors("r", "two", [{
			place: a,
			vector: vector(2)
		}]);
		expect(await vectors(store, "one")).toEqual([]);
		expect((await vectors(store, "two")).map(({ vector: held }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@6692"),([...held])))).toEqual([[2]]);
	});
	check(kit, make, "V6 vectors go with their messages, and come for none that is gone", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@6834");
		const [a = 0, b = 0] = (await store.add("r", entries("a", "b"))).map(({ place }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@6924"),(place)));
		await store.writeVectors("r", "one", [{
			place: a,
			vector: vector(1)
		}]);
		await store.remove("r", [a]);
		await store.writeVectors("r", "one", [{
			place: a,
			vector: vector(1)
		}, {
			place: b,
			vector: vector(2)
		}]);
		expect((await vectors(store, "one")).map(({ place }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@7229"),(place)))).toEqual([b]);
		await store.clearVectors("r");
		expect(await vectors(store, "one")).toEqual([]);
		expect((await all(store, "r")).length).toBe(1);
	});
}
function lookupChecks(kit, make) {globalThis.__t?.("testing/contracts/message-store.js#lookupChecks@7407");
	const { expect } = kit;
	const many = Array.from({ length: 300 }, (_, n) => (globalThis.__t?.("testing/contracts/message-store.js#many@7509"),(entry(`m${n}`, { content: n % 100 === 50 ? `A rare Lighthouse ${n}` : `common ${n}` }))));
	const rare = [
		"m50",
		"m150",
		"m250"
	];
	check(kit, make, "V9 what holds the rarest words is found: whole, by its beginning, and misspelt", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@7756");
		const { lookup } = store;
		if (lookup === void 0) return;
		await store.add("other", many.slice(0, 100));
		await store.add("r", many);
		for (const word of [
			"lighthouse",
			"lightho",
			"lighthuose",
			"lihgthouse"
		]) expect([word, await idsWith(store, lookup, sought("common"), sought(word))]).toEqual([word, rare]);
		expect(await idsWith(store, lookup, {
			...sought("lightho"),
			isBeginning: false,
			wrongLetters: 0
		})).toEqual([]);
		expect(await lookup.likeliest("nobody", [sought("common")], 9)).toEqual([]);
	});
	check(kit, make, "V9 no more is found than was asked for, besides what it knows no words of", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@8411");
		const { lookup } = store;
		if (lookup === void 0) return;
		await store.add("r", many);
		const [one, some] = [await lookup.likeliest("r", [sought("common")], 1), await lookup.likeliest("r", [sought("common")], 200)];
		expect((some?.length ?? 199) - (one?.length ?? 0)).toBe(199);
	});
	check(kit, make, "V9 it knows at once what was added and what is gone", async (store) => {globalThis.__t?.("testing/contracts/message-store.js#anonymous@8793");
		const { lookup } = store;
		if (lookup === void 0) return;
		const stored = await store.add("r", many);
		await store.remove("r", [stored[50]?.place ?? 0, stored[299]?.place ?? 0]);
		await store.add("r", [entry("new", { content: "The lighthouse is new." })]);
		expect(await idsWith(store, lookup, sought("lighthouse"))).toEqual([
			"m150",
			"m250",
			"new"
		]);
		const asked = [
			"m50",
			"m51",
			"new",
			"never"
		].map((id) => ((globalThis.__t?.("testing/contracts/message-store.js#asked@9250"),({
			runId: "",
			id
		}))));
		const places = await lookup.placesOf("r", asked);
		expect(places.map((place) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@9360"),(place !== void 0)))).toEqual([
			false,
			true,
			true,
			false
		]);
		const found = await lookup.read("r", [
			...places.map((place) => (globalThis.__t?.("testing/contracts/message-store.js#found@9501"),(place ?? 0))),
			stored[50]?.place ?? 0,
			9999
		]);
		expect([found.messages.map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@9595"),(message.id))), found.damaged]).toEqual([["m51", "new"], 0]);
		expect(await lookup.placesOf("nobody", asked)).toEqual(asked.map(() => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@9738"),(void 0))));
		expect(await lookup.read("nobody", [1])).toEqual({
			messages: [],
			damaged: 0
		});
	});
}
function sought(word) {globalThis.__t?.("testing/contracts/message-store.js#sought@9851");
	return {
		word,
		isBeginning: true,
		wrongLetters: 2
	};
}
/** The ids of the messages that have the last of some words, misspelt or not, among those that are found. */
async function idsWith(store, lookup, ...words) {globalThis.__t?.("testing/contracts/message-store.js#idsWith@10048");
	const places = await lookup.likeliest("r", words, 10);
	const { messages } = await lookup.read("r", places ?? await store.places("r"));
	return messages.filter(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@10259"),(message.content.toLowerCase().includes("lighthouse")))).map(({ message }) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@10334"),(message.id)));
}
function entry(id, { runId = "", content = `words of ${id}` } = {}) {globalThis.__t?.("testing/contracts/message-store.js#entry@10366");
	return {
		runId,
		addedAt: 17e11,
		message: createMessage(content, {
			id,
			timestamp: 1
		})
	};
}
function entries(...ids) {globalThis.__t?.("testing/contracts/message-store.js#entries@10543");
	return ids.map((id) => (globalThis.__t?.("testing/contracts/message-store.js#anonymous@10586"),(entry(id))));
}
async function all(store, role, after = 0) {globalThis.__t?.("testing/contracts/message-store.js#all@10608");
	const messages = [];
	for await (const page of store.read(role, after)) messages.push(...page.messages);
	return messages;
}
async function vectors(store, fingerprint, after = 0) {globalThis.__t?.("testing/contracts/message-store.js#vectors@10779");
	const found = [];
	for await (const page of store.readVectors("r", fingerprint, after)) found.push(...page);
	return found;
}
export { messageStoreContract };
