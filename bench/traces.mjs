// Measures the cost of tracing: microseconds of the processor for a hop without a trace, with a listener that does nothing, with a tracer
// that drops everything, and with the SDK of OpenTelemetry, whose spans go nowhere. All in one run on one machine, taking turns; the ratios are to the hop without a trace. Build first (`npm run build`),
// then `node bench/traces.mjs`, or with `--json` for a program to read.
//
// `function`: a role that is a plain function, in an environment without a journal, the cheapest hop there is; it has no step, so one span.
// `model`: a role that asks a model that answers at once, with a journal in memory: two spans.
// Not measured: an exporter, and a disk.
import { createNoopMeter, ProxyTracerProvider } from "@opentelemetry/api";
import { BasicTracerProvider, NoopSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createMessage, defineAction, defineRole, Environment, memoryJournal, Team } from "../dist/src/index.js";
import { traceRun } from "../dist/src/adapters/otel.js";
import { scriptedModel } from "../dist/src/testing/index.js";

const ROUNDS = 9;
const meter = createNoopMeter();
/** The types of events that a hop has. */
const TYPES = ["act.started", "step.started", "step.ended", "act.ended"];
const TRACERS = {
  off: undefined,
  "a listener": "listener",
  "no-op tracer": new ProxyTracerProvider().getTracer("bench"),
  SDK: new BasicTracerProvider({ spanProcessors: [new NoopSpanProcessor()] }).getTracer("bench"),
};

/** A role that passes a count on until it is `n`; `hit` makes it of a name, the other one's name and that number. */
const functions = (name, other, n) =>
  defineRole({
    name,
    watch: [],
    step(_state, { content }, out) {
      if (Number(content) < n) out.say(String(Number(content) + 1), { sendTo: other });
    },
  });

const askers = (name, other, n) => {
  const ask = defineAction({
    name: `Ask${name}`,
    async run(ctx) {
      const answer = await ctx.ask(ctx.text);
      return Number(ctx.text) >= n ? undefined : ctx.message(String(Number(answer)), { sendTo: other });
    },
  });
  return defineRole({ name, watch: [], actions: [ask] });
};

const pair = (make, n) => [make("One", "Two", n), make("Two", "One", n)];
const ball = createMessage("0", { sendTo: "One" });

/** The traced programs, each with the function that plays it to its end. */
const CASES = {
  function(n) {
    const environment = new Environment({ seed: "bench", scheduler: "eager", memory: false }).addRoles(pair(functions, n));
    const play = () => {
      environment.publishMessage(ball);
      return environment.run({ rounds: 1_000_000 });
    };
    return { source: () => environment, play };
  },
  model(n) {
    const model = scriptedModel(({ messages }) => String(Number(messages.at(-1).content) + 1), { id: "m" });
    const team = new Team({ seed: "bench", scheduler: "eager", model, journal: memoryJournal(), roles: pair(askers, n) });
    let run;
    return { source: () => (run = team.run(ball, { rounds: 1_000_000 })), play: () => run.result };
  },
};

/** Microseconds of the processor for a hop: other processes of the machine do not count. */
async function hop(name, n, tracer) {
  const { source, play } = CASES[name](n);
  const start = process.cpuUsage();
  const traced = source();
  if (tracer === "listener") for (const type of TYPES) traced.on(type, () => {});
  const trace = typeof tracer === "object" ? traceRun(traced, { tracer, meter }) : undefined;
  const { status, error } = await play();
  trace?.stop();
  await trace?.ended;
  if (status !== "finished") throw new Error(`Expected a run that finishes, got ${status}: ${error?.message}.`);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / n;
}

const results = [];
for (const [name, n] of Object.entries({ function: 5_000, model: 500 })) {
  const times = Object.fromEntries(Object.keys(TRACERS).map((kind) => [kind, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [kind, tracer] of Object.entries(TRACERS)) {
      const took = await hop(name, n, tracer);
      // The first round warms up.
      if (round > 0) times[kind].push(took);
    }
  }
  const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
  const off = median(times.off);
  for (const kind of Object.keys(TRACERS)) {
    const us = median(times[kind]);
    results.push({ hop: name, tracer: kind, us: Number(us.toFixed(2)), ratio: Number((us / off).toFixed(2)) });
  }
}
if (process.argv.includes("--json")) console.log(JSON.stringify(results));
else console.table(results);
