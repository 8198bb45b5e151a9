import {
  afterRounds,
  BrainMemory,
  Environment,
  exportRun,
  importRun,
  memoryJournal,
  LongTermMemory,
  Memory,
  MessageQueue,
  Plan,
  Team,
  usd,
  budgetPool,
} from "../../../src/index.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { memoryRunDriver } from "../../../src/testing/index.ts";
import { action, is, message, model, quiet, role, schemaWithDefaults, storage } from "./kit.ts";
import { any, data, options, or, real, whole } from "./right.ts";

/** Objects with methods. */
export type Instances = Readonly<Record<string, () => object | Promise<object>>>;
/** One right call: its arguments, made anew for each try. */
export type Door = () => readonly unknown[];

const scope = { tenant: "t", user: "u", conversation: "c" };
const tuning = {
  retry: { tries: 2, baseDelay: 1, maxDelay: 2, maxRetryAfter: 3, outage: 4 },
  timeouts: { firstByte: 1, silence: 2, call: 3 },
};
const limits = { concurrency: 1, requestsPerSecond: 1.5, requestsPerMinute: 1.5, tokensPerMinute: 1.5 };
const roleMemory = () => ({
  store: is.store(),
  embedder: is.embedder(),
  index: () => undefined,
  lexical: or(undefined, 5, "x", null),
  scope: "role",
  ttl: 5,
  summary: or(true, 5, "x", null),
  recall: { maxTokens: 5, shares: { summary: 0.25, recent: 0.25, related: 0.5 }, k: 2, threshold: real(0.1), neighbours: 1, timeout: 5 },
  tokens: is.tokens(),
});
const price = { input: 1.5, output: 2.5 };
const environment = () => ({
  description: "d",
  model: is.model(),
  models: { Ada: is.model() },
  memory: options(roleMemory(), 5, "x", null),
  seed: or("s", {}, null, Number.NaN),
  clock: is.clock(),
  scheduler: or("rounds", 5, {}, null),
  delivery: "hire",
  concurrency: 2,
  onFailure: or("skip", 5, "x", null),
  onDeadAddress: "warn",
  human: () => "yes",
  logger: is.logger(),
  prices: { m: price },
  limits,
  calls: tuning,
  deps: any({}),
  messageLimit: 5,
  uncertainAfter: 5,
  secrets: ["s3cret"],
  edges: [or({ name: "e", decide: () => ({}) }, 5, "x", null, {})],
  mailbox: { limit: 5, overflow: "refuse" },
});
const going = () => ({
  rounds: 5,
  stopWhen: or(() => false, 5, "x", {}),
  signal: is.signal(),
  budget: or(usd(1), "x", -1, null, {}),
  pools: [or(budgetPool(usd(1)), 5, "x", null, {})],
  limits,
  onTeamChange: "refuse",
  reuse: "all",
  onOwned: "follow",
  wait: true,
  prepare: async () => {},
  conclude: async () => {},
});
const begun = () => ({ id: "run-1", about: any({}), scope });
const aMessageOr = () => or("hi", 5, null, {}, [5]);

const team = (journal = memoryJournal()) =>
  new Team({ name: "t", roles: [role()], reserve: [role("Bob")], model: model(), logger: quiet, journal, driver: memoryRunDriver() });

const finished = memoryJournal();
await team(finished).run("hi", { id: "r" }).result;
const lines: string[] = [];
for await (const line of exportRun(finished, "r")) lines.push(line);
const snapshot = await new Environment({ model: model(), logger: quiet }).addRole(role()).snapshot();

/** A journal with a finished run. */
async function begunJournal(): Promise<Journal> {
  const journal = memoryJournal();
  await importRun(journal, lines);
  return journal;
}

/** Objects with methods, made anew for each try. */
export const coreInstances: Instances = {
  Environment: () => new Environment({ model: model(), logger: quiet }),
  BrainMemory: () => new BrainMemory({ model: model() }),
  LongTermMemory: () => new LongTermMemory({ storage: storage() }),
  Memory: () => new Memory(),
  MemoryStorage: storage,
  MessageQueue: () => new MessageQueue(),
  Plan: () => new Plan({ goal: "g", tasks: [{ id: "a", instruction: "A" }] }),
  Team: async () => team(await begunJournal()),
  Run: () => team().run("hi"),
};

/** The first event of a run. */
const event = () => or({ v: 1, runId: "r", seq: 0, time: 0, type: "run.ended", status: "finished" }, 5, null, [5]);
const target = () => or(message, 5, null, {}, [5]);
const storing = () => ({ signal: is.signal(), runId: "r" });
const search = () => ({ k: 2, filter: () => true, signal: is.signal() });
const memoryDoors = (name: string): Readonly<Record<string, Door>> => ({
  [`${name}.add`]: () => [is.message()],
  [`${name}.addBatch`]: () => [[is.message()]],
  [`${name}.delete`]: () => [target()],
  [`${name}.deleteOlderThan`]: () => [real(5)],
  [`${name}.has`]: () => [target()],
  [`${name}.find`]: () => [target()],
  [`${name}.get`]: () => [5],
  [`${name}.getByPosition`]: () => [or(0, "x", null)],
  [`${name}.getByRole`]: () => ["user"],
  [`${name}.getByContent`]: () => ["x"],
  [`${name}.tryRemember`]: () => ["x"],
  [`${name}.getByAction`]: () => [or(action, 5, null, [5])],
  [`${name}.getByActions`]: () => [[or(action, 5, null, [5])]],
  [`${name}.newestBy`]: () => [or(action, 5, null, [5])],
  [`${name}.findNews`]: () => [[is.message()], 5],
});

export const core: Readonly<Record<string, Door>> = {
  addressOf: () => [or("A", 5, null, {}, [5])],
  createMessage: () => [
    "hi",
    {
      id: "m",
      instructContent: any({}),
      role: or("user", 5, {}, [5]),
      causeBy: or("A", 5, null, {}),
      sentFrom: or("B", 5, null, {}),
      sendTo: or(["C"], 5, null, {}, [5]),
      parents: or(["p"], 5, {}, true),
      timestamp: or(5, "x", {}, Number.NaN),
      metadata: or({ a: 1 }, 5, "x", [5]),
      priority: real(1),
      files: or([{ name: "a.txt", data: "aGk=" }], 5, "x", {}, [5], ["./a.txt"]),
    },
  ],
  parseMessage: () => [or({ content: "x" }, 5, null, [5])],
  serializeMessage: () => [is.message()],
  "new MessageQueue": () => [{ limit: 5 }],
  "MessageQueue.push": () => [is.message()],
  "MessageQueue.has": () => ["m"],
  "MessageQueue.peek": () => [5],
  "MessageQueue.fromJSON": () => [or({ messages: [] }, 5, "x", null, [5])],
  "ChatMessage.user": () => [or("hi", 5, {}), { name: or("n", 5, {}), images: or([{ data: "aGk=", mediaType: "image/png" }], 5, {}, "x") }],
  "ChatMessage.system": () => [or("hi", 5, {})],
  "ChatMessage.assistant": () => [or("hi", 5, {})],
  "ChatMessage.tool": () => [{ content: or("c", 5, {}), name: or("n", 5, {}), toolCallId: "i" }],
  "ChatMessage.fromToolCalls": () => [[data({ id: "c", type: any("function"), function: { name: "n", arguments: "{}" } })]],
  toChat: () => [is.message()],
  formatCost: () => [data({ known: 5, unpriced: 0 })],
  formatUsd: () => [real(5)],
  usd: () => [5],
  priceOf: () => [or({ id: "m" }, 5, null, {}), { m: price }],
  "new Memory": () => [{ ignoreId: true, limit: 5, onEvict: () => {} }],
  ...memoryDoors("Memory"),
  "Memory.fromJSON": () => [or({ messages: [] }, 5, "x", null, [5])],
  "new Plan": () => [
    {
      goal: "g",
      tasks: [
        { id: "a", instruction: "A", dependsOn: ["b"] },
        { id: "b", instruction: "B" },
      ],
    },
  ],
  "Plan.getTask": () => ["a"],
  "Plan.addTasks": () => [[{ id: "b", instruction: "B" }]],
  "Plan.appendTask": () => [{ id: "b", instruction: "B" }],
  "Plan.replaceTask": () => [{ id: "a", instruction: "B" }],
  "Plan.resetTask": () => ["a"],
  "Plan.finishCurrentTask": () => ["done"],
  "Plan.fromJSON": () => [or(new Plan({ goal: "g" }).toJSON(), 5, "x", null, [5])],
  "new BrainMemory": () => [
    {
      model: is.model(),
      cache: is.cache(),
      key: or("k", 5, null, [5]),
      maxMessages: 5,
      maxTokens: 500,
      keepMessages: 4,
      keepOriginals: 5,
      tokens: is.tokens(),
      ttl: 5,
      timeout: 5,
      clock: is.clock(),
    },
  ],
  "BrainMemory.splitTexts": () => ["text", 5],
  "BrainMemory.extractInfo": () => ["[A]: b"],
  "BrainMemory.addTalk": () => [is.message()],
  "BrainMemory.addAnswer": () => [is.message()],
  "BrainMemory.addKnowledge": () => [is.message()],
  "BrainMemory.delete": () => [target()],
  "BrainMemory.forget": () => [{ signal: is.signal() }],
  "BrainMemory.exists": () => ["x"],
  "BrainMemory.setHistorySummary": () => ["x"],
  "BrainMemory.compress": () => [{ signal: is.signal() }],
  "BrainMemory.load": () => [{ signal: is.signal() }],
  "BrainMemory.save": () => [{ signal: is.signal() }],
  "BrainMemory.isRelated": () => ["a", "b", { signal: is.signal() }],
  "BrainMemory.rewrite": () => ["a", "b", { signal: is.signal() }],
  "BrainMemory.getTitle": () => ["a", { signal: is.signal() }],
  "BrainMemory.summarize": () => ["a", { maxWords: 5, signal: is.signal() }],
  "new LongTermMemory": () => [{ storage: whole(storage()), limit: 5, maxUnsaved: 5, onError: () => {} }],
  ...memoryDoors("LongTermMemory"),
  "LongTermMemory.searchSimilar": () => [target(), search()],
  "LongTermMemory.search": () => ["x", search()],
  "new MemoryStorage": () => [
    {
      roleId: "r",
      scope,
      runId: "r",
      store: is.store(),
      embedder: is.embedder(),
      index: is.index(),
      lexical: or(undefined, 5, "x", null),
      threshold: real(0.5),
      ttl: 5,
      clock: is.clock(),
      timeout: 5,
    },
  ],
  "MemoryStorage.recover": () => [{ runId: "r" }],
  "MemoryStorage.has": () => [target(), storing()],
  "MemoryStorage.add": () => [is.message(), storing()],
  "MemoryStorage.addBatch": () => [[is.message()], storing()],
  "MemoryStorage.searchSimilar": () => [target(), search()],
  "MemoryStorage.delete": () => [target(), storing()],
  "MemoryStorage.deleteOlderThan": () => [real(5)],
  "MemoryStorage.persist": () => [storing()],
  "MemoryStorage.rebuild": () => [storing()],
  hashingEmbedder: () => [{ dimensions: 16 }],
  defineAction: () => [
    {
      name: "A",
      description: "d",
      needs: [or("B", 5, null, {}, [5])],
      output: is.schema(),
      state: is.schema(),
      prompt: () => "p",
      render: () => "r",
      sendTo: () => ["C"],
    },
  ],
  retry: () => [2, "skip"],
  guard: () => [{ name: "g", on: "output", check: () => undefined, then: "stop", beside: false, timeout: 5 }],
  handoff: () => [or("Ben", 5, "", null, {}, [5]), { history: "all", input: is.schema(), name: "to_ben", description: "d" }],
  asTool: () => [is.role(), { name: "ada", description: "d", input: is.schema() }],
  defineRole: () => [
    {
      name: "R",
      profile: "p",
      goal: "g",
      constraints: "c",
      description: "d",
      watch: [or("A", 5, null, {}, [5])],
      actions: [is.action()],
      addresses: ["a"],
      observeAll: true,
      reactMode: "by_order",
      maxReactLoop: 5,
      model: is.model(),
      state: whole(schemaWithDefaults),
      human: false,
      timeout: 5,
      budgetShare: 0.5,
      onFailure: or("skip", 5, "x", null),
      memoryLimit: 5,
      mailbox: { limit: 5, overflow: "refuse" },
      memory: options(roleMemory(), 5, "x", null),
      observe: () => [],
      think: () => undefined,
      act: () => "x",
      react: () => "x",
    },
  ],
  parseEvent: () => [event()],
  fold: () => [[event()]],
  canonical: () => [[event()]],
  difference: () => [[event()], [event()]],
  differenceText: () => [or({ line: 0, entry: { type: "sent" }, left: { type: "sent" }, right: {} }, 5, "x", null, {}, [5])],
  memoryJournal: () => [{ limit: 5, clock: is.clock() }],
  exportRun: () => [whole(finished), "r", { signal: is.signal() }],
  importRun: () => [is.journal(), [...lines], { signal: is.signal(), id: "q" }],
  "new Environment": () => [{ ...environment(), effects: whole({ run() {} }), journal: is.journal(), id: "e" }],
  "Environment.addRole": () => [is.role(), { name: "Bob" }],
  "Environment.addRoles": () => [[is.role()]],
  "Environment.publishMessage": () => [aMessageOr()],
  "Environment.run": () => [{ rounds: 5, stopWhen: () => true, signal: is.signal() }],
  "Environment.getRole": () => ["Ada"],
  "Environment.stream": () => ["dice"],
  "Environment.on": () => ["message", () => {}],
  "Environment.restore": () => [or(snapshot, 5, "x", null, [5]), { roles: [is.role()], model: is.model() }],
  afterRounds: () => [5],
  afterSpending: () => [5],
  allOf: () => [afterRounds(1)],
  anyOf: () => [afterRounds(1)],
  saidBy: () => [or("A", 5, null, {}, [5])],
  "new Team": () => [
    {
      ...environment(),
      memory: roleMemory(),
      effects: whole({ run() {} }),
      name: "t",
      roles: or([role()], 5, "x", null, {}, [5]),
      reserve: or([role("Bob")], 5, "x", null, {}, [5]),
      budget: or(usd(1), "x", -1, null, {}),
      allowUnpriced: true,
      journal: is.journal(),
      driver: is.driver(),
      poisonAfter: 5,
      snapshotEvery: 5,
      commandTimeout: 5,
    },
  ],
  "Team.hire": () => [whole(role("Bob")), { name: "Cat" }],
  "Team.invest": () => [or(usd(1), "x", -1, null, {})],
  "Team.run": () => [aMessageOr(), { ...going(), ...begun() }],
  "Team.submit": () => [aMessageOr(), begun()],
  "Team.resume": () => ["r", { ...going(), add: [aMessageOr()] }],
  "Team.send": () => ["r", aMessageOr(), { signal: is.signal(), onTeamChange: "refuse" }],
  "Team.hireInto": () => ["r", or("Bob", 5, null, {}, [5]), { signal: is.signal(), onTeamChange: "refuse", name: "n" }],
  "Team.retireFrom": () => ["r", "Ada", { signal: is.signal(), onTeamChange: "refuse" }],
  "Team.settle": () => ["r", { cost: 5, olderThan: 5, signal: is.signal() }],
  "Team.answer": () => ["r", "q", any("x"), going()],
  "Team.signal": () => ["r", "n", any("x"), { ...going(), id: "i" }],
  "Team.forget": () => [scope, { stores: [is.store()], caches: [is.cache()], runs: () => true }],
  "Team.fork": () => [
    "r",
    {
      ...going(),
      id: "f",
      about: any({}),
      at: real(5),
      change: [{ seq: 5, nth: 0, content: "x" }],
      add: [aMessageOr()],
      seed: or("s", {}, null),
    },
  ],
  "Team.replay": () => ["r", { signal: is.signal() }],
  "Run.on": () => ["message", () => {}],
  "Run.publish": () => [aMessageOr(), { onTeamChange: "refuse" }],
  "Run.signal": () => ["n", any("x"), { onTeamChange: "refuse", id: "i" }],
  "Run.hire": () => [whole(role("Bob")), { onTeamChange: "refuse", name: "n" }],
  "Run.retire": () => ["Ada", { onTeamChange: "refuse" }],
  "Run.stop": () => ["why"],
  checkKnownOptions: () => ["f", {}, or({}, 5, "x", null)],
};
