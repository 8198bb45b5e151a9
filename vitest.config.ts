import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { effort } from "./test/effort.ts";

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

/** The tests that try more under `npm run soak`: those that take their numbers from test/effort.ts. */
function soakedFiles(): string[] {
  const files = readdirSync(`${root}test`, { recursive: true, encoding: "utf8" });
  const isSoaked = (file: string): boolean =>
    file.endsWith(".test.ts") && readFileSync(`${root}test/${file}`, "utf8").includes('/effort.ts"');
  return files.filter(isSoaked).map((file) => `test/${file.replaceAll("\\", "/")}`);
}

export default defineConfig({
  resolve: { alias: ownNames() },
  test: {
    include: effort === "soak" ? soakedFiles() : ["test/**/*.test.ts"],
    setupFiles: ["test/properties/seed.ts"],
    typecheck: { enabled: effort === "test", include: ["test/**/*.test-d.ts"], tsconfig: "./tsconfig.test.json" },
    pool: "forks",
    maxWorkers: Math.min(availableParallelism(), 8),
    // Generous: these bound tests that start processes on a busy machine; nothing in a test waits for real time.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    unstubEnvs: true,
    restoreMocks: true,
  },
});
