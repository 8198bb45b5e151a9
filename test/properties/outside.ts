import type { StepOptions } from "../../src/role/context.ts";
import { type Clock, nextMacrotask } from "../../src/kernel/clock.ts";
import { canonicalJson, contentHash, type Json } from "../../src/kernel/json.ts";
import { randomStream } from "../../src/kernel/random.ts";
import type { StepDoor } from "../../src/kernel/step.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import type { RunEvent, StepStarted } from "../../src/runtime/record/event.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";

/** The time of an effect, in turns of the event loop: so effects end in any order, and no test waits for real time. */
export type Latency = () => number;

/** The factor by which a long effect takes longer than others. */
const LONG = 12;

/** Latencies that a seed shuffles. One effect in eight takes so long that whole pipelines overtake it. */
export function shuffled(seed: string | number, longest = 6): Latency {
  const random = randomStream(String(seed), "latency");
  return () => Math.floor(random() * (longest + 1)) * (random() < 1 / 8 ? LONG : 1);
}

/** All effects take the same time. */
export const steady: Latency = () => 1;

/** A clock that stands still: waits between tries are over at once, and limits never come. */
export const stillClock: Clock = {
  now: () => 1_000,
  timer(ms, fire) {
    if (ms > 20_000) return () => {};
    const handle = setImmediate(fire);
    return () => clearImmediate(handle);
  },
};

/** The parts of a context that a step needs. */
export interface Asker {
  step<T>(name: string, request: unknown, effect: (door: StepDoor) => Promise<T>, o?: StepOptions): Promise<T>;
}

/**
 * The world outside a run, with latencies: things happen there, take a while, and stay done when the run is killed. It counts what
 * happens by its label, which is the name and the request of the step, or the prompt of a model call.
 */
export class Outside {
  /** The number of times each thing was begun in this life of the run. */
  readonly begun: Map<string, number> = new Map();
  readonly #done: Map<string, number>;
  readonly #latency: Latency;

  /** @param before what has happened before: the events of the run up to a kill */
  constructor(latency: Latency = steady, before: readonly RunEvent[] = []) {
    this.#latency = latency;
    this.#done = endedLabels(before);
  }

  /** @param answer what comes of it, by how often it was done before; may throw */
  async happen<T>(label: string, answer: (before: number) => T): Promise<T> {
    count(this.begun, label);
    for (let turns = this.#latency(); turns > 0; turns -= 1) await nextMacrotask();
    const before = this.#done.get(label) ?? 0;
    count(this.#done, label);
    return answer(before);
  }

  /** A recorded step whose effect happens here. */
  step<T extends Json>(asker: Asker, name: string, request: Json, answer: (before: number) => T, o?: StepOptions): Promise<T> {
    return asker.step(name, request, () => this.happen(stepLabel(name, request), answer), o);
  }

  /** The same inside another step's effect. */
  inner<T extends Json>(door: StepDoor, name: string, request: Json, answer: (before: number) => T): Promise<T> {
    return door.step({ kind: "step", name, request }, () => this.happen(stepLabel(name, request), answer));
  }

  /** A model that thinks something of every prompt, always the same, for money. */
  model(): ScriptedModel {
    const answer = (request: ChatRequest): Promise<string> =>
      this.happen(`model ${promptOf(request)}`, () => `thought ${brief(promptOf(request))}`);
    return scriptedModel(answer, { price: { input: 1, output: 10 }, maxOutputTokens: 100 });
  }
}

/** A long text in eight characters. */
export function brief(text: string): string {
  return contentHash(text).slice(0, 8);
}

/** The label of a step with this request. */
export function stepLabel(name: string, request: Json): string {
  return `${name} ${canonicalJson(request)}`;
}

/** The number of times each thing has ended, by the events of a run. */
export function endedLabels(events: readonly RunEvent[]): Map<string, number> {
  const labels = new Map<string, string>();
  const ended = new Map<string, number>();
  for (const event of events) {
    if (event.type === "step.started") labels.set(`${event.act} ${event.key}`, labelOf(event));
    if (event.type === "step.ended") count(ended, labels.get(`${event.act} ${event.key}`) ?? "unknown");
  }
  return ended;
}

/** The question of a request: its last message. */
export function promptOf(request: ChatRequest): string {
  return String(request.messages.at(-1)?.content);
}

function labelOf(step: StepStarted): string {
  return step.kind === "model" ? `model ${promptOf(step.request as unknown as ChatRequest)}` : stepLabel(step.name, step.request);
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
