import type { Known } from "../../kernel/known-options.ts";
import { z } from "zod";
import { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import type { Mind } from "../net.ts";

/** Who thinks and who judges, where it is not the agent's model. */
export interface ThoughtModels {
  /** Proposes thoughts. */
  readonly model?: ChatModel | undefined;
  /** Scores them. */
  readonly judge?: ChatModel | undefined;
}

/** Their names. @internal */
export const thoughtModels: Known<ThoughtModels> = { model: true, judge: true };

const Proposals = z.object({ thoughts: z.array(z.string().min(1)).min(1) });
const Score = z.object({ score: z.number().min(0).max(10) });

/** Different next thoughts on the way to a goal. */
export async function propose(
  mind: Mind,
  o: ThoughtModels & { readonly goal: string; readonly path: readonly string[]; readonly count: number },
): Promise<readonly string[]> {
  const { goal, path, count, model } = o;
  const asked = ChatMessage.user(
    `Task:\n${goal}\n\n${soFar(path)}Propose ${count} different thoughts, each one next step toward solving the task. Do not solve it whole.`,
  );
  const { thoughts } = await mind.read(Proposals, { messages: [asked], model });
  return [...new Set(thoughts)].slice(0, count);
}

/** How promising a way of thinking is, from 0 to 10. */
export async function score(mind: Mind, o: ThoughtModels & { readonly goal: string; readonly path: readonly string[] }): Promise<number> {
  const asked = ChatMessage.user(
    `Task:\n${o.goal}\n\n${soFar(o.path)}Judge how likely this way of thinking solves the task: 0 is impossible, 10 is sure.`,
  );
  return (await mind.read(Score, { messages: [asked], model: o.judge })).score;
}

/** Thoughts in words. */
export function soFar(path: readonly string[]): string {
  return path.length === 0 ? "" : `Thoughts so far:\n${path.map((thought, place) => `${place + 1}. ${thought}`).join("\n")}\n\n`;
}

/**
 * All values, side by side. When one fails the others are awaited before it is thrown: a net whose state has ended leaves nothing behind
 * that still asks, pays and tells.
 */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(work);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}
