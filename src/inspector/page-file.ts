import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../kernel/errors.ts";
import type { RunEvent } from "../runtime/record/event.ts";

const BUILT = "dist/src/inspector/page.html";
const EMBEDDED = /(<script type="application\/json" id="troupe-runs">)\[\](<\/script>)/;

/** Reads the page, one file of HTML that loads nothing. @throws UsageError `PAGE_MISSING` where this package was not built */
export function readPage(): Promise<string> {
  return readFile(builtPage(), "utf8");
}

/** Returns a page that holds runs and reaches no network, line by line: a run may be larger than the longest text. */
export async function* offlinePage(
  html: string,
  runs: Iterable<AsyncIterable<RunEvent> | Iterable<RunEvent>>,
): AsyncGenerator<string, void> {
  const [before = "", open = "", close = "", after = ""] = html.replace("connect-src 'self'", "connect-src 'none'").split(EMBEDDED);
  yield `${before}${open}[`;
  let isFirstRun = true;
  for (const events of runs) {
    yield isFirstRun ? "[" : ",[";
    isFirstRun = false;
    let isFirst = true;
    for await (const event of events) {
      // No browser reads it as a tag or as the end of a script.
      yield `${isFirst ? "" : ","}${JSON.stringify(event).replaceAll("<", "\\u003c")}`;
      isFirst = false;
    }
    yield "]";
  }
  yield `]${close}${after.trimEnd()}`;
}

/** The build is at the top of the package, whatever file this code was bundled into. */
function builtPage(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    const path = join(folder, BUILT);
    if (existsSync(path)) return path;
    if (dirname(folder) !== folder) continue;
    throw new UsageError("PAGE_MISSING", `Expected ${BUILT} of this package above ${here}, but it is not there. Build it: npm run build.`);
  }
}
