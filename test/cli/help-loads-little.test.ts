import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";

/** Modules that take time to load, or are a vendor's. */
const HEAVY = /^src\/(adapters|memory|run|team)\/|^(libsql|zod|openai|p-queue|minisearch|redis)$/;

/** The files that a file loads at once: imports of types alone are gone then, those in functions come later. */
function loadedBy(file: string, known: Set<string> = new Set()): ReadonlySet<string> {
  if (known.has(file)) return known;
  known.add(file);
  if (!file.endsWith(".ts")) return known;
  const text = readFileSync(join(root, file), "utf8");
  for (const [, specifier = ""] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from "([^"]+)";$/gm)) {
    loadedBy(specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : specifier, known);
  }
  return known;
}

describe("the command line itself", () => {
  it("loads no store, no memory, no schema and no model before a command runs", () => {
    const loaded = [...loadedBy("src/cli/main.ts")];
    expect(loaded).toContain("src/cli/store-commands.ts");
    expect(loaded.filter((name) => HEAVY.test(name))).toEqual([]);
    expect([...loadedBy("src/cli/commands/memory.ts")].filter((name) => name === "libsql")).toEqual([]);
  });

  it("would notice: a command loads what it needs", () => {
    expect([...loadedBy("src/cli/commands/memory.ts")]).toEqual(expect.arrayContaining(["zod", "src/inspector/memory-snapshot.ts"]));
  });
});
