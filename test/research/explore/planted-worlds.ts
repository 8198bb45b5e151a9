import { z } from "zod";
import { createMessage, defineRole, Environment, type Role } from "../../../src/index.ts";
import type { ExploreOptions, Finding } from "../../../src/research/index.ts";
import type { MakeWorld } from "./worlds.ts";

/** A fault of a known kind in a small team: the wrong team, the repaired one, and the claims that tell them apart. */
export interface Plant {
  readonly name: string;
  readonly kind: Finding["kind"];
  readonly claims: ExploreOptions;
  world(isWrong: boolean): MakeWorld;
}

/** Says a message of words. With a delay it may arrive at any later moment. */
export type Tell = (to: string | readonly string[], content: string, delay?: number) => void;

/** A role whose messages are words: the first one names what happens. What it returns replaces parts of its state. */
export function actor<S extends object>(
  name: string,
  initial: S,
  act: (state: Readonly<S>, words: readonly string[], tell: Tell, from: string) => Partial<S> | void,
): Role {
  const shape = Object.fromEntries(Object.entries(initial).map(([key, value]) => [key, z.any().default(value)]));
  return defineRole({
    name,
    watch: [],
    state: z.object(shape),
    step(state, { content, sentFrom }, out) {
      const tell: Tell = (to, text, delay) => {
        const sendTo = typeof to === "string" ? [to] : [...to];
        if (delay === undefined) out.say(text, { sendTo });
        else out.after(delay, text, { sendTo });
      };
      return { ...state, ...act(state as S, content.split(" "), tell, sentFrom) };
    },
  });
}

/** A role that passes each message on. */
export const relay = (name: string, to: string): Role => actor(name, {}, (_state, words, tell) => tell(to, words.join(" ")));

/** The world of these roles, with its first messages: `["Ann", "begin"]`. */
export function teamOf(roles: readonly Role[], first: readonly (readonly [string, string])[]): MakeWorld {
  return (given) => {
    const world = new Environment(given).addRoles(roles);
    for (const [to, content] of first) world.publishMessage(createMessage(content, { sendTo: [to] }));
    return world;
  };
}
