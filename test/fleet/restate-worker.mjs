// A worker of a fleet on Restate, as a program of a user starts one.
import { jsonLogger, startWorker } from "../../dist/src/fleet/index.js";
import { postgres } from "../../dist/src/adapters/postgres.js";
import { restateDriver } from "../../dist/src/adapters/restate.js";
import { writers } from "./teams.mjs";

const { FLEET_JOURNAL = "", FLEET_INGRESS = "", FLEET_ADMIN = "" } = process.env;

const logger = jsonLogger({ level: "info" });
const journal = postgres({ url: FLEET_JOURNAL });
// On a busy machine the server may take longer than the usual ten seconds to start again.
const driver = restateDriver({ ingress: FLEET_INGRESS, admin: FLEET_ADMIN, timeout: 60_000, logger });
const starting = startWorker({ driver, journal, teams: [writers({ journal, driver })], concurrency: 3, logger });
process.once("SIGTERM", () => void starting.then((worker) => worker.drain()));
await (
  await starting
).ended;
await driver.close();
await journal.close();
