/** Keeps the answers of a model by role and number: `node evaluation/record.mjs --model-url URL --answers DIR [--port N]`. */
import { parseArgs } from "node:util";
import { startProxy } from "./proxy.mjs";

const { values } = parseArgs({ options: { "model-url": { type: "string" }, answers: { type: "string" }, port: { type: "string" } } });
const { "model-url": upstream, answers: keep } = values;
if (upstream === undefined || keep === undefined) throw new Error("Expected --model-url URL and --answers DIR.");
const { url } = await startProxy({ upstream, keep, port: Number(values.port ?? 0) });
console.log(url);
