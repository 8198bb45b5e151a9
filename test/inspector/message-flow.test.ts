import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FlowEvent, type MessageFlow, messageFlow } from "../../src/inspector/message-flow.ts";
import { say } from "../memory/storage-setup.ts";

/** Edges in words. */
function edgesOf({ nodes, edges }: MessageFlow): string[] {
  const name = (id: string): string => {
    const node = nodes.find((one) => one.id === id);
    return node === undefined ? `?${id}` : node.kind === "role" ? node.name : `${node.kind}:${node.name}`;
  };
  return edges.map(
    (edge) => `${name(edge.from)} > ${name(edge.to)} ${edge.messages}${edge.broadcasts > 0 ? `, ${edge.broadcasts} to all` : ""}`,
  );
}

describe("messageFlow of messages", () => {
  it("leads from senders to addressees, with weights", () => {
    const flow = messageFlow([
      say("1", "go", { sendTo: ["Ann"] }),
      say("2", "done", { sentFrom: "Ann", sendTo: ["Bob", "Cara"], causeBy: "Write" }),
      say("3", "again", { sentFrom: "Ann", sendTo: ["Bob"], causeBy: "Write" }),
      say("4", "looks good", { sentFrom: "Ann", sendTo: ["Bob"], causeBy: "Review" }),
    ]);
    expect(edgesOf(flow)).toEqual(["outside: > Ann 1", "Ann > Bob 3", "Ann > Cara 1"]);
    expect(flow.messages).toBe(4);
    expect(flow.nodes.map(({ name }) => name)).toEqual(["", "Ann", "Bob", "Cara"]);
    expect(flow.edges[1]?.causes).toEqual([
      { name: "Write", messages: 2 },
      { name: "Review", messages: 1 },
    ]);
  });

  it("marks broadcasts, and draws no edge for a message to no one", () => {
    const flow = messageFlow([
      say("1", "hear", { sentFrom: "Ann" }),
      say("2", "hear Bob above all", { sentFrom: "Ann", sendTo: ["<all>", "Bob"] }),
      say("3", "note", { sentFrom: "Ann", sendTo: "<self>" }),
      say("4", "diary", { sentFrom: "Dan", sendTo: "<none>" }),
      say("5", "own", { sendTo: "<self>" }),
    ]);
    expect(edgesOf(flow)).toEqual(["Ann > all: 2, 2 to all", "Ann > Bob 1", "Ann > Ann 1", "outside: > outside: 1"]);
    expect(flow.nodes.some(({ name }) => name === "Dan")).toBe(true);
  });

  it("counts a message once, however many memories it comes from", () => {
    const [one, two] = [say("1", "x", { sendTo: ["Ann"] }), say("2", "y", { sendTo: ["Ann"] })];
    expect(edgesOf(messageFlow([one, two, one]))).toEqual(["outside: > Ann 2"]);
  });

  it("never takes a role for another kind of node", () => {
    const flow = messageFlow([
      say("1", "x", { sentFrom: "outside", sendTo: ["all"] }),
      say("2", "x", { sentFrom: "a b", sendTo: ["c"] }),
      say("3", "x", { sentFrom: "a", sendTo: ["b c"] }),
      say("4", "x", { sentFrom: "__proto__", sendTo: ["constructor"] }),
      say("5", "x"),
    ]);
    expect(edgesOf(flow)).toEqual([
      "outside > all 1",
      "a b > c 1",
      "a > b c 1",
      "__proto__ > constructor 1",
      "outside: > all: 1, 1 to all",
    ]);
  });

  it("draws an edge for each pair of sender and recipient, weighted by deliveries", () => {
    const name = fc.constantFrom("Ann", "Bob", "Cara");
    const message = fc.record({ from: fc.constantFrom("", "Ann", "Bob"), to: fc.uniqueArray(name, { minLength: 1 }) });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (list) => {
        const messages = list.map(({ from, to }, n) => say(`m${n}`, "x", { sentFrom: from, sendTo: to }));
        const { nodes, edges } = messageFlow(messages);
        const pairs = list.flatMap(({ from, to }) => to.map((one) => `${from}>${one}`));
        expect(edges.length).toBe(new Set(pairs).size);
        expect(edges.reduce((sum, edge) => sum + edge.messages, 0)).toBe(pairs.length);
        expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
      }),
    );
  });
});

describe("messageFlow of events", () => {
  it("leads broadcasts to their recipients, and shows addresses that no role has", () => {
    const broadcast = say("2", "to all", { sentFrom: "Ann", causeBy: "Write" });
    const events: readonly FlowEvent[] = [
      { type: "message", message: say("1", "go"), to: ["Ann"] },
      { type: "act.started" },
      {
        type: "act.ended",
        said: [
          { message: broadcast, to: ["Bob", "Cara"] },
          { message: say("3", "psst", { sentFrom: "Ann", sendTo: ["boss", "<all>"] }), to: ["Bob"], dead: ["boss"] },
          { message: say("4", "that is all", { sentFrom: "Ann" }), to: [] },
          { message: say("5", "for me", { sentFrom: "Ann", sendTo: "<none>" }), to: [] },
        ],
      },
    ];
    expect(edgesOf(messageFlow(events))).toEqual([
      "outside: > Ann 1, 1 to all",
      "Ann > Bob 2, 2 to all",
      "Ann > Cara 1, 1 to all",
      "Ann > missing:boss 1",
      "Ann > all: 1, 1 to all",
    ]);
  });
});
