import { canonicalJson } from "../../kernel/json.ts";
import { createMessage } from "../../message/message.ts";
import { defineRole } from "../../role/role.ts";
import { type EdgePolicy, recordedEdges } from "../../runtime/edges/edge-policy.ts";
import { Edges } from "../../runtime/edges/edges.ts";
import { Environment } from "../../runtime/environment.ts";
import { canonical } from "../../runtime/record/canonical.ts";
import type { RunEvent, Sent } from "../../runtime/record/event.ts";
import { checkContract, type ContractKit } from "./contract-kit.ts";

/** Makes the policy; each call makes an equal one. */
export type MakeEdgePolicy = () => EdgePolicy;

/**
 * The contract of every {@link EdgePolicy}, for messages between the roles p1 to p4.
 *
 * EdgePolicy.E1 every answer is a decision. EdgePolicy.E2 a decision is a function of the passage. EdgePolicy.E3 equal policies are
 * recorded as the same plain JSON. EdgePolicy.E4 a run does not depend on its concurrency.
 */
export function edgePolicyContract(kit: ContractKit, name: string, make: MakeEdgePolicy): void {
  checkContract("edgePolicyContract", kit, name, make);
  const { describe, it, expect } = kit;
  describe(`${name} keeps the contract of a policy of edges`, () => {
    it("EdgePolicy.E1 EdgePolicy.E2 it decides on any message, and the same again, in another order, and by an equal policy", async () => {
      const policy = make();
      const first = fatesOf(policy, passages);
      expect(fatesOf(policy, passages)).toEqual(first);
      expect(fatesOf(policy, passages.toReversed()).toReversed()).toEqual(first);
      expect(fatesOf(make(), passages)).toEqual(first);
      await Promise.resolve();
    });

    it("EdgePolicy.E3 what is recorded of it is plain JSON, and the same for an equal policy", async () => {
      expect(canonicalJson(recordedEdges([make()]))).toBe(canonicalJson(recordedEdges([make()])));
      await Promise.resolve();
    });

    it("EdgePolicy.E4 a run is the same at concurrency 1 and 64", async () => {
      expect(await loggedRun(make(), 1)).toBe(await loggedRun(make(), 64));
    });
  });
}

const names = ["p1", "p2", "p3", "p4"];

interface SentAt {
  readonly sent: Sent;
  readonly from: string;
  readonly tick: number;
}

const passages: readonly SentAt[] = names.flatMap((from) =>
  names.flatMap((to) =>
    [0, 1, 5, 1_000].flatMap((tick) =>
      [undefined, null, 7, ["a", { b: true }], {}].map((payload, nth) => {
        const content = ["", "text", "\u{1F600} a longer text\nof two lines"][nth % 3] ?? "";
        const fields = { id: `${from}#${tick}.${nth}`, sentFrom: from, sendTo: [to], timestamp: 0 };
        const message = createMessage(content, { ...fields, ...(payload === undefined ? {} : { instructContent: payload }) });
        return { sent: { message, to: [to], ...(nth === 2 ? { due: tick + 3 } : {}) }, from, tick };
      }),
    ),
  ),
);

function fatesOf(policy: EdgePolicy, asked: readonly SentAt[]): readonly unknown[] {
  const edges = new Edges([policy], { state: { seed: "contract", clock: "rounds", bounds: {} }, messageLimit: 1_000_000 });
  return asked.map(({ sent, from, tick }) => edges.pass([sent], from, tick)[0]?.faults ?? "delivered");
}

/** Returns the text of a run of a few rounds, in which every role repeats what it hears to the next two. */
async function loggedRun(policy: EdgePolicy, concurrency: number): Promise<string> {
  const environment = new Environment({ seed: "contract", concurrency, edges: [policy] });
  const events: RunEvent[] = [];
  for (const [place, name] of names.entries()) {
    const sendTo = [1, 2].map((steps) => names[(place + steps) % names.length] ?? name);
    environment.addRole(
      defineRole({
        name,
        watch: ["UserRequirement"],
        react: (rc) => rc.message(`${name} at ${rc.memory.size}`, { sendTo, instructContent: { size: rc.memory.size } }),
      }),
    );
  }
  for (const type of ["run.started", "message", "act.ended", "round.ended"] as const)
    environment.on(type, (event) => void events.push(event));
  environment.publishMessage(createMessage("go", { id: "go", timestamp: 0 }));
  const { error } = await environment.run({ rounds: 6 });
  if (error !== undefined) throw error;
  return canonical(events);
}
