import type { z } from "zod";
import type { Role } from "../../../src/index.ts";

/*
 * A plain search of all states of a world of step functions: no environment, no orders, no reduction. It knows messages by their senders, recipients and
 * contents.
 */

export interface SearchedFaults {
  readonly crash?: readonly string[];
  readonly lose?: boolean;
  readonly copy?: boolean;
  readonly most?: number;
}

interface Mail {
  readonly from: string;
  readonly to: string;
  readonly content: string;
  /** A copy overtakes. */
  readonly isCopy?: true;
}

interface World {
  readonly states: Readonly<Record<string, unknown>>;
  readonly mail: readonly Mail[];
  readonly crashed: readonly string[];
  readonly faults: number;
}

interface Searched {
  /** The states of all roles at each end, as text. */
  readonly ends: ReadonlySet<string>;
  /** The states of all roles in each world on the way, as text. */
  readonly seen: ReadonlySet<string>;
  /** The steps of the shortest way to each of `seen`. */
  readonly depths: ReadonlyMap<string, number>;
  readonly worlds: number;
}

/** @param firstTo the recipients of the message `begin` from outside */
export function searchStates(roles: readonly Role[], firstTo: readonly string[], faults: SearchedFaults = {}): Searched {
  const { most = 1 } = faults;
  const byName = new Map(roles.map((role) => [role.name, role]));
  const initial = Object.fromEntries(roles.map(({ name, state }) => [name, (state as z.ZodType | undefined)?.parse({}) ?? {}]));
  const first: World = { states: initial, mail: firstTo.map((to) => ({ from: "", to, content: "begin" })), crashed: [], faults: 0 };
  const known = new Set<string>();
  const ends = new Set<string>();
  const depths = new Map<string, number>();
  let line: readonly World[] = [first];
  for (let depth = 0; line.length > 0; depth += 1) {
    const next: World[] = [];
    for (const world of line) {
      const key = keyOf(world);
      if (known.has(key)) continue;
      known.add(key);
      const text = JSON.stringify(world.states);
      if (!depths.has(text)) depths.set(text, depth);
      const after = nextOf(world);
      if (world.mail.length === 0) ends.add(text);
      next.push(...after);
    }
    line = next;
  }
  return { ends, seen: new Set(depths.keys()), depths, worlds: known.size };

  function nextOf(world: World): readonly World[] {
    const ways = new Set<string>();
    const after: World[] = [];
    for (const [index, mail] of world.mail.entries()) {
      const way = `${mail.from}>${mail.to}`;
      if (mail.isCopy !== true && ways.has(way)) continue;
      if (mail.isCopy !== true) ways.add(way);
      const others = world.mail.filter((_, place) => place !== index);
      after.push(delivered(world, mail, others));
      if (world.faults >= most || mail.from === "" || mail.isCopy === true || world.crashed.includes(mail.to)) continue;
      if (faults.lose === true) after.push({ ...world, mail: others, faults: world.faults + 1 });
      if (faults.copy === true) after.push(delivered({ ...world, faults: world.faults + 1 }, mail, [...others, { ...mail, isCopy: true }]));
    }
    if (world.faults < most)
      for (const role of faults.crash ?? [])
        if (!world.crashed.includes(role)) after.push({ ...world, crashed: [...world.crashed, role], faults: world.faults + 1 });
    return after;
  }

  function delivered(world: World, { to, from, content }: Mail, others: readonly Mail[]): World {
    if (world.crashed.includes(to)) return { ...world, mail: others };
    const said: Mail[] = [];
    const out = {
      name: to,
      say: (text: string, { sendTo }: { readonly sendTo: string }) => void said.push({ from: to, to: sendTo, content: text }),
    };
    const state = byName.get(to)?.step?.(world.states[to] as never, { content, sentFrom: from } as never, out as never);
    const states = state === undefined ? world.states : { ...world.states, [to]: state };
    return { ...world, states, mail: [...others, ...said] };
  }
}

/** Only the order of the messages of one way counts. */
function keyOf({ states, mail, crashed, faults }: World): string {
  const inOrder = mail.toSorted((a, b) => compare(`${a.from}>${a.to}`, `${b.from}>${b.to}`));
  const ordered = inOrder.filter(({ isCopy }) => isCopy !== true);
  const copies = inOrder.filter(({ isCopy }) => isCopy === true).map((one) => JSON.stringify(one));
  return JSON.stringify([states, ordered, copies.toSorted(), crashed.toSorted(), faults]);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
