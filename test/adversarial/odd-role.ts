import { expect } from "vitest";
import {
  defineAction,
  defineRole,
  fold,
  type RoleOptions,
  type RunEvent,
  type RunResult,
  Team,
  type TeamOptions,
  TroupeError,
} from "../../src/index.ts";
import { impatient } from "./impatient-clock.ts";

/** A value where the types allow none: what untyped code, or a model's JSON, hands over. */
export function odd<T>(value: unknown): T {
  return value as T;
}

export const Mail = defineAction({ name: "Mail", run: () => "a letter" });
export const postman = defineRole({ name: "Pat", actions: [Mail] });

export interface Lived {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
}

/** A run of Ann, who is odd in these ways, beside the postman, who is not. */
export async function lived(ann: Partial<RoleOptions>, options: TeamOptions = {}): Promise<Lived> {
  const team = new Team({ clock: impatient, ...options, roles: [defineRole({ ...ann, name: "Ann" }), postman] });
  const run = team.run("go");
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return { result: await run.result, events };
}

/** It failed by a typed error that begins with what was expected; event, record and result agree; the postman's work is kept. */
export function expectTyped({ result, events }: Lived, code: string, message: RegExp): void {
  expect([result.status, result.error?.code]).toEqual(["failed", code]);
  expect(TroupeError.isInstance(result.error)).toBe(true);
  expect(result.error?.message).toMatch(/^Expected /);
  expect(result.error?.message).toMatch(message);
  expect(result.error?.message).not.toContain("[object Object]");
  expect(events.find((event) => event.type === "act.failed")).toMatchObject({ role: "Ann", then: "stop", error: { code } });
  expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "failed", error: { code } });
  expect(result.messages.map(({ content }) => content)).toEqual(["go", "a letter"]);
  expect(fold(events).phase).toMatchObject({ phase: "ended", status: "failed" });
}
