import type { Clock } from "../../src/kernel/clock.ts";
import { CacheError } from "../../src/kernel/errors.ts";
import { bodySum, readStamped } from "../../src/adapters/stamped-text.ts";
import type { RemoteCache } from "../../src/adapters/guarded-remote.ts";

/** A shared place that does what a test says. */
export interface FakeRemote extends RemoteCache {
  /** `full` answers reads and refuses writes; `silent` answers only after its own limit, with a failure. */
  state: "up" | "unreachable" | "full" | "silent";
  readonly texts: Map<string, { text: string; expires: number }>;
  /** How often it was asked. */
  asked: number;
}

/** Milliseconds after which a silent one gives up. */
export const PATIENCE = 500;

export function fakeRemote(clock: Clock): FakeRemote {
  const unreachable = new CacheError("CACHE_UNREACHABLE", "nobody is there");
  const remote: FakeRemote = {
    state: "up",
    texts: new Map(),
    asked: 0,
    async get(key) {
      await begin();
      const held = remote.texts.get(key);
      return held === undefined || held.expires <= clock.now() ? undefined : held.text;
    },
    async put(key, text, stamp, ttl) {
      await begin();
      if (remote.state === "full") throw new CacheError("CACHE_REFUSED", "no room");
      const held = remote.texts.get(key);
      const heldStamp = Number(/^troupe1 (\d{15})/.exec(held?.text ?? "")?.[1] ?? 0);
      if (heldStamp > stamp) return heldStamp;
      remote.texts.set(key, { text, expires: clock.now() + ttl });
      return undefined;
    },
    async replace(key, text, { stamp, expected, ttl }) {
      await begin();
      if (remote.state === "full") throw new CacheError("CACHE_REFUSED", "no room");
      const held = remote.texts.get(key);
      const it = held === undefined || held.expires <= clock.now() ? undefined : readStamped(held.text);
      if (bodySum(it?.value) !== expected) return { kind: "differs" };
      if (it !== undefined && it.stamp >= stamp) return { kind: "later", stamp: it.stamp };
      remote.texts.set(key, { text, expires: clock.now() + ttl });
      return { kind: "written" };
    },
    close: async () => undefined,
  };
  async function begin(): Promise<void> {
    remote.asked++;
    if (remote.state === "unreachable") throw unreachable;
    if (remote.state === "silent") {
      await new Promise<void>((resolve) => {
        clock.timer(PATIENCE, resolve);
      });
      throw unreachable;
    }
  }
  return remote;
}
