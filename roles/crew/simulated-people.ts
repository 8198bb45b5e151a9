import { createHash } from "node:crypto";
import { workedCause } from "../../actions/process-flow.ts";
import { type ChatModel, type Message, type ModelPrice, UsageError } from "../../src/index.ts";
import { checkKnownOptions, type EdgePolicy, kinds, type Known } from "../../src/ports.ts";
import { policyModel } from "../../src/research/index.ts";
import { readForm } from "../../src/adapters/yaml.ts";
import { CrewSchema, listOf, processName } from "./crew-names.ts";
import type { CrewProcess, CrewSpec } from "./crew-spec.ts";

/*
 * People instead of models: a model that answers the questions of a process, and edges that take the time of work. Each draw is a function of the
 * seed, the item and the step, so two processes with one seed get items of the same sizes with the same luck.
 *
 * The result of a piece of work has the defects that are left. No role acts on the number: only the draws of later stages read it.
 */

/** A person of a simulated team. Shares and probabilities are from 0 to 1; times are in ticks, of which each message takes one. */
export interface Person {
  /** Probability of finding a defect that is there. Default 0.6. */
  readonly skill?: number;
  /** Mean number of defects that the person builds into an item of size 1. Default 0.5. */
  readonly errors?: number;
  /** Work in the time in which others do 1. Default 1. */
  readonly speed?: number;
  /** Share of the time that other duties take. Default 0. */
  readonly load?: number;
  /** Probability of being away for a day, on each day of work. Default 0. */
  readonly absent?: number;
  /** The tick from which the person is there, and learns for `ramp` ticks. Default: from the beginning. */
  readonly joins?: number;
  /** The tick from which the person is gone. What it has begun it finishes. */
  readonly leaves?: number;
}

export interface PeopleOptions {
  readonly seed: string | number;
  /** By the names of roles; `"*"` stands for all others. */
  readonly people?: Readonly<Record<string, Person>>;
  /** Items of the backlog, of size 1 to 3. Default 12. */
  readonly items?: number;
  /** Ticks of one work on an item of size 1, by its stage. Default: 16 to build, 4 to check, 6 for a stage before. */
  readonly effort?: Readonly<Record<string, number>>;
  /** Share of time that each colleague costs, for talking. Default 0.02. */
  readonly overhead?: number;
  /** Ticks in which somebody new works at half speed, errs twice as often, and takes a tenth of the others' time. Default 80. */
  readonly ramp?: number;
  readonly price?: ModelPrice;
}

const person: Known<Person> = {
  ...kinds.each(kinds.amount, "skill", "errors", "load", "absent", "joins", "leaves"),
  speed: kinds.ticks,
};
const peopleOptions: Known<PeopleOptions> = {
  seed: kinds.seed,
  people: kinds.record(kinds.options(person)),
  ...kinds.each(kinds.count, "items", "ramp"),
  effort: kinds.record(kinds.amount),
  overhead: kinds.amount,
  price: kinds.price,
};

const DAY = 8;
const ITEMS = 12;
const EFFORT = { plan: 6, build: 16, check: 4 } as const;
const USUAL: Required<Person> = { skill: 0.6, errors: 0.5, speed: 1, load: 0, absent: 0, joins: -Infinity, leaves: Infinity };
/** A plan that holds prevents some defects. */
const PLANNED = 0.7;
/** Shares of its size that the rework of an item takes, and risks. */
const REWORK = 0.4;

/**
 * Makes people for a crew with a process, instead of a model: `new Team({ roles, model, edges, seed })`. A run costs nothing, unless `price` says so, and
 * equal seeds give equal runs.
 *
 * @throws UsageError `CREW_INVALID`; `OPTION_INVALID`; `PROCESS_MISSING` for a crew without a process
 * @example
 * import { Team } from "troupe";
 * import { openCrew, readCrew, simulatedPeople } from "troupe/roles";
 * import { memoryWorkspace, refusedSandbox } from "troupe/workspace";
 *
 * const crew = await readCrew("process: kanban");
 * const { model, edges } = simulatedPeople(crew, { seed: 1, items: 4, people: { Quinn: { skill: 0.9 } } });
 * const { roles } = openCrew(crew, { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs here", "Choose a sandbox.") });
 * const { output } = await new Team({ roles, model, edges, seed: 1 }).run("a shop", { rounds: 2_000 }).result;
 * console.log(output?.content.split("\n")[0]); // We have finished 4 of 4 items.
 */
export function simulatedPeople(
  crew: CrewSpec,
  options: PeopleOptions,
): { readonly model: ChatModel; readonly edges: readonly EdgePolicy[] } {
  checkKnownOptions("simulatedPeople", options, peopleOptions);
  const checked = readForm(crew, { schema: CrewSchema, name: "the crew", code: "CREW_INVALID" });
  const { process } = checked;
  if (process === undefined)
    throw new UsageError("PROCESS_MISSING", "Expected a crew with a process, got one without. Give it process: kanban, or one of its own.");
  const { people = {}, effort = {} } = options;
  const roles = [...(checked.roles ?? []), ...(checked.reserve ?? [])].map(({ name }) => name);
  checkNamed("people", people, [...roles, "*"]);
  checkNamed(
    "effort",
    effort,
    process.stages.map(({ name }) => name),
  );
  const team = new People(checked, process, options);
  const { seed, price } = options;
  const pairs = [`*->${process.lead}`];
  return {
    model: policyModel({
      id: "people",
      seed,
      ...(price === undefined ? {} : { price }),
      answer: ({ messages }) => JSON.stringify(team.answer(messages.map(({ content }) => String(content)))),
    }),
    edges: [
      { name: "people's time", pairs, decide: ({ message, tick }) => ({ kind: "delay", ticks: team.ticksOf(message, tick) }) },
      {
        name: "people's calendar",
        pairs,
        decide: ({ message: { content, instructContent }, arrives }) => ({
          kind: "rewrite",
          content,
          instructContent: { ...Object(instructContent), day: arrives, away: team.awayAt(arrives) },
        }),
      },
    ],
  };
}

function checkNamed(option: string, given: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new UsageError("OPTION_INVALID", `Expected ${option} of simulatedPeople to name ${known.join(", ")}, got "${unknown}".`);
}

/** A piece of work, as its prompt and its result have it. */
interface Job {
  readonly name: string;
  readonly item: string;
  readonly size: number;
  readonly stage: string;
  /** Works on the item so far. */
  readonly works: number;
  readonly left: number;
  readonly found: number;
  readonly isPair: boolean;
  readonly tick: number;
}

class People {
  readonly #crew: CrewSpec;
  readonly #process: CrewProcess;
  readonly #options: PeopleOptions;

  constructor(crew: CrewSpec, process: CrewProcess, options: PeopleOptions) {
    [this.#crew, this.#process, this.#options] = [crew, process, options];
  }

  answer(messages: readonly string[]): Readonly<Record<string, unknown>> {
    const [system, question] = [messages[0] ?? "", messages.at(-1) ?? ""];
    const name = firstNamed(system, this.#names);
    if (question.includes("\n## Your stage\n")) return this.#worked(jobOf(name, question));
    if (question.includes("Vote for one proposal")) return { vote: /\[(p\d+)\]/.exec(question)?.[1] ?? "none", speech: "I agree." };
    if (question.includes("You moderate")) return { chosen: /\[(p\d+)\]/.exec(question)?.[1] ?? "none", speech: "We do that." };
    if (question.startsWith("## The meeting"))
      return { act: question.includes("[p1]") ? "pass" : "propose", speech: "We do it in the order of the list." };
    return this.#backlog();
  }

  get #names(): readonly string[] {
    return [...(this.#crew.roles ?? []), ...(this.#crew.reserve ?? [])].map(({ name }) => name);
  }

  #backlog(): Readonly<Record<string, unknown>> {
    const { items = ITEMS } = this.#options;
    const titles = Array.from(
      { length: items },
      (_, nth) => `feature ${nth + 1}, size ${1 + Math.floor(3 * this.#draw(`size ${nth + 1}`))}`,
    );
    const list = listOf(this.#crew, this.#process.backlog);
    const speaks = this.#crew.roles?.flatMap(({ actions = [] }) => actions).find(({ name }) => name === this.#process.backlog)?.speech;
    return { [list]: titles, ...(speaks === true ? { speech: `We build ${items} features.` } : {}) };
  }

  #worked(job: Job): Readonly<Record<string, unknown>> {
    const { name, item, size, stage, works, left, found, isPair, tick } = job;
    const { skill, errors: usual } = this.#person(name);
    const errors = this.#isLearning(name, tick) ? 2 * usual : usual;
    const luck = (what: string): number => this.#draw(`${item} ${this.#kindOf(stage)} ${works} ${what}`);
    const seen = Array.from({ length: left }, (_, nth) => luck(`sees ${nth}`) < skill).filter(Boolean).length;
    const kind = this.#kindOf(stage);
    const about = `${item}, size ${size}, work ${works + 1}`;
    const say = (verdict: string, what: string, defects: number, again = 0): Readonly<Record<string, unknown>> => ({
      verdict,
      result: `${about}: ${what}; ${defects} defects left, ${again} found`,
      speech: `${stage} of ${item}: ${what}.`,
    });
    if (kind === "plan") return say("done", "planned", 0);
    if (kind === "check") return seen > 0 ? say("back", `found ${seen}`, left, seen) : say("done", "found nothing", left);
    if (isPair) return say("done", `finished, ${seen} defects fewer`, left - seen);
    const isNew = works === 0 || found === 0;
    const planned = this.#process.stages.some((one) => this.#kindOf(one.name) === "plan") ? PLANNED : 1;
    const made = poisson(errors * size * (isNew ? planned : REWORK), luck("makes"));
    return isNew ? say("done", "built", left + made) : say("done", "mended", Math.max(0, left - found) + made);
  }

  /** The last stage to which others send items back builds; those before it plan, those after it check. */
  #kindOf(name: string): keyof typeof EFFORT {
    const { stages } = this.#process;
    const index = (wanted: string): number => stages.findIndex((stage) => stage.name === wanted);
    const built = Math.max(0, ...stages.map((stage) => (stage.back === undefined ? 0 : index(stage.back))));
    const at = index(name);
    return at < built ? "plan" : at === built ? "build" : "check";
  }

  /** The ticks that a piece of work takes, besides that of its message. */
  ticksOf({ causeBy, sentFrom, content }: Message, tick: number): number {
    if (causeBy !== workedCause(processName(this.#crew))) return 0;
    const [, item = "", size = "1", works = "1"] = /(i\d+), size (\d+), work (\d+)/.exec(content) ?? [];
    const { effort = {}, overhead = 0.02 } = this.#options;
    const { speed, load, absent } = this.#person(sentFrom);
    const stage = this.#stageOf(content, sentFrom);
    const kind = this.#kindOf(stage);
    const there = this.#names.filter((name) => this.#isThere(name, tick));
    const learning = there.filter((name) => this.#isLearning(name, tick)).length;
    const learns = this.#isLearning(sentFrom, tick) ? 0.5 : 1 - 0.1 * Math.min(5, learning);
    const pace = (speed * (1 - load) * learns) / (1 + overhead * (there.length - 1));
    const share = content.includes(": mended;") ? REWORK : content.includes(": finished,") ? 0.5 : 1;
    const luck = 0.5 + this.#draw(`${item} ${kind} ${works} time`);
    const ticks = Math.ceil(((effort[stage] ?? EFFORT[kind]) * Number(size) * share * luck) / pace);
    const days = Array.from({ length: Math.ceil(ticks / DAY) }, (_, nth) => this.#draw(`${sentFrom} ${item} ${works} day ${nth}`) < absent);
    return ticks + DAY * days.filter(Boolean).length;
  }

  /** The only stage of a role, or the one that its words name. */
  #stageOf(content: string, name: string): string {
    const own = this.#process.stages.filter(({ by }) => by.includes(name));
    const kind = /: (planned|found|built|mended|finished)/.exec(content)?.[1] ?? "";
    const wanted = kind === "planned" ? "plan" : kind === "found" ? "check" : "build";
    return (own.find((stage) => this.#kindOf(stage.name) === wanted) ?? own[0])?.name ?? "";
  }

  awayAt(tick: number): readonly string[] {
    return this.#names.filter((name) => !this.#isThere(name, tick));
  }

  #isThere(name: string, tick: number): boolean {
    const { joins, leaves } = this.#person(name);
    return tick >= joins && tick < leaves;
  }

  #isLearning(name: string, tick: number): boolean {
    const { joins } = this.#person(name);
    return this.#isThere(name, tick) && tick < joins + (this.#options.ramp ?? 80);
  }

  #person(name: string): Required<Person> {
    const { people = {} } = this.#options;
    return { ...USUAL, ...(people[name] ?? people["*"]) };
  }

  #draw(what: string): number {
    const hash = createHash("sha256").update(`${this.#options.seed}\n${what}`).digest();
    return hash.readUInt32BE(0) / 2 ** 32;
  }
}

/** An introduction names the role before its colleagues. */
function firstNamed(text: string, names: readonly string[]): string {
  const found = names.map((name) => ({ name, at: text.indexOf(name) })).filter(({ at }) => at >= 0);
  return found.toSorted((a, b) => a.at - b.at || b.name.length - a.name.length)[0]?.name ?? "";
}

function jobOf(name: string, question: string): Job {
  const [, stage = ""] = /\n## Your stage\n([^.\n]+)\./.exec(question) ?? [];
  const [, item = "", size = "1"] = /\n## The item\n(i\d+): .*?size (\d+)/.exec(question) ?? [];
  // Results of other items are before it.
  const own = question.slice(question.lastIndexOf("\n## The item\n"));
  const done = [...own.matchAll(/; (\d+) defects left, (\d+) found/g)];
  const [, left = "0", found = "0"] = done.at(-1) ?? [];
  const isPair = /: you are number (?!1 of)/.test(question);
  const [, tick = "0"] = /\n## The item\ni\d+: .*\(tick (\d+)\)/.exec(question) ?? [];
  return {
    name,
    item,
    size: Number(size),
    stage,
    works: done.length,
    left: Number(left),
    found: Number(found),
    isPair,
    tick: Number(tick),
  };
}

/** The count at which a uniform draw lies in the distribution of Poisson. */
function poisson(mean: number, draw: number): number {
  let [count, chance] = [0, Math.exp(-mean)];
  let sum = chance;
  while (draw > sum && count < 100) {
    count += 1;
    chance *= mean / count;
    sum += chance;
  }
  return count;
}
