import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentMove, type AgentState, Lifecycle, moved } from "../../src/agent/lifecycle.ts";

const MOVES: readonly AgentMove[] = ["start", "step", "finish", "fail", "give_up", "reset"];
const STATES: readonly AgentState[] = ["IDLE", "RUNNING", "FINISHED", "ERROR"];

/** The diagram of the second seed, section 1.2, edge by edge. */
const DIAGRAM: readonly (readonly [AgentState, AgentMove, AgentState])[] = [
  ["IDLE", "start", "RUNNING"],
  ["RUNNING", "step", "RUNNING"],
  ["RUNNING", "finish", "FINISHED"],
  ["RUNNING", "fail", "ERROR"],
  ["RUNNING", "give_up", "IDLE"],
  ["FINISHED", "reset", "IDLE"],
  ["ERROR", "reset", "IDLE"],
  ["IDLE", "reset", "IDLE"],
];

describe("an agent's life", () => {
  it("Lifecycle.L2 has the edges of the diagram and no other", () => {
    const edges = STATES.flatMap((from) => MOVES.map((move) => [from, move, moved(from, move)] as const)).filter(
      ([, , to]) => to !== undefined,
    );
    expect(edges.map((edge) => edge.join(" ")).sort()).toEqual(DIAGRAM.map((edge) => edge.join(" ")).sort());
  });

  it("refuses illegal moves by an error that changes nothing, for any moves (Lifecycle.L1)", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...MOVES), { maxLength: 40 }), (moves) => {
        const life = new Lifecycle();
        let steps = 0;
        for (const move of moves) {
          const from = life.state;
          const to = moved(from, move);
          if (to === undefined) expect(() => life.move(move)).toThrow(expect.objectContaining({ code: "AGENT_TRANSITION" }));
          else {
            life.move(move);
            steps = move === "start" ? 0 : move === "step" ? steps + 1 : steps;
          }
          expect(life.state).toBe(to ?? from);
          expect(life.steps).toBe(steps);
        }
      }),
    );
  });

  it("tells every move after it was made", () => {
    const life = new Lifecycle();
    const told: string[] = [];
    for (const move of ["start", "fail", "reset"] as const) life.move(move, (...words) => told.push([...words, life.state].join(" ")));
    expect(told).toEqual(["start IDLE RUNNING RUNNING", "fail RUNNING ERROR ERROR", "reset ERROR IDLE IDLE"]);
  });
});
