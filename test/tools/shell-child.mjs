// A process that ends while a shell stays, in one of several ways. Its one argument is JSON: { mode, end, mark, root }. It prints a line when the
// shell has processes in the background, and ends when its input has a line.
import { Agent } from "../../dist/src/agent/index.js";
import { scriptedModel } from "../../dist/src/testing/index.js";
import { shellTool } from "../../dist/src/tools/index.js";
import { chooseSandbox, fileWorkspace } from "../../dist/src/workspace/index.js";

const { mode, end, mark, root } = JSON.parse(process.argv[2]);
const call = (id, command) => ({ id, type: "function", function: { name: "shell", arguments: JSON.stringify({ command }) } });
const ends = {
  "a signal": () => process.kill(process.pid, "SIGKILL"),
  exit: () => process.exit(3),
  "an error": () => {
    throw new Error("nobody catches it");
  },
};
const model = scriptedModel([
  { toolCalls: [call("1", `trap '' TERM; sleep ${mark} & (sleep ${mark} &)`)] },
  () => {
    process.stdout.write("begun\n");
    process.stdin.once("data", () => ends[end]());
    return new Promise(() => {});
  },
]);
const tools = [shellTool({ workspace: fileWorkspace({ root, git: false }), sandbox: await chooseSandbox(mode) })];
await new Agent({ name: "ann", model, tools, permissions: { rules: [{ tool: "*", decide: "allow" }] } }).run("go").result;
