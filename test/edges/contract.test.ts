import { describe, expect, it, test } from "vitest";
import { byzantine, corrupt, crash, delay, drop, duplicate, edge, partition, reorder } from "../../src/edges/index.ts";
import type { Edge } from "../../src/edges/edge.ts";
import type { EdgePolicy } from "../../src/runtime/edges/edge-policy.ts";
import { edgePolicyContract } from "../../src/testing/index.ts";

const ready: Readonly<Record<string, () => Edge>> = {
  drop: () => drop(0.3),
  delay: () => delay(0, 3),
  reorder: () => reorder(0.5),
  duplicate: () => duplicate(0.4, 2),
  corrupt: () => corrupt(0.7),
  crash: () => crash("p2").during(1, 3),
  partition: () => partition(["p1", "p2"]).during(1, 3),
  byzantine: () => byzantine("p3"),
  "one of a program": () =>
    edge({ name: "own", decide: ({ random }) => (random.split("a")() < 0.5 ? { kind: "drop" } : undefined) }).on("p1->*"),
};

for (const [name, make] of Object.entries(ready)) edgePolicyContract({ describe, it, expect }, name, make);

/** Runs the contract on a policy and returns the titles of what failed. */
async function failures(make: () => EdgePolicy): Promise<readonly string[]> {
  const checks: (readonly [string, () => Promise<void>])[] = [];
  const kit = {
    describe: (_name: string, body: () => void) => body(),
    it: (title: string, body: () => Promise<void>) => void checks.push([title, body]),
    expect,
  };
  edgePolicyContract(kit, "a policy", make);
  const failed: string[] = [];
  for (const [title, body] of checks) await body().catch(() => void failed.push(title.slice(0, "EdgePolicy.E1".length)));
  return failed;
}

/** Returns a function that counts its calls. */
function counter(): () => number {
  let calls = 0;
  return () => {
    calls += 1;
    return calls;
  };
}

describe("the contract of a policy of edges finds", () => {
  test.each<readonly [string, (count: () => number) => EdgePolicy, string]>([
    ["one that counts", (count) => ({ name: "x", decide: () => (count() % 3 === 0 ? { kind: "drop" } : undefined) }), "EdgePolicy.E1"],
    ["one that answers nonsense", () => ({ name: "x", decide: () => "drop" as never }), "EdgePolicy.E4"],
    [
      "one that throws on an empty text",
      () => ({ name: "x", decide: ({ message }) => void "abc".repeat(message.content === "" ? -1 : 1) }),
      "EdgePolicy.E1",
    ],
    [
      "one with other parameters each time",
      (count) => ({ name: "x", parameters: { made: count() }, decide: () => undefined }),
      "EdgePolicy.E3",
    ],
  ])("%s", async (_what, policyOf, label) => {
    const count = counter();
    expect(await failures(() => policyOf(count))).toContain(label);
  });
});
