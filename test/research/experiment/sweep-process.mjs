// A sweep in a process of its own, for tests that kill it: the module, the name of the experiment, the folder, and the options as JSON.
import { pathToFileURL } from "node:url";
import { runExperiment } from "../../../dist/src/research/index.js";

const [path, name, out, options] = process.argv.slice(2);
const module = pathToFileURL(path).href;
const { [name]: experiment } = await import(module);
const { failed, kept } = await runExperiment(experiment, { module, out, ...JSON.parse(options) });
process.stdout.write(`${JSON.stringify({ failed, kept })}\n`);
