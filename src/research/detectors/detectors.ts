import { type Message, ROUTE_TO_ALL, type RunEvent, type RunState } from "../../index.ts";
import { Cycles } from "../../kernel/cycles.ts";
import { listed } from "../../kernel/value-text.ts";
import { contentHash, type Json } from "../../kernel/json.ts";

/** The failures that a log shows without a judge, with their modes of Cemri et al. 2025, "Why Do Multi-Agent LLM Systems Fail?", arXiv 2503.13657. */
export const FAILURE_MODES = {
  "step-repetition": "FM-1.3 step repetition",
  "ping-pong": "FM-1.3 step repetition, between roles",
  "no-termination": "FM-1.5 unaware of termination conditions",
  "lost-request": "FM-2.5 ignored other agent's input: asked and never answered",
  "ignored-message": "FM-2.5 ignored other agent's input",
  "open-plan": "FM-3.1 premature termination",
} as const;

export type FailureName = keyof typeof FAILURE_MODES;

/** A failure in the log of a run. */
export interface FailureFinding {
  readonly failure: FailureName;
  /** Its mode in the taxonomy of Cemri et al. 2025. */
  readonly mode: string;
  readonly seq: number;
  readonly roles: readonly string[];
  readonly messages: readonly string[];
  readonly text: string;
}

const MAX_NAMED = 6;

export type ActEnded = Extract<RunEvent, { readonly type: "act.ended" }>;
export type RunEnded = Extract<RunEvent, { readonly type: "run.ended" }>;
export type Sent = ActEnded["said"][number];

export type Found = Pick<FailureFinding, "failure" | "roles" | "messages" | "text">;

/** A model call or a tool call of an activation that has its answer. */
export interface UsedStep {
  readonly kind: "model" | "tool";
  readonly name: string;
  /** Equal for equal requests with equal answers. */
  readonly signature: string;
}

/** An activation that took effect. */
export interface SeenAct {
  readonly event: ActEnded;
  readonly taken: readonly Message[];
  readonly steps: readonly UsedStep[];
}

export interface SeenRun {
  readonly state: RunState;
  /** True for a role that is judged: one that has asked a model, or every role for `all`. */
  isJudged(role: string): boolean;
}

export interface Detector {
  /** Called for each message that was published, also from outside, after the act that said it. */
  sent?(sent: Sent, run: SeenRun): readonly Found[];
  /** Called for each message that left the full mailbox of a role unread. */
  dropped?(message: Message, role: string, run: SeenRun): readonly Found[];
  acted?(act: SeenAct, run: SeenRun): readonly Found[];
  ended?(end: RunEnded, run: SeenRun): readonly Found[];
}

export type MakeDetector = (repeats: number) => Detector;

const MAX_STEPS = 3;

/** Repeats of equal requests with equal answers, of models and tools apart. Equal calls of a model in one activation are samples: they count once. */
export const stepRepetition: MakeDetector = (repeats) => {
  const known = new Map<string, Cycles>();
  return {
    acted({ event: { role }, steps }, run) {
      if (!run.isJudged(role)) return [];
      const samples = new Set<string>();
      return steps.flatMap(({ kind, name, signature }): readonly Found[] => {
        if (kind === "model" && samples.has(signature)) return [];
        samples.add(signature);
        const cycles = known.get(`${kind} ${role}`) ?? new Cycles(repeats, MAX_STEPS);
        known.set(`${kind} ${role}`, cycles);
        const length = cycles.add(signature);
        if (length === 0) return [];
        cycles.clear();
        const what = length === 1 ? `a call of the ${kind} ${name}` : `a cycle of ${length} calls that ends with the ${kind} ${name}`;
        const text = `${role} repeated ${what} ${repeats} times, with equal requests and equal answers.`;
        return [{ failure: "step-repetition", roles: [role], messages: [], text }];
      });
    },
  };
};

const MAX_ANSWERS = 4;

interface Link {
  readonly message: Message;
  readonly signature: string;
}

/** Roles answer each other in a circle: along a chain of answers the same strings repeat in order, whatever their case and spaces. */
export const pingPong: MakeDetector = (repeats) => {
  const chains = new Map<string, readonly Link[]>();
  return {
    sent({ message }, run) {
      if (!run.isJudged(message.sentFrom)) return [];
      const before = message.parents.map((id) => chains.get(id)).findLast((chain) => chain !== undefined) ?? [];
      const chain = [...before, { message, signature: signatureOf(message) }].slice(-repeats * MAX_ANSWERS);
      const length = closedCycle(chain, repeats);
      const circle = chain.slice(-length);
      const roles = [...new Set(circle.map((link) => link.message.sentFrom))];
      const isFound = length > 0 && roles.length > 1;
      chains.set(message.id, isFound ? [] : chain);
      if (!isFound) return [];
      const text = `${listed(roles, MAX_NAMED)} answered each other with the same ${length} messages ${repeats} times.`;
      return [{ failure: "ping-pong", roles, messages: circle.map((link) => link.message.id), text }];
    },
  };
};

function signatureOf({ sentFrom, content, instructContent }: Message): string {
  return JSON.stringify([sentFrom, content.toLowerCase().replaceAll(/\s+/g, " ").trim(), instructContent ?? null]);
}

function closedCycle(chain: readonly Link[], repeats: number): number {
  const cycles = new Cycles(repeats, MAX_ANSWERS);
  let length = 0;
  for (const { signature } of chain) length = cycles.add(signature);
  return length;
}

/** A limit had to end a run in which nothing new was said any more. A string is new for each sender and cause; a new one clears the list. */
export const noTermination: MakeDetector = (repeats) => {
  const said = new Set<string>();
  let stale: Message[] = [];
  return {
    sent({ message, to }, run) {
      const { sentFrom, content, causeBy } = message;
      const text = contentHash([sentFrom, causeBy, content, (message.instructContent ?? null) as Json]);
      const isKnown = said.has(text);
      said.add(text);
      if (!isKnown) stale = [];
      else if (run.isJudged(sentFrom) && to.some((role) => role !== sentFrom)) stale.push(message);
      return [];
    },
    ended({ status }, { state }) {
      // Each half of a pair repeats itself.
      if ((status !== "rounds" && status !== "budget") || stale.length < 2 * repeats) return [];
      const roles = [...new Set(stale.map(({ sentFrom }) => sentFrom))];
      const limit = status === "budget" ? "its budget" : `its limit of rounds, after ${state.round}`;
      const text = `The run ended by ${limit}, and the last ${stale.length} messages said nothing new.`;
      return [{ failure: "no-termination", roles, messages: stale.map(({ id }) => id).slice(-2 * repeats), text }];
    },
  };
};

/** A request without an answer so far: a question that its recipient has read, or a message that the edges lost. */
interface OpenRequest {
  readonly message: Message;
  readonly to: string;
  readonly isLost: boolean;
}

/**
 * A request gets no answer: a message to an address that no role has, one that left a full mailbox unread, a question (its last character
 * is a question mark), and one that the edges lost, unless its sender repeats it. An answer closes all requests of its recipient to its
 * sender. A limit that ends the run leaves the open ones undecided.
 */
export const lostRequest: MakeDetector = () => {
  let open: OpenRequest[] = [];
  return {
    sent({ message, to, dead = [], faults = [] }, run) {
      const { sentFrom: from, id } = message;
      const lostTo = faults.filter(({ arrives }) => arrives.length === 0).map((fault) => fault.to);
      const reached = to.filter((role) => !lostTo.includes(role));
      open = open.filter(
        (one) => !(one.to === from && reached.includes(one.message.sentFrom)) && !(one.isLost && isRepeated(one, message, reached)),
      );
      if (isRequest(message) && run.isJudged(from)) open.push(...lostTo.map((role) => ({ message, to: role, isLost: true })));
      if (dead.length === 0 || !run.isJudged(from)) return [];
      return [lost([from], id, `${from} wrote ${id} to ${listed(dead, MAX_NAMED)}, and the team has no such role.`)];
    },
    dropped(message, role, run) {
      const { sentFrom: from, id } = message;
      if (!isRequest(message) || !run.isJudged(from)) return [];
      return [lost([from, role], id, `${from} wrote ${id} to ${role}, whose full mailbox dropped it unread.`)];
    },
    acted({ event: { role }, taken }, run) {
      const asked = taken.filter((message) => isRequest(message) && message.sentFrom !== role && message.content.trimEnd().endsWith("?"));
      open.push(...asked.filter(({ sentFrom }) => run.isJudged(sentFrom)).map((message) => ({ message, to: role, isLost: false })));
      return [];
    },
    ended({ status }) {
      if (status !== "finished") return [];
      return open.splice(0).map(({ message: { sentFrom, id }, to, isLost }) => {
        const end = isLost ? `wrote ${id} to ${to}, which the edges lost` : `asked ${to} in ${id}`;
        return lost([sentFrom, to], id, `${sentFrom} ${end}, and ${to} never answered.`);
      });
    },
  };
};

function isRepeated({ message: { sentFrom, content }, to }: OpenRequest, again: Message, reached: readonly string[]): boolean {
  return again.sentFrom === sentFrom && again.content === content && reached.includes(to);
}

function isRequest({ sentFrom, sendTo }: Message): boolean {
  return sentFrom !== "" && !sendTo.includes(ROUTE_TO_ALL);
}

function lost(roles: readonly string[], id: string, text: string): Found {
  return { failure: "lost-request", roles, messages: [id], text };
}

/**
 * A message from one role to another had no effect: the recipient took it and did nothing then, and nothing later. One that it does not
 * remember is found at once, others when the run finishes. Any effect of a role, also a step, clears the messages that it remembers.
 */
export const ignoredMessage: MakeDetector = () => {
  const waiting = new Map<string, Message[]>();
  return {
    acted({ event, taken, steps }, run) {
      const { role } = event;
      if (!run.isJudged(role)) return [];
      if (steps.length > 0 || hasEffect(event)) {
        waiting.delete(role);
        return [];
      }
      const remembered = new Set(
        event.memory.flatMap((change) => (change[0] === "+" ? [typeof change[1] === "string" ? change[1] : change[1].id] : [])),
      );
      const own = taken.filter(({ sentFrom, sendTo }) => sentFrom !== "" && sentFrom !== role && !sendTo.includes(ROUTE_TO_ALL));
      const kept = [...(waiting.get(role) ?? []), ...own.filter(({ id }) => remembered.has(id))];
      if (kept.length > 0) waiting.set(role, kept);
      return own.filter(({ id }) => !remembered.has(id)).map((message) => ignored(role, message, "read it and keeps nothing of it"));
    },
    ended({ status }) {
      if (status !== "finished") return [];
      return [...waiting].flatMap(([role, messages]) => messages.map((message) => ignored(role, message, "did nothing after it")));
    },
  };
};

function hasEffect({ said, working, state, plan, joins }: ActEnded): boolean {
  return said.length > 0 || working.length > 0 || state !== undefined || plan !== undefined || joins !== undefined;
}

function ignored(role: string, { id, sentFrom }: Message, end: string): Found {
  return { failure: "ignored-message", roles: [sentFrom, role], messages: [id], text: `${sentFrom} wrote ${id} to ${role}, who ${end}.` };
}

/** A run finished while the plan of a role has tasks that are not done. */
export const openPlan: MakeDetector = () => ({
  ended({ status }, run) {
    if (status !== "finished") return [];
    return [...run.state.roles.values()].flatMap(({ name, plan }): readonly Found[] => {
      const open = plan.tasks.filter(({ status: state }) => state === "open").map(({ id }) => id);
      if (open.length === 0 || !run.isJudged(name)) return [];
      const text = `The run finished while the plan of ${name} has ${open.length} of ${plan.tasks.length} tasks open: ${listed(open, MAX_NAMED)}.`;
      return [{ failure: "open-plan", roles: [name], messages: [], text }];
    });
  },
});
