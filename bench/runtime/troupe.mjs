import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { createMessage, defineAction, defineRole, Environment, Team } from "../../dist/src/index.js";
import { Agent, defineTool } from "../../dist/src/agent/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { tickedCrowd } from "./crowd.mjs";
import { planOf } from "./plan.mjs";
import { played, settled } from "./settled.mjs";
import { stepCases } from "./troupe-steps.mjs";

const FOREVER = 1e9;
const finishReason = "stop";

/** A model without latency that answers each request by a function of how many came; nothing is kept of them. */
function scripted(answer) {
  let asked = 0;
  const model = {
    id: "scripted",
    price: { input: 0, output: 0 },
    streams: false,
    async chat() {
      asked += 1;
      return { content: "", toolCalls: [], finishReason, usage: { inputTokens: 1, outputTokens: 1 }, ...(await answer(asked)) };
    },
    async *stream() {
      yield { ...(await model.chat()) };
    },
  };
  return model;
}

/** Passes a count on to the other. */
function player(name, other, n) {
  const hit = defineAction({
    name: `Hit${name}`,
    run: ({ message, text }) => (Number(text) >= n ? undefined : message(String(Number(text) + 1), { sendTo: other })),
  });
  return defineRole({ name, watch: [], actions: [hit] });
}

async function pingPong(n, listen = () => {}, options = {}) {
  const env = new Environment({ seed: "bench", scheduler: "eager", ...options }).addRoles([
    player("One", "Other", n),
    player("Other", "One", n),
  ]);
  listen(env);
  return played(env, createMessage("0", { sendTo: "One" }), n);
}

function folder() {
  return mkdtempSync(join(tmpdir(), "bench-troupe-"));
}

/** A team that plays to `n` and keeps its journal at `path`. */
function durableTeam(path, n) {
  const journal = sqlite({ path });
  const roles = [player("One", "Other", n), player("Other", "One", n)];
  return { journal, team: new Team({ seed: "bench", scheduler: "eager", journal, roles }) };
}

function assertStatus({ status, error }, expected) {
  if (status !== expected) throw new Error(`The run ended with ${status}: ${error?.message}`);
}

export const cases = {
  ...stepCases,

  hop: (n) => pingPong(n),

  "hop-rounds": (n) => pingPong(n, undefined, { scheduler: "rounds" }),

  "hop-no-memory": (n) => pingPong(n, undefined, { memory: false }),

  /** Both pass a plan on, and say each time how far they are. */
  "hop-payload"(n) {
    const carrier = (name, other) => {
      const hit = defineAction({
        name: `Hit${name}`,
        run: ({ news, message }) => {
          const { hops, plan } = news[0].instructContent;
          return hops >= n ? undefined : message("go on", { sendTo: other, instructContent: { hops: hops + 1, plan } });
        },
      });
      return defineRole({ name, watch: [], actions: [hit] });
    };
    const env = new Environment({ seed: "bench", scheduler: "eager" }).addRoles([carrier("One", "Other"), carrier("Other", "One")]);
    return played(env, createMessage("go", { sendTo: "One", instructContent: { hops: 0, plan: planOf(30) } }), n);
  },

  async listened(n) {
    let heard = 0;
    const told = await pingPong(n, (env) => env.on("act.ended", () => (heard += 1)));
    if (heard < n) throw new Error(`Expected ${n} events, heard ${heard}.`);
    return told;
  },

  async chain(n) {
    let passed = 0;
    const link = (place) => {
      const pass = defineAction({
        name: `Pass${place}`,
        run: ({ news, message }) => {
          passed += news.length;
          return place === 99 ? undefined : news.map(({ content }) => message(content, { sendTo: `Link${place + 1}` }));
        },
      });
      return defineRole({ name: `Link${place}`, watch: [], actions: [pass] });
    };
    const env = new Environment({ seed: "bench", scheduler: "eager" }).addRoles(Array.from({ length: 100 }, (_, place) => link(place)));
    // One message after another, as the peers' runs are.
    const from = performance.now();
    for (let run = 0; run < n; run += 1) await settled(env, createMessage(String(run), { sendTo: "Link0" }));
    return { done: passed / 100, ms: performance.now() - from };
  },

  async fanout(n) {
    let acted = 0;
    const say = defineAction({ name: "Say", run: () => "go" });
    const listen = defineAction({ name: "Listen", run: () => void (acted += 1) });
    const listener = defineRole({ name: "Listener", profile: "", watch: [say], actions: [listen] });
    const env = new Environment({ seed: "bench" }).addRole(defineRole({ name: "Speaker", actions: [say] }));
    for (let place = 0; place < n; place += 1) env.addRole(listener, { name: `L${place}` });
    const from = performance.now();
    await settled(env, "go");
    return { done: acted, ms: performance.now() - from };
  },

  async fanin(n) {
    let heard = 0;
    const say = defineAction({ name: "Say", run: () => "hello" });
    const hear = defineAction({ name: "Hear", run: ({ news }) => void (heard += news.length) });
    const env = new Environment({ seed: "bench" }).addRole(defineRole({ name: "Hub", watch: [say], actions: [hear] }));
    const one = defineRole({ name: "One", actions: [say] });
    for (let place = 0; place < n; place += 1) env.addRole(one, { name: `S${place}` });
    const from = performance.now();
    await settled(env, "go");
    return { done: heard, ms: performance.now() - from };
  },

  publish(n) {
    const say = defineAction({ name: "Say", run: () => "go" });
    const other = defineAction({ name: "Other", run: () => "go" });
    const env = new Environment({ seed: "bench" });
    const deaf = defineRole({ name: "Deaf", watch: [other], actions: [other] });
    for (let place = 0; place < n; place += 1) env.addRole(deaf, { name: `D${place}` });
    env.addRole(defineRole({ name: "Watcher", watch: [say], actions: [say] }));
    const times = 10_000;
    const from = performance.now();
    for (let k = 0; k < times; k += 1) env.publishMessage(createMessage("go", { causeBy: say }));
    const ms = performance.now() - from;
    return { done: env.getRole("Watcher").inbox.length, ms };
  },

  async typed(n) {
    const Plan = z.object({ title: z.string(), tags: z.array(z.string()) });
    const plan = defineAction({ name: "Plan", output: Plan, prompt: ({ text }) => text });
    const model = scripted(() => ({ content: '{"title":"x","tags":["a","b"]}' }));
    const role = defineRole({ name: "Planner", actions: [plan] });
    let done = 0;
    for (let k = 0; k < n; k += 1) {
      const env = new Environment({ seed: "bench", model }).addRole(role);
      done += (await settled(env, "go")).output.instructContent.tags.length / 2;
    }
    return { done };
  },

  async stream(n) {
    const pieces = Array.from({ length: 100 }, (_, k) => `${k} `);
    const model = {
      ...scripted(() => ({ content: pieces.join("") })),
      streams: true,
      async *stream() {
        for (const content of pieces) yield { content };
        yield { finishReason, usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    let heard = 0;
    const say = defineAction({ name: "Say", run: ({ ask }) => ask("go", { onDelta: () => (heard += 1) }) });
    const role = defineRole({ name: "Speaker", actions: [say] });
    for (let k = 0; k < n; k += 1) await settled(new Environment({ seed: "bench", model }).addRole(role), "go");
    return { done: heard / 100 };
  },

  async agent(n) {
    const call = (at) => ({ id: `c${at}`, type: "function", function: { name: "look", arguments: `{"at":${at}}` } });
    const model = scripted((at) => (at > n ? { content: "done" } : { toolCalls: [call(at)], finishReason: "tool_calls" }));
    const look = defineTool({
      name: "look",
      description: "Looks.",
      effect: "read",
      parameters: z.object({ at: z.number() }),
      execute: () => "seen",
    });
    const agent = new Agent({ name: "one", model, tools: [look], maxSteps: 2 * n + 10 });
    const { answer, status } = await agent.run("go").result;
    return { done: answer === "done" && status === "finished" ? n : 0 };
  },

  /** With the journal on the disk, one commit for what comes together. */
  async durable(n) {
    const place = folder();
    const path = join(place, "runs.db");
    const { journal, team } = durableTeam(path, n);
    const from = performance.now();
    assertStatus(await team.run(createMessage("0", { sendTo: "One" }), { rounds: FOREVER }).result, "finished");
    const ms = performance.now() - from;
    await journal.close();
    const bytes = statSync(path).size;
    rmSync(place, { recursive: true });
    return { done: n, ms, bytes };
  },

  /** Stopped in the middle by its limit of rounds, which bounds how often one role acts, and gone on with by another program. */
  async resume(n) {
    const place = folder();
    const path = join(place, "runs.db");
    const first = durableTeam(path, n + 1);
    const half = n / 2;
    assertStatus(await first.team.run(createMessage("0", { sendTo: "One" }), { id: "run", rounds: half }).result, "rounds");
    await first.journal.close();
    const from = performance.now();
    const { journal, team } = durableTeam(path, n + 1);
    const result = await team.resume("run", { rounds: FOREVER }).result;
    await journal.close();
    const ms = performance.now() - from;
    rmSync(place, { recursive: true });
    assertStatus(result, "finished");
    if (result.messages.at(-1).content !== String(n + 1)) throw new Error("The run did not go on.");
    return { done: n, ms };
  },

  async parallel(n) {
    const model = scripted(() => new Promise((resolve) => setTimeout(resolve, 200, { content: "said" })));
    const say = defineAction({ name: "Say", prompt: ({ text }) => text });
    const env = new Environment({ seed: "bench", model });
    const role = defineRole({ name: "One", actions: [say] });
    for (let place = 0; place < n; place += 1) env.addRole(role, { name: `S${place}` });
    return { done: (await settled(env, "go")).outputs.length };
  },

  idle(n) {
    const act = defineAction({ name: "Act", run: () => "done" });
    const role = defineRole({ name: "Role", actions: [act], profile: "Worker", goal: "Work." });
    const env = new Environment({ seed: "bench" });
    for (let place = 0; place < n; place += 1) env.addRole(role, { name: `R${place}` });
    return { keep: env };
  },

  "idle-full"(n) {
    const [act, review] = ["Act", "Review"].map((name) =>
      defineAction({ name, output: z.object({ text: z.string() }), prompt: ({ text }) => text }),
    );
    const role = defineRole({
      name: "Role",
      profile: "Worker",
      goal: "Work.",
      constraints: "Well.",
      state: z.object({ seen: z.number().default(0) }),
      addresses: ["workers"],
      memoryLimit: 1_000,
      reactions: [
        { on: ["UserRequirement"], do: act },
        { on: [act], needs: [act], do: review },
      ],
    });
    const env = new Environment({ seed: "bench" });
    for (let place = 0; place < n; place += 1) env.addRole(role, { name: `R${place}` });
    return { keep: env };
  },

  "idle-agent"(n) {
    const model = scripted(() => ({ content: "" }));
    const look = defineTool({ name: "look", description: "Looks.", effect: "read", parameters: z.object({}), execute: () => "seen" });
    const tools = [look];
    return { keep: Array.from({ length: n }, (_, place) => new Agent({ name: `agent${place}`, model, tools })) };
  },

  million(n) {
    const told = cases.idle(n);
    return { done: n, ...told };
  },

  /** Each remembers how often it heard, and adds a number of its own chance to its state. */
  async crowd(n) {
    const tick = defineAction({ name: "Tick", run: () => "tick" });
    const count = defineAction({
      name: "Count",
      run: (ctx) => {
        ctx.state = { seen: ctx.state.seen + 1, sum: ctx.state.sum + Math.floor(ctx.random() * 1_000) };
      },
    });
    const state = z.object({ seen: z.number().default(0), sum: z.number().default(0) });
    const one = defineRole({ name: "One", profile: "", watch: [tick], actions: [count], state });
    return tickedCrowd(n, one, tick);
  },
};
