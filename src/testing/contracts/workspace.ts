import { createHash } from "node:crypto";
import type { CommitRequest, Workspace, WorkspaceLimits } from "../../workspace/workspace.ts";
import { checkContractObject, codeOf, type ContractKit } from "./contract-kit.ts";

export interface WorkspaceContract {
  readonly name: string;
  /** Makes an empty workspace with these limits, or the default ones. */
  readonly make: (limits?: Partial<WorkspaceLimits>) => Promise<Workspace>;
  /** True when it keeps history, so that `commit` gives ids. */
  readonly keepsHistory: boolean;
}

interface WorkspaceChecks {
  check(title: string, body: (workspace: Workspace) => Promise<void>, limits?: Partial<WorkspaceLimits>): void;
  readonly expect: ContractKit["expect"];
}

/** Paths that no workspace may take, each for a reason of its own. */
const forbiddenPaths: readonly string[] = [
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
  "escape\u001b[2J.txt",
  "right\u202eto-left.txt",
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
  ".app.js.0123456789ab.troupe-tmp",
];

/** The contract of every {@link Workspace}. */
export function workspaceContract(kit: ContractKit, contract: WorkspaceContract): void {
  checkContractObject("workspaceContract", kit, contract);
  kit.describe(`${contract.name} keeps the contract of a workspace`, () => {
    const checks: WorkspaceChecks = {
      expect: kit.expect,
      check: (title, body, limits) => kit.it(title, async () => body(await contract.make(limits))),
    };
    fileBehaviour(checks);
    listBehaviour(checks);
    pathBehaviour(checks);
    limitBehaviour(checks);
    commitBehaviour(checks, contract);
  });
}

function fileBehaviour({ check, expect }: WorkspaceChecks): void {
  check("reads what was written, in any folder", async (workspace) => {
    const written = await workspace.write("src/deep/app.js", "let ä = '𝒜';\n");
    const bytes = Buffer.from("let ä = '𝒜';\n");
    expect(written).toEqual({ path: "src/deep/app.js", bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
    expect(await workspace.read("src/deep/app.js")).toEqual("let ä = '𝒜';\n");
  });

  check("takes a leading ./ and doubled slashes for the same path", async (workspace) => {
    expect((await workspace.write("./src//./app.js", "1")).path).toEqual("src/app.js");
    expect(await workspace.read("src/app.js")).toEqual("1");
  });

  check("gives the bytes of a file within the bound that is named, and follows the same rules of paths", async (workspace) => {
    await workspace.write("a.txt", "ä");
    expect([...((await workspace.readBytes("a.txt", 2)) ?? [])]).toEqual([0xc3, 0xa4]);
    expect(await workspace.readBytes("missing.txt", 2)).toEqual(undefined);
    expect(await codeOf(() => workspace.readBytes("a.txt", 1))).toEqual("WORKSPACE_LIMIT");
    expect(await codeOf(() => workspace.readBytes("../a.txt", 1))).toEqual("WORKSPACE_PATH");
  });

  check("writes bytes as they are, and the same again without a difference", async (workspace) => {
    const bytes = Uint8Array.from([0x89, 0x50, 0, 0xff, 0xfe, 0x80]);
    const written = await workspace.write("a.bin", bytes);
    expect(written).toEqual({ path: "a.bin", bytes: 6, sha256: createHash("sha256").update(bytes).digest("hex") });
    expect([...((await workspace.readBytes("a.bin", 6)) ?? [])]).toEqual([...bytes]);
    expect(await workspace.write("a.bin", bytes)).toEqual(written);
    await workspace.write("a.bin", "text");
    expect(await workspace.read("a.bin")).toEqual("text");
  });

  check("knows an empty file from a missing one", async (workspace) => {
    await workspace.write("empty.txt", "");
    expect(await workspace.read("empty.txt")).toEqual("");
    expect(await workspace.read("missing.txt")).toEqual(undefined);
    expect(await workspace.read("no/such/folder.txt")).toEqual(undefined);
  });

  check("Workspace.W3 writes the same again without a difference", async (workspace) => {
    const first = await workspace.write("a.txt", "one");
    expect(await workspace.write("a.txt", "one")).toEqual(first);
    await workspace.write("a.txt", "two");
    expect(await workspace.read("a.txt")).toEqual("two");
  });

  check("Workspace.W3 removes a file once, and again without complaint", async (workspace) => {
    await workspace.write("a.txt", "one");
    await workspace.remove("a.txt");
    await workspace.remove("a.txt");
    expect(await workspace.read("a.txt")).toEqual(undefined);
    expect(await workspace.list()).toEqual([]);
  });
}

function listBehaviour({ check, expect }: WorkspaceChecks): void {
  check("lists files sorted by code unit, all or below a folder", async (workspace) => {
    expect(await workspace.list()).toEqual([]);
    for (const path of ["b.txt", "src/z.js", "src-more/a.js", "src/a/b.js", "B.txt"]) await workspace.write(path, path);
    expect(await workspace.list()).toEqual(["B.txt", "b.txt", "src-more/a.js", "src/a/b.js", "src/z.js"]);
    expect(await workspace.list("src")).toEqual(["src/a/b.js", "src/z.js"]);
    expect(await workspace.list("./src/a")).toEqual(["src/a/b.js"]);
    expect(await workspace.list("nowhere")).toEqual([]);
    expect(await workspace.list("b.txt")).toEqual([]);
  });

  check("keeps a file's last content when many write it at once", async (workspace) => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => workspace.write("race.txt", `content ${n}`)));
    expect(await workspace.read("race.txt")).toEqual("content 19");
    expect(await workspace.list()).toEqual(["race.txt"]);
  });
}

function pathBehaviour({ check, expect }: WorkspaceChecks): void {
  for (const path of forbiddenPaths) {
    check(`Workspace.W1 refuses ${JSON.stringify(path.slice(0, 40))}`, async (workspace) => {
      expect(await codeOf(() => workspace.write(path, "x"))).toEqual("WORKSPACE_PATH");
      expect(await codeOf(() => workspace.read(path))).toEqual("WORKSPACE_PATH");
      expect(await codeOf(() => workspace.remove(path))).toEqual("WORKSPACE_PATH");
      expect(await codeOf(() => workspace.list(path))).toEqual("WORKSPACE_PATH");
      expect(await workspace.list()).toEqual([]);
    });
  }

  check("has no empty folders: a file may stand where one was", async (workspace) => {
    await workspace.write("lib/deep/a.js", "1");
    await workspace.write("lib/b.js", "1");
    await workspace.remove("lib/deep/a.js");
    await workspace.write("lib/deep", "2");
    await workspace.remove("lib/deep");
    await workspace.remove("lib/b.js");
    await workspace.write("lib", "3");
    expect(await workspace.list()).toEqual(["lib"]);
  });

  check("refuses a file in place of a folder, and a folder in place of a file", async (workspace) => {
    await workspace.write("src/app.js", "1");
    expect(await codeOf(() => workspace.write("src", "x"))).toEqual("WORKSPACE_PATH");
    expect(await codeOf(() => workspace.write("src/app.js/more.js", "x"))).toEqual("WORKSPACE_PATH");
    expect(await codeOf(() => workspace.read("src"))).toEqual("WORKSPACE_PATH");
    expect(await workspace.list()).toEqual(["src/app.js"]);
  });
}

function limitBehaviour({ check, expect }: WorkspaceChecks): void {
  check(
    "Workspace.W5 refuses one file too many, and takes it when another has gone",
    async (workspace) => {
      await workspace.write("a.txt", "1");
      await workspace.write("b.txt", "1");
      expect(await codeOf(() => workspace.write("c.txt", "1"))).toEqual("WORKSPACE_LIMIT");
      await workspace.write("a.txt", "2");
      await workspace.remove("a.txt");
      await workspace.write("c.txt", "1");
      expect(await workspace.list()).toEqual(["b.txt", "c.txt"]);
    },
    { files: 2 },
  );

  check("refuses two thousand files and keeps those before the limit", async (workspace) => {
    const codes = await Promise.all(Array.from({ length: 2_000 }, (_, n) => codeOf(() => workspace.write(`f/${n}.txt`, "x"))));
    expect(codes.filter((code) => code === "resolved").length).toEqual(500);
    expect(codes.slice(500).every((code) => code === "WORKSPACE_LIMIT")).toEqual(true);
    expect((await workspace.list()).length).toEqual(500);
  });

  check(
    "refuses a huge file by its bytes, not its characters, and leaves the old one",
    async (workspace) => {
      await workspace.write("a.txt", "0123456789");
      expect(await codeOf(() => workspace.write("a.txt", "ääääää"))).toEqual("WORKSPACE_LIMIT");
      expect(await workspace.read("a.txt")).toEqual("0123456789");
    },
    { fileBytes: 10 },
  );

  check(
    "refuses too many bytes in all, and counts a rewritten file once",
    async (workspace) => {
      for (let n = 0; n < 5; n++) await workspace.write("a.txt", "123456");
      expect(await codeOf(() => workspace.write("b.txt", "12345"))).toEqual("WORKSPACE_LIMIT");
      await workspace.write("b.txt", "1234");
      expect(await workspace.read("b.txt")).toEqual("1234");
    },
    { bytes: 10 },
  );
}

function commitBehaviour({ check, expect }: WorkspaceChecks, { make, keepsHistory }: WorkspaceContract): void {
  const request: CommitRequest = {
    message: "Write the code",
    author: "Engineer",
    date: 1_700_000_000_000,
    trailers: { "Troupe-Message": "m1" },
  };

  check("refuses arguments of another kind, and changes nothing", async (workspace) => {
    await workspace.write("a.txt", "1");
    const { write, read, readBytes, commit } = workspace as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>;
    const wrong = [
      () => write?.call(workspace, "b.txt", 5),
      () => read?.call(workspace, 5),
      () => readBytes?.call(workspace, "a.txt"),
      () => commit?.call(workspace),
      () => commit?.call(workspace, { message: "Write the code" }),
      () => commit?.call(workspace, { ...request, paths: "a.txt" }),
    ];
    for (const call of wrong) expect((await codeOf(async () => call())).replace("OPTION", "ARGUMENT")).toEqual("ARGUMENT_INVALID");
    expect([await workspace.list(), workspace.pending]).toEqual([["a.txt"], ["a.txt"]]);
  });

  check("Workspace.W3 commits a change once", async (workspace) => {
    expect(await workspace.commit(request)).toEqual(undefined);
    await workspace.write("a.txt", "1");
    expect(typeof (await workspace.commit(request))).toEqual(keepsHistory ? "string" : "undefined");
    expect(await workspace.commit(request)).toEqual(undefined);
    await workspace.write("a.txt", "1");
    expect(await workspace.commit(request)).toEqual(undefined);
    await workspace.write("b.txt", "1");
    await workspace.remove("b.txt");
    expect(await workspace.commit(request)).toEqual(undefined);
  });

  check("Workspace.W3 commits a key once, whatever was committed since, unless the contents differ", async (workspace) => {
    const made = async (content: string, key?: string): Promise<boolean> => {
      await workspace.write("a.txt", content);
      return (await workspace.commit({ ...request, ...(key === undefined ? {} : { key }) })) !== undefined;
    };
    const reported = [await made("1", "k1"), await made("2", "k2"), await made("1", "k1"), await made("2", "k2")];
    expect(reported).toEqual([keepsHistory, keepsHistory, false, false]);
    expect([await made("1"), await made("3", "k1"), await made("1", "k3")]).toEqual([keepsHistory, keepsHistory, keepsHistory]);
    expect(workspace.pending).toEqual([]);
  });

  check("commits a removal", async (workspace) => {
    await workspace.write("a.txt", "1");
    await workspace.write("b.txt", "1");
    await workspace.commit(request);
    await workspace.remove("a.txt");
    expect(typeof (await workspace.commit(request))).toEqual(keepsHistory ? "string" : "undefined");
    expect(await workspace.list()).toEqual(["b.txt"]);
  });

  check("commits only the paths named and keeps the others for later", async (workspace) => {
    await workspace.write("a.txt", "1");
    await workspace.write("b.txt", "1");
    await workspace.commit({ ...request, paths: ["a.txt"] });
    expect(await workspace.commit({ ...request, paths: ["a.txt"] })).toEqual(undefined);
    expect(typeof (await workspace.commit(request))).toEqual(keepsHistory ? "string" : "undefined");
  });

  check("gives equal ids to equal histories, and other ids to other dates", async () => {
    const ids = await Promise.all([0, 0, 60_000].map((later) => historyOf(make, request, later)));
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2] === ids[0]).toEqual(!keepsHistory);
  });
}

async function historyOf(make: WorkspaceContract["make"], request: CommitRequest, later: number): Promise<string | undefined> {
  const workspace = await make();
  await workspace.write("src/a.js", "1");
  await workspace.commit(request);
  await workspace.write("src/b.js", "2");
  return workspace.commit({ ...request, date: request.date + later });
}
