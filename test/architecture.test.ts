import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undocumented, violations } from "./architecture/laws.ts";
import { entryPoints, manifest, readHouse, root } from "./architecture/read-house.ts";
import { ROOMS } from "./architecture/rooms.ts";

const product = readHouse(["src", "actions", "roles"]);
const house = new Map([...product, ...readHouse(["examples", "test"])]);
const ownNames = entryPoints.map((entry) => entry.name);

describe("the house", () => {
  it("is read: every room of the core has files", () => {
    const empty = ROOMS.filter((room) => room.kind === "core" && room.name !== "tool" && room.name !== "agent");
    expect(empty.filter((room) => ![...product.keys()].some((path) => path.startsWith(`src/${room.name}/`)))).toEqual([]);
  });

  it("keeps its laws", () => {
    expect(violations(house, ownNames).map(({ law, at, what }) => `${law}: ${at}: ${what}`)).toEqual([]);
  });
});

describe.each(entryPoints)("$name", ({ source }) => {
  it("documents everything it exports", () => {
    expect(undocumented(house, source)).toEqual([]);
  });

  it("exports what it is known to export", async () => {
    expect(await exportsOf(source)).toMatchSnapshot();
  });
});

describe("the main entry point", () => {
  it("exports at most 62 values", async () => {
    expect((await exportsOf("src/index.ts")).length).toBeLessThanOrEqual(62);
  });
});

describe("the command line", () => {
  it("loads no package but the one that reads its options to print its help", () => {
    const loaded = scriptsLoadedBy([manifest.bin["troupe"] ?? "", "--help"]);
    expect(loaded).toContainEqual(expect.stringContaining("/dist/src/cli/"));
    const packages = loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
    expect([...new Set(packages)]).toEqual(["commander"]);
  });
});

async function exportsOf(source: string): Promise<string[]> {
  return Object.keys((await import(join(root, source))) as object).sort();
}

/** Every script V8 evaluated, from the coverage that Node writes at exit: the same on all versions of Node, and nothing is hooked. */
function scriptsLoadedBy(command: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "troupe-coverage-"));
  try {
    const ended = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8", env: { ...process.env, NODE_V8_COVERAGE: folder } });
    expect(ended, ended.stderr).toMatchObject({ status: 0 });
    return readdirSync(folder).flatMap((file) => {
      const report = JSON.parse(readFileSync(join(folder, file), "utf8")) as { result: { url: string }[] };
      return report.result.map((script) => script.url);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
