import { spawnSync } from "node:child_process";
import { afterEachFile } from "../after-file.ts";

/** A network on this machine with one more address, whose packets can be lost in both directions without a word. */
export interface VanishingNetwork {
  /** The address of this machine in it. */
  readonly host: string;
  /** The beginning of a command that is run at the other address. */
  readonly under: readonly string[];
  cut(): void;
  mend(): void;
}

const NAME = `troupe${process.pid % 100_000}`;
const [NEAR, FAR] = [`${NAME}n`, `${NAME}f`];
const net = `10.213.${process.pid % 250}`;
const [near, far] = [`${net}.1`, `${net}.2`];
/** The hardware address of nobody. */
const NOBODY = "02:00:00:00:00:99";

function ip(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")} failed: ${stderr}`);
  return stdout;
}

function made(): boolean {
  try {
    ip("netns", "add", NAME);
    ip("link", "add", NEAR, "type", "veth", "peer", "name", FAR);
    ip("link", "set", FAR, "netns", NAME);
    ip("addr", "add", `${near}/24`, "dev", NEAR);
    ip("link", "set", NEAR, "up");
    for (const words of [
      ["addr", "add", `${far}/24`, "dev", FAR],
      ["link", "set", FAR, "up"],
      ["link", "set", "lo", "up"],
    ])
      ip("-n", NAME, ...words);
    return true;
  } catch {
    return false;
  }
}

afterEachFile(() => void spawnSync("ip", ["netns", "del", NAME]));

/** Makes the network, once in a file. @returns undefined where this machine allows none, which is told */
export function vanishingNetwork(): VanishingNetwork | undefined {
  if (!made()) {
    process.stderr.write("\nTests with a machine that vanishes do not run: they need the rights to make a network (ip netns)\n");
    return undefined;
  }
  const macOf = (words: readonly string[], device: string): string =>
    /ether ([\da-f:]+)/.exec(ip(...words, "link", "show", device))?.[1] ?? "";
  const [nearMac, farMac] = [macOf([], NEAR), macOf(["-n", NAME], FAR)];
  const reach = (farAs: string, nearAs: string): void => {
    ip("neigh", "replace", far, "lladdr", farAs, "dev", NEAR, "nud", "permanent");
    ip("-n", NAME, "neigh", "replace", near, "lladdr", nearAs, "dev", FAR, "nud", "permanent");
  };
  reach(farMac, nearMac);
  return {
    host: near,
    under: ["ip", "netns", "exec", NAME],
    cut: () => reach(NOBODY, NOBODY),
    mend: () => reach(farMac, nearMac),
  };
}
