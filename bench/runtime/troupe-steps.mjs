/* Troupe's cases of roles that are plain functions over typed state: the work of `hop`, `fanout` and `crowd`. */
import { z } from "zod";
import { createMessage, defineRole, Environment } from "../../dist/src/index.js";
import { tickedCrowd } from "./crowd.mjs";
import { played, settled } from "./settled.mjs";

async function pingPong(n, options = {}) {
  const player = (name, other) =>
    defineRole({
      name,
      watch: [],
      step(_state, { content }, out) {
        if (Number(content) < n) out.say(String(Number(content) + 1), { sendTo: other });
      },
    });
  const env = new Environment({ seed: "bench", scheduler: "eager", ...options }).addRoles([player("One", "Other"), player("Other", "One")]);
  return played(env, createMessage("0", { sendTo: "One" }), n);
}

export const stepCases = {
  "hop-step": (n) => pingPong(n),

  "hop-step-no-memory": (n) => pingPong(n, { memory: false }),

  async "fanout-step"(n) {
    let acted = 0;
    const listener = defineRole({ name: "Listener", watch: ["Speaker"], step: () => void (acted += 1) });
    const env = new Environment({ seed: "bench" }).addRole(
      defineRole({ name: "Speaker", step: (_state, _message, out) => void out.say("go") }),
    );
    for (let place = 0; place < n; place += 1) env.addRole(listener, { name: `L${place}` });
    const from = performance.now();
    await settled(env, "go");
    return { done: acted, ms: performance.now() - from };
  },

  /** As `crowd`: each counts what it heard and adds a number of its own chance; the digest is of all states in the order of hiring. */
  async "crowd-step"(n) {
    const one = defineRole({
      name: "One",
      watch: ["Tick"],
      state: z.object({ seen: z.number().default(0), sum: z.number().default(0) }),
      step: (state, _message, out) => ({ seen: state.seen + 1, sum: state.sum + Math.floor(out.random() * 1_000) }),
    });
    return tickedCrowd(n, one, "Tick");
  },
};
