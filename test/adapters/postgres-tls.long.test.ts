// @module-tag fleet
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { postgres } from "../../src/adapters/postgres.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { hasPostgres, startPostgres } from "./postgres-process.ts";
import { errorOf, readOut, started } from "./sqlite-setup.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) process.stderr.write("\nTests of Postgres over TLS do not run: openssl is not installed\n");

/** A certificate of `localhost` that signs itself, which the server of the tests can read. */
function certificate(): { readonly key: string; readonly cert: string } {
  const folder = scratchFolder();
  chmodSync(folder, 0o711);
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = spawnSync("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost".split(" "),
    ...["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
  ]);
  if (made.status !== 0) throw new Error(`openssl failed: ${String(made.stderr)}`);
  // The server takes a key of root that its group may read, or one of its own.
  const owner = spawnSync("id", ["-g", "postgres"], { encoding: "utf8" }).stdout.trim();
  if (statSync(key).uid === 0) chownSync(key, 0, Number(owner));
  chmodSync(key, statSync(key).uid === 0 ? 0o640 : 0o600);
  return { key, cert };
}

describe.runIf(hasPostgres && hasOpenssl)("over TLS", () => {
  it("a journal writes to the server that its address proves, and to no other one", async () => {
    const { key, cert } = certificate();
    const { port } = await startPostgres("-c", "ssl=on", "-c", `ssl_key_file=${key}`, "-c", `ssl_cert_file=${cert}`);
    const at = (host: string, more: string): string => `postgres://troupe@${host}:${port}/postgres?sslmode=verify-full${more}`;

    const journal = postgres({ url: at("localhost", `&sslrootcert=${cert}`) });
    await journal.create("a");
    const { epoch } = await journal.claim("a");
    await journal.append("a", epoch, 0, [started("a", 0)]);
    expect((await readOut(journal, "a")).events).toEqual([started("a", 0)]);
    await journal.close();

    for (const url of [at("localhost", ""), at("127.0.0.1", `&sslrootcert=${cert}`)]) {
      const stranger = postgres({ url });
      expect(await errorOf(stranger.create("b"))).toMatchObject({ code: "JOURNAL_UNWRITABLE" });
      await stranger.close();
    }
  });
});
