/** Scores a project by the check list of its idea: `node evaluation/score.mjs --idea ID --project DIR`. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chooseSandbox } from "../dist/src/workspace/index.js";
import { HERE, loadIdea } from "./check-list.mjs";

/** Qualities of every product. */
const ALWAYS = ["tests", "tests can fail", "readme", "no stray files"];
const LEFT_OUT = new Set(["node_modules", ".git", ".troupe"]);
/** Milliseconds for all commands. */
const TIME = 1_800_000;

/**
 * Runs the check list of an idea on a project, in the sandbox.
 *
 * @returns `{ idea, passed, all, checks }`: each check has its id, what it says, whether it passed, and why not
 */
export async function score({ idea: id, project }) {
  const list = await loadIdea(id);
  const checks = list.checks.map((check, n) => ({ ...check, id: `C${n + 1}` }));
  const sandbox = await chooseSandbox("bubblewrap");
  const ran = await runCommands(list, checks, { project, sandbox });
  const results = [
    ...ran,
    ...(await openPages(checks, { project, sandbox, isPage: list.start.page === true })),
    ...keptFiles(list, project),
  ];
  const said = new Map(checks.map((check) => [check.id, check.says]));
  const told = results.map((result) => ({ id: result.id, says: said.get(result.id) ?? result.id, passed: result.passed, why: result.why }));
  return { idea: id, passed: told.filter(({ passed }) => passed).length, all: told.length, checks: told };
}

async function runCommands(list, checks, { project, sandbox }) {
  const room = mkdtempSync(join(tmpdir(), "score-"));
  const quality = [...ALWAYS, ...list.quality];
  const commands = checks.filter(({ steps }) => steps !== undefined);
  try {
    cpSync(project, join(room, "project"), { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    cpSync(join(HERE, "driver.mjs"), join(room, "driver.mjs"));
    writeFileSync(join(room, "order.json"), JSON.stringify({ start: list.start, checks: commands, quality }));
    const result = await sandbox.run({ root: room, command: ["node", "driver.mjs"], timeout: TIME, outputLimit: 10_000_000 });
    const line = "stdout" in result ? result.stdout.trim().split("\n").at(-1) : "";
    if (result.kind === "exited" && result.code === 0) return JSON.parse(line);
    const why = `the checks did not run: ${JSON.stringify(result).slice(0, 500)}`;
    return [...commands.map(({ id }) => id), ...quality].map((id) => ({ id, passed: false, why }));
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

/** The page of a project: index.html, or else the page that is nearest to the top. */
function pageOf(project) {
  if (existsSync(join(project, "index.html"))) return "index.html";
  const pages = readdirSync(project, { recursive: true }).filter(
    (path) => /\.html?$/.test(path) && !/node_modules|^docs\/|^tests?\//.test(path),
  );
  return pages.toSorted((one, other) => one.split("/").length - other.split("/").length || (one < other ? -1 : 1))[0];
}

async function openPages(checks, { project, sandbox, isPage }) {
  if (!isPage) return [];
  const own = checks.filter(({ page }) => page !== undefined);
  const open = pageOf(project);
  if (open === undefined)
    return [...own.map(({ id }) => id), "the page opens"].map((id) => ({ id, passed: false, why: "there is no page" }));
  const first = open === "index.html" ? [] : [{ do: "open", path: open }];
  const criteria = own.map(({ id, page }) => criterionOf(id, [...first, ...page]));
  const { verifyProject } = await import("../dist/src/checks/index.js");
  const request = { root: project, sandbox, criteria, stack: "page", depth: "criteria" };
  const { verdicts, faults, notChecked } = await verifyProject(request);
  const fault = notChecked ?? faults[0]?.message;
  return [
    ...verdicts.map(({ id, outcome, evidence }) => ({
      id,
      passed: outcome === "proven",
      ...(outcome === "proven" ? {} : { why: evidence }),
    })),
    { id: "the page opens", passed: fault === undefined, ...(fault === undefined ? {} : { why: fault }) },
  ];
}

function criterionOf(id, steps) {
  return { id, priority: "P0", given: "", when: "", then: "", check: { kind: "page", steps } };
}

/** For a change: the files that it had no reason to touch are there, byte for byte. */
function keptFiles({ repository, keeps = [] }, project) {
  if (repository === undefined) return [];
  const changed = keeps.filter((path) => {
    const file = join(project, path);
    return !existsSync(file) || !readFileSync(file).equals(readFileSync(join(HERE, "repositories", repository, path)));
  });
  const why = changed.length === 0 ? {} : { why: `changed or gone: ${changed.join(", ")}` };
  return [{ id: "other files are untouched", passed: changed.length === 0, ...why }];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { idea: { type: "string" }, project: { type: "string" } } });
  const result = await score({ idea: values.idea ?? "", project: resolve(values.project ?? ".") });
  for (const { id, says, passed, why } of result.checks)
    console.log(`${passed ? "ok  " : "FAIL"} ${id} ${says}${passed ? "" : `\n     ${why}`}`);
  console.log(`${result.passed} of ${result.all}`);
}
