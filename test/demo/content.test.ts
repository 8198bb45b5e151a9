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

const text = z.string().trim().min(1);
const texts = z.array(text);
/** Relative, inside the project, with forward slashes and plain names. */
const path = z.string().regex(/^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/);
const paths = z.array(path).refine((all) => new Set(all).size === all.length, "a path stands there twice");

const Idea = z.strictObject({
  id: text,
  title: text,
  idea: text,
  aliases: texts.min(3),
  model: z.literal("scripted-demo"),
  price: z.strictObject({ input: z.number().positive(), output: z.number().positive() }),
});
const Prd = z.strictObject({
  projectName: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/),
  language: z.literal("English"),
  programmingLanguage: text,
  originalRequirements: text,
  productGoals: texts.min(1).max(5),
  userStories: texts.min(3).max(8),
  competitiveAnalysis: texts,
  requirementAnalysis: text,
  requirementPool: z.array(z.strictObject({ priority: z.enum(["P0", "P1", "P2"]), requirement: text })).min(1),
  uiDesignDraft: text,
  anythingUnclear: z.string(),
});
const Design = z.strictObject({
  implementationApproach: text,
  fileList: paths,
  dataStructuresAndInterfaces: z.string().startsWith("classDiagram\n"),
  programCallFlow: z.string().startsWith("sequenceDiagram\n"),
  anythingUnclear: z.string(),
});
const Tasks = z.strictObject({
  requiredPackages: texts,
  logicAnalysis: z.array(z.strictObject({ file: path, description: text })),
  taskList: paths.min(1),
  testList: paths.min(2).max(3),
  fullApiSpec: text,
  sharedKnowledge: text,
  anythingUnclear: z.string(),
});

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

test("three ideas are there, and no wording belongs to two of them", () => {
  expect(ids).toEqual(["2048", "life", "todo"]);
  const wordings = ids.flatMap((id) => {
    const { idea, aliases } = readJson(Idea, id, "idea.json");
    return [idea, ...aliases].map((wording) =>
      wording
        .toLowerCase()
        .replace(/[\s.!]+/g, " ")
        .trim(),
    );
  });
  expect(new Set(wordings).size).toBe(wordings.length);
  const names = ids.map((id) => readJson(Prd, id, "prd.json").projectName);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(ids)("%s: the replies", (id) => {
  test("design and tasks speak of the same files", () => {
    const { fileList } = readJson(Design, id, "design.json");
    const { taskList, testList, logicAnalysis } = readJson(Tasks, id, "tasks.json");
    expect(sorted(fileList)).toEqual(sorted([...taskList, ...testList]));
    expect(sorted(logicAnalysis.map(({ file }) => file))).toEqual(sorted(taskList));
  });

  test("every file of the tasks has its code, its review and its tests, and nothing else lies there", () => {
    const { taskList, testList } = readJson(Tasks, id, "tasks.json");
    expect(filesBelow(id, "code")).toEqual(sorted(taskList));
    expect(filesBelow(id, "review")).toEqual(sorted(taskList.map((file) => `${file}.json`)));
    expect(filesBelow(id, "tests").map((file) => `tests/${file}`)).toEqual(sorted(testList));
    for (const file of testList) expect(file).toMatch(/^tests\/[\w-]+\.test\.mjs$/);
    const known = [
      "code",
      "code-2",
      "debug",
      "debug-1",
      "design.json",
      "idea.json",
      "prd.json",
      "review",
      "review-2",
      "tasks.json",
      "tests",
    ];
    expect(known).toEqual(expect.arrayContaining(readdirSync(join(DEMO, id))));
  });
});

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

describe("shopping: the answers", () => {
  const part = (name: string): string[] => filesBelow("shopping", "answers", name).filter((file) => !file.includes("/"));

  test("are one file for each reply, the same roles in both parts", () => {
    expect(part("first")).toEqual(["alex-1.json", "alex-2.json", "alice-1.json", "vera-1.json"]);
    expect(part("change")).toEqual(["alex-1.json", "alex-2.json", "alice-1.json", "vera-1.json"]);
  });

  test("mend what the first version had wrong, and the change adds to that", () => {
    const source = (...names: string[]): string => readFileSync(join(DEMO, "shopping", "answers", ...names, "src/cli.mjs"), "utf8");
    const mended = source("first", "alex-2").split("\n");
    expect(source("first", "alex-1").split("\n")).not.toEqual(mended);
    const lines = new Set(source("change", "alex-2").split("\n"));
    expect(mended.filter((line) => !lines.has(line))).toHaveLength(2);
  });
});
