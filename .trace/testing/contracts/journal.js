import { JournalError } from "../../kernel/errors.js";
import "../../runtime/record/event.js";
import { checkContract } from "./contract-kit.js";
// ../../work/wt/lead/src/testing/contracts/journal.ts
/**
* What every {@link Journal} must do, wherever it keeps its events.
*
* K1 a run is created once, and can be created again when it was removed. K2 a run that is not there is refused by its code. K3 only the
* newest epoch appends, until it is given back. K4 events follow each other without gap or overlap; a refused append leaves the record as it was, and of two that
* race for one place exactly one wins. K5 a reader sees a dense prefix from where it asked, also while others append. K6 what an `append`
* has resolved can be read. K7 events come back as they went in, and runs keep apart. K8 `runs` tells what is there. K9 closing twice is
* no error.
*/
function journalContract(kit, name, make) {globalThis.__t?.("testing/contracts/journal.js#journalContract@864");
	checkContract("journalContract", kit, name, make);
	kit.describe(`${name} keeps the contract of a journal`, () => {globalThis.__t?.("testing/contracts/journal.js#anonymous@1017");
		owningChecks(kit, make);
		releasingChecks(kit, make);
		writingChecks(kit, make);
		readingChecks(kit, make);
		listingChecks(kit, make);
	});
}
function check({ it }, make, title, body) {globalThis.__t?.("testing/contracts/journal.js#check@1173");
	it(title, async () => {globalThis.__t?.("testing/contracts/journal.js#anonymous@1228");
		const journal = await make();
		try {
			await body(journal);
		} finally {
			await journal.close();
		}
	});
}
function owningChecks(kit, make) {globalThis.__t?.("testing/contracts/journal.js#owningChecks@1357");
	const { expect } = kit;
	check(kit, make, "K1 creating a run twice is refused, and nothing of the first is lost", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@1507");
		await filled(journal, "a", 2);
		expect(await codeOf(journal.create("a"))).toBe("RUN_EXISTS");
		expect(await seqs(journal, "a")).toEqual([0, 1]);
	});
	check(kit, make, "K1 a removed run can be created again, and is empty then", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@1760");
		await filled(journal, "a", 3);
		await journal.remove("a");
		await journal.remove("a");
		await filled(journal, "a", 1);
		expect(await seqs(journal, "a")).toEqual([0]);
	});
	check(kit, make, "K2 what is asked of an unknown run is refused", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@2026");
		expect(await codeOf(journal.claim("nobody's"))).toBe("RUN_UNKNOWN");
		expect(await codeOf(journal.append("nobody's", 1, 0, [eventOf("nobody's", 0)]))).toBe("RUN_UNKNOWN");
		expect(await codeOf(seqs(journal, "nobody's"))).toBe("RUN_UNKNOWN");
	});
	check(kit, make, "K3 a new claim fences the former owner", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@2358");
		const former = await filled(journal, "a", 1);
		const latter = await journal.claim("a");
		expect(latter > former).toBe(true);
		expect(await codeOf(journal.append("a", former, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
		await journal.append("a", latter, 1, [eventOf("a", 1)]);
		expect(await seqs(journal, "a")).toEqual([0, 1]);
	});
	check(kit, make, "K3 an epoch that was never given cannot append, nor can who has not claimed", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@2816");
		await journal.create("unclaimed");
		for (const epoch of [0, 1]) expect(await codeOf(journal.append("unclaimed", epoch, 0, [eventOf("unclaimed", 0)]))).toBe("EPOCH_STALE");
		const epoch = await filled(journal, "a", 1);
		expect(await codeOf(journal.append("a", epoch + 1, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
	});
	check(kit, make, "K3 the owner of a removed run owns no other of its name", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@3239");
		const former = await filled(journal, "a", 1);
		await journal.remove("a");
		const latter = await filled(journal, "a", 1);
		expect(latter === former).toBe(false);
		expect(await codeOf(journal.append("a", former, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
		expect(await codeOf(journal.append("a", latter, 1, [eventOf("a", 1)]))).toBe("resolved");
	});
}
function releasingChecks(kit, make) {globalThis.__t?.("testing/contracts/journal.js#releasingChecks@3620");
	const { expect } = kit;
	check(kit, make, "K3 who gave a run back cannot append, and the next owner goes on", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@3769");
		const former = await filled(journal, "a", 1);
		await journal.release("a", former);
		expect(await codeOf(journal.append("a", former, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
		const latter = await journal.claim("a");
		expect(latter > former).toBe(true);
		await journal.append("a", latter, 1, [eventOf("a", 1)]);
		expect(await seqs(journal, "a")).toEqual([0, 1]);
	});
	check(kit, make, "K3 a stale epoch gives nothing back", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@4225");
		const former = await filled(journal, "a", 1);
		const latter = await journal.claim("a");
		expect(await codeOf(journal.release("a", former))).toBe("resolved");
		expect(await codeOf(journal.append("a", latter, 1, [eventOf("a", 1)]))).toBe("resolved");
	});
	check(kit, make, "K3 giving back what was given back, removed or never there is no error", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@4597");
		const epoch = await filled(journal, "a", 1);
		await journal.release("a", epoch);
		expect(await codeOf(journal.release("a", epoch))).toBe("resolved");
		await journal.remove("a");
		expect(await codeOf(journal.release("a", epoch))).toBe("resolved");
		expect(await codeOf(journal.release("nobody's", 1))).toBe("resolved");
	});
	check(kit, make, "K3 of a claim and a release that meet, the claim holds", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@5025");
		const former = await filled(journal, "a", 1);
		const [, latter] = await Promise.all([journal.release("a", former), journal.claim("a")]);
		expect(await codeOf(journal.append("a", latter, 1, [eventOf("a", 1)]))).toBe("resolved");
	});
}
function writingChecks(kit, make) {globalThis.__t?.("testing/contracts/journal.js#writingChecks@5285");
	const { expect } = kit;
	check(kit, make, "K4 an append that leaves a gap or overlaps is refused, and nothing of it is kept", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@5448");
		const epoch = await filled(journal, "a", 2);
		expect(await codeOf(journal.append("a", epoch, 3, [eventOf("a", 3)]))).toBe("SEQ_MISMATCH");
		expect(await codeOf(journal.append("a", epoch, 1, [eventOf("a", 1), eventOf("a", 2)]))).toBe("SEQ_MISMATCH");
		expect(await seqs(journal, "a")).toEqual([0, 1]);
		await journal.append("a", epoch, 2, [eventOf("a", 2)]);
		expect(await seqs(journal, "a")).toEqual([
			0,
			1,
			2
		]);
	});
	check(kit, make, "K4 of two appends that race for one place exactly one wins", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@5986");
		const epoch = await filled(journal, "a", 1);
		const outcomes = await Promise.all([1, 2].map((word) => (globalThis.__t?.("testing/contracts/journal.js#outcomes@6102"),(codeOf(journal.append("a", epoch, 1, [eventOf("a", 1, String(word))]))))));
		expect(outcomes.toSorted()).toEqual(["SEQ_MISMATCH", "resolved"]);
		expect(await seqs(journal, "a")).toEqual([0, 1]);
	});
	check(kit, make, "K4 what comes together for several runs is kept together, and one that is refused harms no other", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@6430");
		const names = [
			"a",
			"b",
			"c",
			"d"
		];
		const epochs = await Promise.all(names.map((name) => (globalThis.__t?.("testing/contracts/journal.js#epochs@6550"),(filled(journal, name, 1)))));
		const outcomes = await Promise.all(names.map((name, place) => (globalThis.__t?.("testing/contracts/journal.js#outcomes@6635"),(codeOf(journal.append(name, epochs[place] ?? 0, name === "c" ? 7 : 1, [eventOf(name, name === "c" ? 7 : 1)]))))));
		expect(outcomes).toEqual([
			"resolved",
			"resolved",
			"SEQ_MISMATCH",
			"resolved"
		]);
		expect(await Promise.all(names.map(async (name) => (globalThis.__t?.("testing/contracts/journal.js#anonymous@6900"),((await seqs(journal, name)).length))))).toEqual([
			2,
			2,
			1,
			2
		]);
	});
	check(kit, make, "K6 an append of many, of one, and of none", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@7061");
		const epoch = await filled(journal, "a", 500);
		await journal.append("a", epoch, 500, []);
		await journal.append("a", epoch, 500, [eventOf("a", 500)]);
		expect((await seqs(journal, "a")).length).toBe(501);
	});
	check(kit, make, "K7 events come back as they went in", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@7355");
		await journal.create("a");
		const epoch = await journal.claim("a");
		const events = [
			"",
			"\0 and \x1B[2J",
			"line\nbreak\r\n",
			"\"quotes\" \\ and \u2028",
			"Umlaute äöü, 猫 and 🎭",
			"__proto__"
		].map((word, seq) => (globalThis.__t?.("testing/contracts/journal.js#events@7598"),(eventOf("a", seq, word))));
		await journal.append("a", epoch, 0, events);
		expect(await all(journal, "a", 0)).toEqual(events);
	});
}
function readingChecks(kit, make) {globalThis.__t?.("testing/contracts/journal.js#readingChecks@7747");
	const { expect } = kit;
	check(kit, make, "K5 a reader gets what follows from where it asked", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@7879");
		await filled(journal, "a", 4);
		expect((await all(journal, "a", 2)).map((event) => (globalThis.__t?.("testing/contracts/journal.js#anonymous@7975"),(event.seq)))).toEqual([2, 3]);
		expect(await all(journal, "a", 4)).toEqual([]);
		expect(await all(journal, "a", 99)).toEqual([]);
	});
	check(kit, make, "K5 a reader sees a dense prefix while others append", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@8194");
		const epoch = await filled(journal, "a", 3);
		const seen = [];
		for await (const event of journal.read("a", 0)) {
			seen.push(event.seq);
			if (seen.length <= 3) await journal.append("a", epoch, 2 + seen.length, [eventOf("a", 2 + seen.length)]);
		}
		expect(seen.length >= 3).toBe(true);
		expect(seen).toEqual(seen.map((_, place) => (globalThis.__t?.("testing/contracts/journal.js#anonymous@8542"),(place))));
		expect(await seqs(journal, "a")).toEqual([
			0,
			1,
			2,
			3,
			4,
			5
		]);
	});
	check(kit, make, "K5 a reader that leaves early, and two at once, disturb nobody", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@8740");
		await filled(journal, "a", 3);
		for await (const event of journal.read("a", 0)) if (event.seq === 1) break;
		expect(await Promise.all([seqs(journal, "a"), seqs(journal, "a")])).toEqual([[
			0,
			1,
			2
		], [
			0,
			1,
			2
		]]);
	});
}
function listingChecks(kit, make) {globalThis.__t?.("testing/contracts/journal.js#listingChecks@9008");
	const { expect } = kit;
	check(kit, make, "K7 runs keep apart", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@9109");
		await filled(journal, "a", 2);
		await filled(journal, "b", 3);
		await journal.remove("a");
		expect(await codeOf(seqs(journal, "a"))).toBe("RUN_UNKNOWN");
		expect((await all(journal, "b", 0)).map((event) => (globalThis.__t?.("testing/contracts/journal.js#anonymous@9331"),(event.runId)))).toEqual([
			"b",
			"b",
			"b"
		]);
	});
	check(kit, make, "K8 the runs that are there, with how much is known of them", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@9480");
		expect(await journal.runs()).toEqual([]);
		await journal.create("empty");
		await filled(journal, "a", 2);
		const runs = (await journal.runs()).map(({ runId, events }) => (globalThis.__t?.("testing/contracts/journal.js#runs@9653"),(`${runId}: ${events}`)));
		expect(runs.toSorted()).toEqual(["a: 2", "empty: 0"]);
	});
	check(kit, make, "K9 closing twice is no error", async (journal) => {globalThis.__t?.("testing/contracts/journal.js#anonymous@9812");
		await filled(journal, "a", 1);
		expect([await codeOf(journal.close()), await codeOf(journal.close())]).toEqual(["resolved", "resolved"]);
	});
}
function eventOf(runId, seq, team = "contract") {globalThis.__t?.("testing/contracts/journal.js#eventOf@9981");
	return {
		v: 1,
		runId,
		seq,
		time: 17e11 + seq,
		type: "run.started",
		team,
		roles: [],
		seed: "1",
		scheduler: "rounds"
	};
}
async function filled(journal, runId, count) {globalThis.__t?.("testing/contracts/journal.js#filled@10171");
	await journal.create(runId);
	const epoch = await journal.claim(runId);
	await journal.append(runId, epoch, 0, Array.from({ length: count }, (_, seq) => (globalThis.__t?.("testing/contracts/journal.js#anonymous@10360"),(eventOf(runId, seq)))));
	return epoch;
}
async function all(journal, runId, from) {globalThis.__t?.("testing/contracts/journal.js#all@10412");
	const events = [];
	for await (const event of journal.read(runId, from)) events.push(event);
	return events;
}
async function seqs(journal, runId) {globalThis.__t?.("testing/contracts/journal.js#seqs@10567");
	return (await all(journal, runId, 0)).map((event) => (globalThis.__t?.("testing/contracts/journal.js#anonymous@10648"),(event.seq)));
}
async function codeOf(work) {globalThis.__t?.("testing/contracts/journal.js#codeOf@10673");
	try {
		await work;
		return "resolved";
	} catch (error) {
		return error instanceof JournalError ? error.code : `no JournalError: ${String(error)}`;
	}
}
export { journalContract };
