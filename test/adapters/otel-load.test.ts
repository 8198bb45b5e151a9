import { expect, it, vi } from "vitest";
import { traceRun } from "../../src/adapters/otel.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";

const made = vi.hoisted(() => ({ count: 0 }));
vi.mock("node:module", async (original) => {
  const all = await original<typeof import("node:module")>();
  return Object.assign({}, all, { createRequire: (from: string) => ((made.count += 1), all.createRequire(from)) });
});

it("looks for the package of OpenTelemetry once, however many spans there are", async () => {
  const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.step("shout", {}, async () => ctx.text.toUpperCase()) });
  for (const text of ["one", "two"]) await traceRun(new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }).run(text)).ended;
  expect(made.count).toBe(1);
});
