import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canonical, defineRole, Environment, type Message, type Role, type RunEvent, Team } from "../../../src/index.ts";
import {
  alongEdges,
  coordinationMetrics,
  hireOn,
  layeredTopology,
  neighboursTold,
  rewiring,
  ringTopology,
  starTopology,
  type Topology,
} from "../../../src/research/index.ts";
import type { TopologyNode } from "../../../src/research/graph/wiring.ts";

const heard = z.object({ heard: z.array(z.string()).default([]), near: z.array(z.string()).default([]) });

/** Tells on what comes from outside to whoever it names, and remembers who told it something. */
function teller(names: readonly string[]): (node: TopologyNode) => Role {
  return ({ name }) =>
    defineRole({
      name,
      state: heard,
      step: (state, message, out) => {
        if (message.sentFrom === "") out.say("psst", { sendTo: names.filter((other) => other !== name) });
        else return { ...state, heard: [...state.heard, message.sentFrom] };
        return undefined;
      },
    });
}

function stateIn(world: Environment, node: string): z.infer<typeof heard> {
  return heard.parse(world.getRole(node)?.state);
}

async function heardOn(topology: Topology, world: Environment): Promise<Readonly<Record<string, readonly string[]>>> {
  hireOn(world, topology, teller(topology.nodes));
  world.publishMessage("go");
  await world.run();
  return Object.fromEntries(topology.nodes.map((node) => [node, [...stateIn(world, node).heard].toSorted()]));
}

describe("alongEdges", () => {
  it("lets a message through where an edge leads, and nowhere else", async () => {
    const ring = ringTopology(4);
    expect(await heardOn(ring, new Environment({ seed: 1, edges: [alongEdges(ring)] }))).toEqual({
      p1: ["p2", "p4"],
      p2: ["p1", "p3"],
      p3: ["p2", "p4"],
      p4: ["p1", "p3"],
    });
    const layers = layeredTopology([1, 2]);
    expect(await heardOn(layers, new Environment({ seed: 1, edges: [alongEdges(layers)] }))).toEqual({ p1: [], p2: ["p1"], p3: ["p1"] });
  });

  it("is known to the record by its hash, and differs with each edge", () => {
    const { parameters } = alongEdges(ringTopology(5));
    expect(parameters).toEqual(alongEdges(ringTopology(5)).parameters);
    expect(parameters).not.toEqual(alongEdges(ringTopology(["p1", "p3", "p2", "p4", "p5"])).parameters);
  });
});

/** Passes a number on to all neighbours that it was told, once for each number. */
const gossip = defineRole({
  name: "Gossip",
  state: heard,
  step: (state, message, out) => {
    const near = neighboursTold(message);
    if (near !== undefined) return { ...state, near: [...near] };
    if (state.heard.includes(message.content)) return undefined;
    if (state.near.length > 0) out.say(message.content, { sendTo: state.near });
    return { ...state, heard: [...state.heard, message.content] };
  },
});

async function gossiped(
  concurrency: number,
): Promise<{ readonly text: string; readonly messages: readonly Message[]; readonly heard: readonly number[] }> {
  const [ring, star] = [ringTopology(6), starTopology(6)];
  const world = new Environment({ seed: 3, concurrency });
  const events: RunEvent[] = [];
  for (const type of ["run.started", "message", "act.ended", "round.ended"] as const) world.on(type, (event) => void events.push(event));
  hireOn(world, ring, gossip);
  for (const told of rewiring(undefined, ring)) world.publishMessage(told);
  await world.run();
  world.publishMessage({ ...gossipFrom("p1"), content: "first" });
  await world.run({ rounds: 2 });
  for (const told of rewiring(ring, star)) world.publishMessage(told);
  const { messages } = await world.run();
  const count = ring.nodes.map((node) => stateIn(world, node).heard.length);
  return { text: canonical(events), messages, heard: count };
}

function gossipFrom(sendTo: string): Message {
  return { ...(rewiring(undefined, starTopology([sendTo, "x"]))[0] as Message), id: "gossip", causeBy: "Gossip" };
}

describe("rewiring", () => {
  it("by messages is in the record: equal texts at any concurrency", async () => {
    const one = await gossiped(1);
    expect(one.heard).toEqual([1, 1, 1, 1, 1, 1]);
    expect(coordinationMetrics(one.messages).edges).toBeGreaterThan(6);
    expect((await gossiped(64)).text).toBe(one.text);
  });

  it("in a run of a team is replayed as it was", async () => {
    const ring = ringTopology(4);
    const roles = ring.nodes.map((name) => defineRole({ name, state: heard, step: gossip.step as NonNullable<typeof gossip.step> }));
    const team = new Team({ roles, seed: 1, edges: [alongEdges(starTopology(4))] });
    const { runId } = await team.run("begin").result;
    const resumed = await team.resume(runId, { add: [...rewiring(undefined, ring)] }).result;
    const told = await team.resume(runId, { add: [gossipFrom("p1")] }).result;
    const replayed = await team.replay(runId).result;
    expect([resumed.status, told.status, replayed.status]).toEqual(["finished", "finished", "finished"]);
    expect(replayed.messages).toEqual(told.messages);
    expect(told.messages.filter(({ sentFrom }) => sentFrom === "p1").map(({ sendTo }) => sendTo)).toEqual([["p2", "p4"]]);
  });

  it("writes only to roles whose neighbours change", () => {
    const [ring, same] = [ringTopology(5), ringTopology(5)];
    expect(rewiring(ring, same)).toEqual([]);
    const without: Topology = { ...ring, edges: ring.edges.slice(1) };
    expect(rewiring(ring, without).map((message) => [message.sendTo[0], neighboursTold(message)])).toEqual([
      ["p1", ["p5"]],
      ["p2", ["p3"]],
    ]);
    expect(() => rewiring(ring, ringTopology(6))).toThrow(/of the same nodes in rewiring, got "p6"/);
  });
});
