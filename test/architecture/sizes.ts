import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exportedNames } from "./laws.ts";
import { entryPoints, filesBelow, root } from "./read-house.ts";
import type { House } from "./laws.ts";

/**
 * The budgets of the house: lines for each room, and names for each entry. A change that needs more raises its budget in the same commit and
 * gives the reason in its subject.
 */

/** Lines of the product. */
export const MAX_LINES = 121_338;
/** Names of all entries. */
export const MAX_NAMES = 968;

/** Lines of all files of a room, whatever their extension. */
export const LINES: Readonly<Record<string, number>> = {
  actions: 3_858,
  roles: 2_547,
  adapters: 13_115,
  agent: 4_289,
  checks: 5_031,
  cli: 11_753,
  client: 855,
  edges: 424,
  fleet: 2_001,
  src: 214,
  inspector: 9_707,
  kernel: 3_072,
  memory: 6_469,
  message: 819,
  model: 4_903,
  research: 7_555,
  role: 2_769,
  runtime: 15_144,
  server: 3_550,
  shards: 835,
  team: 3_642,
  testing: 5_439,
  tool: 3_013,
  tools: 3_978,
  workspace: 6_171,
};

/** Names that an entry adds to those of the entries before it: values, types and members of exported namespaces. */
export const NAMES: Readonly<Record<string, number>> = {
  troupe: 256,
  "troupe/agents": 92,
  "troupe/tools": 46,
  "troupe/limits": 12,
  "troupe/memory": 26,
  "troupe/mcp": 7,
  "troupe/otel": 4,
  "troupe/openai": 4,
  "troupe/sqlite": 9,
  "troupe/postgres": 11,
  "troupe/files": 2,
  "troupe/objects": 10,
  "troupe/redis": 2,
  "troupe/graphile": 1,
  "troupe/restate": 2,
  "troupe/tokens": 2,
  "troupe/minisearch": 1,
  "troupe/workspace": 48,
  "troupe/checks": 29,
  "troupe/server": 13,
  "troupe/fleet": 26,
  "troupe/edges": 11,
  "troupe/shards": 13,
  "troupe/research": 74,
  "troupe/client": 34,
  "troupe/testing": 32,
  "troupe/actions": 33,
  "troupe/roles": 43,
};

/** The lines of each room. */
export function linesOf(): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const path of ["src", "actions", "roles"].flatMap((folder) => filesBelow(folder, ""))) {
    const [top = "", second = ""] = path.split("/");
    const room = top === "src" && path.split("/").length > 2 ? second : top;
    lines.set(room, (lines.get(room) ?? 0) + readFileSync(join(root, path), "utf8").split("\n").length - 1);
  }
  return lines;
}

/** The names that each entry adds. One name in two entries counts once. */
export function namesOf(house: House): ReadonlyMap<string, readonly string[]> {
  const known = new Set<string>();
  return new Map(
    entryPoints.map(({ name, source }) => {
      const added = exportedNames(house, source).filter(({ id }) => !known.has(id));
      for (const { id } of added) known.add(id);
      return [name, added.map((one) => one.name)];
    }),
  );
}

export function sum(budgets: Readonly<Record<string, number>>): number {
  return Object.values(budgets).reduce((all, one) => all + one, 0);
}
