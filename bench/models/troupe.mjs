/* Troupe: step roles that act in each round, in an environment that keeps no history. */
import { z } from "zod";
import { createMessage, defineRole, Environment } from "../../dist/src/index.js";
import { gini, neighboursOf, wattsStrogatz } from "../../dist/src/research/index.js";

const number = (value) => z.number().default(value);

function money(n) {
  const names = Array.from({ length: n }, (_, index) => `p${index}`);
  const person = {
    acts: "each round",
    state: z.object({ coins: number(1) }),
    steps({ coins }, messages, out) {
      const had = coins + messages.length;
      if (had > 0) out.say("coin", { sendTo: names[Math.floor(out.random() * n)] });
      return { coins: Math.max(0, had - 1) };
    },
  };
  // A coin that nobody has read yet is in a mailbox.
  const held = ({ coins }, mail) => coins + mail.filter(({ content }) => content === "coin").length;
  return { names, role: person, check: (states, mail) => gini(states.map((state, index) => held(state, mail[index]))) };
}

/** As `money`, for roles that send themselves a message to act again. */
function ticks(n) {
  const { names, check } = money(n);
  const person = {
    state: z.object({ coins: number(1) }),
    steps({ coins }, messages, out) {
      let had = coins;
      for (const { content } of messages) if (content === "coin") had += 1;
      out.say("t", { sendTo: "<self>" });
      if (had > 0) out.say("coin", { sendTo: names[Math.floor(out.random() * n)] });
      return { coins: Math.max(0, had - 1) };
    },
  };
  return { names, role: person, first: createMessage("t", { sendTo: names }), check };
}

const worldOf = (n) => wattsStrogatz(n, { degree: 6, rewiring: 0.1, seed: 1 });

function virus(n) {
  const world = worldOf(n);
  const near = neighboursOf(world);
  const node = {
    state: z.object({ s: z.enum(["S", "I", "R"]).default("S") }),
    steps({ s }, messages, out) {
      if (s === "R") return undefined;
      const now = s === "S" && messages.some(({ content }) => content === "virus") ? "I" : s;
      if (now !== "I") return undefined;
      const hit = near.get(out.name).filter(() => out.random() < 0.2);
      if (hit.length > 0) out.say("virus", { sendTo: hit });
      if (s === "I" && out.random() < 0.1) return { s: "R" };
      out.say("t", { sendTo: "<self>" });
      return { s: "I" };
    },
  };
  const first = createMessage("virus", { sendTo: world.nodes.slice(0, Math.ceil(n / 50)) });
  return { names: world.nodes, role: node, first, check: (states) => states.filter(({ s }) => s !== "S").length / n };
}

/** A cell tells its neighbours who came or left, and who is unhappy asks a random cell for room. */
function schelling(n) {
  const side = Math.round(Math.sqrt(n));
  const names = Array.from({ length: side * side }, (_, index) => `c${index}`);
  const around = [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((x) => [x, y])).filter(([x, y]) => x !== 0 || y !== 0);
  const at = (x, y) => names[((y + side) % side) * side + ((x + side) % side)];
  const near = names.map((_, index) => around.map(([x, y]) => at((index % side) + x, Math.floor(index / side) + y)));
  const cell = {
    acts: "each round",
    state: z.object({ kind: z.string().default("new"), red: number(0), blue: number(0), waits: z.boolean().default(false) }),
    steps(state, messages, out) {
      let { kind, red, blue, waits } = state;
      const index = Number(out.name.slice(1));
      const tell = (text) => out.say(text, { sendTo: near[index] });
      if (kind === "new") {
        const draw = out.random();
        const own = draw < 0.4 ? "red" : draw < 0.8 ? "blue" : "";
        if (own !== "") tell(`+${own}`);
        return { kind: own, red, blue, waits };
      }
      for (const { content, sentFrom } of messages) {
        if (content === "+red") red += 1;
        else if (content === "-red") red -= 1;
        else if (content === "+blue") blue += 1;
        else if (content === "-blue") blue -= 1;
        else if (content === "no") waits = false;
        else if (content === "yes") {
          tell(`-${kind}`);
          kind = "";
          waits = false;
        } else if (kind === "") {
          kind = content;
          tell(`+${kind}`);
          out.say("yes", { sendTo: sentFrom });
        } else out.say("no", { sendTo: sentFrom });
      }
      const isUnhappy = kind !== "" && !waits && (kind === "red" ? red : blue) < 0.3 * (red + blue);
      if (isUnhappy) out.say(kind, { sendTo: names[Math.floor(out.random() * names.length)] });
      return { kind, red, blue, waits: waits || isUnhappy };
    },
  };
  const share = ({ kind, red, blue }) => (red + blue === 0 ? 1 : (kind === "red" ? red : blue) / (red + blue));
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  return { names, role: cell, check: (states) => mean(states.filter(({ kind }) => kind !== "").map(share)) };
}

function opinion(n) {
  const world = worldOf(n);
  const near = neighboursOf(world);
  const person = {
    acts: "each round",
    state: z.object({ x: number(-1) }),
    steps({ x }, messages, out) {
      let now = x < 0 ? out.random() : x;
      let sum = 0;
      for (const { content } of messages) sum += Number(content);
      if (messages.length > 0) now = (now + sum / messages.length) / 2;
      out.say(String(now), { sendTo: near.get(out.name) });
      return { x: now };
    },
  };
  return { names: world.nodes, role: person, check: (states) => Math.max(...states.map(({ x }) => x)) };
}

export const models = { money, ticks, virus, schelling, opinion };

export async function run(model, n, steps, measured) {
  const { names, role, first, check } = models[model](n);
  const world = new Environment({ seed: 1, memory: false });
  const definition = defineRole({ name: "P", watch: [], ...role });
  for (const name of names) world.addRole(definition, { name });
  if (first !== undefined) world.publishMessage(first);
  const roles = () => names.map((name) => world.getRole(name));
  return {
    ...(await measured(() => world.run({ rounds: steps }))),
    agents: names.length,
    check: () =>
      check(
        roles().map(({ state }) => state),
        roles().map(({ inbox }) => inbox),
      ),
  };
}
