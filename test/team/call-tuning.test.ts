import { describe, expect, it } from "vitest";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import type { CallTuning } from "../../src/model/call.ts";
import { modelError } from "../../src/model/failure.ts";
import { type ScriptedModel, scriptedModel, type SimulatedClock, simulatedClock } from "../../src/testing/index.ts";
import type { ScriptedAnswer } from "../../src/testing/scripted-model.ts";
import { until } from "../model/call-setup.ts";

const ask = defineAction({ name: "Ask", run: (ctx) => ctx.ask("Say something.") });

interface Asked {
  readonly team: Team;
  readonly model: ScriptedModel;
  readonly clock: SimulatedClock;
}

function asking(calls: CallTuning | undefined, answer: ScriptedAnswer): Asked {
  const clock = simulatedClock();
  const model = scriptedModel(answer);
  const roles = [defineRole({ name: "Ann", actions: [ask] })];
  return { clock, model, team: new Team({ roles, model, clock, ...(calls === undefined ? {} : { calls }) }) };
}

/** The number of calls of a model whose every try fails at once. */
async function triesOf(calls: CallTuning | undefined): Promise<number> {
  const { team, model, clock } = asking(calls, broken);
  let isOver = false;
  const { result } = team.run("go");
  void result.then(() => (isOver = true));
  for (let n = 1; n < 20 && !isOver; n++) {
    await until(() => isOver || model.calls.length === n, "a try");
    // The waits between tries.
    await clock.advance(20_000);
  }
  await result;
  return model.calls.length;
}

const broken: ScriptedAnswer = () => modelError("MODEL_CUT", "cut");

describe("the calls of a team", () => {
  it("are tried four times, or as often as its option says", async () => {
    expect(await triesOf(undefined)).toBe(4);
    expect(await triesOf({ retry: { tries: 2 } })).toBe(2);
  });
});
