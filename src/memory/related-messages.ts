import { isNewer, type KeptHit, type KeptMessage } from "./kept-memory.ts";
import { relatedLine, type SaidAt } from "./recall-prompt.ts";
import { cutLine } from "./recall-window.ts";
import type { TokenCounter } from "./tokens.ts";

/** A message as it was recalled. */
export interface RecalledMessage {
  readonly id: string;
  /** The run it was said in, where that is another one. */
  readonly runId?: string;
  /** When it was said; not there in what older versions recorded, and for a message of another run without a date. */
  readonly at?: SaidAt;
  /** 0 for a neighbour. */
  readonly score: number;
  readonly tokens: number;
  readonly from: string;
  readonly text: string;
}

interface Chosen {
  readonly kept: KeptMessage;
  readonly recalled: RecalledMessage;
}

/**
 * What of the hits is shown within so many tokens, newer before older: the hits, best first, then what stands next to them. A hit that is
 * longer than all there is stands cut, if it is the best; else a shorter one behind it may fit.
 */
export async function relatedWithin(
  hits: readonly KeptHit[],
  budget: number,
  counter: TokenCounter,
): Promise<{ readonly tokens: number; readonly messages: readonly RecalledMessage[] }> {
  const chosen: Chosen[] = [];
  let tokens = 0;
  for (const kept of [...hits, ...hits.flatMap(({ neighbours }) => neighbours)]) {
    const { message } = kept;
    const at = saidAt(kept);
    const whole = await counter.count(`${relatedLine({ ...message, at })}\n`);
    const isCut = tokens + whole > budget;
    if (isCut && chosen.length > 0) continue;
    const cut = isCut ? await cutLine(message, budget, counter, (part) => relatedLine({ ...part, at })) : undefined;
    const { content, tokens: size } = cut ?? { content: message.content, tokens: whole };
    if (content === undefined) continue;
    tokens += size;
    chosen.push({ kept, recalled: recalled(kept, at, content, size) });
  }
  const messages = chosen.sort((a, b) => (isNewer(a.kept, b.kept) ? -1 : 1)).map((one) => one.recalled);
  return { tokens, messages };
}

function recalled({ message, runId, isOwn, score }: KeptMessage, at: SaidAt | undefined, text: string, tokens: number): RecalledMessage {
  return {
    id: message.id,
    ...(isOwn ? {} : { runId }),
    ...(at === undefined ? {} : { at }),
    score,
    tokens,
    from: message.sentFrom,
    text,
  };
}

function saidAt({ message, isOwn }: KeptMessage): SaidAt | undefined {
  if (isOwn) return "this run";
  return message.timestamp > 0 ? message.timestamp : undefined;
}
