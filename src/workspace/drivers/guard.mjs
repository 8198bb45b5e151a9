/*
 * Loaded into the process of each test file before the file. A file that ends its process itself with code 0 hides the tests that had not run
 * yet, and one that leaves a server or a timer open never ends: both become a failure that says so.
 */
import { writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

// Programs that a test starts inherit its environment, and this module with it.
const isTestFile = process.env["NODE_TEST_CONTEXT"] === "child-v8" && process.env["TROUPE_TEST_FILE"] === undefined;
if (isMainThread && isTestFile) {
  process.env["TROUPE_TEST_FILE"] = process.argv[1] ?? "";
  const limit = Number(new URL(import.meta.url).searchParams.get("limit"));
  /** @type {(code?: number) => never} */
  const leave = Reflect.get(process, "reallyExit").bind(process);
  /** @param {number} [code] */
  const guarded = (code) => {
    if (!code) writeSync(2, "The file called process.exit(0). A test file has to end by itself, or tests are lost.\n");
    leave(code || 1);
  };
  Reflect.set(process, "reallyExit", guarded);
  setTimeout(() => {
    writeSync(2, `The file did not end within ${limit} ms: a test, an open server or a timer keeps it running.\n`);
    leave(1);
  }, limit).unref();
}
