import type { EffectCall, EffectPort } from "../../kernel/effect.ts";
import { AbortedError, MovedError, StepError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { checkContractObject, codeOf, checksOf, type ContractKit, gate } from "./contract-kit.ts";

export type ContractEffect = (request: Json, signal: AbortSignal) => Promise<unknown>;

/** A port whose effects are done in this process or by others. */
export interface EffectPlace {
  /** Opens a port as another process would. It does effects of kind "action" and name "work" by the effect of the place. */
  open(): EffectPort | Promise<EffectPort>;
  close(): Promise<void>;
}

export interface EffectPortContract {
  readonly name: string;
  /** True for a port whose effects outlive the process that asked. */
  readonly findsAgain: boolean;
  /** Makes a place without effects. `effect` does its work, wherever that is. */
  make(effect: ContractEffect): EffectPlace | Promise<EffectPlace>;
}

/**
 * The contract of every {@link EffectPort}.
 *
 * EffectPort.E1 the value of an effect comes back as JSON. EffectPort.E2 its failure comes back, or is thrown. EffectPort.E3 a cancelled
 * effect has its signal aborted. EffectPort.E4 an effect that must not happen twice, and of which nothing is known, is uncertain.
 * EffectPort.E5 where a port finds effects again, one key finds an effect that is under way or done.
 */
export function effectPortContract(kit: ContractKit, contract: EffectPortContract): void {
  checkContractObject("effectPortContract", kit, contract);
  const { expect } = kit;
  kit.describe(`${contract.name} keeps the contract of a port of effects`, () => {
    const check = (title: string, effect: ContractEffect, body: (place: EffectPlace) => Promise<void>): void =>
      checksOf(kit, () => contract.make(effect)).check(title, body);
    const ask = async (place: EffectPlace, effect: ContractEffect, call: Partial<EffectCall>): Promise<unknown> => {
      const whole = { ...first, signal: new AbortController().signal, ...call };
      const { answer } = await (await place.open()).run(whole, () => effect(whole.request, whole.signal));
      if (answer.ok) return answer.value;
      throw new StepError(answer.error.code, answer.error.message);
    };

    const echo: ContractEffect = async (request) => ({ got: request });
    check("EffectPort.E1 a value comes back", echo, async (place) => {
      const request = { deep: [1, null, "\u{1F3AD}"] };
      expect(await ask(place, echo, { request })).toEqual({ got: request });
    });

    const fail: ContractEffect = async () => {
      throw new StepError("BROKEN", "Expected a tool, got a broken one. Mend it.");
    };
    check("EffectPort.E2 a failure comes back", fail, async (place) => {
      expect(await codeOf(() => ask(place, fail, {}))).toBe("BROKEN");
    });

    const cancelled = waiting();
    check("EffectPort.E3 a cancelled effect hears of it", cancelled.effect, async (place) => {
      const stop = new AbortController();
      const asked = codeOf(() => ask(place, cancelled.effect, { signal: stop.signal }));
      await cancelled.began;
      stop.abort(new AbortedError());
      await cancelled.aborted;
      expect(await asked).toBe("ABORTED");
    });

    check("EffectPort.E4 an effect of which nothing is known is uncertain", echo, async (place) => {
      expect(await codeOf(() => ask(place, echo, { began: true, idempotent: false }))).toBe("STEP_UNCERTAIN");
      expect(await ask(place, echo, { began: true })).toEqual({ got: null });
    });

    if (!contract.findsAgain) return;
    const kept = waiting();
    check("EffectPort.E5 an effect outlives who asked, and is found by its key", kept.effect, async (place) => {
      const moved = new AbortController();
      const asked = codeOf(() => ask(place, kept.effect, { signal: moved.signal, idempotent: false }));
      await kept.began;
      moved.abort(new MovedError("r"));
      expect(await asked).toBe("MOVED");
      const again = ask(place, kept.effect, { began: true, idempotent: false });
      kept.finish("done");
      expect(await again).toBe("done");
      expect(await ask(place, kept.effect, { began: true })).toBe("done");
      expect([kept.begun(), await ask(place, kept.effect, { key: "other" }), kept.begun()]).toEqual([1, "done", 2]);
    });
  });
}

const first = { key: "0123456789abcdef", kind: "action", name: "work", request: null, idempotent: true, began: false };

function waiting(): {
  readonly effect: ContractEffect;
  readonly began: Promise<void>;
  readonly aborted: Promise<void>;
  finish(value: string): void;
  begun(): number;
} {
  const began = gate();
  const aborted = gate();
  const finished = gate<string>();
  let count = 0;
  const effect: ContractEffect = (_request, signal) => {
    count += 1;
    began.open();
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => {
        aborted.open();
        // The reason is an error.
        reject(signal.reason as Error);
      });
      void finished.opened.then(resolve);
    });
  };
  return { effect, began: began.opened, aborted: aborted.opened, finish: finished.open, begun: () => count };
}
