// Runs before `npm start` and `npm test`: installs the packages and builds, each only when needed.
// Everything else is imported after the version check, so that an old Node gets a sentence and not a stack trace.
const FLOOR = [20, 19];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < FLOOR[0] || (major === FLOOR[0] && minor < FLOOR[1])) {
  process.stderr.write(
    `Troupe needs Node ${FLOOR.join(".")} or newer, but this is Node ${process.versions.node}. Install a newer one (https://nodejs.org) and run the command again.\n`,
  );
  process.exit(1);
}

const { isInstalled, install } = await import("./install.mjs");
const { isBuilt, build } = await import("./build.mjs");

const steps = [
  { doing: "installing packages", isDone: isInstalled, run: install },
  { doing: "building", isDone: isBuilt, run: build },
];

let said = false;
for (const { doing, isDone, run } of steps) {
  if (isDone()) continue;
  process.stderr.write(`${said ? ", " : "troupe: "}${doing} ...`);
  said = true;
  const began = performance.now();
  const failure = await run();
  if (failure !== undefined) {
    process.stderr.write(` failed\n${failure}\n`);
    process.exit(1);
  }
  process.stderr.write(` ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
if (said) process.stderr.write("\n");
