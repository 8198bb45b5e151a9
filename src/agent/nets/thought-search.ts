import { z } from "zod";
import { UsageError } from "../../kernel/errors.ts";
import type { Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import { type AgentMemory, goalText } from "../agent-memory.ts";
import type { Mind, NetState } from "../net.ts";
import { answerBy } from "./react.ts";

/** Instead of the agent's own model. */
export interface ThoughtModels {
  readonly model?: ChatModel | undefined;
  readonly judge?: ChatModel | undefined;
}

/** @internal */
export const thoughtModels: Known<ThoughtModels> = { model: kinds.model, judge: kinds.model };

const Proposals = z.object({ thoughts: z.array(z.string().min(1)).min(1) });
const Score = z.object({ score: z.number().min(0).max(10) });

interface ThoughtPath extends ThoughtModels {
  readonly goal: string;
  readonly path: readonly string[];
}

export async function propose(
  mind: Mind,
  { goal, path, count, model }: ThoughtPath & { readonly count: number },
): Promise<readonly string[]> {
  const asked = ChatMessage.user(
    `Task:\n${goal}\n\n${soFar(path)}Propose ${count} different thoughts, each one next step toward solving the task. Do not solve it whole.`,
  );
  const { thoughts } = await mind.read(Proposals, { messages: [asked], model });
  return [...new Set(thoughts)].slice(0, count);
}

export async function score(mind: Mind, { goal, path, judge }: ThoughtPath): Promise<number> {
  const asked = ChatMessage.user(
    `Task:\n${goal}\n\n${soFar(path)}Judge how likely this way of thinking solves the task: 0 is impossible, 10 is sure.`,
  );
  return (await mind.read(Score, { messages: [asked], model: judge })).score;
}

export function answeringFrom({ model }: ThoughtModels, pathIn: (memory: AgentMemory) => Promise<readonly string[]>): NetState {
  return {
    async *run(memory, mind) {
      const task = `Task:\n${await goalText(memory)}\n\n${soFar(await pathIn(memory))}`;
      const asked = ChatMessage.user(`${task}Following these thoughts, give the answer to the task, whole, and nothing else.`);
      yield* answerBy(memory, mind, { messages: [asked], model });
    },
    nextState: () => Promise.resolve("answer"),
  };
}

function soFar(path: readonly string[]): string {
  return path.length === 0 ? "" : `Thoughts so far:\n${path.map((thought, index) => `${index + 1}. ${thought}`).join("\n")}\n\n`;
}

/** A failure is thrown after the others have settled: no paid call may continue after its state. */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(work);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}

export function checkLimits(limits: Readonly<Record<string, number>>): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (Number.isSafeInteger(limit) && limit >= 1) continue;
    throw new UsageError("NET_INVALID", `Expected ${name} to be a whole number of 1 or more, got ${limit}.`);
  }
}
