import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undocumented, violations } from "./architecture/laws.ts";
import { entryPoints, readHouse, root } from "./architecture/read-house.ts";
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
  it("exports at most 64 values", async () => {
    expect((await exportsOf("src/index.ts")).length).toBeLessThanOrEqual(64);
  });
});

async function exportsOf(source: string): Promise<string[]> {
  return Object.keys((await import(join(root, source))) as object).sort();
}
