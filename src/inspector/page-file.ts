import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";

/** The page of the inspector, as the build made it. */
export interface PageFile {
  readonly html: string;
  /** The value of the header `Content-Security-Policy` that a server sends with it: no script and no style but those of the page. */
  readonly policy: string;
}

const BUILT = "dist/src/inspector/page.html";
/** The inert block that holds the embedded runs. */
const EMBEDDED = /(<script type="application\/json" id="troupe-runs">)\[\](<\/script>)/;

/**
 * Reads the page of the inspector.
 *
 * @throws UsageError `PAGE_MISSING` where this package was not built
 */
export async function readPage(): Promise<PageFile> {
  const html = await readFile(builtPage(), "utf8");
  return { html, policy: policyOf(html) };
}

/**
 * Returns a page that holds runs and reaches no network, piece by piece: a run may be larger than the longest text.
 *
 * @param html the page as {@link readPage} returns it
 * @param runs the events of each run, from the first
 */
export async function* offlinePage(
  html: string,
  runs: Iterable<AsyncIterable<RunEvent> | Iterable<RunEvent>>,
): AsyncGenerator<string, void, undefined> {
  const [before = "", open = "", close = "", after = ""] = html.replace("connect-src 'self'", "connect-src 'none'").split(EMBEDDED);
  yield `${before}${open}[`;
  let isFirstRun = true;
  for (const events of runs) {
    yield isFirstRun ? "[" : ",[";
    isFirstRun = false;
    let isFirst = true;
    for await (const event of events) {
      yield `${isFirst ? "" : ","}\n${inertJson(event)}`;
      isFirst = false;
    }
    yield "]";
  }
  yield `]${close}${after}`;
}

/** JSON that no browser reads as a tag or as the end of a script. */
function inertJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

/** The page has its policy too. Only a header can forbid that another page frames it. */
function policyOf(html: string): string {
  const own = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html)?.[1] ?? "default-src 'none'";
  return `${own}; frame-ancestors 'none'`;
}

/** The build stands at the top of the package, whatever file this code was joined into. */
function builtPage(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    const path = join(folder, BUILT);
    if (existsSync(path)) return path;
    if (dirname(folder) !== folder) continue;
    throw new UsageError("PAGE_MISSING", `Expected ${BUILT} of this package above ${here}, but it is not there. Build it: npm run build.`);
  }
}
