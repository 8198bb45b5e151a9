import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
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

interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** True for a test that is too long for `npm test`. */
function isLong({ path }: { readonly path: string }): boolean {
  return path.endsWith("-soak.test.ts");
}

/** The test files with their texts: under `npm run soak` those that take numbers from test/effort.ts, and those that are too long for `npm test`. */
function testFiles(): TestFile[] {
  const files = readdirSync(`${root}test`, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  const read = files.map((file) => ({ path: `test/${file.replaceAll("\\", "/")}`, text: readFileSync(`${root}test/${file}`, "utf8") }));
  const hasNumbers = ({ text }: TestFile): boolean => text.includes('/effort.ts"');
  if (effort === "soak") return read.filter((file) => isLong(file) || hasNumbers(file));
  return read.filter((file) => !isLong(file) || (effort === "kill" && hasNumbers(file)));
}

/** Counts blocks or bytes of its process, replaces a module, runs a program by importing it, or keeps the syntax of the whole house in memory. */
const ALONE = /\/(?:work|heap|laws)\.ts"|\bbytesKeptBy\b|vi\.(?:mock|doMock|resetModules)\(|\bimport\(`/;

/** True for a test that needs a process of its own. */
function isAlone({ text }: TestFile): boolean {
  return ALONE.test(text);
}

/** Starts programs, or uses what starts them. */
const STARTS =
  /child_process|andbox|\/(?:kept-run|fake-host|user-project|child|program|company-trial)\.ts"|[wW]orkspace\(|-process\.ts"|-child|kills?\.ts"/;

const files = testFiles();
const starting = new Set(files.filter(({ text }) => STARTS.test(text)).map(({ path }) => `${root}${path}`));

/**
 * First what starts programs, while the workers are small: a start costs time for each page of the worker. The short ones of the others fill the
 * end. Last what needs a process of its own, because a worker ends where such a file comes next. All this among the long ones first, which the
 * soak alone has.
 */
class SmallWorkersFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number =>
      (isLong({ path: moduleId }) ? 0 : 3) + (project.name === "alone" ? 2 : starting.has(moduleId) ? 0 : 1);
    const sorted = await super.sort(specifications);
    return [0, 1, 2, 3, 4, 5].flatMap((place) => sorted.filter((one) => rank(one) === place));
  }
}

export default defineConfig({
  resolve: { alias: ownNames() },
  test: {
    globalSetup: ["test/temporary-folder.ts"],
    setupFiles: ["test/setup.ts"],
    ...(effort === "soak" && { runner: "tools/soak-runner.mjs" }),
    pool: "forks",
    // One more than there are cores: tests wait for processes and for the disk. Those of the soak keep the cores busy with what they start.
    maxWorkers: Math.min(availableParallelism() + (effort === "test" ? 1 : 0), 8),
    // Generous: these bound tests that start processes on a busy machine; nothing in a test waits for real time.
    testTimeout: effort === "test" ? 120_000 : 900_000,
    hookTimeout: effort === "test" ? 120_000 : 900_000,
    sequence: { sequencer: SmallWorkersFirst },
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: files.filter((file) => !isAlone(file)).map(({ path }) => path),
          isolate: false,
          typecheck: { enabled: effort === "soak", include: ["test/**/*.test-d.ts"], tsconfig: "./tsconfig.test.json" },
        },
      },
      { extends: true, test: { name: "alone", include: files.filter(isAlone).map(({ path }) => path) } },
    ],
  },
});
