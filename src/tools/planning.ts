import { z } from "zod";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { ToolStates } from "./tool-files.ts";

const MAX_PLANS = 20;
const MAX_STEPS = 200;
const MAX_TEXT = 2000;

const MARKS = { not_started: "[ ]", in_progress: "[→]", completed: "[✓]", blocked: "[!]" } as const;

interface PlanStep {
  readonly text: string;
  readonly status: keyof typeof MARKS;
  readonly notes: string;
}

interface Plan {
  readonly title: string;
  readonly steps: readonly PlanStep[];
}

const text = z.string().min(1).max(MAX_TEXT);
const parameters = z.object({
  command: z.enum(["create", "update", "list", "get", "set_active", "mark_step", "delete"]),
  plan_id: z.string().min(1).max(100).optional().describe("Needed to create, set_active and delete. Else, default: the active plan."),
  title: text.optional().describe("create, update"),
  steps: z.array(text).max(MAX_STEPS).optional().describe("create, update: all steps, in their order."),
  step: z.number().int().min(1).optional().describe("mark_step: number of the step, as shown"),
  status: z.enum(["not_started", "in_progress", "completed", "blocked"]).optional().describe("mark_step"),
  notes: z.string().max(MAX_TEXT).optional().describe("mark_step: what is worth knowing of the step; empty takes notes away"),
});

type PlanningArguments = z.infer<typeof parameters>;

/** Makes a tool that keeps plans for an agent: several, one of them active. Plans belong to the session that makes them. */
export function planningTool(): Tool {
  const boards = new ToolStates(() => new PlanBoard());
  return defineTool({
    name: "planning",
    description:
      "Keeps plans of steps and how far each is: create, update (steps of the same words keep their status), list, get, set_active, mark_step, delete. " +
      "Use it for work of several steps.",
    parameters,
    // It changes only its own state, and rebuilds that by running again.
    effect: "read",
    again: true,
    parallel: false,
    execute: (args, ctx) => boards.of(ctx).run(args),
  });
}

/** The plans of one session. It owns the plans and which one is active; a deleted plan is not active, and a refused change changes nothing. */
class PlanBoard {
  readonly #plans = new Map<string, Plan>();
  #active: string | undefined;

  run(args: PlanningArguments): ToolResult {
    const { command, plan_id: named } = args;
    if (command === "create") return this.#create(args);
    if (command === "list") return this.#list();
    if (named === undefined && (command === "set_active" || command === "delete")) return toolFailure("Expected `plan_id`.");
    const id = named ?? this.#active;
    if (id === undefined) return toolFailure("Expected `plan_id`: no plan is active.");
    const plan = this.#plans.get(id);
    if (plan === undefined) {
      const known = [...this.#plans.keys()].join(", ") || "none";
      return toolFailure(`Expected the plan_id of a plan that is there, got "${id}". There are: ${known}.`);
    }
    switch (command) {
      case "get":
        return this.#shown(id, plan);
      case "set_active":
        this.#active = id;
        return this.#shown(id, plan);
      case "update":
        return this.#update(id, plan, args);
      case "mark_step":
        return this.#mark(id, plan, args);
      case "delete":
        return this.#delete(id);
    }
  }

  #create({ plan_id: id, title, steps }: PlanningArguments): ToolResult {
    if (id === undefined || title === undefined || steps === undefined)
      return toolFailure("Expected `plan_id`, `title` and `steps` to create a plan.");
    if (steps.length === 0) return toolFailure("Expected at least one step.");
    if (this.#plans.has(id)) return toolFailure(`Expected a new plan_id, but there is a plan "${id}". Update it, or choose another id.`);
    if (this.#plans.size >= MAX_PLANS) return toolFailure(`Expected at most ${MAX_PLANS} plans. Delete one first.`);
    this.#active = id;
    return this.#keep(id, { title, steps: stepsOf(steps) });
  }

  #update(id: string, plan: Plan, { title, steps }: PlanningArguments): ToolResult {
    if (title === undefined && steps === undefined) return toolFailure("Expected `title`, `steps` or both to update a plan.");
    if (steps?.length === 0) return toolFailure("Expected at least one step. To be rid of a plan, delete it.");
    return this.#keep(id, { title: title ?? plan.title, steps: steps === undefined ? plan.steps : stepsOf(steps, plan.steps) });
  }

  #mark(id: string, plan: Plan, { step, status, notes }: PlanningArguments): ToolResult {
    if (step === undefined || step > plan.steps.length)
      return toolFailure(`Expected the number of a step, from 1 to ${plan.steps.length}.`);
    if (status === undefined && notes === undefined) return toolFailure("Expected `status`, `notes` or both.");
    const steps = plan.steps.map((one, at) =>
      at + 1 === step ? { ...one, status: status ?? one.status, notes: notes ?? one.notes } : one,
    );
    return this.#keep(id, { ...plan, steps });
  }

  #keep(id: string, plan: Plan): ToolResult {
    this.#plans.set(id, plan);
    return this.#shown(id, plan);
  }

  #delete(id: string): ToolResult {
    this.#plans.delete(id);
    if (this.#active === id) this.#active = undefined;
    return toolOutput(`The plan "${id}" is gone.${this.#active === undefined ? " No plan is active." : ""}`);
  }

  #list(): ToolResult {
    const lines = [...this.#plans].map(([id, plan]) => `${id === this.#active ? "* " : "  "}${id}: ${plan.title} (${progress(plan)})`);
    return toolOutput(lines.length === 0 ? "There are no plans." : lines.join("\n"));
  }

  #shown(id: string, plan: Plan): ToolResult {
    const lines = plan.steps.flatMap(({ status, text: words, notes }, at) => [
      `${at + 1}. ${MARKS[status]} ${words}`,
      ...(notes === "" ? [] : [`   notes: ${notes}`]),
    ]);
    const head = `Plan ${id}${id === this.#active ? " (active)" : ""}: ${plan.title}\nProgress: ${progress(plan)}`;
    const steps = plan.steps.map((step, at) => ({ step: at + 1, ...step }));
    return toolOutput(`${head}\n${lines.join("\n")}`, { data: { planId: id, title: plan.title, steps } });
  }
}

/** A step with the same words as an earlier one keeps its status and notes. */
function stepsOf(steps: readonly string[], before: readonly PlanStep[] = []): readonly PlanStep[] {
  const left = [...before];
  return steps.map((words): PlanStep => {
    const at = left.findIndex((old) => old.text === words);
    const [old] = at === -1 ? [] : left.splice(at, 1);
    return old ?? { text: words, status: "not_started", notes: "" };
  });
}

function progress({ steps }: Plan): string {
  return `${steps.filter(({ status }) => status === "completed").length} of ${steps.length} completed`;
}
