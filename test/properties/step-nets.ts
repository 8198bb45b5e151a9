import fc from "fast-check";
import { z } from "zod";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../../src/message/address.ts";
import { type FailurePolicy, retry } from "../../src/role/failure-policy.ts";
import type { Message } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { StepOut } from "../../src/role/step-role.ts";

interface NodeSketch {
  readonly hearsIdea: boolean;
  readonly tells: readonly string[];
  /** It fails on what makes its sum divisible by this. */
  readonly failsAt: number;
  readonly policy: FailurePolicy;
  /** It lets go of what it has noted when it has so much of it. */
  readonly notes: number;
  /** True if its words and its state depend on its chance. */
  readonly gambles: boolean;
  /** After how many ticks its words arrive. */
  readonly delay: number;
  /** True if it takes its whole mailbox at once. */
  readonly takesAll: boolean;
}

/** A net of roles that are plain functions, as fast-check makes it up. */
export interface NetSketch {
  readonly nodes: readonly NodeSketch[];
  /** The number of messages that follow one another. */
  readonly depth: number;
}

const address = fc.constantFrom("N0", "N1", "N2", "N3", "N4", "crowd", ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE);

export const netSketch: fc.Arbitrary<NetSketch> = fc.record({
  nodes: fc.array(
    fc.record({
      hearsIdea: fc.boolean(),
      tells: fc.array(address, { minLength: 1, maxLength: 2 }),
      failsAt: fc.integer({ min: 3, max: 40 }),
      policy: fc.constantFrom<FailurePolicy>("skip", retry(1, "skip"), retry(2, "skip")),
      notes: fc.integer({ min: 1, max: 4 }),
      gambles: fc.boolean(),
      delay: fc.constantFrom(0, 0, 1, 2, 2.5, 9),
      takesAll: fc.boolean(),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  depth: fc.integer({ min: 1, max: 4 }),
});

const Node = z.object({ heard: z.number().default(0), sum: z.number().default(0), notes: z.record(z.string(), z.number()).default({}) });

type Noted = z.infer<typeof Node>;

/** The roles of a sketch. */
export function stepNet({ nodes, depth }: NetSketch): Role[] {
  const names = nodes.map((_, place) => `N${place}`);
  return nodes.map((node, place) => {
    const step = (state: Noted, message: Message, out: StepOut): Noted | undefined => {
      const chance = node.gambles ? Math.floor(out.random() * 10) : 1;
      const sum = state.sum + message.content.length + chance;
      const left = Number(message.metadata["left"] ?? depth);
      for (const sendTo of left > 0 ? node.tells : [])
        out.after(node.delay, `${out.name} ${sum} ${out.now()}`, { sendTo, metadata: { left: left - 1 } });
      if (sum % node.failsAt === 0) throw new Error(`${out.name} failed at ${sum}`);
      if (chance === 3) return undefined;
      const notes = { ...state.notes, [message.sentFrom]: sum };
      return { heard: state.heard + 1, sum, notes: Object.keys(notes).length > node.notes ? {} : notes };
    };
    const steps = (state: Noted, messages: readonly Message[], out: StepOut): Noted =>
      messages.reduce((now, message) => step(now, message, out) ?? now, state);
    const parts = {
      name: `N${place}`,
      profile: "crowd",
      watch: [...names, ...(node.hearsIdea || place === 0 ? [UserRequirement] : [])],
      state: Node,
      onFailure: node.policy,
    };
    return node.takesAll ? defineRole({ ...parts, steps }) : defineRole({ ...parts, step });
  });
}
