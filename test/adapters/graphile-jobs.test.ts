import { expect, it } from "vitest";
import { JobsInHand } from "../../src/adapters/graphile-work.ts";

it("JobsInHand.H1 a row that comes back is in hand until both deliveries have ended, and both are cancelled", () => {
  const jobs = new JobsInHand();
  const [former, newer, other] = [jobs.begin("1", "a"), jobs.begin("1", "a"), jobs.begin("2", "b")];
  former.end();
  former.end();
  expect(jobs.has("1")).toBe(true);
  const again = jobs.begin("1", "a");
  jobs.cancelRow("1");
  expect([newer, again, other].map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  newer.end();
  again.end();
  expect([jobs.has("1"), jobs.has("2")]).toEqual([false, true]);
});
