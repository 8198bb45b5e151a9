// Everything that must hold before a change lands, cheapest first. Stops at the first failure and shows what that step said.
import { spawnSync } from "node:child_process";
import { npm } from "./npm.mjs";
import { root } from "./root.mjs";

const STEPS = ["format", "lint", "types", "unused", "test", "pack:check"];

const prepared = spawnSync(process.execPath, ["tools/prepare.mjs"], { cwd: root, stdio: "inherit" });
if (prepared.status !== 0) process.exit(prepared.status ?? 1);

const began = performance.now();
for (const step of STEPS) {
  const start = performance.now();
  const result = npm(["run", "--silent", step], { stdio: ["ignore", "pipe", "pipe"] });
  const isGood = result.status === 0;
  process.stdout.write(`${step.padEnd(12)}${seconds(start).padStart(8)}  ${isGood ? "ok" : "FAILED"}\n`);
  if (isGood) continue;
  process.stdout.write(`\n${result.stdout ?? ""}${result.stderr ?? ""}${result.error === undefined ? "" : `${result.error.message}\n`}`);
  process.stdout.write(`\nverify: ${step} failed. Run it alone with: npm run ${step}\n`);
  process.exit(result.status ?? 1);
}
process.stdout.write(`verify: all of ${STEPS.join(", ")} passed in ${seconds(began)}\n`);

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
