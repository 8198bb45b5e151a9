// Stations on a ring elect the one with the highest number. Chang and Roberts: each sends its number around one way, and a station stops numbers
// below its own. Hirschberg and Sinclair: a station asks both ways, twice as far in each phase, and goes on only where no higher number is in reach.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createMessage, defineRole, Environment, type Role } from "troupe";
import { figure, figuresText } from "troupe/research";

const seed = process.env["SEED"] ?? randomUUID();

/** A station at a place of a ring of `size`. Without a number it draws one. */
type Station = (place: number, size: number, id?: number) => Role;

const changRoberts: Station = (place, size, given) =>
  defineRole({
    name: `s${place}`,
    state: z.object({ id: z.number().default(0) }),
    step({ id }, { content, instructContent: heard }, out) {
      const pass = (number: number): void =>
        void out.say("probe", { instructContent: number, sendTo: `s${(place + 1) % size}`, causeBy: "Probe" });
      const own = content === "begin" ? (given ?? out.random()) : id;
      if (content === "begin") pass(own);
      else if (heard === own) out.say(`s${place}`, { causeBy: "Elected" });
      else if (Number(heard) > own) pass(Number(heard));
      return { id: own };
    },
  });

const probe = z.object({ id: z.number(), way: z.literal([1, -1]), left: z.number(), back: z.boolean() });

const hirschbergSinclair: Station = (place, size, given) =>
  defineRole({
    name: `s${place}`,
    state: z.object({ id: z.number().default(0), phase: z.number().default(0), answers: z.number().default(0) }),
    step(state, { content, instructContent }, out) {
      const send = (one: z.infer<typeof probe>): void =>
        void out.say("probe", { instructContent: one, sendTo: `s${(place + one.way + size) % size}`, causeBy: "Probe" });
      const ask = (id: number, left: number): void => ([1, -1] as const).forEach((way) => send({ id, way, left, back: false }));
      if (content === "begin") {
        const id = given ?? out.random();
        ask(id, 1);
        return { ...state, id };
      }
      const heard = probe.parse(instructContent);
      if (heard.id === state.id && !heard.back) {
        if (heard.way === 1) out.say(`s${place}`, { causeBy: "Elected" });
      } else if (heard.id === state.id) {
        if (state.answers === 0) return { ...state, answers: 1 };
        ask(state.id, 2 ** (state.phase + 1));
        return { ...state, phase: state.phase + 1, answers: 0 };
      } else if (heard.back) send(heard);
      else if (heard.id > state.id)
        send(heard.left > 1 ? { ...heard, left: heard.left - 1 } : { ...heard, way: heard.way === 1 ? -1 : 1, back: true });
      return undefined;
    },
  });

/** Elects one of `size` stations, and returns the number of probes. */
async function elect(station: Station, size: number, rep: number, ids: readonly number[] = []): Promise<number> {
  const ring = new Environment({ seed: `${seed}/${rep}` });
  ring.addRoles(Array.from({ length: size }, (_, place) => station(place, size, ids[place])));
  ring.publishMessage(createMessage("begin", { sendTo: ring.roleNames }));
  const { outputs, messages } = await ring.run({ rounds: 10_000 });
  if (outputs.length !== 1) throw new Error(`${outputs.length} stations were elected`);
  return messages.filter(({ causeBy }) => causeBy === "Probe").length;
}

function arrangementsOf(ids: readonly number[]): readonly (readonly number[])[] {
  return ids.length === 0 ? [[]] : ids.flatMap((id) => arrangementsOf(ids.filter((other) => other !== id)).map((rest) => [id, ...rest]));
}

const harmonic = (n: number): number => Array.from({ length: n }, (_, k) => 1 / (k + 1)).reduce((sum, part) => sum + part, 0);
const rising = [1, 2, 3, 4, 5, 6];
const counts = await Promise.all(arrangementsOf(rising).map((ids) => elect(changRoberts, 6, 0, ids)));
const random = await Promise.all(Array.from({ length: 100 }, (_, rep) => elect(changRoberts, 64, rep)));
const bounded = await Promise.all(Array.from({ length: 20 }, (_, rep) => elect(hirschbergSinclair, 64, rep)));
const source = "Chang and Roberts 1979";

export const figures = [
  figure({ name: "election: best case of 6, 2n - 1", expected: 11, found: await elect(changRoberts, 6, 0, rising), source }),
  figure({
    name: "election: worst case of 6, n (n + 1) / 2",
    expected: 21,
    found: await elect(changRoberts, 6, 0, rising.toReversed()),
    source,
  }),
  figure({
    name: "election: mean of all 720 rings of 6, n H(n)",
    expected: 6 * harmonic(6),
    found: counts.reduce((sum, count) => sum + count, 0) / counts.length,
    source,
  }),
  figure({ name: "election: random rings of 64, n H(n)", expected: 64 * harmonic(64), found: random, source }),
  figure({
    name: "election both ways: most probes for 64, 8n (1 + log2 n)",
    relation: "at most",
    expected: 8 * 64 * 7,
    found: Math.max(...bounded),
    source: "Hirschberg and Sinclair 1980",
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
