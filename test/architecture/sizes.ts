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
export const MAX_LINES = 124_968;
/** Names of all entries. */
export const MAX_NAMES = 579;

/** Lines of all files of a room, whatever their extension. */
export const LINES: Readonly<Record<string, number>> = {
  actions: 5_806,
  roles: 4_167,
  adapters: 12_393,
  agent: 4_452,
  checks: 5_024,
  cli: 11_523,
  client: 985,
  edges: 369,
  fleet: 1_749,
  src: 160,
  inspector: 8_171,
  kernel: 2_969,
  memory: 5_371,
  message: 869,
  model: 5_824,
  research: 10_173,
  role: 3_109,
  runtime: 16_271,
  server: 3_015,
  team: 3_820,
  testing: 4_615,
  tool: 3_158,
  tools: 3_861,
  workspace: 7_114,
};

/** Names that an entry adds to those of the entries before it: values, types and members of exported namespaces. */
export const NAMES: Readonly<Record<string, number>> = {
  troupe: 129,
  "troupe/agents": 44,
  "troupe/tools": 27,
  "troupe/ports": 53,
  "troupe/memory": 7,
  "troupe/inspector": 16,
  "troupe/mcp": 7,
  "troupe/otel": 4,
  "troupe/ai-sdk": 3,
  "troupe/openai": 3,
  "troupe/sqlite": 7,
  "troupe/postgres": 11,
  "troupe/files": 1,
  "troupe/objects": 10,
  "troupe/redis": 2,
  "troupe/graphile": 1,
  "troupe/restate": 2,
  "troupe/tokens": 2,
  "troupe/minisearch": 0,
  "troupe/workspace": 28,
  "troupe/checks": 21,
  "troupe/server": 4,
  "troupe/fleet": 13,
  "troupe/edges": 9,
  "troupe/research": 90,
  "troupe/client": 11,
  "troupe/testing": 29,
  "troupe/actions": 21,
  "troupe/roles": 19,
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
