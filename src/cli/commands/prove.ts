import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { withoutOldFaults } from "../../../actions/company/project-gate.ts";
import { ACCEPTANCE_FILE, type AcceptanceFile, acceptanceIn } from "../../../actions/company/work-order.ts";
import { badge, junitReport, sarifReport } from "../../checks/reports.ts";
import { stackOf } from "../../checks/stacks.ts";
import { isProven, type Verification } from "../../checks/verification.ts";
import { verifyProject } from "../../checks/verify.ts";
import { UsageError } from "../../kernel/errors.ts";
import { ifThere } from "../../kernel/system-error.ts";
import { fileWorkspace } from "../../workspace/file-workspace.ts";
import { sandboxFor } from "../company.ts";
import { deliveryRows, proofReport, unprovenText } from "../delivery.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { labelledLines, shown } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import { setting } from "../option-values.ts";
import { assertReplaceable, replaceReport } from "../text-file.ts";

/** Kept beside a project whose user does not want the company's documents in it. */
const BESIDE = ".troupe/acceptance.json";
const MARGIN = 2;
const MARK = "troupe prove";

export async function prove(session: Session, flags: Flags): Promise<ExitCode> {
  const { host, interruptions, screen } = session;
  const root = resolve(host.cwd, flags.in ?? ".");
  const files = await fileWorkspace({ root, git: false }).list();
  const {
    criteria,
    failedBefore = [],
    stack = stackOf(files),
  } = await acceptanceOf(root, flags.criteria && resolve(host.cwd, flags.criteria));
  for (const path of [flags.junit, flags.sarif, flags.badge])
    if (path !== undefined) await assertReplaceable(resolve(host.cwd, path), MARK);
  const sandbox = await sandboxFor(session, { sandbox: setting("sandbox", flags, host.env) ?? "auto", runTests: true }, false);
  const progress = (line: string): void => screen.say(screen.style.faint(`${line} ...`));
  const { signal } = interruptions;
  const proof = withoutOldFaults(await verifyProject({ root, sandbox, criteria, stack, depth: "whole", signal, progress }), failedBefore);
  const isDone = isProven(proof);
  await writeReports(host.cwd, flags, proof, { isDone, version: host.version });
  const exitCode = isDone ? 0 : 6;
  await printResult(session, { type: "proof", exitCode, isDone, folder: root, verification: proof }, (style) => {
    const delivery = proofReport(proof, isDone);
    const head = isDone ? style.style.good("Proven.") : style.style.bad(unprovenText(delivery));
    const rows = deliveryRows(delivery, style.style);
    const labels = Math.max(...rows.map(([label]) => label.length));
    return [head, "", ...labelledLines(rows, { ...style, labels: labels + 1, margin: MARGIN })];
  });
  return exitCode;
}

async function acceptanceOf(root: string, named: string | undefined): Promise<AcceptanceFile> {
  const paths = named === undefined ? [ACCEPTANCE_FILE, BESIDE].map((path) => resolve(root, path)) : [named];
  for (const path of paths) {
    const text = await ifThere(readFile(path, "utf8"));
    const acceptance = acceptanceIn(text);
    if (acceptance !== undefined) return acceptance;
    if (text !== undefined) {
      const expected = `Expected criteria in ${shown(path, 300)}, but they do not have the form of docs/acceptance.json`;
      throw new UsageError(
        "CRITERIA_INVALID",
        `${expected}. See the guide "The software company", or write them with: troupe spec "idea" --out <dir>`,
      );
    }
  }
  const expected = `Expected criteria in ${paths.map((path) => shown(path, 300)).join(" or ")}, but there are none`;
  throw new UsageError("CRITERIA_MISSING", `${expected}. Write them with: troupe spec "idea" --out <dir>`);
}

interface ReportFacts {
  readonly isDone: boolean;
  readonly version: string;
}

async function writeReports(cwd: string, flags: Flags, proof: Verification, { isDone, version }: ReportFacts): Promise<void> {
  const reports = [
    [flags.junit, junitReport(proof)],
    [flags.sarif, sarifReport(proof, version)],
    [flags.badge, badge(proof, isDone)],
  ] as const;
  for (const [path, text] of reports) if (path !== undefined) await replaceReport(resolve(cwd, path), text, MARK);
}
