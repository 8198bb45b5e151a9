import { z } from "zod";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import { type Sandbox, SANDBOX_TIMEOUT } from "../workspace/sandbox.ts";
import { runDriver } from "./driver.ts";
import { filesIn } from "./project-text.ts";
import { stackOf } from "./stacks.ts";
import type { Fault } from "./verification.ts";

export interface SyntaxRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** The pages that are opened from the disk: all, or some. Default: all where the files look like the stack `page`. */
  readonly pages?: "all" | readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MAX_FAULTS = 30;
/** Bytes of a file that is checked. */
const FILE_BYTES = 2_000_000;
const MAX_FILES = 5_000;
const MESSAGE_LENGTH = 800;

const SOURCE = /\.([cm]?[jt]s|py|json|html?)$/i;
const EXAMPLE = /(^|\/)(fixtures?|__fixtures__|testdata|samples?|examples?|vendor|\.?venv|site-packages|\.packages)\//;
const COMMENTED_JSON = /(^|\/)(\.[^/]*|tsconfig[^/]*|jsconfig[^/]*|[^/]*\.code-workspace)\.json$|(^|\/)\.[^/]*\//;
const TEST_FOLDER = /(^|\/)(tests?|__tests__|data)\//;

const Report = z.object({
  faults: z.array(z.object({ kind: z.enum(["syntax", "page"]), file: z.string(), message: z.string().max(1_000) })).max(MAX_FAULTS),
});

/** The faults of files, and why they were not read. */
export interface SyntaxReport {
  readonly faults: Fault[];
  readonly notRun?: string;
}

/** Checks files without running them: JavaScript, Python, JSON, and what pages name. TypeScript only by a Node.js that can strip types. */
export async function checkSyntax(request: SyntaxRequest): Promise<SyntaxReport> {
  const { root, sandbox, signal } = request;
  const all = await filesIn(root, signal);
  const files = all.filter(isChecked).slice(0, MAX_FILES);
  const { pages: opened = stackOf(all) === "page" ? "all" : [] } = request;
  const pages = files.filter((file) => /\.html?$/i.test(file) && (opened === "all" || opened.includes(file)));
  const sources = files.filter((file) => !/\.html?$/i.test(file));
  if (pages.length + sources.length === 0) return { faults: [] };
  const report = await runDriver({
    root,
    sandbox,
    flags: ["--experimental-vm-modules", "--no-warnings"],
    driver: "syntax.mjs",
    order: { files: sources, pages, mostFaults: MAX_FAULTS, fileBytes: FILE_BYTES, limit: SANDBOX_TIMEOUT },
    timeout: SANDBOX_TIMEOUT,
    signal,
  });
  if (report.kind === "not run") return { faults: [], notRun: report.reason };
  const found = report.values.flatMap((value) => Report.safeParse(value).data ?? []);
  const [reported] = found;
  if (reported === undefined || report.kind === "broken") {
    const reason = report.kind === "broken" ? report.reason : "ended without a report";
    return { faults: [{ kind: "syntax", message: `The syntax could not be checked: reading the files ${reason}.` }] };
  }
  const faults = reported.faults.map(({ kind, file, message }) => ({
    kind,
    file: visible(file, 400),
    message: visibleLines(message, MESSAGE_LENGTH),
  }));
  return { faults };
}

function isChecked(file: string): boolean {
  if (!SOURCE.test(file) || EXAMPLE.test(file)) return false;
  return !/\.json$/i.test(file) || /(^|\/)package\.json$/.test(file) || !(COMMENTED_JSON.test(file) || TEST_FOLDER.test(file));
}
