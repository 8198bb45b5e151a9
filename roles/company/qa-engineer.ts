import { assignedFiles, assignmentText, type ShownText, shownText } from "../../actions/company/assignment.ts";
import { testRequest } from "../../actions/company/project-gate.ts";
import type { WorkReport } from "../../actions/company/work-report.ts";
import { workSoFar, type WorkSoFar } from "../../actions/company/delivery.ts";
import { isOrder, isTestPath, referredOrder, type WorkOrder } from "../../actions/company/work-order.ts";
import { roleCard } from "../../actions/prompt.ts";
import type { Tool } from "../../src/agent/index.ts";
import type { Verification } from "../../src/checks/index.ts";
import type { Message, Role, RoleContext } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { COLLEAGUES, type CompanyMachine, companyTools, worker } from "./worker.ts";

export const TEST_FIRST = "TestFirst";

const WORK = `You write the tests of the product before its code, from the user's words, the criteria and the interfaces of the design, which are shown above: do not read them again.

Write all test files in one call of write_files, and call done in the same reply. Here done runs your tests against the interfaces, whose bodies only throw: every test file must load, and a test of it must fail. A test that passes now proves nothing. A command that only throws ends with exit code 1 too: a test of a wrong use asserts the message as well.`;

const DISPUTE = `Engineers dispute tests of yours. Decide by the user's words and the criteria: correct a test and name the criterion in the summary of done, or leave it and say there why. Here done sees whether the tests load.`;

const RULES = `Each test has the id of its criterion in its title, such as "A3: an empty file is refused", or test_a3_... for a function of Python. Test what the user's words demand, wrong input too, through the exported names; no private details, no chance, no time, no network.

Only you change tests. You change nothing else; the tools that dispute are the engineer's.`;

/** Writes tests that fail on the interfaces, before there is code. */
export function qaEngineer(machine: CompanyMachine): Role {
  const { workspace, budgetShare, attends } = machine;
  const { qa: name, engineer, planner, verifier } = COLLEAGUES;
  const judges = { tests: (verification: Verification) => passingParts(verification, workspace), dispute: brokenParts };
  const toolsOf = (mode: keyof typeof judges, order?: WorkOrder, shown: ShownText = () => undefined): readonly Tool[] =>
    companyTools(machine, {
      judge: judges[mode],
      asked: order && testRequest(order),
      refuse: (path) => (isTestPath(path) ? undefined : "it is no test, and the code is the engineer's"),
      shown,
      noDispute: NO_DISPUTE,
    });
  const profile = "QA Engineer";
  return worker({
    name,
    profile,
    goal: "write tests that fail unless the product does what the user asked for",
    cause: TEST_FIRST,
    workspace,
    budgetShare,
    attends,
    tools: toolsOf("tests"),
    assign: async (rc) => {
      const mode = isOrdered(rc) ? "tests" : "dispute";
      const order = presentOrder(rc);
      const files = await assignedFiles(rc, workspace, order, isTestPath);
      const role = roleCard({ name, profile }, `${mode === "tests" ? WORK : DISPUTE}\n\n${RULES}`);
      const task = assignmentText(rc, { order, files, role });
      return { tools: toolsOf(mode, order, shownText(files)), task };
    },
    handOver: async (rc: RoleContext, report: WorkReport): Promise<Message> => {
      const paths = await rc.step("list files", {}, async () => workspace.list(), { fresh: true });
      const { disputed: _disputed, answered: _answered, ...before } = presentOrder(rc);
      // A dispute corrects a test, and does not remove it.
      const tests = [...new Set([...(before.tests ?? []), ...paths.filter(isTestPath)])].sort((a, b) => (a < b ? -1 : 1));
      const red = [...new Set([...(before.red ?? []), ...(report.red ?? [])])];
      const answered = rc.news.flatMap(({ instructContent }) =>
        isOrder(instructContent) ? ((instructContent as WorkOrder).task ?? []) : [],
      );
      const order: WorkOrder = { ...before, tests, red, ...(answered.length === 0 ? {} : { answered }) };
      const message = rc.message(referredOrder(order, report.summary), {
        speech: report.summary,
        causeBy: TEST_FIRST,
        instructContent: order,
        sendTo: [(isOrdered(rc) && order.size === "L") || answered.length > 0 ? planner : engineer, verifier],
      });
      rc.memory.add(message);
      return message;
    },
  });
}

const NO_DISPUTE = "Only the engineer hands something back. Correct your tests, or call done.";

/** QA works on no task of the plan. */
function presentOrder({ memory }: RoleContext): WorkOrder {
  const { task: _task, ...order } = (workSoFar(memory) as WorkSoFar).order;
  return order;
}

function isOrdered({ news }: RoleContext): boolean {
  return news.some(({ instructContent }) => isOrder(instructContent) && (instructContent as WorkOrder).disputed === undefined);
}

function brokenParts({ suites, faults }: Verification): string | undefined {
  const failures = suites.flatMap((suite) => suite.failures);
  const broken = failures.filter(({ name, file }) => name === file).map(({ file, message }) => `${file} does not load: ${message}`);
  const lines = [...faults.map(({ file = "", message }) => `${file}: ${message}`), ...broken];
  return lines.length === 0 ? undefined : lines.join("\n");
}

/** Undefined when each of the new files loads and fails. */
function passingParts({ suites, faults, notChecked }: Verification, workspace: Workspace): string | undefined {
  if (notChecked !== undefined) return undefined;
  // Fixtures in the folder of tests need no failing test.
  const ran = new Set(suites.flatMap(({ files }) => files));
  const own = workspace.pending.filter((path) => isTestPath(path) && ran.has(path));
  const failures = suites.flatMap((suite) => suite.failures);
  const failing = new Set(failures.map(({ file }) => file));
  const missing = own.length === 0 ? ["There are no tests of yours. Write them first."] : [];
  const broken = brokenParts({ verdicts: [], suites, faults });
  const lines = [
    ...missing,
    ...(broken === undefined ? [] : [broken]),
    ...own.filter((file) => !failing.has(file)).map((file) => `No test in ${file} fails, although nothing is written yet.`),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}
