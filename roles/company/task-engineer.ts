import { assignedFiles, assignmentText, type ShownText, shownText } from "../../actions/company/assignment.ts";
import { testRequest } from "../../actions/company/project-gate.ts";
import type { WorkReport } from "../../actions/company/work-report.ts";
import { taskIn, taskFaults } from "../../actions/company/task-board.ts";
import { isTestPath, newestOrder, type WorkOrder, type WorkTask } from "../../actions/company/work-order.ts";
import type { Verification } from "../../src/checks/index.ts";
import { roleCard } from "../../actions/prompt.ts";
import type { Tool } from "../../src/agent/index.ts";
import { type Action, type Message, type Role, type RoleContext, UsageError } from "../../src/index.ts";
import { openFork, type Workspace } from "../../src/workspace/index.ts";
import { COLLEAGUES, type CompanyMachine, companyTools, worker } from "./worker.ts";

interface TaskEngineerOptions extends CompanyMachine {
  readonly name: string;
  readonly action: Action<WorkReport>;
}

export const IMPLEMENT_TASK = "ImplementTask";

const WORK = `You write one task of a product, while colleagues write the others. You work in a copy of the project: the code of the tasks that yours needs is there, and other code only throws "not written".

The user's words decide. Write only the files of your task, and keep their exported names: colleagues use them. The files shown above are as they are now: do not read them again. Write all files of the task in one call of write_files, whole, and call done in the same reply: it checks the syntax and runs your tests, and tells what failed. When something failed, find the cause, change only what is wrong, and call done again.

Tests are QA's. One that contradicts the order goes back by dispute_test, once. When your task cannot be done in your files, give up and say why: another engineer ends it.`;

const NO_DISPUTE = "Your checks are the tests of your task. The engineer of the whole hands back checks of criteria.";

/** Writes one task at a time, in a fork of the project. The project manager merges it. */
export function taskEngineer(options: TaskEngineerOptions): Role {
  const { name, workspace, gate, project, action, budgetShare } = options;
  const toolsIn = (folder: Workspace, order?: WorkOrder, task?: WorkTask, shown: ShownText = () => undefined): readonly Tool[] => {
    const refuse = (path: string): string | undefined => refusal(path, task);
    const judge = (verification: Verification): string | undefined => task && taskFaults(verification, task, order?.tasks ?? []);
    const own = { judge, asked: order && testRequest(order, task?.id), refuse, shown, noDisputeOfChecks: NO_DISPUTE };
    return companyTools({ ...options, workspace: folder, gate: gate.at(folder) }, own);
  };
  const profile = "Engineer";
  return worker({
    name,
    profile,
    goal: "write a part of the product that passes its tests",
    cause: IMPLEMENT_TASK,
    action,
    workspace,
    budgetShare,
    tools: toolsIn(workspace),
    assign: async (rc) => {
      const order = newestOrder(rc.memory) as WorkOrder;
      const { task, fork } = presentTask(rc);
      const folder = await openFork(rc.steps, project(), fork);
      const wanted = new Set([...task.owns, ...task.tests]);
      const files = await assignedFiles(rc, folder, order, (path) => wanted.has(path));
      const text = assignmentText(rc, { order, files, role: roleCard({ name, profile }, WORK) });
      return { tools: toolsIn(folder, order, task, shownText(files)), task: text };
    },
    commits: false,
    handOver: (rc: RoleContext, report: WorkReport): Promise<Message> =>
      Promise.resolve(
        rc.message(report.summary, {
          causeBy: IMPLEMENT_TASK,
          instructContent: report,
          speech: report.summary,
          sendTo: [COLLEAGUES.planner],
        }),
      ),
  });
}

function presentTask({ memory, name }: RoleContext): NonNullable<ReturnType<typeof taskIn>> {
  const found = taskIn(newestOrder(memory) as WorkOrder);
  if (found !== undefined) return found;
  throw new UsageError("INPUT_INVALID", `Expected a message to ${name} with an order and a task of it, but there is no task. Send tasks.`);
}

function refusal(path: string, task: WorkTask | undefined): string | undefined {
  if (isTestPath(path)) return "it is a test, and tests are QA's: make the code pass, or hand the test back by dispute_test";
  const owns = task?.owns ?? [];
  return owns.includes(path) ? undefined : `your task writes only ${owns.join(", ")}; other files are a colleague's`;
}
