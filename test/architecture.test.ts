import { describe, expect, it } from "vitest";
import { undocumented, violations } from "./architecture/laws.ts";
import { LINES, linesOf, MAX_LINES, MAX_NAMES, NAMES, namesOf, sum } from "./architecture/sizes.ts";
import { entryPoints, readHouse } from "./architecture/read-house.ts";
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
});

describe("the sizes", () => {
  it("of the rooms are within their budgets of lines", () => {
    const lines = linesOf();
    const over = [...lines].filter(([room, count]) => !(count <= (LINES[room] ?? 0)));
    expect(over).toEqual([]);
    expect(sum(LINES)).toBeLessThanOrEqual(MAX_LINES);
  });

  it("of the entries are within their budgets of names", () => {
    const over = [...namesOf(house)].filter(([entry, names]) => !(names.length <= (NAMES[entry] ?? 0)));
    expect(over).toEqual([]);
    expect(sum(NAMES)).toBeLessThanOrEqual(MAX_NAMES);
  });
});
