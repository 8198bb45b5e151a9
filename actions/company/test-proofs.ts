import type { Verdict, Verification } from "../../src/checks/index.ts";
import type { ActionContext } from "../../src/index.ts";
import type { ProjectFiles } from "../project-files.ts";
import { passedFiles, type WorkSoFar } from "./delivery.ts";
import { failingTests } from "./project-gate.ts";
import { WorkReportSchema } from "./work-report.ts";

/** A passing test that has the id of a criterion in its title, and was seen failing, proves it where no check can run. */
export async function withProofs(
  ctx: ActionContext<readonly []>,
  project: ProjectFiles,
  { order, earlier }: WorkSoFar,
  found: Verification,
): Promise<Verification> {
  const open = found.verdicts.filter(({ outcome }) => outcome === "judged" || outcome === "not checked");
  const passed = passedFiles(found.suites.filter(({ kind }) => kind === "passed"));
  const reports = ctx.memory.get().flatMap(({ instructContent }) => WorkReportSchema.safeParse(instructContent).data?.red ?? []);
  const seen = [...(order.red ?? []), ...reports, ...earlier.flatMap(({ verification }) => failingTests(verification))];
  const tests = seen
    // Old failures are left out of what was found, so such a test may fail still.
    .filter((mark) => order.failedBefore?.includes(mark) !== true)
    .map((mark) => ({ file: mark.slice(0, mark.indexOf(": ")), title: mark.slice(mark.indexOf(": ") + 2) }))
    .filter(({ file, title }) => passed.has(file) && open.some(({ id }) => hasId(title, id)));
  if (tests.length === 0) return found;
  const files = new Map((await project.read(ctx, [...new Set(tests.map(({ file }) => file))])).map(({ path, content }) => [path, content]));
  const there = tests.filter(({ file, title }) => files.get(file)?.includes(ownName(title)) === true);
  const verdicts = found.verdicts.map((verdict): Verdict => {
    const proof = open.includes(verdict) ? there.find(({ title }) => hasId(title, verdict.id)) : undefined;
    if (proof === undefined) return verdict;
    return { ...verdict, outcome: "proven", by: "test", evidence: `"${proof.title}" in ${proof.file} passes now, and failed before.` };
  });
  return { ...found, verdicts };
}

/** Such as `A3: an empty file is refused`, or `test_a3_empty_file`. */
function hasId(title: string, id: string): boolean {
  const literal = id.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?:^|[^a-z0-9])${literal}(?:$|[^a-z0-9])`, "i").test(title);
}

/** Without the names of what it is part of. */
function ownName(title: string): string {
  return /^[\w./]+::|^[\w.]+$/.test(title) ? (/\w+$/.exec(title)?.[0] ?? title) : title;
}
