import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { group, GROUPS } from "./test/long.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** The package's own entry points, by the names a user writes, resolved to their source: examples run untouched and unbuilt. */
function ownNames(): { find: RegExp; replacement: string }[] {
  const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    name: string;
    exports: Record<string, string | { default: string }>;
  };
  return Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            find: new RegExp(`^${manifest.name}${path.slice(1)}$`),
            replacement: target.default.replace(/^\.\/dist\/(.*)\.js$/, `${root}$1.ts`),
          },
        ],
  );
}

/** The files that name the group in the tag of the file or of a test: no other file is loaded for it. */
function filesOf(name: string): string[] {
  const files = readdirSync(`${root}test`, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  const paths = files.map((file) => `test/${file.replaceAll("\\", "/")}`);
  return paths.filter((path) => {
    const source = readFileSync(root + path, "utf8");
    return source.startsWith(`// @module-tag ${name}\n`) || (source.includes("tags: ") && source.includes(`"${name}"`));
  });
}

/** Files of `npm test` that replace a module, load modules by computed names or keep all syntax trees: each has a process of its own. */
const ISOLATED = [
  "test/adapters/{file-cache,openai,otel-load,packages-missing,sqlite-missing}.test.ts",
  "test/adversarial/{accepted-at-doors,public-doors}.test.ts",
  "test/agent/import-cost.test.ts",
  "test/architecture.test.ts",
  "test/architecture/laws.test.ts",
  "test/cli/company.test.ts",
  "test/docs/reference.test.ts",
  "test/durability/replay.test.ts",
  "test/examples.test.ts",
  "test/model/limits.test.ts",
  "test/runtime/snapshot/snapshot-writer.test.ts",
  "test/tools/web-downgrade.test.ts",
  "test/workspace/full-disk.test.ts",
];

/** An option of the command line that a file may hold too, which its type does not say. */
const tagsFilter: object = { tagsFilter: [group ?? "!long"] };

const LONG = "test/**/*.long.test.ts";

export default defineConfig({
  resolve: { alias: ownNames() },
  test: {
    globalSetup: ["test/temporary-folder.ts"],
    setupFiles: ["test/setup.ts"],
    tags: [
      { name: "long", description: "Not a part of npm test." },
      ...GROUPS.map((name) => ({ name, description: `Runs in npm run long -- ${name}.` })),
    ],
    ...tagsFilter,
    pool: "forks",
    // One more than there are cores: tests wait for processes and for the disk. Those of a group keep the cores busy with what they start.
    maxWorkers: Math.min(availableParallelism() + (group === undefined ? 1 : 0), 8),
    // Generous: these bound tests that start processes on a busy machine; nothing in a test waits for real time.
    testTimeout: group === undefined ? 120_000 : 900_000,
    hookTimeout: group === undefined ? 120_000 : 900_000,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    projects:
      group === undefined
        ? [
            { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [LONG, ...ISOLATED], isolate: false } },
            { extends: true, test: { name: "isolated", include: ISOLATED } },
          ]
        : [{ extends: true, test: { name: group, include: filesOf(group) } }],
  },
});
