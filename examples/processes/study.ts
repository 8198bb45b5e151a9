// Seven processes compared without a model: simulated people, of whom each errs, finds, is away and learns by seeded draws. Run one of the studies by
// troupe experiment run dist/examples/processes/study.js --name brooks --workers 4
import { type Message, Team, usd } from "troupe";
import { experiment } from "troupe/research";
import { openCrew, type Person, readCrew, simulatedPeople } from "troupe/roles";
import { memoryWorkspace, refusedSandbox } from "troupe/workspace";

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("simulated people run nothing", "Choose a sandbox.") };
type RunOf = Pick<Parameters<Parameters<typeof experiment>[0]["world"]>[0]["run"], "id" | "journal">;

/** A small model and a large one: the large one errs half as often, finds more, and costs five times as much. */
const MODELS = {
  small: { person: { errors: 0.8, skill: 0.5 }, price: { input: 0.25, output: 1 } },
  large: { person: { errors: 0.4, skill: 0.8 }, price: { input: 1.25, output: 5 } },
} as const;

interface WorldOptions {
  readonly seed: string;
  readonly items: number;
  readonly people?: Readonly<Record<string, Person>>;
  readonly price?: { readonly input: number; readonly output: number };
  readonly overhead?: number;
  readonly ramp?: number;
}

/** A team of simulated people in a crew file. */
async function teamOf(file: string, { seed, ...options }: WorldOptions, { id, journal }: RunOf) {
  const crew = await readCrew(file);
  const { model, edges } = simulatedPeople(crew, { seed, ...options });
  const { name, roles } = openCrew(crew, ports);
  const team = new Team({ name, roles, model, edges, seed, journal });
  return { run: (o: Parameters<Team["run"]>[1]) => team.run("a shop", { ...o, id }) };
}

interface Work {
  readonly item: string;
  readonly stage: string;
  readonly verdict: string;
  readonly left: number;
  readonly found: number;
}

/** The pieces of work of a run, from what its roles said. The tick of an order is in its prompt. */
function worksOf(messages: readonly Message[]): {
  readonly works: readonly Work[];
  readonly begun: ReadonlyMap<string, number>;
  readonly ended: ReadonlyMap<string, number>;
} {
  const stages = new Map<string, { readonly item: string; readonly stage: string }>();
  const [begun, ended] = [new Map<string, number>(), new Map<string, number>()];
  const works: Work[] = [];
  let tick = 0;
  for (const { causeBy, sentFrom, sendTo, content, instructContent } of messages) {
    const { item = "", stage = "", verdict = "" } = Object(instructContent) as { item?: string; stage?: string; verdict?: string };
    if (causeBy.endsWith(", assigned")) {
      tick = Number(/\(tick (\d+)\)/.exec(content)?.[1] ?? tick);
      if (!begun.has(item)) begun.set(item, tick);
      stages.set(sendTo[0] ?? "", { item, stage });
    }
    const known = stages.get(sentFrom);
    if (!causeBy.endsWith(", worked") || known === undefined) continue;
    const [, left = "0", found = "0"] = /; (\d+) defects left, (\d+) found/.exec(content) ?? [];
    works.push({ ...known, verdict, left: Number(left), found: Number(found) });
    ended.set(known.item, tick);
  }
  return { works, begun, ended };
}

function ruledFor(payload: unknown, wanted: string): readonly string[] {
  const { kind, item = "", wins } = Object(payload) as { readonly kind?: string; readonly item?: string; readonly wins?: string };
  return kind === "ruled" && wins === wanted ? [item] : [];
}

/** Returns the measures of a run. An item is finished when its last stage lets it go. */
function measuresOf(messages: readonly Message[], last: string) {
  const { works, begun, ended } = worksOf(messages);
  const items = [...new Set(works.map(({ item }) => item))].map((item) => works.filter((work) => work.item === item));
  // The lead may have let an item go against its last stage.
  const ruled = new Set(messages.flatMap(({ instructContent }) => ruledFor(instructContent, "author")));
  const dropped = new Set(messages.flatMap(({ instructContent }) => ruledFor(instructContent, "reviewer")));
  const finished = items.filter((own) => {
    const { item = "", stage, verdict } = own.at(-1) ?? {};
    return stage === last && !dropped.has(item) && (verdict === "done" || ruled.has(item));
  });
  const perItem = (count: (own: readonly Work[]) => number): number =>
    finished.length === 0 ? 0 : finished.reduce((sum, own) => sum + count(own), 0) / finished.length;
  const lead = perItem(([first]) => (ended.get(first?.item ?? "") ?? 0) - (begun.get(first?.item ?? "") ?? 0));
  return {
    finished: finished.length,
    found: perItem((own) => own.reduce((sum, { found }) => sum + found, 0)),
    escaped: perItem((own) => own.at(-1)?.left ?? 0),
    rework: perItem((own) => own.filter(({ verdict }) => verdict === "back").length),
    // A stage let the item go, and a later one sent it back.
    reversed: perItem(
      (own) =>
        own.filter(({ verdict }, nth) => verdict === "back" && own[nth - 1]?.verdict === "done" && own[nth - 1]?.stage !== own[0]?.stage)
          .length,
    ),
    lead,
    days: Math.max(0, ...ended.values()) / 8,
  };
}

const LAST = {
  waterfall: "Test",
  handoff: "Verify",
  scrum: "Test",
  kanban: "Test",
  pairs: "Test",
  swarm: "Test",
  "open-source": "Release",
} as const;

/** Which process does most for the same money? */
export const compared = experiment({
  name: "processes",
  params: { process: ["waterfall", "handoff", "scrum", "kanban", "pairs", "swarm", "open-source"], model: ["small", "large"] },
  reps: 20,
  rounds: Infinity,
  world: ({ params: { process, model }, seed, run }) => {
    const { person, price } = MODELS[model];
    return teamOf(`process: ${process}`, { seed, items: 40, people: { "*": { ...person, absent: 0.05 } }, price }, run);
  },
  budget: { usd: usd(0.02) },
  measure: ({ result, params: { process } }) => measuresOf(result.messages, LAST[process]),
});

const crewOf = (engineers: readonly string[], process: string): string => `
name: team
roles:
  - { name: Paula, profile: Product Owner, actions: [{ name: Backlog, prompt: "Split {{text}}", output: { items: [text] } }] }
  - { name: Mia, profile: Lead }
${[...engineers, "Quinn", "Rita"].map((name) => `  - { name: ${name}, profile: Engineer }`).join("\n")}
process:
  lead: Mia
  backlog: Backlog
${process}`;

const OLD = ["Ben", "Ann", "Cleo"];
const NEW = ["Dan", "Eve", "Finn"];
const stagesOf = (engineers: readonly string[], limit = "", reviewers = 1): string => `
  stages:
    - { name: Develop, by: [${engineers.join(", ")}], task: Build the item.${limit} }
${reviewers === 0 ? "" : `    - { name: Review, by: [${engineers.join(", ")}], together: ${reviewers}, other: true, back: Develop, task: Read it. }`}
    - { name: Test, by: [Quinn, Rita], back: Develop, task: Try it. }`;

/** Brooks (1975): does adding people late make a late project later? Three people join a team of three at some tick, and must learn. */
export const brooks = experiment({
  name: "brooks",
  params: { joins: ["never", 0, 100, 200, 300, 500], work: ["apart", "entangled"] },
  reps: 20,
  rounds: Infinity,
  world({ params: { joins, work }, seed, run }) {
    const engineers = joins === "never" ? OLD : [...OLD, ...NEW];
    const people = joins === "never" ? {} : Object.fromEntries(NEW.map((name) => [name, { joins }]));
    // Who talks much and learns long, as people do whose work hangs together.
    const talk = work === "apart" ? { overhead: 0.02, ramp: 80 } : { overhead: 0.15, ramp: 400 };
    return teamOf(crewOf(engineers, stagesOf(engineers)), { seed, items: 24, people, ...talk }, run);
  },
  measure: ({ result }) => measuresOf(result.messages, "Test"),
});

/** Little (1961): items in work = throughput × lead time. What does a limit on work in progress cost, and what does it give? */
export const limits = experiment({
  name: "limits",
  params: { limit: [1, 2, 3, 4, 6, 12] },
  reps: 20,
  rounds: Infinity,
  world: ({ params: { limit }, seed, run }) =>
    teamOf(crewOf([...OLD, ...NEW], stagesOf([...OLD, ...NEW], `, limit: ${limit}`)), { seed, items: 24 }, run),
  measure: ({ result }) => measuresOf(result.messages, "Test"),
});

/** What does review effort find, and what does it cost? */
export const reviews = experiment({
  name: "reviews",
  params: { reviewers: [0, 1, 2, 3], skill: [0.4, 0.8] },
  reps: 20,
  rounds: Infinity,
  world: ({ params: { reviewers, skill }, seed, run }) =>
    teamOf(
      crewOf(OLD.concat("Dan"), stagesOf(OLD.concat("Dan"), "", reviewers)),
      { seed, items: 24, people: { "*": { skill } }, price: MODELS.large.price },
      run,
    ),
  measure: ({ result }) => measuresOf(result.messages, "Test"),
});

/** A dispute, decided otherwise: with equal seeds two runs are equal until the lead lets the author win, or the reviewer. */
export const disputes = experiment({
  name: "disputes",
  params: { wins: ["author", "reviewer"], returns: [0, 1, 2] },
  reps: 20,
  rounds: Infinity,
  world: ({ params: { wins, returns }, seed, run }) =>
    teamOf(crewOf(OLD, `  rework: ${returns}\n  otherwise: ${wins}${stagesOf(OLD)}`), { seed, items: 24 }, run),
  measure: ({ result }) => measuresOf(result.messages, "Test"),
});
