import { z } from "zod";
import { defineAction, defineRole } from "../../../src/index.ts";
import { actor, type Plant, relay, teamOf } from "./planted-worlds.ts";

/*
 * Faults that were planted by one who had not read how `explore` works.
 */

const wakeUp: Plant = {
  name: "lost wake-up: the bell rings before the wait",
  kind: "deadlock",
  claims: { done: ({ state }) => state("Consumer")["has"] === true },
  world: (isWrong) =>
    teamOf(
      [
        actor("Consumer", { has: false }, (_s, [verb], tell) => {
          if (verb === "begin" || verb === "wake") tell("Queue", "take");
          if (verb === "empty") tell("Bell", "wait");
          return verb === "item" ? { has: true } : {};
        }),
        actor("Producer", {}, (_s, [verb], tell) => tell(verb === "begin" ? "Queue" : "Bell", verb === "begin" ? "put" : "ring")),
        actor("Queue", { items: 0 }, ({ items }, [verb], tell, from) => {
          tell(from, verb === "put" ? "stored" : items > 0 ? "item" : "empty");
          return { items: verb === "put" ? items + 1 : Math.max(0, items - 1) };
        }),
        actor("Bell", { waits: "", rang: false }, ({ waits, rang }, [verb], tell, from) => {
          if (verb === "ring" && waits !== "") tell(waits, "wake");
          if (verb === "wait" && rang && !isWrong) tell(from, "wake");
          return verb === "ring" ? { rang: true } : { waits: from };
        }),
      ],
      [
        ["Consumer", "begin"],
        ["Producer", "begin"],
      ],
    ),
};

const unilateral: Plant = {
  name: "two-phase commit: a participant that voted aborts alone after six time-outs",
  kind: "violation",
  claims: {
    property: ({ state }) =>
      !(state("K0")["is"] === "aborted" && ["K1", "K2"].some((name) => state(name)["is"] === "committed")) || "one aborted, one committed",
  },
  world: (isWrong) =>
    teamOf(
      [
        actor("C", { votes: 0 }, ({ votes }, [verb], tell) => {
          if (verb === "begin") tell(["K0", "K1", "K2"], "prepare");
          if (verb !== "yes") return {};
          if (votes === 2) tell(["K0", "K1", "K2"], "commit");
          return { votes: votes + 1 };
        }),
        ...["K0", "K1", "K2"].map((name) =>
          actor(name, { is: "working", late: 0 }, ({ is, late }, [verb], tell) => {
            if (verb === "prepare") tell("C", "yes");
            const waits = is !== "committed" && is !== "aborted";
            if (name === "K0" && (verb === "prepare" || (verb === "late" && waits && late < 5))) tell(name, "late", 5);
            if (verb === "prepare") return { is: "prepared" };
            if (verb === "commit") return is === "aborted" ? {} : { is: "committed" };
            return { late: late + 1, is: isWrong && waits && late === 5 ? "aborted" : is };
          }),
        ),
      ],
      [["C", "begin"]],
    ),
};

const unanswered: Plant = {
  name: "a question never answered: a busy expert keeps only the last one",
  kind: "unanswered",
  claims: {},
  world: (isWrong) =>
    teamOf(
      [
        actor("Expert", { busyFor: "", line: [] as string[] }, ({ busyFor, line }, [verb], tell, from) => {
          if (verb === "which") {
            if (busyFor !== "") return { line: isWrong ? [from] : [...line, from] };
            tell("Library", "lookup");
            return { busyFor: from };
          }
          tell(busyFor, "443");
          const [next = "", ...others] = line;
          if (next !== "") tell("Library", "lookup");
          return { busyFor: next, line: others };
        }),
        actor("Library", {}, (_s, _w, tell) => tell("Expert", "found")),
        ...["Ann", "Bob", "Cem"].map((name) =>
          actor(name, { port: "" }, (_s, [verb = ""], tell) => {
            if (verb === "begin") tell("Expert", "which port?");
            return verb === "begin" ? {} : { port: verb };
          }),
        ),
      ],
      ["Ann", "Bob", "Cem"].map((name) => [name, "begin"]),
    ),
};

const saga: Plant = {
  name: "saga: the compensation of the first attempt undoes the second one",
  kind: "violation",
  claims: { property: ({ isEnd, state }) => !isEnd || state("Hotel")["booked"] === "2" || "the booking is undone" },
  world: (isWrong) =>
    teamOf(
      [
        actor("Trip", {}, (_s, [verb, n], tell) => {
          if (verb === "begin") tell("Hotel", "book 1");
          if (verb === "booked" && n === "1") tell("Car", "book 1");
          if (verb === "full") {
            tell("Agency", "cancel 1");
            tell("Office", "again 2");
          }
          if (verb === "approved") tell("Hotel", "book 2");
        }),
        actor("Car", {}, (_s, _w, tell) => tell("Trip", "full")),
        relay("Agency", "Hotel"),
        relay("Office", "Boss"),
        actor("Boss", {}, (_s, _w, tell) => tell("Trip", "approved")),
        actor("Hotel", { booked: "" }, ({ booked }, [verb, n = ""], tell, from) => {
          if (verb === "cancel") return isWrong || booked === n ? { booked: "" } : {};
          tell(from, `booked ${n}`);
          return { booked: n };
        }),
      ],
      [["Trip", "begin"]],
    ),
};

const atLeastOnce: Plant = {
  name: "at least once: the list of done jobs is cleared too early",
  kind: "violation",
  claims: {
    property: ({ state }) => Object.values(state("Mailer")["sent"] as object).every((times) => times < 2) || "a letter is sent twice",
    faults: { copy: ["Queue->Worker"] },
  },
  world: (isWrong) =>
    teamOf(
      [
        actor("Queue", { next: 1 }, ({ next }, _w, tell) => {
          if (next <= 3) tell("Worker", `job ${next}`);
          return { next: next + 1 };
        }),
        actor("Worker", { seen: [] as string[] }, ({ seen }, [verb, id = ""], tell) => {
          if (verb === "night") return isWrong ? { seen: [] } : {};
          if (seen.includes(id)) return {};
          tell("Mailer", `mail ${id}`);
          tell("Queue", "ack");
          if (id === "2") tell("Clock", "late");
          return { seen: [...seen, id] };
        }),
        actor("Clock", {}, (_s, _w, tell) => tell("Worker", "night")),
        actor("Mailer", { sent: {} as Record<string, number> }, ({ sent }, [, id = ""]) => ({
          sent: { ...sent, [id]: (sent[id] ?? 0) + 1 },
        })),
      ],
      [["Queue", "begin"]],
    ),
};

const references: Plant = {
  name: "reference count: freed before the new holder counts",
  kind: "violation",
  claims: { property: ({ state }) => !(state("Counter")["isFree"] === true && state("B")["holds"] === true) || "freed in use" },
  world: (isWrong) =>
    teamOf(
      [
        actor("Owner", {}, (_s, [verb], tell) => {
          if (verb === "begin") tell(isWrong ? "B" : "Counter", isWrong ? "ref" : "inc");
          if (verb === "counted") tell("B", "ref");
          if (verb === "thanks") tell("Batch", "dec");
        }),
        relay("Batch", "Counter"),
        actor("B", { holds: false }, (_s, [verb], tell) => {
          if (verb !== "ref") return {};
          if (isWrong) tell("Counter", "inc");
          tell("Owner", "thanks");
          return { holds: true };
        }),
        actor("Counter", { count: 1, isFree: false }, ({ count, isFree }, [verb], tell, from) => {
          const now = count + (verb === "inc" ? 1 : -1);
          if (verb === "inc") tell(from, "counted");
          return { count: now, isFree: isFree || now === 0 };
        }),
      ],
      [["Owner", "begin"]],
    ),
};

const staleTimer: Plant = {
  name: "stale timer: the time-out of an old hold frees the seat of another",
  kind: "violation",
  claims: {
    property({ state }) {
      const { refused, expired } = state("Seat") as { refused: number[]; expired: number[] };
      return refused.every((hold) => expired.includes(hold)) || "a payment in time is refused";
    },
  },
  world: (isWrong) =>
    teamOf(
      [
        actor(
          "Seat",
          { hold: 0, isHeld: false, line: [] as string[], refused: [] as number[], expired: [] as number[] },
          ({ hold, isHeld, line, refused, expired }, [verb, of], tell, from) => {
            if (verb === "pay") return isHeld && Number(of) === hold ? {} : { refused: [...refused, Number(of)] };
            const isTimer = verb === "expire";
            const frees = isHeld && verb !== "hold" && (Number(of) === hold || (isTimer && isWrong));
            const queue = verb === "hold" ? [...line, from] : line;
            const next = { line: queue, isHeld: isHeld && !frees, expired: isTimer ? [...expired, Number(of)] : expired };
            if (next.isHeld || queue.length === 0) return next;
            tell(queue[0] as string, `held ${hold + 1}`);
            tell("Seat", `expire ${hold + 1}`, 10);
            return { ...next, hold: hold + 1, isHeld: true, line: queue.slice(1) };
          },
        ),
        actor("A", {}, (_s, [verb, hold], tell) => tell("Seat", verb === "begin" ? "hold" : `drop ${hold}`)),
        actor("B", {}, (_s, [verb, hold], tell) => tell(verb === "begin" ? "Seat" : "Bank", verb === "begin" ? "hold" : `pay ${hold}`)),
        relay("Bank", "Seat"),
      ],
      [
        ["A", "begin"],
        ["B", "begin"],
      ],
    ),
};

const failover: Plant = {
  name: "failover: acknowledged before it is copied",
  kind: "violation",
  claims: {
    property: ({ isEnd, state, isCrashed }) =>
      !isEnd ||
      !isCrashed("Primary") ||
      Number(state("Client")["acked"]) <= Number(state("Backup")["has"]) ||
      "an acknowledged write is lost",
    faults: { crash: ["Primary"] },
  },
  world: (isWrong) =>
    teamOf(
      [
        actor("Client", { acked: 0 }, ({ acked }, [verb], tell) => {
          if (verb === "begin") tell("Primary", "put 1");
          if (verb === "ack" && acked < 2) tell("Primary", `put ${acked + 2}`);
          return verb === "ack" ? { acked: acked + 1 } : {};
        }),
        actor("Primary", {}, (_s, [verb, n], tell) => {
          if (verb === "stored") return tell("Client", "ack");
          if (verb === "put" && isWrong) tell("Client", "ack");
          // The third write waits for the end of its batch.
          if (verb === "put" && n === "3") tell("Primary", `flush ${n}`, 10);
          else tell("Backup", `store ${n}`);
        }),
        actor("Backup", { has: 0 }, ({ has }, _w, tell, from) => {
          if (!isWrong) tell(from, "stored");
          return { has: has + 1 };
        }),
      ],
      [["Client", "begin"]],
    ),
};

const typo: Plant = {
  name: "a rare path writes to a role that does not exist",
  kind: "lost",
  claims: {},
  world(isWrong) {
    const Judge = defineAction({
      name: "Judge",
      output: z.object({ verdict: z.enum(["accept", "revise", "reject"]) }),
      prompt: () => "Judge it.",
      render: ({ verdict }) => verdict,
      sendTo: () => ["Office"],
    });
    return teamOf(
      [
        defineRole({ name: "Editor", watch: [], actions: [Judge] }),
        actor("Office", { verdicts: [] as string[] }, ({ verdicts: last }, [verdict = ""], tell) => {
          if (verdict === "begin") return tell("Editor", "version 1");
          const all = [...last, verdict];
          if (verdict === "revise" && all.length < 4) tell("Editor", `version ${all.length + 1}`);
          if (verdict === "reject") tell(isWrong && all.length === 4 ? "Chief editor" : "Chief", "rejected");
          return { verdicts: all };
        }),
        actor("Chief", { letters: 0 }, ({ letters }) => ({ letters: letters + 1 })),
      ],
      [["Office", "begin"]],
    );
  },
};

const tooOld: Plant = {
  name: "snapshot too old: a reader is slower than three writes",
  kind: "failed",
  claims: {},
  world: (isWrong) =>
    teamOf(
      [
        actor("Store", { version: 1, pinned: 9 }, ({ version, pinned }, [verb, of], tell, from) => {
          if (verb === "where") tell(from, `at ${version}`);
          if (verb === "where") return isWrong ? {} : { pinned: version };
          if (verb === "write") tell(from, "ok");
          if (verb === "write") return { version: version + 1 };
          if (Number(of) < Math.min(version - 3, pinned)) throw new Error("The version is gone.");
          tell(from, "data");
          return {};
        }),
        actor("Writer", { left: 5 }, ({ left }, _w, tell) => {
          if (left > 0) tell("Store", "write");
          return { left: left - 1 };
        }),
        actor("Reader", {}, (_s, [verb, version], tell) => {
          if (verb === "begin") tell("Store", "where");
          if (verb === "at") tell("Store", `get ${version}`);
        }),
      ],
      [
        ["Writer", "begin"],
        ["Reader", "begin"],
      ],
    ),
};

export const plants: readonly Plant[] = [
  ...[wakeUp, unilateral, unanswered, saga, atLeastOnce, references, staleTimer, failover, typo, tooOld],
];
