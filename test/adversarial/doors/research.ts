import { Environment, Team, usd } from "../../../src/index.ts";
import { completeTopology, experiment, FailureWatch, fitSurrogate, graphmlText } from "../../../src/research/index.ts";
import type { Door, Instances } from "./core.ts";
import { is, message, model, role } from "./kit.ts";
import { or, real, whole } from "./right.ts";

const values = [or(1.5, "x", null, Number.NaN), 2.5, 3.5];
const event = () => or({ v: 1, runId: "r", seq: 0, time: 0, type: "run.ended", status: "finished" }, 5, null, [5]);
const opinions = () => [or("a", {}, [5])];
const topology = () => whole(completeTopology(["a", "b", "c"]));
const seed = () => or("s", {}, null, Number.NaN);
const nodes = () => or(5, "x", null, {}, -1, Number.NaN, [5]);
const rows = () => [or({ a: 1, b: 2 }, 5, null, "x")];
const price = { input: 1.5, output: 2.5 };
const frame = { title: "t", width: 100, height: 100, xTitle: "x", yTitle: "y" };
const plot = () => ({
  ...frame,
  kind: or("points", 5, null, {}, "pie"),
  x: "a",
  y: "b",
  series: "b",
  facet: "b",
  reference: { x: 1.5, y: 2.5 },
  curve: () => 1,
  xScale: "linear",
  yScale: "log",
});
const anExperiment = () =>
  experiment({
    name: "e",
    params: [{ a: 1 }],
    reps: 1,
    seed: "s",
    world: () => new Environment({ model: model() }),
    measure: () => ({ m: 1 }),
  });
const processes = () => ({
  module: "file:///dev/null/nowhere.mjs",
  timeLimit: 5,
  memory: 500,
  tries: 2,
  signal: is.signal(),
  clock: is.clock(),
});

export const researchInstances: Instances = { FailureWatch: () => new FailureWatch() };

export const research: Readonly<Record<string, Door>> = {
  bootstrapInterval: () => [values, { confidence: 0.9, statistic: () => 1, resamples: 100, seed: seed() }],
  cohensD: () => [values, values],
  pairedD: () => [values, [0.5, 2.5, 4.5]],
  shareInterval: () => [[or(1, "x", null, 5), 0], { confidence: 0.9 }],
  tInterval: () => [values, { confidence: 0.9 }],
  compareBySeed: () => [
    [or({ seed: 1, value: 1.5 }, 5, null, "x"), { seed: 2, value: 2 }],
    [or({ seed: 1, value: 2.5 }, 5, null, "x"), { seed: 2, value: 1 }],
    { confidence: 0.9, resamples: 100, seed: seed() },
  ],
  anova: () => [[values, values]],
  compareSamples: () => [values, values, { confidence: 0.9 }],
  holm: () => [[or(0.5, "x", null, Number.NaN), 0.25]],
  linearRegression: () => [[or([1, 2.5], 5, null, "x"), [2, 3], [3, 5.5]], { confidence: 0.9 }],
  sensitivity: () => [{ a: { from: real(0), to: real(1), whole: false, scale: "linear" } }, { n: 2, seed: seed() }],
  mean: () => [values],
  explore: () => [
    (given: object) => new Environment(given).addRole(role()),
    {
      property: () => true,
      done: () => true,
      faults: or({ crash: ["A"], lose: ["A->B"], copy: ["A->B"], fail: ["A"], most: 1 }, 5, "x", [5]),
      answers: () => [],
      by: "orders",
      ...{ schedules: 1, depth: 1, ms: 0, findings: 1, seed: seed(), signal: is.signal(), progress: () => {} },
    },
  ],
  standardError: () => [values],
  sampleSize: () => [{ confidence: 0.9, halfWidth: 0.5, standardDeviation: 1.5 }],
  plotHtml: () => [rows(), plot()],
  plotSvg: () => [rows(), plot()],
  barabasiAlbert: () => [nodes(), { links: 2, seed: seed() }],
  erdosRenyi: () => [nodes(), { probability: 0.5, seed: seed() }],
  wattsStrogatz: () => [nodes(), { degree: 2, rewiring: 0.5, seed: seed() }],
  completeTopology: () => [nodes()],
  gridTopology: () => [2, 2, { torus: false, neighbours: "moore" }],
  configurationModel: () => [nodes(), { degrees: or(2, "x", null, {}, [5], -1, Number.NaN), seed: seed() }],
  randomGeometric: () => [nodes(), { radius: 0.5, torus: true, seed: seed() }],
  space: () => [{ width: 2, height: 2, torus: true, neighbours: "moore" }],
  betweenness: () => [topology()],
  modularity: () => [topology(), () => "g"],
  layeredTopology: () => [[or(2, "x", null, {}, -1), 2]],
  ringTopology: () => [nodes()],
  starTopology: () => [nodes()],
  treeTopology: () => [nodes(), { branching: 2 }],
  graphmlText: () => [topology()],
  readGraphml: () => [graphmlText(completeTopology(["a", "b"]))],
  alongEdges: () => [topology()],
  hireOn: () => [whole(new Environment({ model: model() })), topology(), or(() => role(), 5, "x", null, {}, [5])],
  neighboursTold: () => [or(message, 5, "x", null, {}, [5])],
  rewiring: () => [topology(), topology()],
  neighboursOf: () => [topology()],
  topologyOf: () => [[or(["a", "b"], 5, null, {}, [5])], { nodes: ["a", "b", "c"], directed: true }],
  algebraicConnectivity: () => [topology()],
  topologyMetrics: () => [topology()],
  errorAmplification: () => [0.5, 0.5],
  overhead: () => [1.5, 1.5],
  timeToConsensus: () => [[or(["a"], 5, null, {})], { share: 0.8 }],
  coordinationMetrics: () => [[or(message, 5, null, "x")], { tasks: 2, roles: ["a"], cost: () => 1, likeness: 0.5 }],
  idleShare: () => [[event()]],
  messageRows: () => [[or(message, 5, null, "x")], { per: "message", columns: { a: or(1, {}, () => 1) } }],
  agentReporter: () => [{ every: 2, agents: ["a"], value: () => 1, summary: () => 1 }],
  edgeReporter: () => [{ every: 2, summary: () => 1 }],
  modelReporter: () => [{ every: 2, value: () => 1 }],
  agreement: () => [opinions()],
  entropy: () => [opinions()],
  gini: () => [values],
  csvTable: () => [rows()],
  jsonLinesTable: () => [rows()],
  parquetTable: () => [rows()],
  study: () => [{ name: "n", source: "s", seed: seed(), signal: is.signal(), print: () => {} }],
  latinHypercube: () => [{ a: { from: real(0), to: real(1), whole: false, scale: "linear" } }, { n: 2, seed: seed() }],
  experiment: () => [
    {
      name: "e",
      params: or([{ a: 1 }], 5, "x", null, [5]),
      reps: 1,
      seed: seed(),
      world: () => new Environment({ model: model() }),
      begin: () => {},
      rounds: or(5, "x", null, {}, -1),
      stop: () => false,
      collect: { c: () => 1 },
      measure: () => ({ m: 1 }),
      budget: { messages: 5, calls: 5, usd: or(usd(1), "x", null, {}, -1) },
    },
  ],
  heldSeries: () => [[or({ cell: 0, rep: 0, round: 0 }, 5, null, "x")]],
  replayCell: () => [whole(anExperiment()), { ...processes(), cell: 0, rep: 0, out: "/dev/null/nowhere" }],
  attribute: () => [
    {
      team: () => new Team({ roles: [role()] }),
      runId: "r",
      score: () => 1,
      interventions: or("turns", 5, null, "x"),
      samples: 1,
      most: 1,
      seed: seed(),
      signal: is.signal(),
    },
  ],
  readExperiment: () => ["/dev/null/nowhere"],
  runExperiment: () => [
    whole(anExperiment()),
    { ...processes(), out: "/dev/null/nowhere", workers: 1, again: false, onProgress: () => {} },
  ],
  failuresIn: () => [[event()], { roles: "all", repeats: 3 }],
  "new FailureWatch": () => [{ roles: "all", repeats: 3 }],
  "FailureWatch.add": () => [event()],
  watchFailures: () => [whole(new Environment({ model: model() })), () => {}, { roles: "all", repeats: 3 }],
  experimentTable: () => [rows(), { by: ["a"], of: ["b"] }],
  verifyExperiment: () => [whole(anExperiment()), { ...processes(), concurrency: [1], nodes: ["node"], runs: 1, onProgress: () => {} }],
  policyModel: () => [{ answer: () => "x", id: "i", seed: seed(), price }],
  noisyOracle: () => [{ right: () => "x", wrong: () => ["y"], accuracy: or(0.5, "x", null, {}, 5), seed: seed(), id: "i", price }],
  fitSurrogate: () => [[event()], () => "c"],
  surrogateModel: () => [{ fit: whole(fitSurrogate([], () => "c")), classOf: () => "c", seed: seed(), id: "i", price }],
};
