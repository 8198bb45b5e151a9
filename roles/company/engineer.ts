import { assignedFiles, assignmentText, type ShownText, shownText } from "../../actions/company/assignment.ts";
import { gateRequest, presentMessages, workSoFar, type WorkSoFar } from "../../actions/company/delivery.ts";
import { redParts, takeWorkTool } from "../../actions/company/project-gate.ts";
import { type WorkReport, WorkReportSchema } from "../../actions/company/work-report.ts";
import { isTestPath, WRITTEN_BY_MANAGER } from "../../actions/company/work-order.ts";
import { roleCard } from "../../actions/prompt.ts";
import type { Tool } from "../../src/agent/index.ts";
import type { Verification } from "../../src/checks/index.ts";
import type { Message, Role, RoleContext } from "../../src/index.ts";
import { COLLEAGUES, type CompanyMachine, companyTools, worker } from "./worker.ts";

export const IMPLEMENT = "Implement";

const WORK = `The user's words decide; names in the checks (files, flags, ids of elements) are binding.

Work in few replies. The files shown above are as they are now: do not read them again. Write all files that belong together in one call of write_files, whole, and call done in the same reply as your last change: it runs the checks, the tests and the commands of README.md, and tells what failed. Do not run them yourself first. When something failed, find the cause, change only what is wrong, and call done again. Your work has no limit of steps: it ends when the checks are green, or when the same failure stays.

README.md says what the product is, and has a section "Use" with commands that work as they stand.`;

export const RULES = `Never skip a test, and never make a check pass without doing what the user asked for.`;

const OWN_TESTS = `The checks of the criteria run besides the tests, so test only what they do not show, in few short tests: one table where cases repeat. A test must fail when its function is broken. ${RULES} A check that contradicts the user's words goes back by dispute_check.`;

const TESTS_OF_QA = `The tests are QA's: you change none. Write the bodies of the interfaces, and keep their exported names. ${RULES} What contradicts the user's words goes back: a test by dispute_test, a check by dispute_check.`;

/** Works on an order, or on what the verification found, until the checks are green. */
export function engineer(machine: CompanyMachine): Role {
  const { workspace, budgetShare, project, attends } = machine;
  const { engineer: name } = COLLEAGUES;
  const toolsOf = (work: WorkSoFar | undefined, shown: ShownText = () => undefined): readonly Tool[] => {
    const asked = work && gateRequest(work.order, work.earlier.at(-1)?.complaints ?? []);
    if (work?.order.size !== "S") return companyTools(machine, { judge: redForTested, asked, refuse: refusesTests, shown });
    const tools = companyTools(machine, { judge: redParts, asked, refuse: refusesDocuments, shown });
    return tools.filter((tool) => tool.name !== "dispute_test" && (work.order.isChange || !SEARCHING.has(tool.name)));
  };
  const profile = "Engineer";
  return worker({
    name,
    profile,
    goal: "write a product that does what the user asked for, and prove it",
    cause: IMPLEMENT,
    workspace,
    budgetShare,
    attends,
    tools: toolsOf(undefined),
    assign: async (rc) => {
      const work = workSoFar(rc.memory) as WorkSoFar;
      const { order } = work;
      const files = await assignedFiles(rc, workspace, order, () => true);
      const role = roleCard({ name, profile }, `You write the product. ${WORK} ${order.size === "S" ? OWN_TESTS : TESTS_OF_QA}`);
      const task = assignmentText(rc, { order, files, role });
      const { tasks = [] } = order;
      const left = tasks.some(({ keptIn }) => keptIn !== undefined) ? [takeWorkTool({ project, tasks, name })] : [];
      return { tools: [...toolsOf(work, shownText(files)), ...left], task };
    },
    handOver: (rc, report) => Promise.resolve(handedOver(rc, report)),
  });
}

/** The message to the verifier, or to whoever decides what was handed back. */
export function handedOver(rc: RoleContext, report: WorkReport): Message {
  const { manager, qa, verifier } = COLLEAGUES;
  const taken = [...new Set(reportsIn(rc).flatMap((one) => one.taken ?? []))];
  const isHeard = report.status === "disputed" && mayDispute(rc);
  const unheard = report.status === "disputed" && !isHeard ? { status: "stuck" as const, summary: `${UNHEARD} ${report.summary}` } : {};
  const reported: WorkReport = { ...report, ...unheard, taken };
  const isOfTests = (reported.disputes ?? []).every(({ criterion }) => criterion === undefined);
  const sendTo = [isHeard ? (isOfTests ? qa : manager) : verifier];
  return rc.message(reported.summary, {
    causeBy: IMPLEMENT,
    instructContent: reported,
    speech: reported.summary,
    sendTo,
  });
}

/** The engineer is shown all of a small new project. */
const SEARCHING: ReadonlySet<string> = new Set(["file_search", "read_files"]);

/** Replies that hand something back, and those of them by which no check became another. */
export const MOST_DISPUTES = 12;
const MOST_REFUSED = 3;
const UNHEARD = "Too much was handed back that stays as it is.";

/** A check that was wrong is not charged to its engineer. */
function mayDispute(rc: RoleContext): boolean {
  // The present one is remembered already.
  const replies = reportsIn(rc)
    .filter(({ status }) => status === "disputed")
    .slice(0, -1);
  const { corrected = [] } = workSoFar(rc.memory)?.order ?? {};
  const refused = replies.filter(
    ({ disputes = [] }) => !disputes.some(({ criterion }) => criterion !== undefined && corrected.includes(criterion)),
  );
  return replies.length < MOST_DISPUTES && refused.length < MOST_REFUSED;
}

function reportsIn({ memory, name }: RoleContext): readonly WorkReport[] {
  return presentMessages(memory).flatMap(({ instructContent, sentFrom }) => {
    const { data } = WorkReportSchema.safeParse(instructContent);
    return data === undefined || sentFrom !== name ? [] : [data];
  });
}

function redForTested(verification: Verification): string | undefined {
  const red = redParts(verification);
  const isWeak = verification.faults.some(({ kind }) => kind === "weak tests");
  return red === undefined || !isWeak ? red : `${red}\n\nTests are QA's: hand weak ones back with dispute_test, when all else is green.`;
}

function refusesDocuments(path: string): string | undefined {
  // Some file systems ignore the case of letters.
  return WRITTEN_BY_MANAGER.has(path.toLowerCase()) ? "it says what the user wants; only the product manager writes it" : undefined;
}

function refusesTests(path: string): string | undefined {
  return isTestPath(path)
    ? "it is a test, and tests are QA's: make the code pass, or hand the test back by dispute_test"
    : refusesDocuments(path);
}
