import { memoryJournal, Team, usd } from "../../../src/index.ts";
import { createClient } from "../../../src/client/index.ts";
import type { Door, Instances } from "./core.ts";
import { is } from "./kit.ts";
import { any, or, whole } from "./right.ts";

const limits = { concurrency: 1, requestsPerSecond: 1.5, requestsPerMinute: 1.5, tokensPerMinute: 1.5 };
const folder = "/dev/null/nowhere";
const fetching = async () => new Response("{}", { headers: { "content-type": "application/json" } });
const going = { onTeamChange: "refuse", rounds: 5, budget: 5, reuse: "all" };
const calls = () => ({ signal: is.signal() });
const journal = memoryJournal();

export const servedInstances: Instances = { RunClient: () => createClient({ url: "http://127.0.0.1:9", fetch: fetching }) };

export const served: Readonly<Record<string, Door>> = {
  createServer: () => [
    {
      teams: () => undefined,
      journal: is.journal(),
      stores: [is.store()],
      caches: [is.cache()],
      tenants: [
        {
          name: "t",
          token: "a-token-of-thirty-two-characters-",
          budget: or(usd(1), "x", -1, null, {}),
          limits,
          runs: 5,
          streams: 5,
          connections: 5,
          bytes: 5000,
          rate: { perSecond: 1.5, burst: 5 },
        },
      ],
      hosts: ["a.example"],
      origins: ["https://a.example"],
      bodyLimit: 500,
      page: or("<p>", 5, null, {}),
      version: "1",
      recover: false,
      onTeamChange: "refuse",
      uncertainAfter: 5,
      logger: is.logger(),
      secrets: ["s"],
      clock: is.clock(),
    },
  ],
  jsonLogger: () => [{ write: () => {}, level: "info", secrets: ["s"], clock: is.clock() }],
  askServedModel: () => [any({}), is.steps(), whole({ model: { through() {} } })],
  effectTeam: () => ["tool:n", async () => 1, { timeout: 5, journal: is.journal(), concurrency: 5 }],
  servedTool: () => [is.tool()],
  submitAnswer: () => [
    "r",
    "q",
    any("x"),
    { journal: is.journal(), driver: is.driver(), secrets: ["s"], clock: is.clock(), signal: is.signal() },
  ],
  remoteEffects: () => [{ driver: is.driver(), journal: is.journal(), effects: ["model"], limit: 5, clock: is.clock() }],
  startWorker: () => [
    {
      driver: is.driver(),
      journal: whole(journal),
      teams: [whole(new Team({ name: "t", journal }))],
      concurrency: 2,
      grace: 5,
      tries: 5,
      onTeamChange: "refuse",
      workspaces: whole({ folderOf() {}, fetch() {}, put() {} }),
      workspaceEvery: 5,
      logger: is.logger(),
      clock: is.clock(),
    },
  ],
  runWorkspaces: () => [{ objects: whole({ put() {}, get() {}, list() {}, remove() {} }), folder, mostBytes: 5 }],
  edge: () => [or({ name: "e", decide: () => ({}) }, 5, "x", null, {}, [5])],
  corrupt: () => [0.5, () => "x"],
  delay: () => [1, 2],
  drop: () => [0.5],
  duplicate: () => [0.5, 2],
  reorder: () => [0.5, 2],
  byzantine: () => [or("A", 5, null, {}, [5]), () => undefined],
  crash: () => [or("A", 5, null, {}, [5])],
  partition: () => [["A"], ["B"]],
  assertPopulationFits: () => [{ roles: 5, messages: 5 }],
  populationNeed: () => [{ roles: 5, messages: 5 }],
  createClient: () => [{ url: "http://127.0.0.1:9", token: "t", fetch: fetching, patience: 5, clock: is.clock() }],
  "RunClient.team": () => [calls()],
  "RunClient.start": () => [{ idea: any("x") }, { ...calls(), key: "k" }],
  "RunClient.list": () => [{ ...calls(), limit: 5, cursor: "c", status: "finished" }],
  "RunClient.read": () => ["r", calls()],
  "RunClient.events": () => ["r", { ...calls(), from: 5, follow: true, onNotice: () => {}, onState: () => {} }],
  "RunClient.publish": () => ["r", or("hi", 5, null, [5]), { ...calls(), onTeamChange: "refuse" }],
  "RunClient.say": () => ["c", "hi", { ...calls(), ...going, user: "u", files: or([], 5, "x", {}, [5]) }],
  "RunClient.file": () => ["r", "h", calls()],
  "RunClient.answer": () => ["r", "q", any("x"), { ...calls(), ...going }],
  "RunClient.signal": () => ["r", "n", any("x"), { ...calls(), ...going, id: "i" }],
  "RunClient.hire": () => ["r", or("Ada", 5, null, [5]), { ...calls(), onTeamChange: "refuse" }],
  "RunClient.retire": () => ["r", "Ada", { ...calls(), onTeamChange: "refuse" }],
  "RunClient.takeRole": () => ["r", "Ada", { ...calls(), onTeamChange: "refuse", by: "Cleo" }],
  "RunClient.giveBackRole": () => ["r", "Ada", { ...calls(), onTeamChange: "refuse" }],
  "RunClient.pause": () => ["r", calls()],
  "RunClient.proceed": () => ["r", { ...calls(), ...going }],
  "RunClient.stop": () => ["r", calls()],
  "RunClient.resume": () => ["r", { rounds: any(5) }, calls()],
  "RunClient.replay": () => ["r", calls()],
  "RunClient.fork": () => ["r", { at: any(5) }, { ...calls(), key: "k" }],
  "RunClient.forget": () => [{ user: any("u") }, calls()],
  "RunClient.export": () => ["r", calls()],
};
