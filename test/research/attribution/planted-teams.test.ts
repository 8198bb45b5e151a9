// @module-tag science
import { describe, expect, it } from "vitest";
import { attribute } from "../../../src/research/index.ts";
import { figure } from "../../long.ts";
import { kinds } from "./planted-kinds.ts";
import type { PlantedTeam } from "./planted-teams.ts";

async function recorded({ team, begin, score }: PlantedTeam): Promise<string> {
  const run = await team("recorded").run(begin).result;
  expect(score(run)).toBe(false);
  return run.runId;
}

async function firstNamed(planted: PlantedTeam): Promise<string | undefined> {
  const { team, score } = planted;
  return (await attribute({ team, runId: await recorded(planted), score })).effects[0]?.act;
}

/** What three simple guesses name: the last step, the first with an error, and any of the role with most steps. */
async function guesses(planted: PlantedTeam): Promise<readonly boolean[]> {
  const { team, cause, marks } = planted;
  const acts = new Set<string>();
  for await (const event of team("recorded").journal.read(await recorded(planted), 0))
    if (event.type === "step.started") acts.add(event.act.replace(/~\d+$/, ""));
  const counts = new Map<string, number>();
  for (const act of acts) counts.set(act.split("#")[0] as string, (counts.get(act.split("#")[0] as string) ?? 0) + 1);
  const [frequent] = [...counts].toSorted(([, a], [, b]) => b - a)[0] as [string, number];
  return [[...acts].at(-1) === cause, [...acts].find((act) => act in marks) === cause, cause.startsWith(`${frequent}#`)];
}

describe("the step that is named first", () => {
  it("may say nothing, and may be read through a role without a model", async () => {
    const [silent, throughBoard] = [kinds.guard(1), kinds.blackboard(1)];
    expect([await firstNamed(silent), await firstNamed(throughBoard)]).toEqual([silent.cause, throughBoard.cause]);
  });

  const teams = Object.values(kinds).flatMap((make) => [make(1), make(3)]);
  const guessed = [0, 0, 0];

  it.each(teams)("is the planted one: $name", { tags: ["science", "long"] }, async (planted) => {
    for (const [index, isRight] of (await guesses(planted)).entries()) if (isRight) guessed[index] = (guessed[index] as number) + 1;
    expect(await firstNamed(planted)).toBe(planted.cause);
  });

  it("is in most teams not what a simple guess names", { tags: ["science", "long"] }, () => {
    figure(`attribute: of ${teams.length} causes, the last step, the first error and the most frequent role name ${guessed.join(", ")}`);
    expect(Math.max(...guessed)).toBeLessThanOrEqual(teams.length / 2);
  });
});
