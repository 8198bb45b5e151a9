import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { FleetDriver } from "../team/run-driver.ts";
import { fleetEngine, openedDriver } from "./fleet-engine.ts";
import type { Flags } from "./options.ts";
import type { Session } from "./session.ts";

/** The journal and the engine of a fleet. */
export interface Fleet {
  readonly journal: Journal;
  readonly driver: FleetDriver;
}

/** Milliseconds for which a person waits for a database that is away. A worker waits longer. */
const PATIENCE = 10_000;

const POSTGRES = /^postgres(ql)?:\/\//;

/** The address of the database, from the option or the environment. @throws UsageError `OPTION_INVALID` */
export function fleetAddress({ host }: Session, { journal }: Flags): string {
  const url = (journal ?? host.env["TROUPE_JOURNAL"] ?? "").trim();
  if (POSTGRES.test(url)) return url;
  // The text is not shown: it may be an address with a password that was mistyped.
  const came = url === "" ? "none" : "something else";
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the address of a Postgres database that begins with postgres://, got ${came}. Set TROUPE_JOURNAL, or give --journal.`,
  );
}

/** Opens the journal and the engine of a fleet for the time of the work. @throws UsageError `OPTION_INVALID`; errors of the work */
export async function withFleet<T>(session: Session, flags: Flags, work: (fleet: Fleet) => Promise<T>, logger?: Logger): Promise<T> {
  const engine = fleetEngine(session, flags);
  const o = {
    url: fleetAddress(session, flags),
    ...(flags.schema === undefined ? {} : { schema: flags.schema }),
    ...(logger === undefined ? { patience: PATIENCE } : { logger }),
  };
  const driver = await openedDriver(engine, o);
  const { postgres } = await import("../adapters/postgres.ts");
  const journal = postgres(o);
  try {
    return await work({ journal, driver });
  } finally {
    await driver.close();
    await journal.close();
  }
}
