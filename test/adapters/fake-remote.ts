import { type RemoteTexts, revisionOf } from "../../src/adapters/remote-cache.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { CacheError } from "../../src/kernel/errors.ts";

/** A server that does what a test says. */
export interface FakeRemote extends RemoteTexts {
  /** `full` answers reads and deletions, and refuses writes. */
  state: "up" | "unreachable" | "full";
  readonly texts: Map<string, { text: string; expires: number }>;
}

export function fakeRemote(clock: Clock): FakeRemote {
  const ask = async (isWrite: boolean): Promise<void> => {
    if (remote.state === "unreachable") throw new CacheError("CACHE_UNREACHABLE", "no server listens");
    if (remote.state === "full" && isWrite) throw new CacheError("CACHE_REFUSED", "no room");
  };
  const textAt = (key: string): string | undefined => {
    const held = remote.texts.get(key);
    return held === undefined || held.expires <= clock.now() ? undefined : held.text;
  };
  const remote: FakeRemote = {
    state: "up",
    texts: new Map(),
    async get(key) {
      await ask(false);
      return textAt(key);
    },
    async set(key, text, ttl) {
      await ask(true);
      remote.texts.set(key, { text, expires: clock.now() + ttl });
    },
    async replace(key, text, revision, ttl) {
      await ask(true);
      if (revisionOf(textAt(key)) !== revision) return false;
      remote.texts.set(key, { text, expires: clock.now() + ttl });
      return true;
    },
    async delete(key) {
      await ask(false);
      remote.texts.delete(key);
    },
    async keys(prefix) {
      await ask(false);
      return [...remote.texts.keys()].filter((key) => key.startsWith(prefix));
    },
    close: async () => undefined,
  };
  return remote;
}
