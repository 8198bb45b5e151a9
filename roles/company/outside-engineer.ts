import { assignmentText, NO_FILES } from "../../actions/company/assignment.ts";
import { workSoFar, type WorkSoFar } from "../../actions/company/delivery.ts";
import { lastWords, putBackContract } from "../../actions/company/outside-work.ts";
import { testRequest } from "../../actions/company/project-gate.ts";
import { ACCEPTANCE_FILE, isTestPath, REQUIREMENT_FILE, type WorkOrder } from "../../actions/company/work-order.ts";
import { type PromptPart, roleCard } from "../../actions/prompt.ts";
import {
  ControlError,
  defineRole,
  type Message,
  type MicroUsd,
  type Role,
  type RoleContext,
  TroupeError,
  WorkspaceError,
} from "../../src/index.ts";
import type { CodingQuestion, CodingReport } from "../../src/workspace/coding-agent.ts";
import { type CodingAgent, mergeFork, openFork, removeFork, visible, type WorkspaceForks } from "../../src/workspace/index.ts";
import { handedOver, IMPLEMENT, RULES } from "./engineer.ts";
import { removeMaskingTests } from "./own-tests.ts";
import { LONGEST_WORK } from "./work-log.ts";
import { COLLEAGUES, COMPANY, type CompanyMachine, subjectOf, workAction } from "./worker.ts";

/** A coding agent in place of the company's engineers. */
export interface OutsideWorker {
  readonly agent: CodingAgent;
  /** Reserved whole before each start. It is counted whole where the agent reports no cost. */
  readonly budget: MicroUsd;
}

const FORK = "worker";
const MOST_ANSWERS = 5;
const MOST_NAMED = 20;

const WORK = `You do the engineer's part, in the folder that you are in: a git worktree of the project. Write the product, try it, and end when it is right. Afterwards it is judged in a sandbox by the checks of the criteria, by all tests, and by the commands of README.md. Names in the checks (files, flags, ids of elements) are binding. The user's words decide.

README.md says what the product is, and has a section "Use" with commands that work as they stand. ${RULES}

Stay in this folder. Do not commit, push, or change branches: your files are taken over as they are. ${REQUIREMENT_FILE}, ${ACCEPTANCE_FILE}, tests that others wrote and what runs them are put back as they were.

End with a summary of one or two sentences. These lines at its end have a meaning:
DISPUTE <id of a criterion, or path of a test>: <why it contradicts the user's words>
GIVE UP: <why the order cannot be carried out>`;
const ASKS = "QUESTION: <what the user alone can decide>";
const OWN_TESTS = "Every function that can go wrong has a test of yours, which must fail when the function is broken.";

const NOT_TAKEN = "links, files above a megabyte, other repositories, environments of Python, and names that some systems cannot store";

const MASKS = "is not taken over: with the worker's own tests, tests pass that were there before and fail without them.";

interface Turn extends CodingReport {
  /** Files outside the worktree, and files of the contract, that it changed. They are as they were. */
  readonly putBack: readonly string[];
  /** Why its files cannot be taken over. */
  readonly damage?: string;
}

interface State {
  /** Tests that were there before its work. */
  tests?: readonly string[];
  /** For the user, of all rounds. */
  notes?: readonly string[];
}

/** The engineer's part by a coding agent that is not ours. Nothing that it says counts: the verifier runs what it wrote. */
export function outsideEngineer(machine: CompanyMachine, worker: OutsideWorker, asks: boolean): Role {
  const { engineer: name } = COLLEAGUES;
  const profile = "Engineer";
  const react = async (rc: RoleContext): Promise<Message> => {
    const { order } = workSoFar(rc.memory) as WorkSoFar;
    const role = roleCard({ name, profile }, [WORK, ...(asks ? [ASKS] : []), ...(order.size === "S" ? [OWN_TESTS] : [])].join("\n"));
    const tests = await testsOfOthers(rc, machine, order);
    const project = machine.project();
    await openFork(rc.steps, project, FORK);
    const guard = await rc.step("guard project", {}, ({ signal }) => project.forks.guard(FORK, signal), { fresh: true });
    const answers: string[] = [];
    const state = rc.state as State;
    const notes = new Set(state.notes);
    for (;;) {
      const own: readonly PromptPart[] = [["The user's answers", answers.join("\n")]];
      const prompt = assignmentText(rc, { order, files: NO_FILES, role, own });
      const turn = await work(rc, machine, { worker, prompt, tests, size: order.size, guard });
      for (const path of turn.putBack) notes.add(`${path} was changed by the worker, and is put back.`);
      const { disputes, questions, gaveUp, summary } = lastWords(
        turn.text,
        order.criteria.map(({ id }) => id),
      );
      if (asks && turn.outcome === "ended" && questions.length > 0 && answers.length < MOST_ANSWERS) {
        for (const question of questions) answers.push(`${question} ${await rc.human.ask(question)}`);
        continue;
      }
      const fork = project.forks.workspace(FORK);
      const masking = { gate: machine.gate, fork, order, others: tests };
      if (order.isChange && turn.damage === undefined)
        for (const path of await removeMaskingTests(rc, masking)) notes.add(`${path} ${MASKS}`);
      const merge = await merged(rc, machine, subjectOf(summary, IMPLEMENT), turn.damage);
      const left = merge.left.slice(0, MOST_NAMED).map(visible).join(", ");
      if (left !== "") notes.add(`Not taken over (${NOT_TAKEN}), ${merge.left.length} in all: ${left}.`);
      const why = turn.outcome === "ended" ? (gaveUp ?? merge.fault) : (turn.reason ?? "The worker failed.");
      if (why !== undefined) notes.add(`The worker ended without success: ${why}`);
      const status = why !== undefined ? "stuck" : disputes.length > 0 ? "disputed" : "finished";
      return handedOver(rc, { status, summary: why ?? summary, disputes: [...disputes], notes: (state.notes = [...notes]) });
    }
  };
  return defineRole({
    ...{ name, profile, goal: "write a product that does what the user asked for, and prove it", description: COMPANY },
    ...{ watch: [], actions: [workAction(IMPLEMENT)], timeout: LONGEST_WORK, react },
  });
}

/** The tests that it may not change. What it wrote itself in an earlier round is its own, where no QA writes tests. */
async function testsOfOthers(rc: RoleContext, { workspace, gate }: CompanyMachine, order: WorkOrder): Promise<readonly string[]> {
  const state = rc.state as State;
  const list = async (): Promise<readonly string[]> => (await workspace.list()).filter(isTestPath);
  const present = await rc.step("list tests", {}, list, { fresh: true });
  if (state.tests === undefined) {
    // Runners find tests under other names too.
    const { suites } = order.isChange ? await gate.check(rc.steps, testRequest({})) : { suites: [] };
    const found = suites.flatMap(({ files }) => files).filter((path) => !MANIFESTS.has(path));
    state.tests = [...new Set([...present, ...found])];
  }
  return order.size === "S" ? state.tests : [...new Set([...present, ...state.tests])];
}

/** Their scripts are put back alone. */
const MANIFESTS: ReadonlySet<string> = new Set(["package.json", "pyproject.toml", "go.mod", "Cargo.toml"]);

interface Asked {
  readonly worker: OutsideWorker;
  readonly prompt: string;
  readonly tests: readonly string[];
  readonly size: WorkOrder["size"];
  readonly guard: Awaited<ReturnType<WorkspaceForks["guard"]>>;
}

/** Runs the agent as a step: its whole budget is reserved before, and a recorded turn is never run again. */
function work(rc: RoleContext, { workspace, project }: CompanyMachine, { worker, prompt, tests, size, guard }: Asked): Promise<Turn> {
  const { agent, budget } = worker;
  const { forks } = project();
  return rc.step(
    "start worker",
    { prompt },
    async ({ key, signal, human, step }) => {
      const fork = forks.workspace(FORK);
      const ask = ({ text, choices }: CodingQuestion): Promise<string> => human.ask(text, { choices });
      const report = await step({ kind: "worker", name: agent.name, request: {}, metered: true, fresh: true }, async ({ attempts }) => {
        await attempts.open(budget);
        let ended: CodingReport | undefined;
        try {
          return (ended = await agent.work({ folder: fork.root, prompt, key, signal, ask }));
        } finally {
          const { outcome, cost } = ended ?? {};
          const paid = cost === undefined ? ({ cost: budget, basis: "hold" } as const) : ({ cost, basis: "usage" } as const);
          attempts.settle(outcome === "missing" ? { cost: 0, basis: "none" } : paid);
        }
      });
      const putBack: string[] = [];
      try {
        putBack.push(...(await forks.putBack(FORK, guard, signal)));
        putBack.push(...(await putBackContract(fork, workspace, { size, tests })));
      } catch (error) {
        if (!TroupeError.isInstance(error) || error instanceof ControlError) throw error;
        return { ...report, putBack, damage: error.message };
      }
      return { ...report, putBack };
    },
    { fresh: true },
  );
}

interface Merged {
  readonly left: readonly string[];
  /** Why nothing was taken over. */
  readonly fault?: string;
}

/** Takes the files over, unless what judges them could not be put back, and ends the fork. */
async function merged(rc: RoleContext, { project }: CompanyMachine, message: string, damage?: string): Promise<Merged> {
  const request = { message, author: rc.name, date: rc.now() };
  if (damage !== undefined) {
    await removeFork(rc.steps, project(), FORK);
    return { left: [], fault: `It damaged its worktree, so nothing of it is taken over. ${damage}` };
  }
  const merge = await mergeFork(rc.steps, project(), FORK, request).catch((error: unknown) => {
    if (!WorkspaceError.isInstance(error)) throw error;
    return { kind: "broken", reason: error.message } as const;
  });
  await removeFork(rc.steps, project(), FORK);
  if (merge.kind === "merged") return { left: merge.left ?? [] };
  return {
    left: [],
    fault:
      merge.kind === "broken"
        ? `Not all of its files could be taken over. ${merge.reason}`
        : `These do not fit: ${merge.paths.join(", ")}.`,
  };
}
