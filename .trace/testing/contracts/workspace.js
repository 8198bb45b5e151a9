import { TroupeError } from "../../kernel/troupe-error.js";
import "../../kernel/errors.js";
import { checkToldContract } from "./contract-kit.js";
import { createHash } from "node:crypto";
// ../../work/wt/lead/src/testing/contracts/workspace.ts
/** Paths that no workspace may take, each for a reason of its own. */
const forbiddenPaths = [
	"",
	".",
	"./",
	"/etc/passwd",
	"../outside.txt",
	"src/../../outside.txt",
	"src/..",
	"C:\\Windows\\win.ini",
	"c:/windows/win.ini",
	"src\\app.js",
	"nul\0byte.txt",
	"line\nbreak.txt",
	"escape\x1B[2J.txt",
	"right‮to-left.txt",
	".git/config",
	"src/.GIT/hooks/pre-commit",
	"git~1/config",
	".troupe/runs.db",
	"node_modules/left-pad/index.js",
	"CON",
	"docs/aux.txt",
	"com1.js",
	"trailing./a.txt",
	"trailing /a.txt",
	"src/app.js/",
	"stream.txt:hidden",
	"what?.txt",
	`${"a".repeat(256)}.txt`,
	"a/".repeat(60) + "b.txt",
	".app.js.0123456789ab.troupe-tmp"
];
/** The behaviour every {@link Workspace} has, as tests. */
function workspaceContract(kit, contract) {globalThis.__t?.("testing/contracts/workspace.js#workspaceContract@979");
	checkToldContract("workspaceContract", kit, contract);
	kit.describe(`${contract.name} keeps the contract of a workspace`, () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@1147");
		fileBehaviour(kit, contract);
		listBehaviour(kit, contract);
		pathBehaviour(kit, contract);
		limitBehaviour(kit, contract);
		commitBehaviour(kit, contract);
	});
}
function fileBehaviour(kit, { make }) {globalThis.__t?.("testing/contracts/workspace.js#fileBehaviour@1325");
	const { it, expect } = kit;
	it("reads what was written, in any folder", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@1439");
		const workspace = await make();
		const written = await workspace.write("src/deep/app.js", "let ä = '𝒜';\n");
		const bytes = Buffer.from("let ä = '𝒜';\n");
		expect(written).toEqual({
			path: "src/deep/app.js",
			bytes: bytes.length,
			sha256: createHash("sha256").update(bytes).digest("hex")
		});
		expect(await workspace.read("src/deep/app.js")).toEqual("let ä = '𝒜';\n");
	});
	it("takes a leading ./ and doubled slashes for the same path", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@1907");
		const workspace = await make();
		expect((await workspace.write("./src//./app.js", "1")).path).toEqual("src/app.js");
		expect(await workspace.read("src/app.js")).toEqual("1");
	});
	it("gives the bytes of a file within the bound that is named, and follows the same rules of paths", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@2206");
		const workspace = await make();
		await workspace.write("a.txt", "ä");
		expect([...await workspace.readBytes("a.txt", 2) ?? []]).toEqual([195, 164]);
		expect(await workspace.readBytes("missing.txt", 2)).toEqual(void 0);
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@2466"),(workspace.readBytes("a.txt", 1))))).toEqual("WORKSPACE_LIMIT");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@2556"),(workspace.readBytes("../a.txt", 1))))).toEqual("WORKSPACE_PATH");
	});
	it("knows an empty file from a missing one", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@2677");
		const workspace = await make();
		await workspace.write("empty.txt", "");
		expect(await workspace.read("empty.txt")).toEqual("");
		expect(await workspace.read("missing.txt")).toEqual(void 0);
		expect(await workspace.read("no/such/folder.txt")).toEqual(void 0);
	});
	it("W3 writes the same again without a difference", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@3015");
		const workspace = await make();
		const first = await workspace.write("a.txt", "one");
		expect(await workspace.write("a.txt", "one")).toEqual(first);
		await workspace.write("a.txt", "two");
		expect(await workspace.read("a.txt")).toEqual("two");
	});
	it("W3 removes a file once, and again without complaint", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@3343");
		const workspace = await make();
		await workspace.write("a.txt", "one");
		await workspace.remove("a.txt");
		await workspace.remove("a.txt");
		expect(await workspace.read("a.txt")).toEqual(void 0);
		expect(await workspace.list()).toEqual([]);
	});
}
function listBehaviour(kit, { make }) {globalThis.__t?.("testing/contracts/workspace.js#listBehaviour@3612");
	const { it, expect } = kit;
	it("lists files sorted by code unit, all or below a folder", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@3743");
		const workspace = await make();
		expect(await workspace.list()).toEqual([]);
		for (const path of [
			"b.txt",
			"src/z.js",
			"src-more/a.js",
			"src/a/b.js",
			"B.txt"
		]) await workspace.write(path, path);
		expect(await workspace.list()).toEqual([
			"B.txt",
			"b.txt",
			"src-more/a.js",
			"src/a/b.js",
			"src/z.js"
		]);
		expect(await workspace.list("src")).toEqual(["src/a/b.js", "src/z.js"]);
		expect(await workspace.list("./src/a")).toEqual(["src/a/b.js"]);
		expect(await workspace.list("nowhere")).toEqual([]);
		expect(await workspace.list("b.txt")).toEqual([]);
	});
	it("keeps a file's last content when many write it at once", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@4416");
		const workspace = await make();
		await Promise.all(Array.from({ length: 20 }, (_, n) => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@4511"),(workspace.write("race.txt", `content ${n}`)))));
		expect(await workspace.read("race.txt")).toEqual("content 19");
		expect(await workspace.list()).toEqual(["race.txt"]);
	});
}
function pathBehaviour(kit, { make }) {globalThis.__t?.("testing/contracts/workspace.js#pathBehaviour@4697");
	const { it, expect } = kit;
	for (const path of forbiddenPaths) it(`W1 refuses ${JSON.stringify(path.slice(0, 40))}`, async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@4856");
		const workspace = await make();
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@4926"),(workspace.write(path, "x"))))).toEqual("WORKSPACE_PATH");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@5010"),(workspace.read(path))))).toEqual("WORKSPACE_PATH");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@5088"),(workspace.remove(path))))).toEqual("WORKSPACE_PATH");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@5168"),(workspace.list(path))))).toEqual("WORKSPACE_PATH");
		expect(await workspace.list()).toEqual([]);
	});
	it("has no empty folders: a file may stand where one was", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@5335");
		const workspace = await make();
		await workspace.write("lib/deep/a.js", "1");
		await workspace.write("lib/b.js", "1");
		await workspace.remove("lib/deep/a.js");
		await workspace.write("lib/deep", "2");
		await workspace.remove("lib/deep");
		await workspace.remove("lib/b.js");
		await workspace.write("lib", "3");
		expect(await workspace.list()).toEqual(["lib"]);
	});
	it("refuses a file in place of a folder, and a folder in place of a file", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@5802");
		const workspace = await make();
		await workspace.write("src/app.js", "1");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@5916"),(workspace.write("src", "x"))))).toEqual("WORKSPACE_PATH");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@6001"),(workspace.write("src/app.js/more.js", "x"))))).toEqual("WORKSPACE_PATH");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@6101"),(workspace.read("src"))))).toEqual("WORKSPACE_PATH");
		expect(await workspace.list()).toEqual(["src/app.js"]);
	});
}
function limitBehaviour(kit, { make }) {globalThis.__t?.("testing/contracts/workspace.js#limitBehaviour@6223");
	const { it, expect } = kit;
	it("W5 refuses one file too many, and takes it when another has gone", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@6365");
		const workspace = await make({ files: 2 });
		await workspace.write("a.txt", "1");
		await workspace.write("b.txt", "1");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@6525"),(workspace.write("c.txt", "1"))))).toEqual("WORKSPACE_LIMIT");
		await workspace.write("a.txt", "2");
		await workspace.remove("a.txt");
		await workspace.write("c.txt", "1");
		expect(await workspace.list()).toEqual(["b.txt", "c.txt"]);
	});
	it("refuses ten thousand files and keeps those before the limit", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@6838");
		const workspace = await make();
		const codes = await Promise.all(Array.from({ length: 1e4 }, (_, n) => (globalThis.__t?.("testing/contracts/workspace.js#codes@6948"),(codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@6965"),(workspace.write(`f/${n}.txt`, "x"))))))));
		expect(codes.filter((code) => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@7032"),(code === "")))).toEqual(Array.from({ length: 500 }, () => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@7092"),(""))));
		expect(codes.slice(500).every((code) => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@7136"),(code === "WORKSPACE_LIMIT")))).toEqual(true);
		expect((await workspace.list()).length).toEqual(500);
	});
	it("refuses a huge file by its bytes, not its characters, and leaves the old one", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@7335");
		const workspace = await make({ fileBytes: 10 });
		await workspace.write("a.txt", "0123456789");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@7470"),(workspace.write("a.txt", "ääääää"))))).toEqual("WORKSPACE_LIMIT");
		expect(await workspace.read("a.txt")).toEqual("0123456789");
	});
	it("refuses too many bytes in all, and counts a rewritten file once", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@7680");
		const workspace = await make({ bytes: 10 });
		for (let n = 0; n < 5; n++) await workspace.write("a.txt", "123456");
		expect(await codeOf(() => (globalThis.__t?.("testing/contracts/workspace.js#anonymous@7835"),(workspace.write("b.txt", "12345"))))).toEqual("WORKSPACE_LIMIT");
		await workspace.write("b.txt", "1234");
		expect(await workspace.read("b.txt")).toEqual("1234");
	});
}
function commitBehaviour(kit, { make, keepsHistory }) {globalThis.__t?.("testing/contracts/workspace.js#commitBehaviour@8011");
	const { it, expect } = kit;
	const request = {
		message: "Write the code",
		author: "Engineer",
		date: 17e11,
		trailers: { "Troupe-Message": "m1" }
	};
	it("W3 commits a change once", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@8256");
		const workspace = await make();
		expect(await workspace.commit(request)).toEqual(void 0);
		await workspace.write("a.txt", "1");
		expect(typeof await workspace.commit(request)).toEqual(keepsHistory ? "string" : "undefined");
		expect(await workspace.commit(request)).toEqual(void 0);
		await workspace.write("a.txt", "1");
		expect(await workspace.commit(request)).toEqual(void 0);
		await workspace.write("b.txt", "1");
		await workspace.remove("b.txt");
		expect(await workspace.commit(request)).toEqual(void 0);
	});
	it("commits a removal", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@8819");
		const workspace = await make();
		await workspace.write("a.txt", "1");
		await workspace.write("b.txt", "1");
		await workspace.commit(request);
		await workspace.remove("a.txt");
		expect(typeof await workspace.commit(request)).toEqual(keepsHistory ? "string" : "undefined");
		expect(await workspace.list()).toEqual(["b.txt"]);
	});
	it("commits only the paths named and keeps the others for later", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@9237");
		const workspace = await make();
		await workspace.write("a.txt", "1");
		await workspace.write("b.txt", "1");
		await workspace.commit({
			...request,
			paths: ["a.txt"]
		});
		expect(await workspace.commit({
			...request,
			paths: ["a.txt"]
		})).toEqual(void 0);
		expect(typeof await workspace.commit(request)).toEqual(keepsHistory ? "string" : "undefined");
	});
	it("gives equal ids to equal histories, and other ids to other dates", async () => {globalThis.__t?.("testing/contracts/workspace.js#anonymous@9697");
		const ids = await Promise.all([
			0,
			0,
			6e4
		].map((later) => (globalThis.__t?.("testing/contracts/workspace.js#ids@9772"),(historyOf(make, request, later)))));
		expect(ids[1]).toEqual(ids[0]);
		expect(ids[2] === ids[0]).toEqual(!keepsHistory);
	});
}
async function historyOf(make, request, later) {globalThis.__t?.("testing/contracts/workspace.js#historyOf@9911");
	const workspace = await make();
	await workspace.write("src/a.js", "1");
	await workspace.commit(request);
	await workspace.write("src/b.js", "2");
	return workspace.commit({
		...request,
		date: request.date + later
	});
}
/** The code of the typed error that some work ends with; empty when it ends well. Any other error is passed on. */
async function codeOf(work) {globalThis.__t?.("testing/contracts/workspace.js#codeOf@10302");
	try {
		await work();
		return "";
	} catch (error) {
		if (error instanceof TroupeError) return error.code;
		throw error;
	}
}
export { workspaceContract };
