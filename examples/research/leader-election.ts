// Stations on a ring elect the one with the highest number, as Chang and Roberts have it: each sends its number around one way, and a station stops
// numbers below its own.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { mean, study } from "troupe/research";

/** A station at a place of a ring of `size`. Without a number it draws one. */
const station = (place: number, size: number, given?: number) =>
  defineRole({
    name: `s${place}`,
    state: z.object({ id: z.number().default(0) }),
    step({ id }, { content, instructContent }, out) {
      const pass = (number: number) => out.say("probe", { instructContent: number, sendTo: `s${(place + 1) % size}`, causeBy: "Probe" });
      if (content === "begin") {
        const own = given ?? out.random();
        pass(own);
        return { id: own };
      }
      const heard = Number(instructContent);
      if (heard === id) out.say(`s${place}`, { causeBy: "Elected" });
      if (heard > id) pass(heard);
      return undefined;
    },
  });

/** Elects one of `size` stations, and returns the number of probes. */
async function elect(size: number, seed: string | number, ids: readonly number[] = []): Promise<number> {
  const ring = new Environment({ seed });
  ring.addRoles(Array.from({ length: size }, (_, place) => station(place, size, ids[place])));
  ring.publishMessage(createMessage("begin", { sendTo: ring.roleNames }));
  const { outputs, messages } = await ring.run({ rounds: 10_000 });
  if (outputs.length !== 1) throw new Error(`${outputs.length} stations were elected`);
  return messages.filter(({ causeBy }) => causeBy === "Probe").length;
}

function arrangementsOf(ids: readonly number[]): readonly (readonly number[])[] {
  return ids.length === 0 ? [[]] : ids.flatMap((id) => arrangementsOf(ids.filter((other) => other !== id)).map((rest) => [id, ...rest]));
}

const { samples, report } = study({ name: "election", source: "Chang and Roberts 1979" });
const harmonic = (n: number): number => Array.from({ length: n }, (_, k) => 1 / (k + 1)).reduce((sum, part) => sum + part, 0);
const rising = [1, 2, 3, 4, 5, 6];
const counts = await Promise.all(arrangementsOf(rising).map((ids) => elect(6, 1, ids)));
export const random = await samples(100, (seed) => elect(64, seed));

export const figures = report([
  { name: "best case of 6, 2n - 1", expected: 11, found: await elect(6, 1, rising) },
  { name: "worst case of 6, n (n + 1) / 2", expected: 21, found: await elect(6, 1, rising.toReversed()) },
  { name: "mean of all 720 rings of 6, n H(n)", expected: 6 * harmonic(6), found: mean(counts) },
  { name: "random rings of 64, n H(n)", expected: 64 * harmonic(64), found: random },
]);
