// A laboratory in one file: who of a crowd joins a riot (Granovetter 1978)? Which parameter decides, whether samples differ, a picture with what is known;
// then a flock on a plane (Vicsek et al. 1995), and who holds a network together.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import {
  anova,
  betweenness,
  compareSamples,
  configurationModel,
  experiment,
  holm,
  linearRegression,
  mean,
  modularity,
  plotSvg,
  runExperiment,
  sensitivity,
  space,
} from "troupe/research";

// #region riot
/** Joins once the share of the crowd that has joined is its threshold, and tells the square. */
const personOf = (name: string, threshold: number) =>
  defineRole({
    name,
    watch: ["Share"],
    state: z.object({ joined: z.boolean().default(false) }),
    step({ joined }, { content }, out) {
      if (joined || Number(content) < threshold) return undefined;
      out.say("I join", { sendTo: "Square" });
      return { joined: true };
    },
  });
const squareOf = (people: number) =>
  defineRole({
    name: "Square",
    watch: [],
    state: z.object({ share: z.number().default(0) }),
    steps({ share }, messages, out) {
      const next = share + messages.filter(({ content }) => content === "I join").length / people;
      out.say(`${next}`, { causeBy: "Share" });
      return { share: next };
    },
  });

/** Thresholds have a logistic distribution around a middle. */
const riotOver = (params: readonly { middle: number; spread: number; people: number }[], reps: number) =>
  experiment({
    params,
    reps,
    seeds: "independent",
    world({ params: { middle, spread, people }, seed, concurrency }) {
      const world = new Environment({ seed, concurrency }).addRole(squareOf(people));
      const random = world.stream("thresholds");
      const thresholds = Array.from({ length: people }, () => middle + spread * Math.log(1 / (1 - random()) - 1));
      return world.addRoles(thresholds.map((threshold, n) => personOf(`p${n}`, threshold)));
    },
    begin: (world) => world.publishMessage(createMessage("begin", { sendTo: "Square" })),
    measure: ({ world }) => ({ joined: Number(world.progress.state("Square")?.["share"]) }),
  });
// #endregion

// #region sensitivity
const ranges = { middle: { from: 0.1, to: 0.4 }, spread: { from: 0.05, to: 0.1 }, people: { from: 20, to: 60, whole: true } } as const;
const { cells, indices } = sensitivity(ranges, { n: 60 });
const explored = await runExperiment(riotOver(cells, 1));
for (const { parameter, total } of indices(explored.rows, "joined"))
  console.log(`${parameter}: ${total.estimate.toFixed(2)}, from ${total.low.toFixed(2)} to ${total.high.toFixed(2)}`);
// #endregion

// #region samples
const middles = [0.1, 0.2, 0.3, 0.4];
const grid = [20, 80].flatMap((people) => middles.map((middle) => ({ middle, spread: 0.08, people })));
const { rows } = await runExperiment(riotOver(grid, 10));
const joinedAt = (middle: number) =>
  rows.filter((row) => row["middle"] === middle && row["people"] === 80).map(({ joined }) => Number(joined));
const { difference, t, ranks } = await compareSamples(joinedAt(0.2), joinedAt(0.3));
const { f } = await anova(middles.map(joinedAt));
const { slope } = await linearRegression(middles.flatMap((middle) => joinedAt(middle).map((joined) => [middle, joined] as const)));
console.log(`${difference.low.toFixed(2)} to ${difference.high.toFixed(2)} more join; slope ${slope.estimate.toFixed(1)}`);
console.log(`all three tests: ${holm([t?.p ?? 1, ranks.p, f?.p ?? 1]).every((p) => p < 0.01)}`);
// #endregion

// #region picture
/** The share that joins a crowd without end: again and again all join whose threshold is reached. */
function joining(middle: number): number {
  let share = 0;
  for (let round = 0; round < 1_000; round += 1) share = 1 / (1 + Math.exp((middle - share) / 0.08));
  return share;
}
export const svg = await plotSvg(rows, {
  kind: "line",
  x: "middle",
  y: "joined",
  facet: "people",
  title: "Small crowds are less predictable",
  reference: { y: 1 },
  curve: joining,
  width: 240,
  height: 180,
});
// #endregion
console.log(`a picture with ${svg.match(/stroke-dasharray/g)?.length} dashed lines`);

// #region flock
const sky = space({ width: 5, height: 5, torus: true });
const Where = z.record(z.string(), z.tuple([z.number(), z.number()]));
const birds = Array.from({ length: 60 }, (_, n) => `b${n}`);

/** Each bird turns to the mean direction of those within 1, itself included, but for some noise. */
const flock = (noise: number) =>
  defineRole({
    name: "Flock",
    state: z.object({ where: Where.default({}), angles: z.record(z.string(), z.number()).default({}) }),
    step({ where, angles }, { content }, out) {
      out.say("fly on", { sendTo: "<self>" });
      const any = (most: number) => most * out.random();
      if (content === "begin") {
        const places = birds.map((bird) => [bird, [any(5), any(5)]] as const);
        return {
          where: Where.parse(Object.fromEntries(places)),
          angles: Object.fromEntries(birds.map((bird) => [bird, any(2 * Math.PI)])),
        };
      }
      const turned = birds.map((bird) => {
        const seen = [bird, ...sky.near(where, bird, 1)].map((other) => angles[other] ?? 0);
        return [bird, Math.atan2(mean(seen.map(Math.sin)), mean(seen.map(Math.cos))) + noise * (out.random() - 0.5)] as const;
      });
      const moves = turned.map(([bird, angle]) => {
        const [x, y] = where[bird] ?? [0, 0];
        return [bird, [x + 0.1 * Math.cos(angle), y + 0.1 * Math.sin(angle)]] as const;
      });
      return { where: Where.parse(sky.move(where, Object.fromEntries(moves))), angles: Object.fromEntries(turned) };
    },
  });

/** Returns the length of the mean direction: 1 where all fly the same way. */
async function orderAt(noise: number): Promise<number> {
  const world = new Environment({ seed: 1 }).addRole(flock(noise));
  world.publishMessage(createMessage("begin", { sendTo: "Flock" }));
  await world.run({ rounds: 100 });
  const angles = Object.values(z.record(z.string(), z.number()).parse(world.getRole("Flock")?.state["angles"]));
  return Math.hypot(mean(angles.map(Math.sin)), mean(angles.map(Math.cos)));
}
console.log(`order ${(await orderAt(0.5)).toFixed(1)} with little noise, ${(await orderAt(6)).toFixed(1)} with much`);
// #endregion

// #region network
const degrees = [9, 6, 5, 4, 4, 3, 3, ...Array.from({ length: 13 }, () => 2)];
const network = configurationModel(20, { degrees, seed: 1 });
const [broker] = [...betweenness(network)].toSorted(([, one], [, other]) => other - one);
const half = modularity(network, (node) => Number(node.slice(1)) <= 10);
console.log(`${broker?.[0]} is on ${(100 * (broker?.[1] ?? 0)).toFixed()} % of the shortest paths; modularity ${half.toFixed(2)}`);
// #endregion
