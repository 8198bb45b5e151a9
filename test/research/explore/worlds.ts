import { z } from "zod";
import { createMessage, defineRole, Environment, type EnvironmentOptions, type Role } from "../../../src/index.ts";

/*
 * Small worlds whose schedules are explored: the classics of coordination, with and without a fault. Each is a function of the options that `explore`
 * gives it.
 */

export type MakeWorld = (given: EnvironmentOptions) => Environment;

export function worldOf(roles: readonly Role[], firstTo: readonly string[], content = "begin"): MakeWorld {
  return (given) => {
    const world = new Environment(given).addRoles(roles);
    world.publishMessage(createMessage(content, { sendTo: firstTo, id: "first" }));
    return world;
  };
}

export type TakeForks = "left first" | "ordered" | "one left-hander" | "waiter";

/**
 * Dining philosophers. A fork is a role that grants itself to one philosopher at a time. Each philosopher eats once, and puts both forks back. A
 * waiter lets one at a time begin.
 */
export function philosophers(count: number, take: TakeForks): MakeWorld {
  const names = Array.from({ length: count }, (_, index) => `P${index}`);
  const fork = (index: number): Role =>
    defineRole({
      name: `F${index}`,
      watch: [],
      state: z.object({ heldBy: z.string().default(""), queue: z.array(z.string()).default([]) }),
      step({ heldBy, queue }, { content, sentFrom }, out) {
        const line = content === "take" ? [...queue, sentFrom] : queue;
        const holder = content === "put" ? "" : heldBy;
        if (holder !== "" || line.length === 0) return { heldBy: holder, queue: line };
        const [next = "", ...others] = line;
        out.say("yours", { sendTo: next });
        return { heldBy: next, queue: others };
      },
    });
  const philosopher = (index: number): Role => {
    const [left, right] = [index, (index + 1) % count];
    const isTurned = (take === "ordered" && left > right) || (take === "one left-hander" && index === 0);
    const [first, second] = (isTurned ? [right, left] : [left, right]).map((side) => `F${side}`);
    return defineRole({
      name: `P${index}`,
      watch: [],
      state: z.object({ forks: z.number().default(0), ate: z.boolean().default(false) }),
      step({ forks, ate }, { content }, out) {
        if (content === "begin") return void out.say("take", { sendTo: first as string });
        if (forks === 0) {
          out.say("take", { sendTo: second as string });
          return { forks: 1, ate };
        }
        for (const one of [first, second]) out.say("put", { sendTo: one as string });
        if (take === "waiter") out.say("done", { sendTo: "Waiter" });
        return { forks: 0, ate: true };
      },
    });
  };
  const roles = [...names.map((_, index) => fork(index)), ...names.map((_, index) => philosopher(index))];
  if (take !== "waiter") return worldOf(roles, names);
  const waiter = defineRole({
    name: "Waiter",
    watch: [],
    state: z.object({ served: z.number().default(0) }),
    step({ served }, _message, out) {
      if (served < count) out.say("begin", { sendTo: `P${served}` });
      return { served: served + 1 };
    },
  });
  return worldOf([...roles, waiter], ["Waiter"]);
}

export const allAte =
  (count: number) =>
  ({ state }: { state(role: string): { readonly [key: string]: unknown } }): boolean =>
    Array.from({ length: count }, (_, index) => state(`P${index}`)["ate"]).every((ate) => ate === true);

/** Two-phase commit of a coordinator C with participants that all vote yes. */
export function twoPhaseCommit(participants: number): MakeWorld {
  const names = Array.from({ length: participants }, (_, index) => `K${index}`);
  const coordinator = defineRole({
    name: "C",
    watch: [],
    state: z.object({ votes: z.number().default(0), is: z.string().default("asking") }),
    step({ votes, is }, { content }, out) {
      if (content === "begin") for (const name of names) out.say("prepare", { sendTo: name });
      if (content !== "yes" || is !== "asking") return undefined;
      if (votes + 1 === participants) for (const name of names) out.say("commit", { sendTo: name });
      return { votes: votes + 1, is: votes + 1 === participants ? "committed" : "asking" };
    },
  });
  const participant = (name: string): Role =>
    defineRole({
      name,
      watch: [],
      state: z.object({ is: z.string().default("working") }),
      step(_state, { content }, out) {
        if (content === "prepare") out.say("yes", { sendTo: "C" });
        return { is: content === "prepare" ? "prepared" : "committed" };
      },
    });
  return worldOf([coordinator, ...names.map(participant)], ["C"]);
}

/**
 * A ring election by the highest number. With `isWrong` a node takes part only once it has begun: one that begins late passes on the
 * numbers of others, and then still sends its own.
 */
export function ringElection(ids: readonly number[], isWrong: boolean): MakeWorld {
  const node = (id: number, index: number): Role =>
    defineRole({
      name: `R${index}`,
      watch: [],
      state: z.object({ best: z.number().default(-1), isLeader: z.boolean().default(false) }),
      step({ best, isLeader }, { content }, out) {
        const pass = (number: number): void => void out.say(String(number), { sendTo: `R${(index + 1) % ids.length}` });
        if (content === "begin") {
          if (!isWrong && best > id) return undefined;
          pass(id);
          return { best: isWrong ? id : Math.max(best, id), isLeader };
        }
        const heard = Number(content);
        if (heard === id) return { best, isLeader: true };
        if (heard > best && (heard > id || isWrong)) {
          pass(heard);
          return { best: heard, isLeader };
        }
        return undefined;
      },
    });
  return worldOf(
    ids.map(node),
    ids.map((_, index) => `R${index}`),
  );
}

/**
 * An election whose candidates give up and begin a new term when their timer comes. A candidate wins with the votes of both voters, who vote for the
 * first candidate of a term. Where timers may come before votes, it need not end.
 */
export function unboundedElection(candidates: number): MakeWorld {
  const names = Array.from({ length: candidates }, (_, index) => `C${index}`);
  const voters = ["V0", "V1"];
  const candidate = (name: string): Role =>
    defineRole({
      name,
      watch: [],
      state: z.object({ term: z.number().default(0), votes: z.number().default(0), isLeader: z.boolean().default(false) }),
      step({ term, votes, isLeader }, { content }, out) {
        if (isLeader) return undefined;
        if (content === "begin" || content === `late ${term}`) {
          for (const voter of voters) out.say(`vote ${term + 1}`, { sendTo: voter });
          out.after(10, `late ${term + 1}`, { sendTo: name });
          return { term: term + 1, votes: 0, isLeader };
        }
        if (content !== `yes ${term}`) return undefined;
        return { term, votes: votes + 1, isLeader: votes + 1 === voters.length };
      },
    });
  const voter = (name: string): Role =>
    defineRole({
      name,
      watch: [],
      state: z.object({ term: z.number().default(0) }),
      step({ term }, { content, sentFrom }, out) {
        const asked = Number(content.split(" ")[1]);
        if (asked <= term) return undefined;
        out.say(`yes ${asked}`, { sendTo: sentFrom });
        return { term: asked };
      },
    });
  return worldOf([...names.map(candidate), ...voters.map(voter)], names);
}
