import { expect } from "vitest";
import { defineAction, defineRole, memoryJournal, type RunEvent, type RunResult, Team, UserRequirement } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";
import { contents } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

/** The parts of a run, made anew for every process: nothing is shared but the journal. */
export type Company = (journal: Journal, model: ScriptedModel) => Team;

/** Answers what it is asked, so that an answer does not depend on how many were asked before. */
export function echoModel(): ScriptedModel {
  return scriptedModel((request) => `[${request.messages.at(-1)?.content ?? ""}]`);
}

/** A run that nobody killed. */
export async function recorded(company: Company, idea = "go"): Promise<{ events: readonly RunEvent[]; result: RunResult; asked: number }> {
  const model = echoModel();
  const team = company(memoryJournal(), model);
  const result = await team.run(idea, { id: "r" }).result;
  return { events: await eventsOf(team.journal, "r"), result, asked: model.calls.length };
}

/** The result of a run, however often it was killed on the way. */
function outcome({ status, rounds, messages, outputs, error }: RunResult): unknown {
  const said = messages.map(({ timestamp: _timestamp, ...rest }) => rest);
  return { status, rounds, said, outputs: contents(outputs), error: error?.code };
}

/** Kills a run after every event there is, goes on in a company made anew, and compares with the run that nobody killed. */
export async function expectSameFromEveryCut(company: Company): Promise<number> {
  const { events, result, asked } = await recorded(company);
  const opening = events.findIndex((event) => event.type === "message") + 1;
  for (let kept = opening; kept <= events.length; kept += 1) {
    const model = echoModel();
    const again = await company(await journalWith("r", events.slice(0, kept)), model).resume("r").result;
    const answered = events.slice(0, kept).filter((event) => event.type === "step.ended" && event.ok).length;
    expect({ kept, ...(outcome(again) as object) }).toEqual({ kept, ...(outcome(result) as object) });
    expect({ kept, asked: model.calls.length }).toEqual({ kept, asked: asked - answered });
  }
  return events.length - opening;
}

/** The events up to the first that is meant. */
export function upTo(events: readonly RunEvent[], isLast: (event: RunEvent) => boolean): readonly RunEvent[] {
  const place = events.findIndex(isLast);
  expect(place).toBeGreaterThan(0);
  return events.slice(0, place + 1);
}

/** Actions that ask once. */
export const Draft = defineAction({ name: "Draft", run: (ctx) => ctx.ask(`draft ${ctx.text}`) });
export const Edit = defineAction({ name: "Edit", run: (ctx) => ctx.ask(`edit ${ctx.text}`) });
export const Praise = defineAction({ name: "Praise", run: (ctx) => ctx.ask(`praise ${ctx.text}`) });

/** Three roles, four calls, three rounds. */
export const pipeline: Company = (journal, model) =>
  new Team({
    journal,
    model,
    seed: 1,
    roles: [
      defineRole({ name: "Writer", reactions: [{ on: UserRequirement, do: Draft }] }),
      defineRole({ name: "Editor", reactions: [{ on: Draft, do: Edit }] }),
      defineRole({ name: "Critic", watch: [Draft, Edit], actions: [Praise] }),
    ],
  });
