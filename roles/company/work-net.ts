import { presentMessages } from "../../actions/company/delivery.ts";
import { type WorkReport, WorkReportSchema } from "../../actions/company/work-report.ts";
import { type AgentMemory, type Mind, Net, type NetState, react } from "../../src/agent/index.ts";
import { type RoleContext, TroupeError } from "../../src/index.ts";
import type { WorkLog } from "./work-log.ts";

/** Returns the bounds of the work, and the amounts that the role has spent on the present order. */
export async function boundsOf(rc: RoleContext): Promise<ConstructorParameters<typeof WorkLog>[0]> {
  const isBound = await rc.step("find the budget", {}, ({ budget }) => Promise.resolve(budget.isBinding !== false), { fresh: true });
  const own = presentMessages(rc.memory).filter(({ sentFrom }) => sentFrom === rc.name);
  const spent = own
    .map(({ instructContent }) => WorkReportSchema.safeParse(instructContent).data?.spent)
    .findLast((one) => one !== undefined);
  return { spent: spent ?? { tokens: 0, ms: 0 }, isUnpriced: !isBound, now: () => rc.now() };
}

/** The net of all workers: reasoning and acting in turns, until the work is handed over or its log says that it must end. */
export function workNet(log: WorkLog): Net {
  const net = react();
  const [reasoning, action, answer] = ["reasoning", "action", "answer"].map((name) => net.state(name)) as [NetState, NetState, NetState];
  const end = (memory: AgentMemory, report: WorkReport): void => {
    memory.answer = { text: JSON.stringify(log.report(report)), status: "success" };
    memory.done = true;
  };
  const after = (memory: AgentMemory): void => {
    const said = memory.done && memory.answer !== undefined ? reportIn(memory.answer.text) : undefined;
    if (said !== undefined) return end(memory, said);
    if (log.isDisputed) return end(memory, { status: "disputed", summary: "" });
    if (log.limit !== undefined) end(memory, { status: "stuck", summary: log.limit });
  };
  return new Net({
    name: "work",
    start: (memory) => net.startOf(memory),
    states: {
      reasoning: {
        async *run(memory, mind) {
          try {
            yield* reasoning.run(memory, heard(mind, memory, log));
          } catch (error) {
            // The net ends after fewer slips; what was said is remembered by then.
            if (!TroupeError.isInstance(error) || error.code !== "AGENT_REPLY_UNUSABLE") throw error;
          }
          if (memory.nextAction === undefined && !memory.done) log.slipped();
          if (memory.nextAction === undefined) after(memory);
        },
        nextState: (memory) => reasoning.nextState(memory),
      },
      action: {
        sameStep: true,
        async *run(memory, mind) {
          // Before its piece: a memory that is done is not run on.
          for await (const piece of action.run(memory, heard(mind, memory, log))) {
            after(memory);
            yield piece;
          }
        },
        nextState: (memory) => action.nextState(memory),
      },
      answer,
    },
  });
}

function reportIn(text: string): WorkReport | undefined {
  try {
    return WorkReportSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const TOKEN = 4;

function heard(mind: Mind, memory: AgentMemory, log: WorkLog): Mind {
  const { signal, clock, step, toolChoice, nextStepPrompt } = mind;
  return {
    ...{ signal, clock, step, toolChoice, nextStepPrompt },
    read: (schema, question) => mind.read(schema, question),
    warn: (code, text) => mind.warn(code, text),
    act: async (calls) => log.called(await mind.act(calls)),
    async *ask(question) {
      const reply = yield* mind.ask(question);
      const { usage } = reply;
      // A server that does not say what it used.
      const used = usage === undefined ? JSON.stringify(await memory.dump()).length / TOKEN : usage.inputTokens + usage.outputTokens;
      log.replied(Math.ceil(used));
      return reply;
    },
  };
}
