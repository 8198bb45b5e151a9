// Stations on a ring elect the one with the highest number, as Hirschberg and Sinclair have it: a station asks both ways, twice as far in each phase, and
// goes on only where no higher number is in reach.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { hireOn, ringTopology, study } from "troupe/research";

/** A number, how many stations further it goes, and whether it is on its way back. */
const Probe = z.object({ id: z.number(), left: z.number(), back: z.boolean() });

const station = (name: string, neighbours: readonly string[]) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ id: z.number().default(0), phase: z.number().default(0), answers: z.number().default(0) }),
    step(state, { content, sentFrom, instructContent }, out) {
      const send = (to: string, probe: z.infer<typeof Probe>) =>
        void out.say("probe", { sendTo: to, causeBy: "Probe", instructContent: probe });
      const ask = (id: number, phase: number) => neighbours.forEach((to) => send(to, { id, left: 2 ** phase, back: false }));
      if (content === "begin") {
        const id = out.random();
        ask(id, 0);
        return { ...state, id };
      }
      const heard = Probe.parse(instructContent);
      const onward = neighbours.find((other) => other !== sentFrom) ?? sentFrom;
      if (heard.id !== state.id) {
        if (heard.back) send(onward, heard);
        else if (heard.id > state.id && heard.left > 1) send(onward, { ...heard, left: heard.left - 1 });
        else if (heard.id > state.id) send(sentFrom, { ...heard, back: true });
        return undefined;
      }
      // Its own number came around the ring, from both sides.
      if (!heard.back) return void (sentFrom === neighbours[0] && out.say(name, { causeBy: "Elected" }));
      if (state.answers === 0) return { ...state, answers: 1 };
      ask(state.id, state.phase + 1);
      return { ...state, phase: state.phase + 1, answers: 0 };
    },
  });

/** Elects one of `size` stations, and returns the number of probes. */
async function elect(size: number, seed: string): Promise<number> {
  const ring = new Environment({ seed });
  hireOn(ring, ringTopology(size), ({ name, neighbours }) => station(name, neighbours));
  ring.publishMessage(createMessage("begin", { sendTo: ring.roleNames }));
  const { outputs, messages } = await ring.run({ rounds: 10_000 });
  if (outputs.length !== 1) throw new Error(`${outputs.length} stations were elected`);
  return messages.filter(({ causeBy }) => causeBy === "Probe").length;
}

const { samples, report } = study({ name: "election both ways", source: "Hirschberg and Sinclair 1980" });
export const counts = await samples(20, (seed) => elect(64, seed));

export const figures = report([
  { name: "most probes for 64, 8n (1 + log2 n)", relation: "at most", expected: 8 * 64 * 7, found: Math.max(...counts) },
]);
