import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  afterSpending,
  allOf,
  anyOf,
  type ChatModel,
  type Cost,
  type DeadLetter,
  defineAction,
  Environment,
  fold,
  formatUsd,
  type HumanPort,
  type Json,
  type Message,
  type MicroUsd,
  type Receipt,
  type Run,
  type RunEvent,
  type RunNotice,
  type RunResult,
  type RunState,
  type RunStatus,
  saidBy,
  Team,
  type TroupeError,
  usd,
} from "../../src/index.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

declare const run: Run;

describe("money", () => {
  test("is no plain number", () => {
    expectTypeOf(usd(3)).toEqualTypeOf<MicroUsd>();
    expectTypeOf<number>().not.toExtend<MicroUsd>();
    void new Team({ budget: usd(3) });
    // @ts-expect-error three of what?
    void new Team({ budget: 3 });
    // @ts-expect-error the same
    new Team().invest(3);
    // @ts-expect-error the same
    afterSpending(3);
    // @ts-expect-error a sum of money is a number again, and must say what of
    new Team().invest(usd(3) + usd(4));
  });

  test("can be counted", () => {
    expectTypeOf<MicroUsd>().toExtend<number>();
    expectTypeOf(formatUsd(usd(3))).toEqualTypeOf<string>();
    expectTypeOf<RunResult["cost"]>().toEqualTypeOf<Cost>();
    expectTypeOf<Cost["known"]>().toEqualTypeOf<MicroUsd>();
  });
});

describe("listening", () => {
  test("gives the event of the type that is asked for", () => {
    expectTypeOf(run.on("message", ({ message, to }) => void [message, to])).toEqualTypeOf<() => void>();
    run.on("run.started", (event) => {
      expectTypeOf(event.seed).toEqualTypeOf<string>();
      expectTypeOf(event.seq).toEqualTypeOf<number>();
      // @ts-expect-error a start has no status
      void event.status;
    });
    run.on("step.ended", ({ ok, value, cost }) => {
      expectTypeOf(ok).toEqualTypeOf<boolean>();
      expectTypeOf(value).toEqualTypeOf<Json | undefined>();
      expectTypeOf(cost).toEqualTypeOf<number | null>();
    });
    run.on("act.failed", ({ then, error }) => {
      expectTypeOf(then).toEqualTypeOf<"retry" | "isolate" | "dead" | "stop">();
      expectTypeOf(error.code).toEqualTypeOf<string>();
    });
    run.on("run.ended", ({ status }) => expectTypeOf(status).toEqualTypeOf<RunStatus>());
  });

  test("gives the notices too, which no journal keeps", () => {
    run.on("model.delta", (notice) => {
      expectTypeOf(notice).toEqualTypeOf<{
        readonly type: "model.delta";
        readonly role: string;
        readonly act: string;
        readonly step: string;
        readonly try: number;
        readonly at: number;
        readonly text: string;
      }>();
      // @ts-expect-error a notice has no place in the record
      void notice.seq;
    });
    new Environment().on("message.dead", ({ message, address }) => {
      expectTypeOf(message).toEqualTypeOf<Message>();
      expectTypeOf(address).toEqualTypeOf<string>();
    });
    expectTypeOf<"model.delta">().not.toExtend<RunEvent["type"]>();
  });

  test("asks for types that there are", () => {
    // @ts-expect-error a misspelt event would never come
    run.on("act.end", () => {});
    // @ts-expect-error nor one of everything
    new Environment().on("*", () => {});
    expectTypeOf(run.on).parameter(0).toEqualTypeOf<RunEvent["type"] | RunNotice["type"]>();
  });
});

describe("events", () => {
  test("are told apart by their type, all of them", () => {
    const named = (event: RunEvent): string => {
      switch (event.type) {
        case "run.started":
          return event.team;
        case "message":
          return event.message.content;
        case "act.started":
          return `${event.act} ${event.take}`;
        case "act.resumed":
          return event.act;
        case "step.started":
          return `${event.key} ${event.hold}`;
        case "step.ended":
          return event.basis;
        case "act.ended":
          return event.said.map((sent) => sent.message.content).join();
        case "act.failed":
          return event.error.message;
        case "round.ended":
          return String(event.round);
        case "clock.advanced":
          return String(event.tick);
        case "choice.made":
          return `${event.fate} ${event.role}`;
        case "role.hired":
          return event.roles.map(({ name }) => name).join();
        case "role.retired":
          return `${event.role} ${event.keeps}`;
        case "role.taken":
          return `${event.role} ${event.by ?? ""} ${String(event.back)}`;
        case "run.resumed":
          return String(event.uncertain.length);
        case "run.settled":
          return String(event.settles.length);
        case "run.ended":
          return event.status;
        case "run.erased":
          return String(event.texts);
        default:
          expectTypeOf(event).toEqualTypeOf<never>();
          return event;
      }
    };
    expectTypeOf(named).parameter(0).toEqualTypeOf<RunEvent>();
  });

  test("are what a run yields and folding takes, and never change", () => {
    expectTypeOf(run).toExtend<AsyncIterable<RunEvent>>();
    expectTypeOf(fold).parameter(0).toEqualTypeOf<Iterable<RunEvent>>();
    expectTypeOf(fold).returns.toEqualTypeOf<RunState>();
    const change = (event: RunEvent): void => {
      // @ts-expect-error what happened has happened
      event.seq = 5;
      // @ts-expect-error in all its parts
      if (event.type === "act.ended") event.said.pop();
    };
    void change;
  });
});

describe("a run", () => {
  test("has a result that says how it ended", () => {
    expectTypeOf(run.result).resolves.toEqualTypeOf<RunResult>();
    expectTypeOf<RunStatus>().toEqualTypeOf<"finished" | "rounds" | "budget" | "stopped" | "waiting" | "failed">();
    expectTypeOf<RunResult["status"]>().toEqualTypeOf<RunStatus | "moved">();
    expectTypeOf<RunResult["output"]>().toEqualTypeOf<Message | undefined>();
    expectTypeOf<RunResult["error"]>().toEqualTypeOf<TroupeError | undefined>();
    expectTypeOf<DeadLetter["reason"]["kind"]>().toEqualTypeOf<"no such address" | "failed" | "retired" | "crashed">();
    expectTypeOf(new Environment().publishMessage("x")).toEqualTypeOf<Receipt>();
  });

  test("is told when to stop by conditions", () => {
    const Publish = defineAction({ name: "Publish" });
    const stopWhen = anyOf(
      saidBy(Publish),
      allOf(afterSpending(usd(1)), ({ outputs }) => outputs.length > 2),
    );
    expectTypeOf(new Team().run("go", { rounds: 3, stopWhen })).toEqualTypeOf<Run>();
    // @ts-expect-error a number is no condition
    new Team().run("go", { stopWhen: 3 });
    // @ts-expect-error a condition decides at once
    new Team().run("go", { stopWhen: () => Promise.resolve(true) });
    // @ts-expect-error nor is anything else an idea
    new Team().run(42);
    // @ts-expect-error a run that is resumed has its id already
    new Team().resume("r", { id: "s" });
  });

  test("is asked of models and people through ports", () => {
    expectTypeOf<ScriptedModel>().toExtend<ChatModel>();
    void new Team({ model: scriptedModel(["x"]), human: ({ text, role }) => `${role}: ${text}` });
    expectTypeOf<ReturnType<HumanPort>>().toEqualTypeOf<Json | Promise<Json>>();
    // @ts-expect-error an answer is recorded as JSON
    void new Team({ human: () => new Date() });
    void new Team({ scheduler: "live", delivery: "sender" });
    void new Team({ scheduler: { name: "poisson", rate: 2 }, delivery: "shuffled" });
    void new Team({ scheduler: { name: "staged", stages: [["Ann"], ["Bob", "Cid"]] } });
    // @ts-expect-error no policy has that name
    void new Team({ scheduler: "lively" });
    // @ts-expect-error it has no rate
    void new Team({ scheduler: { name: "poisson" } });
    // @ts-expect-error no order has that name
    void new Team({ delivery: "random" });
  });

  test("gives outputs of the types of their schemas", () => {
    const Draft = defineAction({ name: "Draft", output: z.object({ title: z.string() }) });
    expectTypeOf(new Team().run("go").outputOf(Draft)).toEqualTypeOf<Promise<{ title: string }>>();
    const agent = new Agent({ name: "a", model: scriptedModel([]), output: z.object({ title: z.string() }) });
    expectTypeOf<Awaited<ReturnType<typeof agent.run>["result"]>["output"]>().toEqualTypeOf<{ title: string } | undefined>();
    expectTypeOf(new Agent({ name: "a", model: scriptedModel([]) })).toEqualTypeOf<Agent>();
    const ofAny: Agent = agent;
    void ofAny;
  });
});
