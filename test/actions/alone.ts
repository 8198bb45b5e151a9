import {
  type Action,
  type Address,
  addressOf,
  defineAction,
  defineRole,
  type Json,
  type Role,
  type RunResult,
  Team,
  UserRequirement,
} from "../../src/index.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { z } from "zod";

/** The world of an action that runs alone. */
export interface Alone {
  readonly action: Action;
  readonly model?: ScriptedModel;
  readonly idea?: string;
  /** The earlier messages of others, by their action. The action runs once all of it is there. */
  readonly said?: readonly (readonly [by: Address, payload: unknown])[];
}

/** Runs one action in a team: the others are there, but only say what they are told to. */
export function runAlone({ action, model, idea = "Greet me", said = [] }: Alone): Promise<RunResult> {
  const causes = said.map(([by]) => addressOf(by));
  const others = said.map(([by, payload]): Role => {
    const says = defineAction({
      name: addressOf(by),
      output: z.unknown(),
      run: (ctx) => ctx.message("", { instructContent: payload as Json }),
    });
    return defineRole({ name: `says ${addressOf(by)}`, reactions: [{ on: UserRequirement, do: says }] });
  });
  const last = causes.at(-1) ?? UserRequirement;
  const worker = defineRole({ name: "Wanda", watch: [...causes, UserRequirement], reactions: [{ on: last, needs: causes, do: action }] });
  return new Team({ roles: [...others, worker], seed: 1, ...(model === undefined ? {} : { model }) }).run(idea, { rounds: 5 }).result;
}
