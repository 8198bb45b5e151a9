import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { someOf } from "../long.ts";

const DEMO = fileURLToPath(new URL("../../demo/", import.meta.url));

/** The tests that the first version of a project fails, for those that come with a round of debugging. */
const EXPECTED_FAILURES: Readonly<Record<string, readonly string[]>> = {
  "2048": [
    "a merged tile does not merge again in the same move",
    "a merged tile does not merge again in any direction",
    "a merged tile counts once for the gain",
  ],
};

const RUN_LIMIT_MS = 120_000;

/** Not loaded: a name that SVG needs. */
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

const Tasks = z.object({ taskList: z.array(z.string()).min(1) });

const all = readdirSync(DEMO).sort();
/** The ideas whose replies are those of the waterfall. */
const ids = all.filter((id) => existsSync(join(DEMO, id, "prd.json")));
const workFolders: string[] = [];

afterAll(() => {
  for (const folder of workFolders) rmSync(folder, { recursive: true, force: true });
});

function readJson<S extends z.ZodType>(schema: S, ...names: string[]): z.infer<S> {
  return schema.parse(JSON.parse(readFileSync(join(DEMO, ...names), "utf8")));
}

/** The files below a folder, relative to it, sorted; none when the folder does not exist. */
function filesBelow(...names: string[]): string[] {
  const folder = join(DEMO, ...names);
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) expect(entry.isFile() || entry.isDirectory(), `${entry.name} is a plain file or a folder`).toBe(true);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => relative(folder, file).split(sep).join("/")).sort();
}

const sorted = (values: readonly string[]): string[] => [...values].sort();

/** Every file that becomes part of a project, with its folder. */
function contentsOf(id: string): { name: string; content: string }[] {
  return ["code", "code-2", "debug-1", "tests"].flatMap((folder) =>
    filesBelow(id, folder).map((file) => ({
      name: `${folder}/${file}`,
      content: readFileSync(join(DEMO, id, folder, file), "utf8"),
    })),
  );
}

/** Puts a project together in a new folder: with its last files, or as it was before debugging. */
function assemble(id: string, version: "first" | "last", packageJson: Record<string, unknown> = { type: "module" }): string {
  const project = mkdtempSync(join(tmpdir(), `demo-${id}-`));
  workFolders.push(project);
  const layers = version === "last" ? ["code", "code-2", "debug-1"] : ["code", "code-2"];
  for (const layer of layers) {
    if (existsSync(join(DEMO, id, layer))) cpSync(join(DEMO, id, layer), project, { recursive: true });
  }
  cpSync(join(DEMO, id, "tests"), join(project, "tests"), { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: id, private: true, ...packageJson }));
  return project;
}

interface TestReport {
  readonly code: number | null;
  readonly count: number;
  readonly failed: readonly string[];
  readonly output: string;
}

/** Runs `node --test` in a folder and reads its TAP report. */
async function runTests(project: string): Promise<TestReport> {
  const { output, code } = await new Promise<{ output: string; code: number | null }>((resolve, reject) => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: project, TMPDIR: tmpdir() };
    const child = spawn(process.execPath, ["--test", "--test-reporter=tap"], { cwd: project, env, timeout: RUN_LIMIT_MS });
    let printed = "";
    child.stdout.on("data", (data: Buffer) => (printed += data.toString()));
    child.stderr.on("data", (data: Buffer) => (printed += data.toString()));
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ output: printed, code: exitCode }));
  });
  // A suite that fails only because of what is in it is not a failed test of its own.
  const failed = [...output.matchAll(/^ *not ok \d+ - (.+)\n *---\n((?:(?! *\.\.\.\n).*\n)*)/gm)]
    .filter(([, , details]) => !/failureType: 'subtestsFailed'/.test(details ?? ""))
    .map(([, name]) => name ?? "");
  const count = Number(/^# tests (\d+)$/m.exec(output)?.[1]);
  return { code, count, failed, output };
}

describe.each(ids)("%s: the files", (id) => {
  const files = contentsOf(id);

  test("load nothing from the network and turn no text into code or markup", () => {
    const forbidden = [
      /https?:|(?:src|href)=["']\/\/|@import|\burl\(/,
      /\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\(/,
      /\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write/,
    ];
    for (const { name, content } of files) {
      const found = forbidden.map((pattern) => pattern.exec(content.replaceAll(SVG_NAMESPACE, ""))?.[0]);
      expect(found, name).toEqual([undefined, undefined, undefined]);
    }
  });

  test("import only what Node brings and what the project has", () => {
    const { taskList } = readJson(Tasks, id, "tasks.json");
    for (const { name, content } of files.filter((file) => /\.m?js$/.test(file.name))) {
      const [folder = "", ...inside] = name.split("/");
      const home = folder === "tests" ? name : inside.join("/");
      for (const [, specifier = ""] of content.matchAll(/^(?:import\b[^"';]*|\} from )"([^"]+)"/gm)) {
        if (specifier.startsWith("node:")) continue;
        const target = new URL(specifier, `file:///${home}`).pathname.slice(1);
        expect(specifier, name).toMatch(/^\.\.?\//);
        expect(taskList, `${name} imports ${specifier}`).toContain(target);
      }
    }
  });

  test("a page loads files of the project only, as classic scripts", () => {
    const { taskList } = readJson(Tasks, id, "tasks.json");
    const page = files.find(({ name }) => name === "code/index.html");
    expect(page !== undefined).toBe(taskList.includes("index.html"));
    if (page === undefined) return;
    const links = [...page.content.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, link = ""]) => link);
    const loaded = links.filter((link) => !link.startsWith("data:image/svg+xml,"));
    expect(taskList).toEqual(expect.arrayContaining(loaded));
    expect(sorted(loaded)).toEqual(sorted(taskList.filter((file) => /^src\/.*\.(js|css)$/.test(file))));
    expect(page.content).not.toMatch(/type="module"/);
  });
});

test.each(Object.entries(EXPECTED_FAILURES))(
  "%s: the project in its first version fails the expected tests and no others",
  { timeout: RUN_LIMIT_MS },
  async (id, expected) => {
    const report = await runTests(assemble(id, "first"));
    expect(sorted(report.failed), report.output).toEqual(sorted(expected));
    expect(report.code).toBe(1);
  },
);

describe.each(ids)("%s: the project", (id) => {
  // A classic script is read as a module or as CommonJS, by the package file of the project: both must work.
  test.each(someOf([{ type: "module" }, {}], 1))(
    "passes its own tests with the package fields %j",
    { tags: "company", timeout: RUN_LIMIT_MS },
    async (packageJson) => {
      const report = await runTests(assemble(id, "last", packageJson));
      expect(report.failed, report.output).toEqual([]);
      expect(report.code, report.output).toBe(0);
      expect(report.count).toBeGreaterThanOrEqual(25);
      expect(report.count).toBeLessThanOrEqual(40);
    },
  );
});
