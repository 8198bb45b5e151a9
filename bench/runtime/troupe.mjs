import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { createMessage, defineAction, defineRole, Environment, Team } from "../../dist/src/index.js";
import { Agent, defineTool } from "../../dist/src/agent/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { scriptedModel } from "../../dist/src/testing/index.js";

const FOREVER = 1e9;

/** Passes a count on to the other, with all the memories that a role has. */
function player(name, other, n) {
  const hit = defineAction({
    name: `Hit${name}`,
    run: ({ message, text }) => (Number(text) >= n ? undefined : message(String(Number(text) + 1), { sendTo: other })),
  });
  return defineRole({ name, watch: [], actions: [hit] });
}

async function settled(env, first) {
  env.publishMessage(first);
  const result = await env.run({ rounds: FOREVER });
  if (result.status !== "finished") throw new Error(`The run ended with ${result.status}: ${result.error?.message}`);
  return result;
}

async function pingPong(n, more = {}, listen = () => {}) {
  const env = new Environment({ seed: "bench", scheduler: "eager", ...more }).addRoles([
    player("One", "Other", n),
    player("Other", "One", n),
  ]);
  listen(env);
  await settled(env, createMessage("0", { sendTo: "One" }));
  return { done: n };
}

export const cases = {
  hop: (n) => pingPong(n),

  /** The same with somebody listening to every event. */
  async listened(n) {
    let heard = 0;
    await pingPong(n, {}, (env) => env.on("act.ended", () => (heard += 1)));
    if (heard < n) throw new Error(`Expected ${n} events, heard ${heard}.`);
    return { done: n };
  },

  async chain(n) {
    const link = (place) =>
      defineRole({
        name: `Link${place}`,
        watch: [],
        react: (rc) => (place === 99 ? undefined : rc.news.map(({ content }) => rc.message(content, { sendTo: `Link${place + 1}` }))),
      });
    const env = new Environment({ seed: "bench", scheduler: "eager" }).addRoles(Array.from({ length: 100 }, (_, place) => link(place)));
    for (let run = 1; run < n; run += 1) env.publishMessage(createMessage(String(run), { sendTo: "Link0" }));
    await settled(env, createMessage("0", { sendTo: "Link0" }));
    return { done: n * 100 };
  },

  async fanout(n) {
    let acted = 0;
    const say = defineAction({ name: "Say", run: () => "go" });
    const listen = defineAction({ name: "Listen", run: () => void (acted += 1) });
    const listener = defineRole({ name: "Listener", watch: [say], actions: [listen] });
    const env = new Environment({ seed: "bench" }).addRole(defineRole({ name: "Speaker", actions: [say] }));
    for (let place = 0; place < n; place += 1) env.addRole(listener, { name: `L${place}` });
    const from = performance.now();
    await settled(env, "go");
    return { done: acted, ms: performance.now() - from };
  },

  async fanin(n) {
    let heard = 0;
    const say = defineAction({ name: "Say", run: () => "hello" });
    const hub = defineRole({ name: "Hub", watch: [say], react: (rc) => void (heard += rc.news.length) });
    const env = new Environment({ seed: "bench" }).addRole(hub);
    const one = defineRole({ name: "One", actions: [say] });
    for (let place = 0; place < n; place += 1) env.addRole(one, { name: `S${place}` });
    const from = performance.now();
    await settled(env, "go");
    return { done: heard, ms: performance.now() - from };
  },

  /** One who watches, among `n` who do not: what publishing costs. */
  broadcast(n) {
    const say = defineAction({ name: "Say", run: () => "go" });
    const other = defineAction({ name: "Other", run: () => "go" });
    const env = new Environment({ seed: "bench" });
    const deaf = defineRole({ name: "Deaf", watch: [other], react: () => undefined });
    for (let place = 0; place < n; place += 1) env.addRole(deaf, { name: `D${place}` });
    env.addRole(defineRole({ name: "Watcher", watch: [say], react: () => undefined }));
    const times = 10_000;
    const from = performance.now();
    for (let k = 0; k < times; k += 1) env.publishMessage(createMessage("go", { causeBy: say }));
    return { done: times, ms: performance.now() - from };
  },

  async typed(n) {
    const Plan = z.object({ title: z.string(), tags: z.array(z.string()) });
    const plan = defineAction({ name: "Plan", output: Plan, prompt: ({ text }) => text });
    const model = scriptedModel(() => '{"title":"x","tags":["a","b"]}');
    let done = 0;
    for (let k = 0; k < n; k += 1) {
      const env = new Environment({ seed: "bench", model }).addRole(defineRole({ name: "Planner", actions: [plan] }));
      done += (await settled(env, "go")).output.instructContent.tags.length / 2;
    }
    return { done };
  },

  async agent(n) {
    let asked = 0;
    const model = scriptedModel(() => {
      asked += 1;
      if (asked > n) return "done";
      return { content: "", toolCalls: [{ id: `c${asked}`, type: "function", function: { name: "look", arguments: `{"at":${asked}}` } }], finishReason: "tool_calls" };
    });
    const look = defineTool({ name: "look", description: "Looks.", effect: "read", parameters: z.object({ at: z.number() }), execute: () => "seen" });
    const { answer } = await new Agent({ name: "one", model, tools: [look], maxSteps: 2 * n + 10 }).run("go").result;
    return { done: answer === "done" ? n : 0 };
  },

  async stream(n) {
    const text = Array.from({ length: 100 }, (_, k) => `${k} `).join("");
    let heard = 0;
    for (let k = 0; k < n; k += 1) {
      const agent = new Agent({ name: "one", model: scriptedModel([text]), tools: [], terminate: false });
      for await (const event of agent.run("go")) if (event.type === "text") heard += 1;
    }
    return { done: heard > 0 ? n : 0 };
  },

  /** With the journal on the disk, one commit for what comes together. */
  async durable(n) {
    const folder = mkdtempSync(join(tmpdir(), "bench-troupe-"));
    const path = join(folder, "runs.db");
    const journal = sqlite({ path });
    const team = new Team({ seed: "bench", scheduler: "eager", journal, roles: [player("One", "Other", n), player("Other", "One", n)] });
    const idea = createMessage("0", { sendTo: "One" });
    const { status } = await team.run(idea, { rounds: FOREVER }).result;
    await journal.close();
    const bytes = statSync(path).size;
    rmSync(folder, { recursive: true });
    if (status !== "finished") throw new Error(`The run ended with ${status}.`);
    return { done: n, bytes };
  },

  idle(n) {
    const act = defineAction({ name: "Act", run: () => "done" });
    const role = defineRole({ name: "Role", actions: [act], profile: "Worker", goal: "Work." });
    const env = new Environment({ seed: "bench" });
    for (let place = 0; place < n; place += 1) env.addRole(role, { name: `R${place}` });
    return { keep: env };
  },
};
